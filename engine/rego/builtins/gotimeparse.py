"""A time read by Go's rules from a text and a layout, into nanoseconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.rego.builtins.civil import MONTHS, NS, WEEKDAYS, days_in, is_leap, ns_of
from engine.rego.builtins.golayout import chunks, is_fraction
from engine.rego.builtins.goquote import quote

_ONE_OR_TWO: Final = re.compile("[0-9]{1,2}")
_TWO: Final = re.compile("[0-9]{2}")
_UP_TO_THREE: Final = re.compile("[0-9]{1,3}")
_THREE: Final = re.compile("[0-9]{3}")
_FOUR: Final = re.compile("[0-9]{4}")
_FRACTION: Final = re.compile("[.,]([0-9]+)")
_ZONE_NAME: Final = re.compile(r"ChST|MeST|GMT|[A-Z]{3,6}|[-+][0-9]+")
_GMT_OFFSET: Final = re.compile("[-+][0-9]+")
_OFFSETS: Final = {
    "07": re.compile("(.)(..)()()", re.DOTALL),
    "0700": re.compile("(.)(..)(..)()", re.DOTALL),
    "07:00": re.compile("(.)(..):(..)()", re.DOTALL),
    "070000": re.compile("(.)(..)(..)(..)", re.DOTALL),
    "07:00:00": re.compile("(.)(..):(..):(..)", re.DOTALL),
}


class Mismatch(Exception):
    """The text is not what the element stands for."""


class OutOfRange(Exception):
    """It is, but there is no such hour, minute, …"""


@dataclass(slots=True)
class Reading:
    """What has been read so far, and the text that is left."""

    rest: str
    year: int = 0
    month: int = -1
    day: int = -1
    year_day: int = -1
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanosecond: int = 0
    half: str = ""
    offset: int = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.rest)
        if match is None:
            raise Mismatch
        self.rest = self.rest[match.end() :]
        return match

    def number(self, pattern: re.Pattern[str]) -> int:
        return int(self.take(pattern)[0])


def parse_time(layout: str, text: str) -> int:
    """Raises ValueError with Go's words. The result may be beyond what 64 bits hold."""
    reading = Reading(text)
    parts = chunks(layout)
    for place, (plain, element) in enumerate(parts):
        if not _skip(reading, plain):
            raise _cannot_parse(text, layout, reading.rest, plain)
        if element:
            held, following = reading.rest, parts[place + 1]
            try:
                _read(reading, element, fraction_follows=not following.text and is_fraction(following.element))
            except Mismatch:
                raise _cannot_parse(text, layout, held, element) from None
            except OutOfRange as error:
                raise _bad(text, f"{error} out of range") from None
    if reading.rest:
        raise _bad(text, f"extra text: {quote(reading.rest)}")
    return _ns(reading, text)


def _skip(reading: Reading, plain: str) -> bool:
    """A space of the layout stands for any number of them."""
    while plain:
        if plain[0] == " ":
            if reading.rest and reading.rest[0] != " ":
                return False
            plain, reading.rest = plain.lstrip(" "), reading.rest.lstrip(" ")
        elif reading.rest[:1] == plain[0]:
            plain, reading.rest = plain[1:], reading.rest[1:]
        else:
            return False
    return True


def _read(reading: Reading, element: str, *, fraction_follows: bool) -> None:
    if is_fraction(element):
        _read_fraction(reading, element)
    elif element[0] in "-Z":
        _read_offset(reading, element)
    else:
        _READERS[element](reading)
        if element in ("05", "5") and not fraction_follows and _FRACTION.match(reading.rest):
            _read_fraction(reading, ".9")


def _read_year(reading: Reading) -> None:
    reading.year = reading.number(_FOUR)


def _read_short_year(reading: Reading) -> None:
    year = reading.number(_TWO)
    reading.year = year + (1900 if year >= 69 else 2000)


def _read_name(reading: Reading, names: tuple[str, ...]) -> int:
    for place, name in enumerate(names):
        if reading.rest[: len(name)].lower() == name.lower():
            reading.rest = reading.rest[len(name) :]
            return place
    raise Mismatch


def _month_name(names: tuple[str, ...]) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        reading.month = _read_name(reading, names) + 1

    return read


def _weekday_name(names: tuple[str, ...]) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        _read_name(reading, names)

    return read


def _month(pattern: re.Pattern[str]) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        reading.month = _within(reading.number(pattern), 1, 12, "month")

    return read


def _day(pattern: re.Pattern[str], padding: bool = False) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        if padding:
            reading.rest = reading.rest.removeprefix(" ")
        reading.day = reading.number(pattern)

    return read


def _read_year_day(reading: Reading) -> None:
    reading.year_day = reading.number(_THREE)


def _read_padded_year_day(reading: Reading) -> None:
    reading.rest = reading.rest.removeprefix(" ").removeprefix(" ")
    reading.year_day = reading.number(_UP_TO_THREE)


def _hour(pattern: re.Pattern[str], last: int) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        reading.hour = _within(reading.number(pattern), 0, last, "hour")

    return read


def _minute(pattern: re.Pattern[str]) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        reading.minute = _within(reading.number(pattern), 0, 59, "minute")

    return read


def _second(pattern: re.Pattern[str]) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        reading.second = _within(reading.number(pattern), 0, 59, "second")

    return read


