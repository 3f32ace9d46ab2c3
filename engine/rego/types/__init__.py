"""What values a term can have.

Lives here: the signatures of OPA's builtins, and types inferred from rules that were ordered.
Must not: change a rule. A finding here is `rego_type_error`, in OPA's words.
"""
