"""What jwt answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.jwt  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("io.jwt.decode", "a.b"),
    ("io.jwt.decode", "eyJhbGciOiJIUzI1NiJ9.e30.!"),
    ("io.jwt.encode_sign", {"alg": "HS256"}, {"z": 1, "a": "<é"}, {"kty": "oct", "k": "AyM1"}),
    ("io.jwt.encode_sign", {"alg": "XX"}, {}, {"kty": "oct", "k": "AyM1"}),
    ("io.jwt.decode_verify", "a.b.c", {}),
    ("io.jwt.verify_hs256", "a.b.c", "x"),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (
            ("io.jwt.decode", "a"),
            ("error", "eval_builtin_error", "io.jwt.decode: encoded JWT had no period separators"),
        ),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
