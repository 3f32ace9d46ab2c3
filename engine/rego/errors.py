"""Errors of the language, with OPA's codes and the place where each one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Location:
    file: str
    row: int
    col: int
    """Both count from 1; `col` counts characters, as OPA does."""

    def __str__(self) -> str:
        return f"{self.file}:{self.row}:{self.col}"


@dataclass(frozen=True, slots=True)
class RegoProblem:
    """One fault of a module: `rego_parse_error`, `rego_unsafe_var_error`, `rego_type_error`, …"""

    code: str
    message: str
    location: Location
    hint: str | None = None
    """What the author may have meant. The message alone is OPA's."""


class RegoSyntaxError(Exception):
    """A module, or several, cannot be used; all that is wrong with them, in the order of their places."""

    def __init__(self, problems: Sequence[RegoProblem]) -> None:
        super().__init__("; ".join(f"{problem.location}: {problem.code}: {problem.message}" for problem in problems))
        self.problems = tuple(problems)


class EvalError(Exception):
    """An evaluation that ends in an error instead of a value: `eval_conflict_error`, `eval_type_error`, …"""

    def __init__(self, code: str, message: str, location: Location | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.location = location


class BuiltinError(Exception):
    """A builtin cannot answer for these arguments: undefined to the rule, an error in strict mode."""

    def __init__(self, message: str, code: str = "eval_builtin_error") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
