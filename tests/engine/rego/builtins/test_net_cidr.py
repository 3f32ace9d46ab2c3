"""What net cidr answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.net_cidr  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("net.cidr_contains", "10.0.0.0/8", "::ffff:10.0.0.1"),
    ("net.cidr_contains", "::/80", "::/80"),
    ("net.cidr_merge", ["10.1.2.3", "1.2.3.4/32"]),
    ("net.cidr_merge", ["9.0.0.0/8", "10.0.0.0/8"]),
    ("net.cidr_expand", "10.0.0.0/30"),
    ("net.cidr_is_valid", "10.0.0.0/08"),
    ("net.cidr_contains", "x", "y"),
    ("net.cidr_contains_matches", ["10.0.0.0/8"], {"a": "10.0.0.1"}),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (
            ("net.cidr_expand", "10.0.0.0/8"),
            ("error", "eval_builtin_error", "net.cidr_expand: the network is too large: more than 65536 addresses"),
        ),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
