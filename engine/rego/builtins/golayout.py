"""Times written and read by Go's layouts, where "2006-01-02" shows how 2 January 2006 would be written."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from engine.rego.builtins.civil import MONTHS, WEEKDAYS, Moment

LAYOUTS: Final = {
    "ANSIC": "Mon Jan _2 15:04:05 2006",
    "UnixDate": "Mon Jan _2 15:04:05 MST 2006",
    "RubyDate": "Mon Jan 02 15:04:05 -0700 2006",
    "RFC822": "02 Jan 06 15:04 MST",
    "RFC822Z": "02 Jan 06 15:04 -0700",
    "RFC850": "Monday, 02-Jan-06 15:04:05 MST",
    "RFC1123": "Mon, 02 Jan 2006 15:04:05 MST",
    "RFC1123Z": "Mon, 02 Jan 2006 15:04:05 -0700",
    "RFC3339": "2006-01-02T15:04:05Z07:00",
    "RFC3339Nano": "2006-01-02T15:04:05.999999999Z07:00",
}
"""The names that OPA takes for a layout."""

_ELEMENT: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|_2006|_2|__2|3|4|5|PM|pm"
    r"|[-Z]07:00:00|[-Z]070000|[-Z]07:00|[-Z]0700|[-Z]07|[.,](?:0+|9+)(?![0-9])"
)


class Chunk(NamedTuple):
    """A plain text, and the element after it; the last chunk has none."""

    text: str
    element: str


def chunks(layout: str) -> list[Chunk]:
    found, start = [], 0
    while match := _ELEMENT.search(layout, start):
        # Of "_2006" only the year is an element.
        begin = match.start() + (match[0] == "_2006")
        found.append(Chunk(layout[start:begin], layout[begin : match.end()]))
        start = match.end()
    return [*found, Chunk(layout[start:], "")]


def is_fraction(element: str) -> bool:
    return element[:1] in (".", ",") and element != ""


def format_time(moment: Moment, layout: str) -> str:
    return "".join(chunk.text + (_written(moment, chunk.element) if chunk.element else "") for chunk in chunks(layout))


def _written(moment: Moment, element: str) -> str:
    if is_fraction(element):
        return _fraction(moment.nanosecond, element)
    if element[0] in "-Z":
        return "Z" if element[0] == "Z" and moment.offset == 0 else _offset(moment.offset, element)
    return _words(moment)[element] if element in _WORDS else _numbers(moment)[element]


_WORDS: Final = frozenset({"January", "Jan", "Monday", "Mon", "MST", "PM", "pm"})


def _words(moment: Moment) -> dict[str, str]:
    month, weekday = MONTHS[moment.month - 1], WEEKDAYS[moment.weekday]
    half = "PM" if moment.hour >= 12 else "AM"
    zone = moment.zone or _offset(moment.offset, "-0700")
    return {
        "January": month, "Jan": month[:3], "Monday": weekday, "Mon": weekday[:3], "MST": zone, "PM": half,
        "pm": half.lower(),
    }  # fmt: skip


def _numbers(moment: Moment) -> dict[str, str]:
    hour12 = moment.hour % 12 or 12
    return {
        "2006": f"{moment.year:04}", "06": f"{abs(moment.year) % 100:02}",
        "01": f"{moment.month:02}", "1": f"{moment.month}",
        "02": f"{moment.day:02}", "_2": f"{moment.day:2}", "2": f"{moment.day}",
        "002": f"{moment.year_day:03}", "__2": f"{moment.year_day:3}",
        "15": f"{moment.hour:02}", "03": f"{hour12:02}", "3": f"{hour12}",
        "04": f"{moment.minute:02}", "4": f"{moment.minute}",
        "05": f"{moment.second:02}", "5": f"{moment.second}",
    }  # fmt: skip


def _fraction(nanosecond: int, element: str) -> str:
    digits = f"{nanosecond:09}"[: len(element) - 1].ljust(len(element) - 1, "0")
    if element[1] == "9":
        digits = digits.rstrip("0")
        return element[0] + digits if digits else ""
    return element[0] + digits


def _offset(offset: int, element: str) -> str:
    minutes, seconds = divmod(abs(offset), 60)
    # Go finds the sign in whole minutes.
    sign = "-" if offset < 0 and minutes else "+"
    parts = [f"{minutes // 60:02}", f"{minutes % 60:02}", f"{seconds:02}"]
    wanted = {"07": 1, "0700": 2, "070000": 3}[element[1:].replace(":", "")]
    return sign + (":" if ":" in element else "").join(parts[:wanted])
