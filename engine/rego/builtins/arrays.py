"""Arrays: joined, cut, turned round, flattened."""

from __future__ import annotations

from engine.rego.builtins.bounds import bounded_results
from engine.rego.builtins.operands import operand_array, operand_int
from engine.rego.builtins.registry import builtin
from engine.rego.values import Value


@builtin("array.concat")
def concat(one: Value, other: Value) -> list[Value]:
    first, second = operand_array("array.concat", 1, one), operand_array("array.concat", 2, other)
    bounded_results("array.concat", len(first) + len(second))
    return first + second


@builtin("array.slice")
def cut(value: Value, start: Value, stop: Value) -> list[Value]:
    array = operand_array("array.slice", 1, value)
    first, last = operand_int("array.slice", 2, start), operand_int("array.slice", 3, stop)
    return array[max(first, 0) : max(last, 0)]


@builtin("array.reverse")
def turn_round(value: Value) -> list[Value]:
    return operand_array("array.reverse", 1, value)[::-1]


@builtin("array.flatten")
def flatten(value: Value) -> list[Value]:
    """One level only."""
    flat: list[Value] = []
    for item in operand_array("array.flatten", 1, value):
        if type(item) is list:
            flat += item
        else:
            flat.append(item)
    return flat
