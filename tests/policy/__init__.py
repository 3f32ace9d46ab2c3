"""The starter bundle: its case tables in our evaluator and in OPA, and its own Rego tests."""
