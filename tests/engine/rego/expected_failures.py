"""The list of OPA's cases that may fail, each with its reason; strict in both directions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LIST = Path(__file__).with_name("expected_failures.yaml")


@dataclass(frozen=True, order=True)
class Place:
    """Of a case: its file below the folder of cases, and its index there."""

    file: str
    index: int

    def __str__(self) -> str:
        return f"{self.file} {self.index}"


@dataclass(frozen=True)
class Difference:
    fixed: tuple[Place, ...]
    """Listed, but they pass: take them off the list."""
    broken: tuple[Place, ...]
    """They fail without being listed."""
    gone: tuple[Place, ...]
    """Listed, but there is no such case."""

    @property
    def found(self) -> bool:
        return bool(self.fixed or self.broken or self.gone)

    def __str__(self) -> str:
        parts = {"fixed": self.fixed, "newly broken": self.broken, "no such case": self.gone}
        return "\n".join(f"{name}: {place}" for name, places in parts.items() for place in places)


def read_expected(path: Path = LIST) -> dict[Place, str]:
    """The reason for each; ValueError if an entry is not file, index and reason, is there twice or out of order."""
    entries = yaml.safe_load(path.read_text("utf-8"))
    if not isinstance(entries, list):
        raise ValueError(f"{path.name} is not a list")
    expected: dict[Place, str] = {}
    for entry in entries:
        place, reason = _read(entry)
        if expected and place <= max(expected):
            raise ValueError(f"{place} is listed twice or out of order")
        expected[place] = reason
    return expected


def difference(expected: Iterable[Place], failing: Iterable[Place], known: Iterable[Place]) -> Difference:
    """Between the list and a run of the `known` cases in which `failing` did not pass."""
    listed, failed, cases = set(expected), set(failing), set(known)
    return Difference(
        fixed=tuple(sorted((listed & cases) - failed)),
        broken=tuple(sorted(failed - listed)),
        gone=tuple(sorted(listed - cases)),
    )


def _read(entry: Any) -> tuple[Place, str]:
    match entry:
        case {"file": str(file), "index": int(index), "reason": str(reason), **rest} if not rest and reason.strip():
            return Place(file, index), reason
    raise ValueError(f"{entry!r} is not an entry of file, index and reason")
