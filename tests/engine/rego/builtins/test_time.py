"""What time answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.time  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("time.format", [1708000000123456789, "America/New_York", "RFC1123Z"]),
    ("time.format", [0, "Nowhere/City"]),
    ("time.parse_ns", "Jan _2 2006 3:04PM", "Feb  3 2020 12:30AM"),
    ("time.parse_ns", "2006-01-02", "2020-02-30"),
    ("time.parse_duration_ns", "1w2d3.5h"),
    ("time.parse_duration_ns", "1x"),
    ("time.add_date", [1709998200000000000, "America/New_York"], 0, 0, 1),
    ("time.add_date", 0, 1000, 0, 0),
    ("time.diff", [0, "Asia/Tokyo"], 1709164800120000000),
    ("time.weekday", 1.5),
    ("time.date", []),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("time.now_ns",), 0),
        (("time.clock", [0, "Asia/Kolkata"]), [5, 30, 0]),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
