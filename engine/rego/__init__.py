"""The Rego evaluator: parse, check, compile to Python, run. `program` is the way in.

    text ── syntax ──▶ tree ── check, types ──▶ ordered rules ── code ──▶ Python ── run, builtins ──▶ values

Lives here: the language, its builtins and its values, usable without anything else of Lictor.
Must not: import any other part of this project, or do any I/O.
"""
