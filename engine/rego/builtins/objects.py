"""Objects: looked up, cut down, merged and compared."""

from __future__ import annotations

from engine.rego.builtins.operands import (
    TYPE_ERROR,
    operand_array,
    operand_element_error,
    operand_object,
    operand_one_of,
)
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import UNDEFINED, Frozen, RegoSet, Value, equal, freeze, get

Object = dict[Frozen, Value]


@builtin("object.get")
def get_or(value: Value, path: Value, default: Value) -> Value:
    """An array is a path to follow, through arrays and sets as well; an empty one leads to the object itself."""
    found: Value = operand_object("object.get", 1, value)
    for key in path if type(path) is list else [path]:
        found = get(found, key)
        if found is UNDEFINED:
            return default
    return found


@builtin("object.keys")
def keys(value: Value) -> RegoSet:
    return RegoSet.of_frozen(set(operand_object("object.keys", 1, value)))


@builtin("object.remove")
def remove(value: Value, unwanted: Value) -> Object:
    obj, gone = operand_object("object.remove", 1, value), _keys("object.remove", unwanted)
    return {key: item for key, item in obj.items() if key not in gone}


@builtin("object.filter")
def keep(value: Value, wanted: Value) -> Object:
    obj, kept = operand_object("object.filter", 1, value), _keys("object.filter", wanted)
    return {key: item for key, item in obj.items() if key in kept}


@builtin("object.union")
def union(one: Value, other: Value) -> Object:
    return _merged(operand_object("object.union", 1, one), operand_object("object.union", 2, other))


@builtin("object.union_n")
def union_of_many(value: Value) -> Object:
    objects = operand_array("object.union_n", 1, value)
    result: Object = {}
    for obj in objects:
        if type(obj) is not dict:
            raise operand_element_error("object.union_n", 1, value, obj, ("object",))
        result = _merged(result, obj)
    return result


@builtin("object.subset")
def subset(larger: Value, smaller: Value) -> bool:
    """Whether the second is part of the first; objects are compared deeply, sets and arrays by their elements."""
    if type(larger) is list and type(smaller) is RegoSet:
        return _holds_all(larger, smaller)
    if type(larger) is not type(smaller) or type(larger) not in (dict, RegoSet, list):
        raise BuiltinError(
            "object.subset: both arguments object.subset must be of the same type or array and set", TYPE_ERROR
        )
    return _is_part(larger, smaller)


def _keys(name: str, value: Value) -> set[Frozen] | frozenset[Frozen]:
    collection = operand_one_of(name, 2, value, ("object", "set", "array"))
    if type(collection) is RegoSet:
        return collection.frozen
    return set(collection) if type(collection) is dict else set(map(freeze, collection))


def _merged(one: Object, other: Object) -> Object:
    result = dict(one)
    for key, item in other.items():
        mine = result.get(key)
        result[key] = _merged(mine, item) if type(mine) is dict and type(item) is dict else item
    return result


def _is_part(larger: Value, smaller: Value) -> bool:
    if type(larger) is dict and type(smaller) is dict:
        return all(key in larger and _is_part(larger[key], item) for key, item in smaller.items())
    if type(larger) is RegoSet and type(smaller) is RegoSet:
        return smaller.frozen <= larger.frozen
    if type(larger) is list and type(smaller) is list:
        return _is_run(larger, smaller)
    return equal(larger, smaller)


def _is_run(larger: list[Value], smaller: list[Value]) -> bool:
    """Whether the smaller array stands in the larger one, without a gap: found in one pass (Knuth, Morris, Pratt)."""
    wanted, falls = list(map(freeze, smaller)), [0]
    for item in wanted[1:]:
        falls.append(_advance(wanted, falls, falls[-1], item))
    met = 0
    for item in map(freeze, larger):
        if met == len(wanted):
            break
        met = _advance(wanted, falls, met, item)
    return met == len(wanted)


def _advance(wanted: list[Frozen], falls: list[int], met: int, item: Frozen) -> int:
    while met and wanted[met] != item:
        met = falls[met - 1]
    return met + 1 if wanted[met] == item else 0


def _holds_all(array: list[Value], wanted: RegoSet) -> bool:
    # OPA finds the empty set in no empty array: it asks only after it has looked at an element.
    return bool(array) and wanted.frozen <= set(map(freeze, array))
