"""From a tree to rules that can run: names resolved, bodies in order, and all that is wrong found (`stages`).

Lives here: scopes, imports, safety, conflicts, recursion, `with`, METADATA calls, what a policy may call, and how a
problem is shown.
Must not: infer types (`engine.rego.types`), or make code.
"""
