"""The types that the checker reasons with, and what OPA says about them: which unify, and how they are written.

A type is never exact: `unifies` is False only if no value can belong to both. None in place of a type is OPA's `???`,
which is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Final, TypeAlias

from engine.rego.values import Frozen, RegoSet, Value, compare, freeze, thaw

UNKNOWN: Final = "???"


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "static", tuple(sorted(self.static, key=lambda entry: _KEY_ORDER(thaw(entry[0])))))

    def __str__(self) -> str:
        more = f"[{text_of(self.dynamic[0])}: {text_of(self.dynamic[1])}]" if self.dynamic is not None else ""
        return "object" + _angled(f"{_key_text(thaw(key))}: {text_of(of)}" for key, of in self.static) + more

    @property
    def dynamic_value(self) -> Type | None:
        return self.dynamic[1] if self.dynamic is not None else None

    def item(self, key: Frozen) -> Type | None:
        for static, of in self.static:
            if static == key:
                return of
        if self.dynamic is not None and contains(self.dynamic[0], type_of_value(thaw(key))):
            return self.dynamic[1]
        return None


@dataclass(frozen=True, slots=True)
class Set:
    of: Type | None = None
    """None for the empty set, which belongs to every type of set."""

    def __str__(self) -> str:
        return f"set[{self.of}]" if self.of is not None else "set"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these. In OPA's order, so that equal unions are equal; `Any` is the union of everything."""

    of: tuple[Type, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(sorted(self.of, key=_order)))

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
    if isinstance(value, list):
        return Array(tuple(map(type_of_value, value)))
    if isinstance(value, dict):
        return Object(tuple((key, type_of_value(item)) for key, item in value.items()))
    if isinstance(value, RegoSet):
        return Set(union_of(map(type_of_value, value.unordered())))
    return _SCALARS[type(value)]


def unifies(one: Type | None, other: Type | None) -> bool:
    """Whether some value may belong to both. What is unknown unifies with nothing: ask `is_unknown` first."""
    if one is None or other is None:
        return False
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
    return other in one.of if isinstance(one, AnyOf) else one == other


def union(one: Type | None, other: Type | None) -> Type | None:
    """The type of what may be either; None only if both are unknown, or a function meets what is none."""
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, Function) or isinstance(other, Function):
        return _union_functions(one, other)
    if isinstance(one, Any) or isinstance(other, Any):
        return ANY
    members = dict.fromkeys([*_members(one), *_members(other)])
    alone = len(members) == 1 and not isinstance(one, AnyOf) and not isinstance(other, AnyOf)
    return one if alone else AnyOf(tuple(members))


def union_of(types: Iterable[Type | None]) -> Type | None:
    result: Type | None = None
    for of in types:
        result = union(result, of)
    return result


def select(of: Type | None, key: Value) -> Type | None:
    """The type of `of[key]` for a known key; None if there can be none."""
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
    return ANY if isinstance(of, Any) else None


def keys_type(of: Type | None) -> Type | None:
    """The type of `k` in `of[k]`."""
    if isinstance(of, Array):
        return NUMBER
    if isinstance(of, Object):
        found = union_of(type_of_value(thaw(key)) for key, _ in of.static)
        return union(found, of.dynamic[0]) if of.dynamic is not None else found
    if isinstance(of, AnyOf):
        return union_of(map(keys_type, of.of))
    return of.of if isinstance(of, Set) else ANY if isinstance(of, Any) else None


def values_type(of: Type | None) -> Type | None:
    """The type of `of[k]` for any `k`."""
    if isinstance(of, Array):
        return union_of((*of.static, of.dynamic))
    if isinstance(of, Object):
        return union_of((*(item for _, item in of.static), of.dynamic_value))
    if isinstance(of, AnyOf):
        return union_of(map(values_type, of.of))
    return of.of if isinstance(of, Set) else ANY if isinstance(of, Any) else None


def is_unknown(of: Type | None) -> bool:
    """Whether a part of it is unknown; of a union, only the whole is asked."""
    if isinstance(of, Function):
        return any(map(is_unknown, (*of.args, of.result)))
    if isinstance(of, Array):
        return any(map(is_unknown, of.static)) or (of.dynamic is not None and is_unknown(of.dynamic))
    if isinstance(of, Object):
        return any(is_unknown(item) for _, item in of.static) or any(map(is_unknown, of.dynamic or ()))
    return is_unknown(of.of) if isinstance(of, Set) else of is None


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


def _order(of: Type | None) -> tuple[object, ...]:
    """A key for sorting, in OPA's order of types."""
    if isinstance(of, Array):
        return (4, of.dynamic is not None, _order(of.dynamic), tuple(map(_order, of.static)))
    if isinstance(of, Object):
        dynamic = tuple(map(_order, of.dynamic or ()))
        return (5, of.dynamic is not None, dynamic, tuple((_KEY_ORDER(thaw(k)), _order(t)) for k, t in of.static))
    if isinstance(of, Set):
        return (6, _order(of.of))
    if isinstance(of, AnyOf):
        return (7, *map(_order, of.of))
    if isinstance(of, Function):
        return (8, len(of.args), tuple(map(_order, of.args)), _order(of.result), _order(of.variadic))
    return (_RANKS[type(of)],)


_KEY_ORDER: Final = cmp_to_key(compare)
_SCALARS: Final[dict[type, Type]] = {type(None): NULL, bool: BOOLEAN, int: NUMBER, float: NUMBER, str: STRING}
_RANKS: Final[dict[type, int]] = {type(None): -1, Null: 0, Boolean: 1, Number: 2, String: 3, Any: 7}
