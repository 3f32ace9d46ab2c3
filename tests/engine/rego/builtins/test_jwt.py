"""What jwt answers, by itself and beside a real OPA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import engine.rego.builtins.jwt
import engine.rego.builtins.private_keys  # noqa: F401 (both declare what is called)
from engine.rego.builtins.registry import Circumstances
from engine.rego.values import Value
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


@pytest.fixture(scope="module")
def jwk() -> Value:
    key = rsa.generate_private_key(65537, 2048)
    return ours(
        "crypto.x509.parse_rsa_private_key",
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    )


def signed(alg: str, key: Value, seed: str) -> Value:
    return ours("io.jwt.encode_sign", {"alg": alg}, {"a": 1}, key, circumstances=Circumstances(seed=seed))


@pytest.mark.parametrize("alg", ["PS256", "PS384", "PS512"])
def test_a_salted_signature_follows_from_the_seed(jwk: Value, alg: str):
    assert signed(alg, jwk, "one") == signed(alg, jwk, "one")
    assert signed(alg, jwk, "one") != signed(alg, jwk, "other")


@pytest.mark.parametrize("alg", ["PS256", "PS384", "PS512", "RS256"])
def test_a_signature_of_ours_is_verified_by_us_and_by_opa(jwk: Value, alg: str, opa: str, tmp_path: Path):
    public = json.dumps({name: jwk[name] for name in ("kty", "n", "e")})
    token = signed(alg, jwk, "seed")
    calls: list[Call] = [
        (f"io.jwt.verify_{alg.lower()}", token, public),
        ("io.jwt.decode_verify", token, {"cert": public}),
        (f"io.jwt.verify_{alg.lower()}", token[:-5] + "AAAAA", public),
    ]
    assert differences(opa, calls, tmp_path) == []
    assert ours(*calls[0]) is True
