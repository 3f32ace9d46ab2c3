"""Time, injected: whatever needs the hour asks a `Clock`, so that tests and replays can set it."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Protocol

_FORM = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"([Tt ](?P<time>[0-9]{2}:[0-9]{2})(?P<seconds>:[0-9]{2}(\.(?P<fraction>[0-9]+))?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
)


class Clock(Protocol):
    def now_ns(self) -> int:
        """Nanoseconds since 1970, UTC."""
        ...


class SystemClock:
    def now_ns(self) -> int:
        return time.time_ns()


def rfc3339(time_ns: int) -> str:
    """`2026-01-31T12:00:00.123456789Z`: all nine digits, so that text order is time order and nothing is lost."""
    seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    return f"{moment.isoformat()}.{nanoseconds:09d}Z"


def parse_rfc3339(text: str) -> int:
    """Nanoseconds since 1970 of an RFC 3339 time or date; ValueError if it is none, or beyond the years 1678 to 2262.

    Seconds may be left out, and UTC is what is meant where no offset is given. Digits below a nanosecond are dropped.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    seconds, fraction, offset = found["seconds"] or ":00", found["fraction"] or "", found["offset"] or "Z"
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{found['time'] or '00:00'}{seconds[:3]}{offset.upper()}")
    except OverflowError as error:
        raise ValueError(f"{text!r} is outside the years that can be stored") from error
    return _storable(int(moment.timestamp()) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9]))


def _storable(time_ns: int) -> int:
    if not -(2**63) <= time_ns < 2**63:
        raise ValueError("the time is outside the years 1678 to 2262")
    return time_ns
