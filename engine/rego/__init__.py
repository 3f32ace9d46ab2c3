"""The Rego evaluator: parse, resolve, check, compile to Python, run.

    source ── lexer, parser ──▶ syntax ── resolve ──▶ names ── safety ──▶ order ── codegen, linking ──▶ Python

Lives here: the language and its builtins, usable without anything else of Lictor (`evaluate.run_query`).
Must not: import any other part of this project, or do any I/O.

Not yet behind the evaluator port: static types and arities are not checked, and what a policy must not call is not
refused at load. Until then `engine.evaluator.regopy_pool` evaluates, and `python -m bench.conformance` measures this.
"""
