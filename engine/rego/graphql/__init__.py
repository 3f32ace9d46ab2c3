"""GraphQL documents, judged as OPA judges them: text to syntax, syntax to Rego values, a query against its schema.

    text ── lexer, query_parser / schema_parser ──▶ syntax ── shapes ──▶ Rego values
    schema document ── schema, schema_checks ──▶ Schema ── walker, rules ──▶ faults of a query

OPA uses the Go library gqlparser. Where that library and the specification differ, the library is followed, its order
of faults and its words included: policies see both.

Lives here: the GraphQL language, its schemas and its validation rules.
Must not: declare builtins (`engine.rego.builtins.graphql` does), execute a query, or keep a schema for the next call.
"""
