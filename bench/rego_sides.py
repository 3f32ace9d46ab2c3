"""The evaluators that are compared, each as JSON bytes in, JSON bytes out: compiled once, nothing remembered between.

`LictorSide` is the only place of these measurements that knows how our engine is called.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final

from engine.jsontext import JsonValue, canonical, parse
from engine.rego.errors import EvalError, RegoSyntaxError
from engine.rego.program import Limits, compile_modules
from engine.rego.run.plain import plain
from engine.rego.values import UNDEFINED, Value

UNDEFINED_TEXT: Final = b""
"""The answer where there is none: no JSON text is empty."""
LIMITS: Final = Limits(seconds=10.0)
REGOPY: Final = "engine.evaluator.regopy_worker"


class SideFailed(Exception):
    """An evaluator gave an error where all of them should answer."""


class LictorSide:
    """Our engine with all that a decision needs: a budget of steps, a deadline and origins are on."""

    def __init__(self, modules: Mapping[str, str], data: JsonValue, path: str) -> None:
        self._path = path.split("/")
        try:
            self._program = compile_modules(modules, data, with_origins=True)
        except RegoSyntaxError as error:
            raise SideFailed(f"lictor: {error}") from error

    def evaluate(self, given: Value) -> Value:
        return self._program.evaluate(self._path, given, limits=LIMITS).value

    def answer(self, given: bytes) -> bytes:
        try:
            value = self.evaluate(parse(given))
        except EvalError as error:
            raise SideFailed(f"lictor: {error}") from error
        return UNDEFINED_TEXT if value is UNDEFINED else canonical(plain(value))


class RegopySide:
    """regopy as its worker drives it, but in this process: no pipe is counted against it."""

    def __init__(self, modules: Mapping[str, str], data: JsonValue, path: str) -> None:
        self._segments = tuple(path.split("/"))
        load = {
            "modules": list(modules.values()),
            "data": canonical(data).decode(),
            "keys": [],
            "entrypoints": [path],
            "escapes": False,
        }
        self._program: Any = importlib.import_module(REGOPY).Program(load)
        if self._program.problems:
            raise SideFailed(f"regopy: {self._program.problems[0]}")

    def answer(self, given: bytes) -> bytes:
        found: bytes = self._program.answer(self._segments, given)
        if found.startswith(b"E"):
            raise SideFailed(f"regopy: {found[1:].decode()}")
        return found[1:]


def has_regopy() -> bool:
    try:
        importlib.import_module(REGOPY)
    except ModuleNotFoundError as error:
        if error.name != "regopy":
            raise
        return False
    return True
