"""Time, in nanoseconds since 1970. What time it is comes from the circumstances."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from engine.rego.builtins.civil import (
    MAX_NS,
    MIN_NS,
    WEEKDAYS,
    Moment,
    UnknownZone,
    days_in,
    load_zone,
    moment,
    ns_of,
)
from engine.rego.builtins.durations import parse_duration
from engine.rego.builtins.golayout import LAYOUTS, format_time
from engine.rego.builtins.gotimeparse import parse_time
from engine.rego.builtins.operands import operand_error, operand_int, operand_number, operand_string
from engine.rego.builtins.registry import Circumstances, builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value, kind_of

_MAX_TEXT: Final = 10_000


@builtin("time.now_ns", circumstances=True)
def now_ns(circumstances: Circumstances) -> int:
    return circumstances.time_ns


@builtin("time.parse_ns")
def parse_ns(layout: Value, value: Value) -> int:
    name = "time.parse_ns"
    wanted, text = operand_string(name, 1, layout), operand_string(name, 2, value)
    return _parsed(name, LAYOUTS.get(wanted, wanted), text)


@builtin("time.parse_rfc3339_ns")
def parse_rfc3339_ns(value: Value) -> int:
    return _parsed("time.parse_rfc3339_ns", LAYOUTS["RFC3339"], operand_string("time.parse_rfc3339_ns", 1, value))


@builtin("time.parse_duration_ns")
def parse_duration_ns(value: Value) -> int:
    text = operand_string("time.parse_duration_ns", 1, value)
    _bound_text("time.parse_duration_ns", text)
    try:
        return parse_duration(text)
    except ValueError as error:
        raise BuiltinError(f"time.parse_duration_ns: {error}") from error


@builtin("time.format")
def format_ns(value: Value) -> str:
    ns, zone, layout = _time("time.format", value)
    _bound_text("time.format", layout)
    return format_time(moment(ns, zone), LAYOUTS.get(layout, layout) or LAYOUTS["RFC3339Nano"])


@builtin("time.date")
def date(value: Value) -> list[int]:
    shown = _moment("time.date", value)
    return [shown.year, shown.month, shown.day]


@builtin("time.clock")
def clock(value: Value) -> list[int]:
    shown = _moment("time.clock", value)
    return [shown.hour, shown.minute, shown.second]


@builtin("time.weekday")
def weekday(value: Value) -> str:
    return WEEKDAYS[_moment("time.weekday", value).weekday]


@builtin("time.add_date")
def add_date(value: Value, years: Value, months: Value, days: Value) -> int:
    name = "time.add_date"
    ns, zone, _ = _time(name, value)
    shown = moment(ns, zone)
    year, month = shown.year + operand_int(name, 2, years), shown.month + operand_int(name, 3, months)
    day = shown.day + operand_int(name, 4, days)
    seconds = shown.hour * 3600 + shown.minute * 60 + shown.second
    return _in_range(name, ns_of((year, month, day), seconds, shown.nanosecond, zone))


@builtin("time.diff")
def diff(value: Value, other: Value) -> list[int]:
    """Years, months, days, hours, minutes and seconds between two times, by the calendar of the first one's zone."""
    ns, zone, _ = _time("time.diff", value)
    other_ns, _, _ = _time("time.diff", other)
    early, late = (moment(one, zone) for one in sorted((ns, other_ns)))
    fields = ("year", "month", "day", "hour", "minute", "second")
    parts = [getattr(late, field) - getattr(early, field) for field in fields]
    for place, size in ((5, 60), (4, 60), (3, 24), (2, days_in(early.month, early.year)), (1, 12)):
        if parts[place] < 0:
            parts[place] += size
            parts[place - 1] -= 1
    return parts


def _parsed(name: str, layout: str, text: str) -> int:
    _bound_text(name, layout)
    _bound_text(name, text)
    try:
        return _in_range(name, parse_time(layout, text))
    except ValueError as error:
        raise BuiltinError(f"{name}: {error}") from error


def _in_range(name: str, ns: int) -> int:
    if not MIN_NS <= ns <= MAX_NS:
        raise BuiltinError(f"{name}: time outside of valid range")
    return ns


def _moment(name: str, value: Value) -> Moment:
    ns, zone, _ = _time(name, value)
    return moment(ns, zone)


def _time(name: str, value: Value) -> tuple[int, tzinfo, str]:
    """From nanoseconds, or from [nanoseconds, zone, layout], of which the last two may be missing."""
    parts = [value] if type(value) in (int, float) else value
    if type(parts) is not list or not parts:
        wanted = "either number (ns) or [number (ns), string (tz)]"
        raise operand_error(name, 1, f"must be {wanted} but got {kind_of(value)}")
    number = operand_number(name, 1, parts[0])
    zone = _zone(name, operand_string(name, 1, parts[1]) if len(parts) > 1 else "")
    layout = operand_string(name, 1, parts[2]) if len(parts) > 2 else ""
    if number != int(number) or not MIN_NS <= number <= MAX_NS:
        raise BuiltinError(f"{name}: timestamp too big")
    return int(number), zone, layout


def _zone(name: str, zone: str) -> tzinfo:
    try:
        return load_zone(zone)
    except UnknownZone as error:
        raise BuiltinError(f"{name}: {error}") from error


def _bound_text(name: str, text: str) -> None:
    if len(text) > _MAX_TEXT:
        raise BuiltinError(f"{name}: the text is too long: more than {_MAX_TEXT} characters")
