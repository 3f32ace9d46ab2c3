"""What types answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.types  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("to_number", "1e3"),
    ("to_number", "inf"),
    ("to_number", "a"),
    ("to_number", []),
    ("is_number", True),
    ("type_name", RegoSet([])),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("to_number", True), 1),
        (("cast_set", [1, 1]), RegoSet([1])),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
