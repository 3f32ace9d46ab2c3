"""Rules and data that claim the same place: neither may hide the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.values import UNDEFINED, Value


def data_conflicts(rules: Iterable[s.Rule], data: Value) -> Iterator[RegoProblem]:
    for rule in rules:
        path = _constant_path(rule)
        if _is_taken(path, data):
            message = f"conflicting rule for data path {'/'.join(path)} found"
            yield RegoProblem("rego_compile_error", message, rule.location)


def _constant_path(rule: s.Rule) -> tuple[str, ...]:
    names = [part.value if isinstance(part, s.Scalar) else None for part in rule.head.ref]
    end = next((place for place, name in enumerate(names) if type(name) is not str), len(names))
    return tuple(str(name) for name in names[:end])


def _is_taken(path: tuple[str, ...], data: Value) -> bool:
    """Whether data is there, or something above it that is no object."""
    for name in path:
        if type(data) is not dict:
            return True
        data = data.get(name, UNDEFINED)
        if data is UNDEFINED:
            return False
    return True
