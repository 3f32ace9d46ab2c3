"""Rego values as native Python values, with OPA's equality and order.

    null, boolean, number, string   None, bool, int | float, str
    array                           list, never changed once it is a value
    object                          dict; keys are *frozen* values
    set                             RegoSet of frozen values

Python takes True for 1, and cannot hash a list. So what must be hashed (an element of a set, a key of an object, an
argument of a memo) is frozen: strings and numbers are themselves, everything else is a `Boxed` value. An object from
JSON has string keys only and is its own frozen form: nothing is converted on the way in.

Undefined is not a value: it is the one object UNDEFINED, which no set, array or object ever holds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, TypeAlias

Value: TypeAlias = Any
"""None, bool, int, float, str, list, dict or RegoSet. `Any`: a checker cannot follow native values through rules."""

Frozen: TypeAlias = "str | int | float | Boxed"


class Undefined:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        raise TypeError("undefined is neither true nor false: compare with `is UNDEFINED`")


UNDEFINED: Final = Undefined()


class Boxed:
    """A value that can be hashed: equal to another if OPA says that the two values are equal."""

    __slots__ = ("_hash", "_key", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self._key = _key(value)
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Boxed) and self._hash == other._hash and self._key == other._key

    def __repr__(self) -> str:
        return f"Boxed({self.value!r})"


def freeze(value: Value) -> Frozen:
    kind = type(value)
    if kind is str or ((kind is int or kind is float) and -_COLLIDING < value < _COLLIDING):
        return value  # type: ignore[no-any-return]
    return value if kind is Boxed else Boxed(value)


def thaw(frozen: Frozen) -> Value:
    return frozen.value if type(frozen) is Boxed else frozen


class RegoSet:
    """A set of values. Iteration is in OPA's order, which is found when it is first asked for."""

    __slots__ = ("_items", "_sorted")

    def __init__(self, values: Iterable[Value] = ()) -> None:
        self._items: frozenset[Frozen] | set[Frozen] = {freeze(value) for value in values}
        self._sorted: list[Value] | None = None

    @classmethod
    def of_frozen(cls, items: set[Frozen] | frozenset[Frozen]) -> RegoSet:
        made = cls()
        made._items = items
        return made

    @property
    def frozen(self) -> set[Frozen] | frozenset[Frozen]:
        """Not to be changed."""
        return self._items

    def __contains__(self, value: Value) -> bool:
        return freeze(value) in self._items

    def __getitem__(self, value: Value) -> Value:
        """The element itself, as a path into a set has it; KeyError if it is none."""
        if freeze(value) in self._items:
            return value
        raise KeyError(value)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Value]:
        if self._sorted is None:
            self._sorted = sort_values(map(thaw, self._items))
        return iter(self._sorted)

    def unordered(self) -> Iterator[Value]:
        """For whoever does not care: no order has to be found."""
        return map(thaw, self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegoSet) and self._items == other._items

    def __hash__(self) -> int:
        raise TypeError("a set is hashed through freeze()")

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self._items else "set()"


def equal(one: Value, other: Value) -> bool:
    """OPA's equality: 1 is 1.0, true is not 1, at any depth."""
    return one == other and (type(one) is str or _same_kinds(one, other))


def get(collection: Value, key: Value) -> Value:
    """`collection[key]`; UNDEFINED if there is none. A set holds its own keys."""
    kind = type(collection)
    if kind is dict:
        return collection.get(freeze(key), UNDEFINED)
    if kind is list:
        if type(key) is int or (type(key) is float and key.is_integer()):
            return collection[int(key)] if 0 <= key < len(collection) else UNDEFINED
        return UNDEFINED
    if kind is RegoSet:
        return key if key in collection else UNDEFINED
    return UNDEFINED


def make_object(pairs: Iterable[tuple[Value, Value]]) -> dict[Frozen, Value]:
    return {freeze(key): value for key, value in pairs}


def keys_of(obj: dict[Frozen, Value]) -> list[Value]:
    """In OPA's order."""
    return sort_values(map(thaw, obj))


def kind_of(value: Value) -> str:
    """OPA's name of the value's type."""
    return _NAMES[type(value)]


