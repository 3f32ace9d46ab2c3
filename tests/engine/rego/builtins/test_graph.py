"""What graph answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.graph  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("graph.reachable", {"a": ["b"], "b": []}, ["a", "q"]),
    ("graph.reachable_paths", {"a": ["a", "b"], "b": ["c", "z"], "c": ["a"]}, ["a"]),
    ("graph.reachable", {}, 1),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("walk", {"a": [1]}), [[[], {"a": [1]}], [["a"], [1]], [["a", 0], 1]]),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
