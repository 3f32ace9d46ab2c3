"""HTTP: the decision API as OPA answers it, audit queries, health, metrics. The composition root of the server.

Lives here: routes, authentication, limits, the mapping of error codes to HTTP, settings, and the wiring of all parts.
Must not: rules about who may run what (`policy/`), SQL (`engine.store`), or the terminal (`cli`).
"""
