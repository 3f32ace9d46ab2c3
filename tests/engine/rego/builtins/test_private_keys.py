"""Private keys in PEM, by themselves and beside a real OPA."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import engine.rego.builtins.private_keys  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours
from tests.engine.rego.builtins.certificates import certificate, key_pem, pem

KEYS = "crypto.parse_private_keys"
JWK = "crypto.x509.parse_rsa_private_key"
EC = ec.derive_private_key(12345, ec.SECP256R1())


def ec_pem(form: PrivateFormat) -> str:
    return EC.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


def test_nothing_is_null_and_what_is_no_key_is_nothing():
    assert ours(KEYS, "") is None
    assert ours(KEYS, "nope") == []
    assert ours(JWK, pem(certificate(1, 1))) is None


def test_a_key_of_ed25519_is_its_seed_and_its_public_key():
    [found] = ours(KEYS, key_pem(1))
    assert base64.b64decode(found)[:32] == bytes([1]) * 32
    assert ours(JWK, key_pem(1)) == {
        "kty": "OKP",
        "crv": "Ed25519",
        "d": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE",
        "x": "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w",
    }


@pytest.mark.parametrize("form", [PrivateFormat.TraditionalOpenSSL, PrivateFormat.PKCS8])
def test_a_key_of_an_elliptic_curve_has_its_numbers(form: PrivateFormat):
    numbers = EC.public_key().public_numbers()
    assert ours(KEYS, ec_pem(form)) == [{"Curve": {}, "D": 12345, "X": numbers.x, "Y": numbers.y}]
    assert ours(JWK, ec_pem(form))["d"] == "A" * 40 + "MDk"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{JWK}: input PEM data was empty"),
        ("x", f"{JWK}: illegal base64 data at input byte 0"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, message: str):
    assert ours(JWK, text) == ("error", "eval_builtin_error", message)


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    key = rsa.generate_private_key(65537, 2048)
    forms = (PrivateFormat.TraditionalOpenSSL, PrivateFormat.PKCS8)
    texts = [
        key_pem(1),
        *(one.private_bytes(Encoding.PEM, form, NoEncryption()).decode() for one in (key, EC) for form in forms),
    ]
    renamed = [
        texts[1].replace("RSA PRIVATE", "PRIVATE"),
        texts[2].replace("PRIVATE KEY", "RSA PRIVATE KEY"),
        texts[3].replace("EC PRIVATE", "RSA PRIVATE"),
        texts[2].replace("PRIVATE KEY", "EC PRIVATE KEY"),
    ]
    calls: list[Call] = [
        *((name, text) for name in (KEYS, JWK) for text in (*texts, "".join(texts), *renamed)),
        *((name, base64.b64encode(text.encode()).decode()) for name in (KEYS, JWK) for text in texts),
        *(
            (name, text)
            for name in (KEYS, JWK)
            for text in ("", "x", "nope", "eA==", 1, "-----BEGIN x", pem(certificate(1, 1)))
        ),
    ]
    assert differences(opa, calls, tmp_path) == []
