"""Bundles: what OPA calls a directory or archive of rules and data.

Lives here: reading, packing and checking a bundle's files; which bundle is active, and the last good one.
Must not: parse or evaluate Rego (`engine.evaluator`), or know what a rule is for.
"""
