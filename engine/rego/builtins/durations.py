"""Durations as Go writes them ("1h30m", "1.5s"), with OPA's days, weeks and years."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from engine.rego.builtins.goquote import quote

_UNITS: Final = {
    "ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
_LONG_UNITS: Final = {"d": 24, "w": 7 * 24, "y": 365 * 24}
_MAX: Final = 1 << 63
_SEGMENT: Final = re.compile(r"([0-9]*)(\.[0-9]*)?([^0-9.]*)")
_EXTENDED: Final = re.compile(r"([-+]?)((?:[0-9.]+(?:ms|us|µs|ns|[a-z]))+)")
_EXTENDED_SEGMENT: Final = re.compile(r"([0-9.]+)(ms|us|µs|ns|[a-z])")


def parse_duration(text: str) -> int:
    """In nanoseconds. Raises ValueError with Go's words."""
    if not text:
        raise ValueError('time: invalid duration ""')
    if not any(unit in text for unit in _LONG_UNITS):
        return _parse(text, text)
    match = _EXTENDED.fullmatch(text)
    if match is None:
        raise _invalid(text)
    segments = _EXTENDED_SEGMENT.findall(match[2])
    return _parse(match[1] + "".join(_in_hours(digits, unit, text) for digits, unit in segments), text)


def _in_hours(digits: str, unit: str, original: str) -> str:
    if unit not in _LONG_UNITS:
        return digits + unit
    try:
        hours = float(digits) * _LONG_UNITS[unit]
    except ValueError as error:
        raise _invalid(original) from error
    return f"{Fraction(repr(hours)).numerator}h" if hours.is_integer() else f"{hours!r}h"


def _parse(text: str, original: str) -> int:
    sign, rest = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    if not rest:
        raise _invalid(original)
    total = 0
    while rest:
        match = _SEGMENT.match(rest)
        if match is None or not (match[1] or (match[2] or "").strip(".")):
            raise _invalid(original)
        total += _segment(match, original)
        rest = rest[match.end() :]
    if total > (_MAX if sign < 0 else _MAX - 1):
        raise _invalid(original)
    return sign * total


def _segment(match: re.Match[str], original: str) -> int:
    whole, fraction, unit = match[1], (match[2] or "")[1:], match[3]
    if not unit:
        raise ValueError(f"time: missing unit in duration {quote(original)}")
    if unit not in _UNITS:
        raise ValueError(f"time: unknown unit {quote(unit)} in duration {quote(original)}")
    if len(whole.lstrip("0")) > 19:
        raise _invalid(original)
    value = int(whole or "0") * _UNITS[unit]
    # Go cuts a fraction where it would overflow, and multiplies it as a float: so do we, to the same nanosecond.
    digits = fraction[:18]
    if digits.strip("0"):
        value += int(float(int(digits)) * (float(_UNITS[unit]) / float(10 ** len(digits))))
    if value > _MAX:
        raise _invalid(original)
    return value


def _invalid(original: str) -> ValueError:
    return ValueError(f"time: invalid duration {quote(original)}")
