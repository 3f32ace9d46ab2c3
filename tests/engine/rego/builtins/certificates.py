"""Certificates for tests: the same bytes each time, as all keys are of Ed25519 and made from fixed seeds."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

NOT_BEFORE = datetime(2020, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(2030, 1, 1, tzinfo=UTC)
WITHIN_NS = 1_700_000_000_000_000_000
BEFORE_NS = 1_500_000_000_000_000_000
AFTER_NS = 2_000_000_000_000_000_000

Extensions = Sequence[tuple[x509.ExtensionType, bool]]

CA: Extensions = ((x509.BasicConstraints(ca=True, path_length=None), True),)


def key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"), x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject: int, issuer: int, extensions: Extensions = ()) -> x509.Certificate:
    """Number 1 is called `n1` and has the key 1; its own issuer if both are the same."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(f"n{subject}"))
        .issuer_name(name(f"n{issuer}"))
        .public_key(key(subject).public_key())
        .serial_number(subject)
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(key(issuer), None)


def dns(*names: str) -> tuple[x509.ExtensionType, bool]:
    return x509.SubjectAlternativeName([x509.DNSName(one) for one in names]), False


def pem(*things: x509.Certificate | x509.CertificateSigningRequest) -> str:
    return "".join(thing.public_bytes(Encoding.PEM).decode() for thing in things)


def der_base64(thing: x509.Certificate | x509.CertificateSigningRequest) -> str:
    return base64.b64encode(thing.public_bytes(Encoding.DER)).decode()


def key_pem(number: int) -> str:
    return key(number).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
