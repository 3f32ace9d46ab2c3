"""Orchestrators: one sub-package each, all behind the port that lives in `engine`.

Lives here: translating a writ into what one orchestrator understands, and its state into evidence.
Must not: decide anything, import another adapter, or import `api`.
"""