def _half(*words: str) -> Callable[[Reading], None]:
    def read(reading: Reading) -> None:
        if reading.rest[:2] not in words:
            raise Mismatch
        reading.half, reading.rest = reading.rest[:2].upper(), reading.rest[2:]

    return read


def _read_zone(reading: Reading) -> None:
    """A name says no offset: Go knows its own zone's names only, and we have none but UTC."""
    if reading.rest.startswith("UTC"):
        reading.rest = reading.rest[3:]
        return
    match = _ZONE_NAME.match(reading.rest)
    if match is None or len(reading.rest) < 3 or not _is_zone_name(match[0]):
        raise Mismatch
    reading.rest = reading.rest[match.end() :]
    if match[0] == "GMT" and (offset := _GMT_OFFSET.match(reading.rest)) and abs(int(offset[0])) <= 23:
        reading.rest = reading.rest[offset.end() :]


def _is_zone_name(name: str) -> bool:
    if name[0] in "+-":
        return int(name[1:]) <= 23
    return len(name) == 3 or name in ("ChST", "MeST", "WITA") or (len(name) in (4, 5) and name[-1] == "T")


def _read_fraction(reading: Reading, element: str) -> None:
    if element[1] == "9":
        match = _FRACTION.match(reading.rest)
        if match is None:
            return
        taken = match.end()
    else:
        taken = len(element)
    digits = reading.rest[1:taken]
    if len(reading.rest) < taken or reading.rest[0] not in ".," or not (digits.isascii() and digits.isdigit()):
        raise Mismatch
    reading.nanosecond = int(digits[:9].ljust(9, "0"))
    reading.rest = reading.rest[taken:]


def _read_offset(reading: Reading, element: str) -> None:
    if element[0] == "Z" and reading.rest.startswith("Z"):
        reading.rest = reading.rest[1:]
        return
    match = reading.take(_OFFSETS[element[1:]])
    hours, minutes, seconds = (_two_digits(part or "00") for part in match.groups()[1:])
    # Go allows offsets of 24 hours, 60 minutes and 60 seconds: people write them.
    _within(hours, 0, 24, "time zone offset hour")
    _within(minutes, 0, 60, "time zone offset minute")
    _within(seconds, 0, 60, "time zone offset second")
    if match[1] not in "+-":
        raise Mismatch
    offset = (hours * 60 + minutes) * 60 + seconds
    reading.offset = offset if match[1] == "+" else -offset


def _two_digits(text: str) -> int:
    if not _TWO.fullmatch(text):
        raise Mismatch
    return int(text)


def _within(number: int, first: int, last: int, what: str) -> int:
    if not first <= number <= last:
        raise OutOfRange(what)
    return number


_READERS: Final[dict[str, Callable[[Reading], None]]] = {
    "2006": _read_year, "06": _read_short_year,
    "January": _month_name(MONTHS), "Jan": _month_name(tuple(name[:3] for name in MONTHS)),
    "01": _month(_TWO), "1": _month(_ONE_OR_TWO),
    "Monday": _weekday_name(WEEKDAYS), "Mon": _weekday_name(tuple(name[:3] for name in WEEKDAYS)),
    "02": _day(_TWO), "2": _day(_ONE_OR_TWO), "_2": _day(_ONE_OR_TWO, padding=True),
    "002": _read_year_day, "__2": _read_padded_year_day,
    "15": _hour(_ONE_OR_TWO, 23), "03": _hour(_TWO, 12), "3": _hour(_ONE_OR_TWO, 12),
    "04": _minute(_TWO), "4": _minute(_ONE_OR_TWO),
    "05": _second(_TWO), "5": _second(_ONE_OR_TWO),
    "PM": _half("AM", "PM"), "pm": _half("am", "pm"),
    "MST": _read_zone,
}  # fmt: skip


def _ns(reading: Reading, text: str) -> int:
    hour = reading.hour
    if reading.half == "PM" and hour < 12:
        hour += 12
    elif reading.half == "AM" and hour == 12:
        hour = 0
    month, day = _date(reading, text)
    if not 1 <= day <= days_in(month, reading.year):
        raise _bad(text, "day out of range")
    seconds = hour * 3600 + reading.minute * 60 + reading.second - reading.offset
    return ns_of((reading.year, month, day), seconds, 0) + reading.nanosecond % NS


def _date(reading: Reading, text: str) -> tuple[int, int]:
    if reading.year_day < 0:
        return max(reading.month, 1) if reading.month != -1 else 1, reading.day if reading.day != -1 else 1
    if not 1 <= reading.year_day <= 365 + is_leap(reading.year):
        raise _bad(text, "day-of-year out of range")
    month, day = 1, reading.year_day
    while day > days_in(month, reading.year):
        day -= days_in(month, reading.year)
        month += 1
    if reading.month not in (-1, month):
        raise _bad(text, "day-of-year does not match month")
    if reading.day not in (-1, day):
        raise _bad(text, "day-of-year does not match day")
    return month, day


def _cannot_parse(text: str, layout: str, rest: str, element: str) -> ValueError:
    return ValueError(f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(rest)} as {quote(element)}")


def _bad(text: str, message: str) -> ValueError:
    return ValueError(f"parsing time {quote(text)}: {message}")
