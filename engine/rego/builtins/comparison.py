"""Comparison of any two values, in OPA's order."""

from __future__ import annotations

from engine.rego.builtins.registry import builtin
from engine.rego.values import Value, compare, equal

builtin("equal")(equal)


@builtin("neq")
def not_equal(one: Value, other: Value) -> bool:
    return not equal(one, other)


@builtin("lt")
def less(one: Value, other: Value) -> bool:
    return compare(one, other) < 0


@builtin("lte")
def less_or_equal(one: Value, other: Value) -> bool:
    return compare(one, other) <= 0


@builtin("gt")
def greater(one: Value, other: Value) -> bool:
    return compare(one, other) > 0


@builtin("gte")
def greater_or_equal(one: Value, other: Value) -> bool:
    return compare(one, other) >= 0
