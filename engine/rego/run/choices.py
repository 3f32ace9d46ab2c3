"""An index at run time: which clauses of a rule can match, by what the paths that they test hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from engine.rego.values import UNDEFINED, Frozen, Value, freeze, get

if TYPE_CHECKING:
    from engine.rego.run.query import Query

Clause: TypeAlias = Callable[..., Value]
Clauses: TypeAlias = tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    root: str | int
    """`input`, `data`, or the number of an argument."""
    path: tuple[str, ...]
    branches: dict[Frozen, Choices]
    """By the value that the path must hold."""

    def chosen(self, q: Query, args: tuple[Value, ...]) -> Choices | None:
        value = args[self.root] if type(self.root) is int else q.input if self.root == "input" else q.data
        for key in self.path:
            value = value.get(key, UNDEFINED) if type(value) is dict else get(value, key)
        kind = type(value)
        if kind is str or kind is int or kind is float:
            return self.branches.get(value)
        return self.branches.get(freeze(value)) if kind is bool or value is None else None


@dataclass(frozen=True, slots=True)
class Choices:
    """Each clause is in one place: always tried, or behind one of the choices."""

    always: Clauses
    of: tuple[Choice, ...] = ()


def choose(q: Query, choices: Choices, args: tuple[Value, ...] = ()) -> Clauses:
    """The clauses that can match."""
    clauses = choices.always
    for choice in choices.of:
        branch = choice.chosen(q, args)
        if branch is not None:
            clauses += choose(q, branch, args) if branch.of else branch.always
    return clauses
