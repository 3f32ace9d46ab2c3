"""What arithmetic answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.arithmetic  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("plus", 0.1, 0.2),
    ("div", 1, 3),
    ("div", 10**22, 3),
    ("mul", 4.35, 100),
    ("plus", 1e20, 0.1),
    ("rem", -7, 3),
    ("ceil", -0.5),
    ("floor", -1.5),
    ("round", -2.5),
    ("round", 1e300),
    ("abs", -(10**29) - 1),
    ("minus", RegoSet([1]), 1),
    ("numbers.range", 3, 1),
    ("numbers.range_step", 1, 9, 4),
    ("numbers.range", None, 1),
    ("rem", 1.5, 1),
    ("div", 1, 0),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("plus", 0.1, 0.2), 0.3),
        (("div", 10, 5), 2),
        (("mul", 1e308, 10), 10**309),
        (("div", 10**22, 3), 3333333333333333333200),
        (("ceil", -0.5), 1),
        (("div", 1, 0), ("error", "eval_builtin_error", "div: divide by zero")),
        (("rem", 1, 0), ("error", "eval_builtin_error", "rem: modulo by zero")),
        (
            ("numbers.range", 0, 10**9),
            ("error", "eval_builtin_error", "numbers.range: the range is too large: more than 1000000 numbers"),
        ),
        (("mul", 2**13_999, 4), ("error", "eval_builtin_error", "mul: the number is too large: more than 14000 bits")),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
