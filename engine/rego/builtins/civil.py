"""Dates and clocks of a time in nanoseconds since 1970, in a time zone, as Go's `time` counts them.

Not here: layouts (golayout) and durations (durations). The host's own zone is never used: "Local" is UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MIN_NS: Final = -(1 << 63)
MAX_NS: Final = (1 << 63) - 1
NS: Final = 1_000_000_000
DAY: Final = 86_400
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownZone(ValueError):
    """Not a name of the time zone database."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as a clock on the wall shows it."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nanosecond: int
    weekday: int
    """0 is Sunday."""
    offset: int
    """Seconds east of UTC."""
    zone: str

    @property
    def year_day(self) -> int:
        return days_from_civil(self.year, self.month, self.day) - days_from_civil(self.year, 1, 1) + 1


def load_zone(name: str) -> tzinfo:
    if name in ("", "UTC", "Local"):
        return UTC
    if ".." in name or name[0] in "/\\":
        raise UnknownZone("time: invalid location name")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZone(f"unknown time zone {name}") from error


def moment(ns: int, zone: tzinfo) -> Moment:
    seconds, nanosecond = divmod(ns, NS)
    offset, name = _offset(seconds, zone)
    days, rest = divmod(seconds + offset, DAY)
    year, month, day = civil_from_days(days)
    clock = (rest // 3600, rest // 60 % 60, rest % 60)
    return Moment(year, month, day, *clock, nanosecond, (days + 4) % 7, offset, name)


def ns_of(date: tuple[int, int, int], seconds: int, nanosecond: int, zone: tzinfo = UTC) -> int:
    """The time when the clock of the zone shows this. Months and days beyond their range carry over, as in Go."""
    local = days_from_civil(*date) * DAY + seconds
    if zone is not UTC and MIN_NS <= (local * NS) <= MAX_NS:
        # A first guess takes the local time for UTC; near a change of the clocks the second look is the right one.
        guess, _ = _offset(local, zone)
        offset, _ = _offset(local - guess, zone)
        local -= offset
    return local * NS + nanosecond


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(month: int, year: int) -> int:
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar, which is taken to reach back for ever."""
    carried, month = divmod(month - 1, 12)
    year += carried
    # Years begin in March, so that a leap day is the last one.
    march_year, march_month = (year, month - 2) if month >= 2 else (year - 1, month + 10)
    before = march_year * 365 + march_year // 4 - march_year // 100 + march_year // 400
    return before + (153 * march_month + 2) // 5 + day - 1 - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    era, in_era = divmod(days + 719_468, 146_097)
    year_of_era = (in_era - in_era // 1460 + in_era // 36_524 - in_era // 146_096) // 365
    in_year = in_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * in_year + 2) // 153
    month = march_month + 3 if march_month < 10 else march_month - 9
    day = in_year - (153 * march_month + 2) // 5 + 1
    return year_of_era + era * 400 + (month <= 2), month, day


def _offset(seconds: int, zone: tzinfo) -> tuple[int, str]:
    if zone is UTC:
        return 0, "UTC"
    local = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)
    offset = local.utcoffset() or timedelta()
    return offset.days * DAY + offset.seconds, local.tzname() or ""
