"""What objects answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.objects  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("object.get", {"a": [1, {"b": 2}]}, ["a", 1, "b"], 0),
    ("object.get", {"a": 1}, [], 0),
    ("object.union_n", [{"a": {"b": 2}}, {"a": 4}, {"a": {"c": 3}}]),
    ("object.subset", [1, 2, 1, 2, 3], [1, 2, 3]),
    ("object.subset", [], RegoSet([])),
    ("object.remove", {"a": 1, "b": 2}, {"a": 0}),
    ("object.filter", {"a": 1}, 1),
    ("object.subset", 1, 1),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("object.get", {"a": 1}, ["a", "b"], 0), 0),
        (("object.keys", {"a": 1}), RegoSet(["a"])),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
