"""Variables of a body whose values are written down: `x := "a"`, `some x in ["a", "b"]`."""

from __future__ import annotations

from typing import Final

from engine.rego.syntax import tree as s

Known = dict[str, tuple[s.Term, ...]]

MOST: Final = 64
"""More values than that are as good as unknown."""


def add_known(expr: s.Expr, known: Known) -> None:
    """What the expression says of a variable that nothing said anything of before."""
    if expr.negated or expr.withs:
        return
    match expr.of:
        case s.SomeIn(_, s.Var(name), collection):
            values = values_of(collection, known)
            if values is not None:
                _add(name, _members(values), known)
        case s.Call(("eq",) | ("assign",), (one, other)):
            for var, term in ((one, other), (other, one)):
                if isinstance(var, s.Var):
                    _add(var.name, values_of(term, known), known)


def _add(name: str, values: tuple[s.Term, ...] | None, known: Known) -> None:
    if values is not None and len(values) <= MOST:
        known.setdefault(name, values)


def values_of(term: s.Term, known: Known) -> tuple[s.Term, ...] | None:
    """All that it can be, as far as that is written down."""
    match term:
        case s.Var(name):
            return known.get(name)
        case s.Ref(head, path):
            values = values_of(head, known)
            for part in path:
                values = _members(values, part) if values is not None else None
            return values
        case _:
            return (term,) if _is_constant(term) else None


def _members(values: tuple[s.Term, ...], key: s.Term | None = None) -> tuple[s.Term, ...] | None:
    found: list[s.Term] = []
    for value in values:
        match value:
            case s.Object(pairs):
                found.extend(item for at, item in pairs if not isinstance(key, s.Scalar) or _same(at, key))
            case s.Array(items) if not isinstance(key, s.Scalar):
                found.extend(items)
            case s.Array(items):
                found.extend(
                    item for place, item in enumerate(items) if isinstance(key, s.Scalar) and key.value == place
                )
            case s.Set(items):
                found.extend(item for item in items if not isinstance(key, s.Scalar) or _same(item, key))
            case _:
                return None
    return tuple(found)


def _same(one: s.Term, other: s.Scalar) -> bool:
    return isinstance(one, s.Scalar) and type(one.value) is type(other.value) and one.value == other.value


def _is_constant(term: s.Term) -> bool:
    match term:
        case s.Scalar():
            return True
        case s.Array(items) | s.Set(items):
            return all(map(_is_constant, items))
        case s.Object(pairs):
            return all(_is_constant(part) for pair in pairs for part in pair)
        case _:
            return False