def sort_values(values: Iterable[Value]) -> list[Value]:
    items = list(values)
    kinds = set(map(type, items))
    if kinds == _ARRAYS:  # of one kind of scalars, as pairs often are: Python orders them so too
        kinds = set(map(type, chain.from_iterable(items)))
    if kinds <= _STRINGS or kinds <= _NUMBERS:
        return sorted(items)
    return sorted(items, key=_sort_key)


def _sort_key(value: Value) -> list[Value]:
    """A flat list that Python orders as OPA orders the values: ranks, scalars, and an end before all ranks."""
    flat: list[Value] = []
    _flatten(value, flat)
    return flat


def _flatten(value: Value, flat: list[Value]) -> None:
    kind = type(value)
    flat.append(_RANKS[kind])
    if kind is list or kind is RegoSet:
        for item in value:
            _flatten(item, flat)
        flat.append(_END)
    elif kind is dict:
        for key in keys_of(value):
            _flatten(key, flat)
            _flatten(value[freeze(key)], flat)
        flat.append(_END)
    elif value is not None:
        flat.append(value)


def compare(one: Value, other: Value) -> int:
    """-1, 0 or 1 in OPA's order: null, booleans, numbers, strings, arrays, objects, sets."""
    rank, other_rank = _RANKS[type(one)], _RANKS[type(other)]
    if rank != other_rank:
        return -1 if rank < other_rank else 1
    return _COMPARE[rank](one, other)


def _key(value: Value) -> object:
    """Equal keys for equal values, and a hash: tagged, so that no two kinds meet."""
    kind = type(value)
    if kind is bool:
        return ("b", value)
    if kind is int or kind is float:
        return ("n", hex(int(value)) if kind is int or math.isfinite(value) else repr(value))
    if kind is list:
        return ("a", *map(freeze, value))
    if kind is dict:
        return ("o", frozenset((key, freeze(item)) for key, item in value.items()))
    if kind is RegoSet:
        return ("s", frozenset(value.frozen))
    return ("z", None)


def _same_kinds(one: Value, other: Value) -> bool:
    """For two values that Python finds equal: whether no boolean was taken for a number."""
    kind, other_kind = type(one), type(other)
    if kind is bool or other_kind is bool:
        return kind is other_kind
    if kind is list:
        return all(map(_same_kinds, one, other))
    if kind is dict:
        return all(_same_kinds(item, other[key]) for key, item in one.items())
    return True


def _compare_scalars(one: Value, other: Value) -> int:
    return int(one > other) - int(one < other)


def _compare_arrays(one: list[Value], other: list[Value]) -> int:
    for a, b in zip(one, other, strict=False):
        if order := compare(a, b):
            return order
    return _compare_scalars(len(one), len(other))


def _compare_objects(one: dict[Frozen, Value], other: dict[Frozen, Value]) -> int:
    keys, other_keys = keys_of(one), keys_of(other)
    for a, b in zip(keys, other_keys, strict=False):
        if order := compare(a, b):
            return order
        if order := compare(one[freeze(a)], other[freeze(b)]):
            return order
    return _compare_scalars(len(keys), len(other_keys))


def _compare_sets(one: RegoSet, other: RegoSet) -> int:
    return _compare_arrays(list(one), list(other))


_NAMES: Final[dict[type, str]] = {
    type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array",
    dict: "object", RegoSet: "set",
}  # fmt: skip
_RANKS: Final[dict[type, int]] = {type(None): 0, bool: 1, int: 2, float: 2, str: 3, list: 4, dict: 5, RegoSet: 6}
_COMPARE: Final[tuple[Callable[[Any, Any], int], ...]] = (
    lambda _, __: 0, _compare_scalars, _compare_scalars, _compare_scalars, _compare_arrays, _compare_objects,
    _compare_sets,
)  # fmt: skip
_COLLIDING: Final = sys.hash_info.modulus
"""Python hashes a number by its rest: from here on, whoever chooses numbers can make all of them collide."""
_END: Final = -1
_ARRAYS: Final = frozenset({list})
_STRINGS: Final = frozenset({str})
_NUMBERS: Final = frozenset({int, float})
