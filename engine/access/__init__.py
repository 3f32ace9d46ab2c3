"""Who may do what: identities, roles and API keys.

Lives here: what a role includes, how a key is made and checked.
Must not: HTTP headers (`api.auth`), storage (`engine.store.keys`), or rules about workloads (`policy/`).
"""
