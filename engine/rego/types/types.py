"""The types that the checker reasons with, and what OPA says about them: which unify, and how they are written.

A type is never exact: `unifies` is False only if no value can belong to both. None in place of a type is OPA's `???`,
which is not known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key, reduce
from heapq import merge
from typing import Final, TypeAlias

from engine.rego.values import Frozen, RegoSet, Value, compare, freeze, thaw

UNKNOWN: Final = "???"

Order: TypeAlias = tuple[object, ...]
"""A key for sorting, in OPA's order of types; equal types have equal keys. Kept, because unions ask for it often."""


@dataclass(frozen=True, slots=True)
class Any:
    def __str__(self) -> str:
        return "any"


@dataclass(frozen=True, slots=True)
class Null:
    def __str__(self) -> str:
        return "null"


@dataclass(frozen=True, slots=True)
class Boolean:
    def __str__(self) -> str:
        return "boolean"


@dataclass(frozen=True, slots=True)
class Number:
    def __str__(self) -> str:
        return "number"


@dataclass(frozen=True, slots=True)
class String:
    def __str__(self) -> str:
        return "string"


@dataclass(frozen=True, slots=True)
class Array:
    """The first items have the types `static`; those that may follow are `dynamic`, or none may follow."""

    static: tuple[Type | None, ...] = ()
    dynamic: Type | None = None
    order: Order = field(init=False, repr=False, compare=False)
    unknown: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        order = (4, self.dynamic is not None, _order(self.dynamic), tuple(map(_order, self.static)))
        object.__setattr__(self, "order", order)
        unknown = any(map(is_unknown, self.static)) or (self.dynamic is not None and is_unknown(self.dynamic))
        object.__setattr__(self, "unknown", unknown)

    def __str__(self) -> str:
        more = f"[{self.dynamic}]" if self.dynamic is not None else ""
        return "array" + _angled(map(text_of, self.static)) + more

    def item(self, index: int) -> Type | None:
        return self.static[index] if 0 <= index < len(self.static) else self.dynamic if index >= 0 else None


@dataclass(frozen=True, slots=True)
class Object:
    """`static` are keys that are there, in OPA's order; `dynamic` are the types of other keys and of their values."""

    static: tuple[tuple[Frozen, Type | None], ...] = ()
    dynamic: tuple[Type | None, Type | None] | None = None
    by_key: Mapping[Frozen, Type | None] = field(init=False, repr=False, compare=False)
    order: Order = field(init=False, repr=False, compare=False)
    unknown: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dynamic = self.dynamic or ()
        keyed = sorted(((_key_order(key), key, of) for key, of in self.static), key=lambda entry: entry[0])
        object.__setattr__(self, "static", tuple((key, of) for _, key, of in keyed))
        object.__setattr__(self, "by_key", dict(self.static))
        keys = tuple((key, _order(of)) for key, _, of in keyed)
        object.__setattr__(self, "order", (5, self.dynamic is not None, tuple(map(_order, dynamic)), keys))
        unknown = any(is_unknown(of) for _, of in self.static) or any(map(is_unknown, dynamic))
        object.__setattr__(self, "unknown", unknown)

    def __str__(self) -> str:
        more = f"[{text_of(self.dynamic[0])}: {text_of(self.dynamic[1])}]" if self.dynamic is not None else ""
        return "object" + _angled(f"{key_text(key)}: {text_of(of)}" for key, of in self.static) + more

    @property
    def dynamic_value(self) -> Type | None:
        return self.dynamic[1] if self.dynamic is not None else None

    def item(self, key: Frozen) -> Type | None:
        if key in self.by_key:
            return self.by_key[key]
        if self.dynamic is not None and contains(self.dynamic[0], type_of_value(thaw(key))):
            return self.dynamic[1]
        return None


@dataclass(frozen=True, slots=True)
class Set:
    of: Type | None = None
    """None for the empty set, which belongs to every type of set."""
    order: Order = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", (6, _order(self.of)))

    def __str__(self) -> str:
        return f"set[{self.of}]" if self.of is not None else "set"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these. In OPA's order, so that equal unions are equal; `Any` is the union of everything."""

    of: tuple[Type, ...]
    order: Order = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(sorted(self.of, key=_order)))
        object.__setattr__(self, "order", (7, *map(_order, self.of)))

    def __contains__(self, other: Type | None) -> bool:
        place = bisect_left(self.of, _order(other), key=_order)
        return place < len(self.of) and self.of[place] == other

    def __str__(self) -> str:
        return "any" + _angled(map(str, self.of))


