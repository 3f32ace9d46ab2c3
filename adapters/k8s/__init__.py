"""Emits writs to Kubernetes, watches it, and fences it so that nothing runs on a GPU without one.

Lives here: everything that knows the `kubernetes` client or a Kubernetes object.
Must not: decide; speak to Slurm; import `api`.
"""
