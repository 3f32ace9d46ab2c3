"""What is said of a whole collection: its size, sum, extremes, order and members."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Final

from engine.rego.builtins.bigfloat import Number, as_int, bounded, exact, rounded, to_number
from engine.rego.builtins.operands import operand_collection, operand_element_error, operand_one_of
from engine.rego.builtins.registry import builtin
from engine.rego.values import UNDEFINED, RegoSet, Undefined, Value, compare, equal, get, sort_values

_PRODUCT_PRECISION: Final = 53
"""OPA starts a product from a float of this precision, and keeps to it: product([0.1, 3]) is 0.30000000000000004."""


@builtin("count")
def count(value: Value) -> int:
    return len(operand_one_of("count", 1, value, ("array", "object", "set", "string")))


@builtin("sum")
def total(value: Value) -> Number:
    if type(value) is list and all(type(item) is int for item in value):
        return bounded("sum", sum(value))
    numbers = _numbers("sum", value)
    wholes = [whole for whole in map(as_int, numbers) if whole is not None]
    if len(wholes) == len(numbers):
        return bounded("sum", sum(wholes))
    return to_number("sum", reduce(lambda so_far, number: rounded(so_far + exact(number)), numbers, Fraction(0)))


@builtin("product")
def product(value: Value) -> Number:
    numbers = _numbers("product", value)
    wholes = [whole for whole in map(as_int, numbers) if whole is not None]
    if len(wholes) == len(numbers):
        return reduce(lambda so_far, whole: bounded("product", so_far * whole), wholes, 1)
    result = Fraction(1)
    for number in numbers:
        result = rounded(result * exact(number), _PRODUCT_PRECISION)
    return to_number("product", result, _PRODUCT_PRECISION)


@builtin("max")
def largest(value: Value) -> Value | Undefined:
    return _extreme("max", value, -1)


@builtin("min")
def smallest(value: Value) -> Value | Undefined:
    return _extreme("min", value, 1)


@builtin("sort")
def in_order(value: Value) -> list[Value]:
    return sort_values(operand_collection("sort", 1, value))


@builtin("all")
def all_true(value: Value) -> bool:
    return all(item is True for item in operand_one_of("all", 1, value, ("array", "set")))


@builtin("any")
def any_true(value: Value) -> bool:
    return any(item is True for item in operand_one_of("any", 1, value, ("array", "set")))


@builtin("internal.member_2")
def member(value: Value, collection: Value) -> bool:
    if type(collection) is RegoSet:
        return value in collection
    if type(collection) is list:
        return any(equal(value, item) for item in collection)
    return type(collection) is dict and any(equal(value, item) for item in collection.values())


@builtin("internal.member_3")
def member_with_key(key: Value, value: Value, collection: Value) -> bool:
    found = get(collection, key)
    return found is not UNDEFINED and equal(found, value)


def _numbers(name: str, value: Value) -> list[Number]:
    items = list(operand_collection(name, 1, value))
    for item in items:
        if type(item) is not int and type(item) is not float:
            raise operand_element_error(name, 1, value, item, ("number",))
    return items


def _extreme(name: str, value: Value, sign: int) -> Value | Undefined:
    found: Value | Undefined = UNDEFINED
    for item in operand_collection(name, 1, value):
        if found is UNDEFINED or compare(found, item) * sign > 0:
            found = item
    return found