@dataclass(frozen=True, slots=True)
class Function:
    args: tuple[Type, ...] = ()
    result: Type | None = None
    """None for a function that is called for its effect alone (`print`)."""
    variadic: Type | None = None
    """Of any number of arguments that may follow `args`."""

    def __str__(self) -> str:
        return f"{self.args_text} => {text_of(self.result)}"

    @property
    def args_text(self) -> str:
        more = [f"{self.variadic}..."] if self.variadic is not None else []
        return "(" + ", ".join([*map(str, self.args), *more]) + ")"

    def arg(self, index: int) -> Type | None:
        return self.args[index] if index < len(self.args) else self.variadic


Type: TypeAlias = Any | Null | Boolean | Number | String | Array | Object | Set | AnyOf | Function

ANY: Final = Any()
NULL: Final = Null()
BOOLEAN: Final = Boolean()
NUMBER: Final = Number()
STRING: Final = String()


def text_of(of: Type | None) -> str:
    """As OPA writes it in messages."""
    return UNKNOWN if of is None else str(of)


def type_of_value(value: Value) -> Type:
    """Of a value that is written out: every item of an array and every key of an object is known."""
    plain = _SCALARS.get(type(value))
    if plain is not None:
        return plain
    if isinstance(value, list):
        return Array(tuple(map(type_of_value, value)))
    if isinstance(value, dict):
        return Object(tuple((key, type_of_value(item)) for key, item in value.items()))
    return Set(union_of(map(type_of_value, value.unordered())))


def unifies(one: Type | None, other: Type | None) -> bool:
    """Whether some value may belong to both. What is unknown unifies with nothing: ask `is_unknown` first."""
    if one is None or other is None:
        return False
    if type(one) in _PLAIN and type(other) in _PLAIN:
        return type(one) is type(other)
    if isinstance(one, Any | AnyOf) or isinstance(other, Any | AnyOf):
        return _unifies_any(one, other) or _unifies_any(other, one)
    if isinstance(one, Array) and isinstance(other, Array):
        return _unifies_arrays(one, other)
    if isinstance(one, Object) and isinstance(other, Object):
        return _unifies_objects(one, other)
    if isinstance(one, Set) and isinstance(other, Set):
        return one.of is None or other.of is None or unifies(one.of, other.of)
    if isinstance(one, Function) and isinstance(other, Function):
        return len(one.args) == len(other.args) and all(map(unifies, one.args, other.args))
    return type(one) is type(other)


def assignable(expected: Type | None, found: Type | None) -> bool:
    """Whether a term of type `found` may stand where `expected` is asked for: OPA only asks that the two unify."""
    return unifies(expected, found)


def contains(one: Type | None, other: Type | None) -> bool:
    """Whether `one` is `other`, or a union that lists it."""
    if isinstance(one, Any):
        return not isinstance(other, Function)
    return other in one if isinstance(one, AnyOf) else one == other


def union(one: Type | None, other: Type | None) -> Type | None:
    """The type of what may be either; None only if both are unknown, or a function meets what is none."""
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, Function) or isinstance(other, Function):
        return _union_functions(one, other)
    if isinstance(one, Any) or isinstance(other, Any):
        return ANY
    if one == other or (isinstance(one, AnyOf) and other in one):
        return one
    return (
        other
        if isinstance(other, AnyOf) and one in other
        else AnyOf(_distinct(merge(_members(one), _members(other), key=_order)))
    )


def union_of(types: Iterable[Type | None]) -> Type | None:
    known = [of for of in types if of is not None]
    if len(known) < 3 or any(isinstance(of, Function) for of in known):
        return reduce(union, known, None)
    if any(isinstance(of, Any) for of in known):
        return ANY
    members = _distinct(sorted((member for of in known for member in _members(of)), key=_order))
    alone = len(members) == 1 and not any(isinstance(of, AnyOf) for of in known)
    return members[0] if alone else AnyOf(members)


def select(of: Type | None, key: Value) -> Type | None:
    """The type of `of[key]` for a known key; None if there can be none."""
    if isinstance(of, Any):
        return ANY
    if isinstance(of, Array):
        whole = isinstance(key, int) and not isinstance(key, bool)
        return of.item(key) if whole else None
    if isinstance(of, Object):
        return of.item(freeze(key))
    if isinstance(of, Set):
        found = type_of_value(key)
        return found if contains(of.of, found) else None
    if isinstance(of, AnyOf):
        return union_of(select(member, key) for member in of.of)
    return None


def keys_type(of: Type | None) -> Type | None:
    """The type of `k` in `of[k]`."""
    if isinstance(of, Any):
        return ANY
    if isinstance(of, Array):
        return NUMBER
    if isinstance(of, Object):
        found = union_of(type_of_value(thaw(key)) for key, _ in of.static)
        return union(found, of.dynamic[0]) if of.dynamic is not None else found
    if isinstance(of, AnyOf):
        return union_of(map(keys_type, of.of))
    return of.of if isinstance(of, Set) else None


