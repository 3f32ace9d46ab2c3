"""What arrays answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.arrays  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("array.slice", [1, 2, 3], -1, 2),
    ("array.slice", [1, 2, 3], 2, 1),
    ("array.flatten", [1, [2, [3]]]),
    ("array.concat", [1], {}),
    ("array.reverse", [1, 2]),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("array.flatten", [1, [2, [3]]]), [1, 2, [3]]),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
