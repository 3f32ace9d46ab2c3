"""What compiled rules call while they run: iteration, lookups, results, calls of what `with` may replace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from engine.rego.errors import BuiltinError, EvalError, Location
from engine.rego.run.origins import Rules, merged
from engine.rego.run.query import Query
from engine.rego.values import UNDEFINED, Boxed, Frozen, RegoSet, Value, equal, freeze, keys_of, thaw

MISSING: Final = (KeyError, TypeError)
"""What Python raises where a path leads nowhere."""


def items(q: Query, collection: Value) -> Iterable[tuple[Value, Value]]:
    """Key and value of each element, in any order."""
    kind = type(collection)
    if kind is list:
        return _charged(q, enumerate(collection), len(collection))
    if kind is dict:
        pairs = collection.items()
        plain = Boxed not in map(type, collection)
        return _charged(q, pairs if plain else [(thaw(key), value) for key, value in pairs], len(collection))
    if kind is RegoSet:
        return _charged(q, ((value, value) for value in collection.unordered()), len(collection))
    return ()


def items_in_order(q: Query, collection: Value) -> Iterable[tuple[Value, Value]]:
    """The same in OPA's order, where that shows: in an array, and in the answers of a query."""
    kind = type(collection)
    if kind is dict:
        return _charged(q, [(key, collection[freeze(key)]) for key in keys_of(collection)], len(collection))
    if kind is RegoSet:
        return _charged(q, [(value, value) for value in collection], len(collection))
    return items(q, collection)


def elements(q: Query, collection: Value) -> Iterable[Value]:
    kind = type(collection)
    if kind is list:
        return _charged(q, collection, len(collection))
    if kind is dict:
        return _charged(q, collection.values(), len(collection))
    if kind is RegoSet:
        return _charged(q, collection.unordered(), len(collection))
    return ()


def elements_in_order(q: Query, collection: Value) -> Iterable[Value]:
    kind = type(collection)
    if kind is dict:
        return _charged(q, [collection[freeze(key)] for key in keys_of(collection)], len(collection))
    return _charged(q, collection, len(collection)) if kind is list or kind is RegoSet else ()


def _charged(q: Query, over: Iterable[Any], count: int) -> Iterable[Any]:
    """What a loop will take is paid before it begins."""
    budget = q.budget
    budget.left -= count
    if budget.left < 0:
        budget.spend()
    return over


def holds_for_all(q: Query, holds: Callable[[Value, Value], bool], collection: Value) -> bool:
    return all(holds(key, value) for key, value in items(q, collection)) and type(collection) in _COLLECTIONS


def member(q: Query, value: Value, collection: Value) -> bool:
    """`value in collection`"""
    kind = type(collection)
    if kind is RegoSet:
        return value in collection
    if kind is dict:
        collection = collection.values()
    elif kind is not list:
        return False
    if type(value) is str:
        return value in collection
    return any(equal(value, each) for each in _charged(q, collection, len(collection)))


def call_function(q: Query, name: str, function: Callable[..., Value], *args: Value) -> Value:
    """A function that some `with` may replace."""
    if q.mocks and name in q.mocks:
        return q.mocked(name, args)
    return function(q, *args)


_COLLECTIONS: Final = frozenset({list, dict, RegoSet})


def noted(origins: dict[Frozen, Rules], key: Frozen, rules: Rules) -> None:
    origins[key] = rules if key not in origins else merged(origins[key], rules)


def note_document(q: Query, number: int, rules: Rules) -> None:
    known = q.where[number]
    q.where[number] = merged(known, rules) if type(known) is tuple else rules


def agreed(known: Value, found: Value, location: Location) -> Value:
    """The one value of a complete rule."""
    if known is UNDEFINED or equal(known, found):
        return found
    raise EvalError("eval_conflict_error", "complete rules must not produce multiple outputs", location)


def insert_key(target: dict[Frozen, Value], key: Value, value: Value, location: Location) -> None:
    """A key of a partial object whose keys are all of one depth."""
    frozen = freeze(key)
    if frozen in target and not equal(target[frozen], value):
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    target[frozen] = value


def insert(target: dict[Frozen, Value], path: tuple[Value, ...], value: Value, location: Location) -> None:
    """A key of a partial object, at any depth."""
    target = _descended(target, path[:-1], location)
    key = freeze(path[-1])
    if key in target and not equal(target[key], value):
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    target[key] = value


def insert_member(target: dict[Frozen, Value], path: tuple[Value, ...], value: Value, location: Location) -> None:
    """An element of a set that is itself below a partial object."""
    holder = _descended(target, path[:-1], location)
    members = holder.setdefault(freeze(path[-1]), _Members())
    if type(members) is not _Members:
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    members.add(freeze(value))


def prepare(target: dict[Frozen, Value], containers: Iterable[tuple[tuple[Frozen, ...], bool]]) -> None:
    """Make objects and sets that are there before any rule fills them."""
    for path, is_set in containers:
        holder = target
        for part in path[:-1]:
            holder = holder.setdefault(part, _Branch())
        holder.setdefault(path[-1], _Members() if is_set else _Branch())


class _Members(set[Frozen]):
    """A set in the making."""


class _Branch(dict[Frozen, Value]):
    """An object in the making, as opposed to one that a rule gave as a value."""


def finished(value: Value) -> Value:
    kind = type(value)
    if kind is _Members:
        return RegoSet.of_frozen(value)
    if kind is _Branch:
        return {key: finished(item) for key, item in value.items()}
    return value


def new_object() -> dict[Frozen, Value]:
    return _Branch()


def _descended(target: dict[Frozen, Value], path: tuple[Value, ...], location: Location) -> dict[Frozen, Value]:
    for part in path:
        below = target.setdefault(freeze(part), _Branch())
        if type(below) is not _Branch:
            raise EvalError("eval_conflict_error", "object keys must be unique", location)
        target = below
    return target


def interpolated(value: Value) -> str:
    """A value inside a template string; what is undefined says so."""
    if value is UNDEFINED:
        return "<undefined>"
    return value if type(value) is str else written(value)


def written(value: Value) -> str:
    """A value as OPA prints it."""
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is int or kind is float:
        return json.dumps(value, ensure_ascii=False)
    if kind is list:
        return "[" + ", ".join(map(written, value)) + "]"
    if kind is RegoSet:
        return "{" + ", ".join(map(written, value)) + "}" if len(value) else "set()"
    pairs = ((key, value[freeze(key)]) for key in keys_of(value))
    return "{" + ", ".join(f"{written(key)}: {written(item)}" for key, item in pairs) + "}"


def builtin_failed(query: Query, error: BuiltinError, location: Location) -> None:
    """Undefined to the rule, unless the query is strict."""
    if query.circumstances.strict:
        raise EvalError(error.code, error.message, location) from error
