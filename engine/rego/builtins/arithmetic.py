"""Arithmetic as OPA does it: exact on integers, 64 bits of precision on everything else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from engine.rego.builtins.bigfloat import Number, as_int, bounded, exact, operand_big_int, rounded, to_number
from engine.rego.builtins.operands import operand_number, operand_one_of, operand_set
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value

MAX_RANGE: Final = 1_000_000
_EXACT: Final = 1 << 64


@builtin("plus")
def plus(one: Value, other: Value) -> Number:
    if type(one) is int and type(other) is int:
        return total if -_EXACT < (total := one + other) < _EXACT else bounded("plus", total)
    return _calculate("plus", one, other, lambda x, y: x + y)


@builtin("minus")
def minus(one: Value, other: Value) -> Value:
    if type(one) is int and type(other) is int:
        return rest if -_EXACT < (rest := one - other) < _EXACT else bounded("minus", rest)
    # A set takes away a set; of anything that is neither, OPA says that it wants a number.
    if type(operand_one_of("minus", 1, one, ("number", "set"))) is RegoSet and type(other) in (RegoSet, int, float):
        return RegoSet.of_frozen(one.frozen - operand_set("minus", 2, other).frozen)
    operand_number("minus", 2, other)
    return _calculate("minus", one, other, lambda x, y: x - y)


@builtin("mul")
def mul(one: Value, other: Value) -> Number:
    if type(one) is int and type(other) is int:
        return product if -_EXACT < (product := one * other) < _EXACT else bounded("mul", product)
    return _calculate("mul", one, other, lambda x, y: x * y)


@builtin("div")
def div(one: Value, other: Value) -> Number:
    dividend, divisor = operand_number("div", 1, one), operand_number("div", 2, other)
    if divisor == 0:
        raise BuiltinError("div: divide by zero")
    if type(dividend) is int and type(divisor) is int and dividend % divisor == 0 and abs(dividend) < _EXACT:
        return dividend // divisor
    return to_number("div", rounded(exact(dividend) / exact(divisor)))


@builtin("rem")
def rem(one: Value, other: Value) -> int:
    dividend, divisor = as_int(operand_number("rem", 1, one)), as_int(operand_number("rem", 2, other))
    if dividend is None or divisor is None:
        raise BuiltinError("rem: modulo on floating-point number")
    if divisor == 0:
        raise BuiltinError("rem: modulo by zero")
    rest = abs(dividend) % abs(divisor)
    return rest if dividend >= 0 else -rest


@builtin("abs")
def absolute(value: Value) -> Number:
    number = operand_number("abs", 1, value)
    return abs(number) if abs(number) < _EXACT else to_number("abs", abs(exact(number)))


@builtin("round")
def round_half_away(value: Value) -> int:
    if type(value) is int and -_EXACT < value < _EXACT:
        return value
    number = exact(operand_number("round", 1, value))
    half = Fraction(1, 2) if number >= 0 else Fraction(-1, 2)
    return bounded("round", int(rounded(number + half)))


@builtin("ceil")
def ceil(value: Value) -> int:
    if type(value) is int and -_EXACT < value < _EXACT:
        return value
    number = exact(operand_number("ceil", 1, value))
    whole = bounded("ceil", int(number))
    # OPA forgets the sign of what it cuts to zero: ceil(-0.5) is 1 there, and so here.
    return whole if whole < 0 or whole == number else whole + 1


@builtin("floor")
def floor(value: Value) -> int:
    if type(value) is int and -_EXACT < value < _EXACT:
        return value
    number = exact(operand_number("floor", 1, value))
    whole = bounded("floor", int(number))
    # The same: floor(-0.5) is 0.
    return whole if whole >= 0 or whole == number else whole - 1


@builtin("numbers.range")
def numbers_range(start: Value, end: Value) -> list[int]:
    return _range(
        "numbers.range", operand_big_int("numbers.range", 1, start), operand_big_int("numbers.range", 2, end), 1
    )


@builtin("numbers.range_step")
def numbers_range_step(start: Value, end: Value, step: Value) -> list[int]:
    name = "numbers.range_step"
    first, last, width = operand_big_int(name, 1, start), operand_big_int(name, 2, end), operand_big_int(name, 3, step)
    if width <= 0:
        raise BuiltinError(f"{name}: {name}: step must be a positive integer")
    return _range(name, first, last, width)


def _calculate(name: str, one: Value, other: Value, operation: Callable[[Fraction, Fraction], Fraction]) -> Number:
    x, y = operand_number(name, 1, one), operand_number(name, 2, other)
    whole_x, whole_y = as_int(x), as_int(y)
    if whole_x is not None and whole_y is not None:
        return bounded(name, int(operation(Fraction(whole_x), Fraction(whole_y))))
    return to_number(name, rounded(operation(exact(x), exact(y))))


def _range(name: str, first: int, last: int, step: int) -> list[int]:
    if abs(last - first) // step >= MAX_RANGE:
        raise BuiltinError(f"{name}: the range is too large: more than {MAX_RANGE} numbers")
    return list(range(first, last + 1, step) if first <= last else range(first, last - 1, -step))
