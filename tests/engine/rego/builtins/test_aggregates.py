"""What aggregates answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.aggregates  # noqa: F401 (declares what is called)
from engine.rego.values import UNDEFINED, RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("sum", [0.1, 0.2, 0.3]),
    ("product", [0.1, 3]),
    ("max", []),
    ("min", [2, "a", None]),
    ("sort", RegoSet([2, "a", None])),
    ("count", "héllo"),
    ("sum", [1, "a"]),
    ("sum", 1),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("max", []), UNDEFINED),
        (("product", [0.1, 3]), 0.30000000000000004),
        (("any", [1, True]), True),
        (("all", [1]), False),
        (("internal.member_2", 1, [True]), False),
        (("internal.member_3", "a", 1, {"a": 1}), True),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
