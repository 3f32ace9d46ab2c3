"""What can be wrong with a document, where, and how much of one is looked at."""

from __future__ import annotations

from typing import Final, NamedTuple

MAX_TOKENS: Final = 500_000
MAX_DEPTH: Final = 100
"""Selections, values and types inside each other; a fragment that is spread counts as what it holds."""
MAX_STEPS: Final = 1_000_000
"""Of one validation: fields that may overlap, spreads and repeated interfaces grow with the square of the text."""
MAX_FAULTS_TEXT: Final = 1_000_000
"""Characters of all faults of a query together."""


class Position(NamedTuple):
    line: int
    column: int


class Fault(Exception):
    """A document is wrong; `str()` gives it with its place, in gqlparser's form."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        place = f":{position.line}:{position.column}" if position else ""
        super().__init__(f"input{place}: {message}")


def definition_fault(message: str, position: Position | None) -> Fault:
    """Of a schema: what has no position, because it came as a value, is at -1:-1."""
    return Fault(message, position or Position(-1, -1))


class TooLarge(Exception):
    """A document may be right, but it is more than we look at."""


class Budget:
    """How deep and how far one validation may still go."""

    def __init__(self) -> None:
        self._depth = 0
        self._steps = 0

    def deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooLarge(f"the document is nested more than {MAX_DEPTH} levels deep")

    def back(self) -> None:
        self._depth -= 1

    def spend(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise TooLarge(f"the document needs more than {MAX_STEPS} steps")
