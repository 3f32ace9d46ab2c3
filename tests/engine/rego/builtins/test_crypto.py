"""What crypto answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.crypto  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

CALLS: list[Call] = [
    ("crypto.md5", "é"),
    ("crypto.sha1", "a"),
    ("crypto.sha256", ""),
    ("crypto.hmac.sha512", "a", "k"),
    ("crypto.hmac.md5", 1, 2),
    ("crypto.hmac.equal", "a", "b"),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("crypto.hmac.equal", "a", "a"), True),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, CALLS, tmp_path) == []
