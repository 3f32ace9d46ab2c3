"""Decides: reads bundles, evaluates them, journals every answer, keeps the durable state.

Lives here: everything that Lictor knows about decisions, whatever asks for them.
Must not: HTTP, Kubernetes, Slurm, NVML or the terminal. Those are the edges (`api`, `adapters`, `nodeagent`, `cli`)
and import this package, never the other way round.
"""
