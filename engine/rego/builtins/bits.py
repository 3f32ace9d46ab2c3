"""Bits of integers of any size, as if of two's complement."""

from __future__ import annotations

from engine.rego.builtins.bigfloat import MAX_BITS, bounded, operand_big_int
from engine.rego.builtins.operands import operand_error
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value


@builtin("bits.and")
def bits_and(one: Value, other: Value) -> int:
    return operand_big_int("bits.and", 1, one) & operand_big_int("bits.and", 2, other)


@builtin("bits.or")
def bits_or(one: Value, other: Value) -> int:
    return operand_big_int("bits.or", 1, one) | operand_big_int("bits.or", 2, other)


@builtin("bits.xor")
def bits_xor(one: Value, other: Value) -> int:
    return operand_big_int("bits.xor", 1, one) ^ operand_big_int("bits.xor", 2, other)


@builtin("bits.negate")
def bits_negate(value: Value) -> int:
    return ~operand_big_int("bits.negate", 1, value)


@builtin("bits.lsh")
def bits_left(value: Value, by: Value) -> int:
    number, places = operand_big_int("bits.lsh", 1, value), _places("bits.lsh", by)
    if number and places > MAX_BITS:
        raise BuiltinError(f"bits.lsh: the number is too large: more than {MAX_BITS} bits")
    return bounded("bits.lsh", number << places) if number else 0


@builtin("bits.rsh")
def bits_right(value: Value, by: Value) -> int:
    return operand_big_int("bits.rsh", 1, value) >> _places("bits.rsh", by)


def _places(name: str, by: Value) -> int:
    places = operand_big_int(name, 2, by)
    if places < 0:
        raise operand_error(name, 2, "must be an unsigned integer number but got a negative integer")
    return places
