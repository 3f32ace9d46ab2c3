"""Measurements: each `python -m bench.NAME --json` prints one JSON object last.

Lives here: load, counting, ratios within one run.
Must not: be imported by anything, or be a timed test.
"""