def values_type(of: Type | None) -> Type | None:
    """The type of `of[k]` for any `k`."""
    if isinstance(of, Any):
        return ANY
    if isinstance(of, Array):
        return union_of((*of.static, of.dynamic))
    if isinstance(of, Object):
        return union_of((*(item for _, item in of.static), of.dynamic_value))
    if isinstance(of, AnyOf):
        return union_of(map(values_type, of.of))
    return of.of if isinstance(of, Set) else None


def is_unknown(of: Type | None) -> bool:
    """Whether a part of it is unknown; of a union, only the whole is asked."""
    if of is None or type(of) in _PLAIN:
        return of is None
    if isinstance(of, Function):
        return any(map(is_unknown, (*of.args, of.result)))
    if isinstance(of, Array | Object):
        return of.unknown
    return isinstance(of, Set) and is_unknown(of.of)


def _unifies_any(one: Type, other: Type) -> bool:
    if isinstance(other, Function):
        return False
    return isinstance(one, Any) or (isinstance(one, AnyOf) and any(unifies(member, other) for member in one.of))


def _unifies_arrays(one: Array, other: Array) -> bool:
    longest = range(max(len(one.static), len(other.static)))
    if not all(unifies(one.item(index), other.item(index)) for index in longest):
        return False
    return one.dynamic is None or other.dynamic is None or unifies(one.dynamic, other.dynamic)


def _unifies_objects(one: Object, other: Object) -> bool:
    if not (_unifies_static(one, other) and _unifies_static(other, one)):
        return False
    values = one.dynamic_value, other.dynamic_value
    return None in values or unifies(*values)


def _unifies_static(one: Object, other: Object) -> bool:
    closed = one.dynamic_value is None and other.dynamic_value is None
    for key, of in one.static:
        found = other.item(key)
        if closed if found is None else not unifies(of, found):
            return False
    return True


def _members(of: Type) -> tuple[Type, ...]:
    return of.of if isinstance(of, AnyOf) else (of,)


def _union_functions(one: Type, other: Type) -> Type | None:
    if not isinstance(one, Function) or not isinstance(other, Function) or len(one.args) != len(other.args):
        return None
    if (one.variadic is None) != (other.variadic is None):
        return None
    args = (union(a, b) for a, b in zip(one.args, other.args, strict=True))
    known = tuple(arg for arg in args if arg is not None)
    return Function(known, union(one.result, other.result), union(one.variadic, other.variadic))


def key_text(key: Frozen) -> str:
    """As OPA writes the key of an object's type: without quotes."""
    return _key_text(thaw(key))


def _angled(parts: Iterable[str]) -> str:
    inside = ", ".join(parts)
    return f"<{inside}>" if inside else ""


def _key_text(key: Value) -> str:
    """As Go prints a value: OPA does not quote the keys of a type."""
    if isinstance(key, list | RegoSet):
        return "[" + " ".join(map(_key_text, key)) + "]"
    if isinstance(key, dict):
        return "map[" + " ".join(f"{_key_text(thaw(name))}:{_key_text(item)}" for name, item in key.items()) + "]"
    return "<nil>" if key is None else str(key).lower() if isinstance(key, bool) else str(key)


def _distinct(sorted_types: Iterable[Type]) -> tuple[Type, ...]:
    found: list[Type] = []
    for of in sorted_types:
        if not found or found[-1] != of:
            found.append(of)
    return tuple(found)


def _order(of: Type | None) -> Order:
    if isinstance(of, Array | Object | Set | AnyOf):
        return of.order
    if isinstance(of, Function):
        return (8, len(of.args), tuple(map(_order, of.args)), _order(of.result), _order(of.variadic))
    return (_RANKS[type(of)],)


def _key_order(key: Frozen) -> Order:
    if type(key) is str:
        return (1, key)
    value = thaw(key)
    return (0 if value is None or isinstance(value, bool | int | float) else 2, _KEY_ORDER(value))


_KEY_ORDER: Final = cmp_to_key(compare)
_PLAIN: Final = frozenset({Null, Boolean, Number, String})
"""Types that have no parts."""
_SCALARS: Final[dict[type, Type]] = {type(None): NULL, bool: BOOLEAN, int: NUMBER, float: NUMBER, str: STRING}
_RANKS: Final[dict[type, int]] = {type(None): -1, Null: 0, Boolean: 1, Number: 2, String: 3, Any: 7}
