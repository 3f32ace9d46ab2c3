"""Quantities with a unit: `10Ki`, `1.5G`, `2e3MiB`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

MAX_EXPONENT: Final = 4000
"""Of ten: beyond that no number of ours could be written out again."""

_LETTERS: Final = "kmgtpe"
_DECIMAL: Final = {letter: 1000 ** (power + 1) for power, letter in enumerate(_LETTERS)}
_BINARY: Final = {f"{letter}i": 1024 ** (power + 1) for power, letter in enumerate(_LETTERS)}
# `m` is a thousandth and `M` a million: all other letters may have either case.
_UNITS: Final[dict[str, Fraction]] = {
    "": Fraction(1), "m": Fraction(0.001), "M": Fraction(_DECIMAL["m"]),
    **{unit: Fraction(factor) for unit, factor in _DECIMAL.items() if unit != "m"},
    **{unit.upper(): Fraction(factor) for unit, factor in _DECIMAL.items() if unit != "m"},
    **{unit: Fraction(factor) for unit, factor in _BINARY.items()},
    **{unit.capitalize(): Fraction(factor) for unit, factor in _BINARY.items()},
}  # fmt: skip
_BYTE_UNITS: Final[dict[str, Fraction]] = {
    unit + suffix: Fraction(factor) for unit, factor in (_DECIMAL | _BINARY).items() for suffix in ("", "b")
} | {"": Fraction(1)}
_AMOUNT: Final = re.compile(r"(?:[0-9.+-]|[eE](?=[0-9+-])[+-]?)*")
_LONG_EXPONENT: Final = re.compile(r"[eE][+-]?[0-9]{7}")
_NUMBER: Final = re.compile(r"([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?")
_MANTISSA_BITS: Final = 64
_MAX_DIGITS: Final = 4000


@builtin("units.parse")
def parse(value: Value) -> int | float:
    name = "units.parse"
    text = operand_string(name, 1, value).replace('"', "")
    amount, unit = _cut(name, text, "no amount provided")
    unit = unit[:1] + unit[1:].lower()
    if unit not in _UNITS:
        raise _fault(name, f"unit {unit} not recognized")
    number = _number(name, amount, "could not parse amount to a number") * _UNITS[unit]
    return number.numerator if number.denominator == 1 else _ten_places(number)


@builtin("units.parse_bytes")
def parse_bytes(value: Value) -> int:
    name = "units.parse_bytes"
    text = operand_string(name, 1, value).lower().replace('"', "")
    amount, unit = _cut(name, text, "no byte amount provided")
    if unit not in _BYTE_UNITS:
        raise _fault(name, f"byte unit {unit} not recognized")
    number = _number(name, amount, "could not parse byte amount to a number")
    return int(_to_float(_to_float(number) * _BYTE_UNITS[unit]))


def _cut(name: str, text: str, nothing: str) -> tuple[str, str]:
    if " " in text:
        raise _fault(name, "spaces not allowed in resource strings")
    match = _AMOUNT.match(text)
    amount = match.group() if match else ""
    if _LONG_EXPONENT.search(amount):
        raise _fault(name, "exponent too large")
    if not amount:
        raise _fault(name, nothing)
    return amount, text[len(amount) :]


def _number(name: str, amount: str, fault: str) -> Fraction:
    match = _NUMBER.fullmatch(amount)
    if match is None or not (match[2] or match[3]):
        raise _fault(name, fault)
    digits, exponent = match[2] + match[3], int(match[4] or 0) - len(match[3])
    if len(digits) > _MAX_DIGITS or exponent > MAX_EXPONENT:
        raise _fault(name, f"numbers of more than {_MAX_DIGITS} digits are not supported")
    if exponent < -2 * MAX_EXPONENT:
        return Fraction(0)
    number = int(digits) * Fraction(10) ** exponent
    return -number if match[1] == "-" else number


def _ten_places(number: Fraction) -> int | float:
    """Go's `FloatString(10)`: halves go away from zero."""
    scaled = abs(number) * 10**10
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    whole += 2 * rest >= scaled.denominator
    rounded = whole / 10**10 if whole % 10**10 else whole // 10**10
    return -rounded if number < 0 else rounded


def _to_float(number: Fraction) -> Fraction:
    """The nearest of Go's big floats, which have 64 bits."""
    if not number:
        return number
    shift = _MANTISSA_BITS - (abs(number.numerator).bit_length() - number.denominator.bit_length())
    # One bit of the quotient's length is uncertain until it is taken.
    if abs(number) * Fraction(2) ** shift >= 2**_MANTISSA_BITS:
        shift -= 1
    return round(number * Fraction(2) ** shift) / Fraction(2) ** shift


def _fault(name: str, message: str) -> BuiltinError:
    """OPA says the name twice."""
    return BuiltinError(f"{name}: {name}: {message}")
