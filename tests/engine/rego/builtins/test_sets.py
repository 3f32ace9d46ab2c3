"""What sets answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.sets  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("and", RegoSet([1, 2]), RegoSet([2])),
    ("or", RegoSet([True]), RegoSet([1])),
    ("union", RegoSet([RegoSet([1]), RegoSet([2])])),
    ("intersection", RegoSet([])),
    ("union", RegoSet([1])),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("set_diff", RegoSet([1, 2]), RegoSet([2])), RegoSet([1])),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
