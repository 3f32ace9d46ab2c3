"""What was said of each name in the bodies around a place: which words of a rule may still declare it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum


class Said(Enum):
    """And what is wrong with a declaration that comes after it in the same body."""

    ARGUMENT = "arg {} redeclared"
    SEEN = "var {} referenced above"
    ASSIGNED = "var {} assigned above"
    DECLARED = "var {} declared above"


@dataclass(slots=True)
class Scope:
    hides: frozenset[str] = frozenset()
    """What its body declares anywhere: there, these names mean no rule and no import."""
    said: dict[str, Said] = field(default_factory=dict)
    is_head: bool = False
    """Of a rule: what stands there is not written above anything."""


class Scopes:
    """The innermost last."""

    def __init__(self) -> None:
        self._stack: list[Scope] = []

    @contextmanager
    def inside(self, hides: Collection[str], *, is_head: bool = False) -> Iterator[Scope]:
        scope = Scope(frozenset(hides), is_head=is_head)
        self._stack.append(scope)
        try:
            yield scope
        finally:
            self._stack.pop()

    def hides(self, name: str) -> bool:
        return any(name in scope.hides for scope in self._stack)

    def is_declared(self, name: str) -> bool:
        said = next((scope.said[name] for scope in reversed(self._stack) if name in scope.said), Said.SEEN)
        return said is not Said.SEEN

    def see(self, name: str) -> None:
        if self._stack and not self._stack[-1].is_head and not any(name in scope.said for scope in self._stack):
            self._stack[-1].said[name] = Said.SEEN

    def declare(self, name: str, how: Said) -> str | None:
        """What is wrong with it, if anything."""
        said = self._stack[-1].said
        if name in said:
            return said[name].value.format(name)
        said[name] = how
        return None
