"""Emits writs to Slurm and watches it. The same module names as `adapters.k8s`, on purpose.

Lives here: everything that knows a Slurm command, file or REST call.
Must not: decide; speak to Kubernetes; import `api`.
"""
