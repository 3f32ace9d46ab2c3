"""What bits answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.bits  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("bits.lsh", -1, 3),
    ("bits.rsh", -5, 1),
    ("bits.rsh", 5, -1),
    ("bits.and", 1.5, 1),
    ("bits.negate", "a"),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("bits.lsh", 1, 100), 2**100),
        (
            ("bits.lsh", 1, 10**12),
            ("error", "eval_builtin_error", "bits.lsh: the number is too large: more than 14000 bits"),
        ),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
