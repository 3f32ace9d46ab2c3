"""What random answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.random  # noqa: F401 (declares what is called)
from engine.rego.values import UNDEFINED
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("uuid.parse", "urn:uuid:f47ac10b-58cc-1372-a567-0e02b2c3d479"),
    ("uuid.parse", "xx"),
    ("uuid.parse", 1),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("rand.intn", "a", 0), 0),
        (("uuid.parse", ""), UNDEFINED),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
