"""A simulated orchestrator and fleet on an injected clock: the embedded default, and the fake of the contract suite.

Lives here: queueing, binding, running and failing, without a machine underneath.
Must not: decide, read the wall clock, or import another adapter or `api`.
"""
