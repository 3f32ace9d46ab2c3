"""What comparison answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.comparison  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("equal", 1, 1.0),
    ("equal", True, 1),
    ("lt", None, False),
    ("gt", RegoSet([]), {}),
    ("lte", [1], [1, 2]),
    ("neq", {"a": 1}, {"a": True}),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("equal", [True], [1]), False),
        (("lt", "a", []), True),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
