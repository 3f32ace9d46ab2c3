"""OPA's numbers: integers of any size, and floats of 64 bits of precision, worked out on Python's int and float.

OPA reads the decimal text of a number into a float of 64 bits, so that 0.1 + 0.2 is 0.3. We hold floats of 53 bits: one
of at most 15 digits stands for its decimal text, which no float of 53 bits loses; a longer one is the rest of a
calculation and stands for itself, so that 1 / 3 * 3 is 1.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Final

from engine.rego.builtins.operands import operand_error, operand_int
from engine.rego.errors import BuiltinError
from engine.rego.values import Value, kind_of

Number = int | float

PRECISION: Final = 64
MAX_BITS: Final = 14_000
"""What an integer may need: Python writes out no number of more than 4300 digits."""

_TEXT_DIGITS: Final = 15
_FLOAT_PRECISION: Final = 53


def operand_big_int(name: str, position: int, value: Value) -> int:
    """Where OPA takes an integer of any size: its word for another kind of value is not that of operand_int."""
    if type(value) is not int and type(value) is not float:
        raise operand_error(name, position, f"must be integer but got {kind_of(value)}")
    return operand_int(name, position, value)


def bounded(name: str, number: int) -> int:
    if number.bit_length() > MAX_BITS:
        raise BuiltinError(f"{name}: the number is too large: more than {MAX_BITS} bits")
    return number


def as_int(number: Number) -> int | None:
    """The number as an integer, if it is one."""
    if type(number) is int:
        return number
    return int(Decimal(repr(number))) if float(number).is_integer() else None


def exact(number: Number, precision: int = PRECISION) -> Fraction:
    """What OPA calculates with for this number."""
    if type(number) is int:
        return rounded(Fraction(number), precision)
    text = Decimal(repr(number))
    if len(text.normalize().as_tuple().digits) <= _TEXT_DIGITS:
        return rounded(Fraction(text), precision)
    return Fraction(number)


def rounded(value: Fraction, precision: int = PRECISION) -> Fraction:
    """To so many bits, half to even."""
    if not value:
        return value
    numerator, denominator = abs(value.numerator), value.denominator
    shift = numerator.bit_length() - denominator.bit_length() - precision
    scaled = _scaled(numerator, denominator, shift)
    if scaled >= 1 << precision:
        shift += 1
        scaled = _scaled(numerator, denominator, shift)
    mantissa = round(scaled)
    size = Fraction(mantissa << shift) if shift >= 0 else Fraction(mantissa, 1 << -shift)
    return size if value > 0 else -size


def to_number(name: str, value: Fraction, precision: int = PRECISION) -> Number:
    """The number that OPA would write for this value; of a fraction, the nearest float."""
    if value.denominator == 1:
        whole = bounded(name, value.numerator)
        return whole if whole.bit_length() <= precision else _shortest(whole, precision)
    near = _nearest(value, precision)
    return int(near) if near.is_integer() else near


def _scaled(numerator: int, denominator: int, shift: int) -> Fraction:
    return Fraction(numerator, denominator << shift) if shift >= 0 else Fraction(numerator << -shift, denominator)


def _nearest(value: Fraction, precision: int) -> float:
    """The float of OPA's text of the value. The text has as few digits as tell the value from its neighbours."""
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    half_step = Fraction(2) ** (exponent - precision - 1)
    if precision <= _FLOAT_PRECISION or float(value - half_step) == float(value + half_step):
        return float(value)
    scale = 1
    while abs(Fraction(round(value * scale), scale) - value) >= half_step:
        scale *= 10
    return float(Fraction(round(value * scale), scale))


def _shortest(whole: int, precision: int) -> int:
    """The integer of the fewest digits that rounds to the same float: OPA writes 3333333333333333333200."""
    size = abs(whole)
    half_step = 1 << max(size.bit_length() - precision - 1, 0)
    for zeros in range(math.ceil(math.log10(2) * size.bit_length()), 0, -1):
        unit: int = 10**zeros
        near = (size + unit // 2) // unit * unit
        if abs(near - size) < half_step:
            return near if whole > 0 else -near
    return whole
