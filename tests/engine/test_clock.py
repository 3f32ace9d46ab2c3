from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.clock import SystemClock, parse_rfc3339, rfc3339

SECOND = 1_000_000_000
FIRST = -(2**63)
LAST = 2**63 - 1
NOON = 1_767_268_800 * SECOND
moments = st.integers(FIRST, LAST)


@given(moments)
@example(FIRST)
@example(LAST)
@example(-1)
def test_time_written_and_read_again_is_the_same(time_ns: int):
    assert parse_rfc3339(rfc3339(time_ns)) == time_ns


@given(moments, moments)
def test_order_of_texts_is_the_order_of_times(one: int, other: int):
    assert (rfc3339(one) < rfc3339(other)) is (one < other)


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "1970-01-01T00:00:00.000000000Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (NOON + 1, "2026-01-01T12:00:00.000000001Z"),
        (FIRST, "1677-09-21T00:12:43.145224192Z"),
    ],
)
def test_time_is_written_with_four_digits_of_year_and_nine_of_fraction(time_ns: int, text: str):
    assert rfc3339(time_ns) == text


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("2026-01-01T12:00:00Z", NOON),
        ("2026-01-01t12:00:00z", NOON),
        ("2026-01-01 12:00:00Z", NOON),
        ("2026-01-01T12:00:00", NOON),
        ("2026-01-01T12:00Z", NOON),
        ("2026-01-01T14:30:00+02:30", NOON),
        ("2026-01-01T04:00:00-08:00", NOON),
        ("2026-01-01T12:00:00-00:00", NOON),
        ("2026-01-01", NOON - 12 * 3600 * SECOND),
        ("2026-01-01T12:00:00.5Z", NOON + SECOND // 2),
        ("2026-01-01T14:30:00.000000001+02:30", NOON + 1),
        ("2026-01-01T12:00:00.1234567899Z", NOON + 123_456_789),
        ("1969-12-31T23:59:59.25Z", -SECOND + SECOND // 4),
        ("2024-02-29", 1_709_164_800 * SECOND),
    ],
)
def test_rfc3339_time_or_date_is_read(text: str, time_ns: int):
    assert parse_rfc3339(text) == time_ns


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "1767268800", "2026", "2026-01", "20260101", "2026-W01-4", "2026-001", "2026-1-1",
        "2026-02-30", "2026-13-01", "2026-01-01T", "2026-01-01T12", "2026-01-01T25:00:00Z", "2026-01-01T12:60:00Z",
        "2026-01-01T12:00:60Z", "2026-01-01T12:00:00.Z", "2026-01-01T12:00:00,5Z", "2026-01-01.5", "2026-01-01Z",
        "2026-01-01T12:00.5Z", "2026-01-01T12:00:00+2", "2026-01-01T12:00:00+0200", "2026-01-01T12:00:00+24:00",
        "2026-01-01T12:00:00+02:00:30.5", "2026-01-01T12:00:00ZZ", " 2026-01-01", "2026-01-01\n", "0000-01-01",
        "२०२६-०१-०१",
    ],
)  # fmt: skip
def test_text_that_is_no_time_is_refused(text: str):
    with pytest.raises(ValueError):  # noqa: PT011  which one is not promised
        parse_rfc3339(text)


@given(st.text(alphabet="0123456789-+:.TtZz ", max_size=35))
def test_any_text_is_a_time_or_a_value_error(text: str):
    try:
        parse_rfc3339(text)
    except ValueError:
        return


@given(
    st.integers(-8_000_000_000, 7_000_000_000).map(lambda s: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s)),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_offset_is_taken_off(moment: datetime, minutes: int):
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    local = moment.replace(tzinfo=None).isoformat()
    shifted = parse_rfc3339(f"{local}{sign}{size // 60:02d}:{size % 60:02d}")
    assert shifted == parse_rfc3339(f"{local}Z") - minutes * 60 * SECOND


@pytest.mark.parametrize(
    "text", ["0001-01-01", "1677-09-20", "2262-04-13", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:00"]
)
def test_time_that_no_store_can_hold_is_refused(text: str):
    with pytest.raises(ValueError, match="outside the years"):
        parse_rfc3339(text)


def test_system_clock_tells_the_time_of_now():
    before = time.time_ns()
    assert before <= SystemClock().now_ns() <= time.time_ns()
