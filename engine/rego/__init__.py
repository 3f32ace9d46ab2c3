"""The Rego evaluator: parse, check, compile to Python, run.

Lives here: the language and its builtins, usable without anything else of Lictor.
Must not: import any other part of this project, or do any I/O.

The room is kept for the compiler; until it moves in, `engine.evaluator.regopy_pool` evaluates.
"""
