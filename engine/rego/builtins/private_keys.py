"""Private keys: `crypto.parse_private_keys`, `crypto.x509.parse_rsa_private_key`. They are shown, never used."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import lcm
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.builtins.x509_der import (
    INTEGER,
    OCTET_STRING,
    SEQUENCE,
    Der,
    X509Fault,
    base64_bytes,
    context,
    input_bytes,
    pem_blocks,
)
from engine.rego.builtins.x509_keys import CURVES, DsaPublic, EcPublic, ObjectId, PublicKey, RsaPublic
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

MAX_RSA_BITS: Final = 14_000
"""What Python writes out in digits."""
_RSA: Final[ObjectId] = (1, 2, 840, 113549, 1, 1, 1)
_EC: Final[ObjectId] = (1, 2, 840, 10045, 2, 1)
_ED25519: Final[ObjectId] = (1, 3, 101, 112)
_JWK_CURVES: Final = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}


@dataclass(frozen=True, slots=True)
class RsaKey:
    n: int
    e: int
    d: int
    p: int
    q: int


@dataclass(frozen=True, slots=True)
class EcKey:
    d: int
    public: EcPublic


@dataclass(frozen=True, slots=True)
class EdKey:
    seed: bytes
    public: bytes


PrivateKey = RsaKey | EcKey | EdKey


class MatchFault(ValueError):
    """The key is not the one of the certificate."""


@builtin("crypto.parse_private_keys")
def parse_private_keys(keys: Value) -> Value:
    name = "crypto.parse_private_keys"
    text = operand_string(name, 1, keys)
    if not text:
        return None
    try:
        return [private_key_value(key) for key in _keys(text)]
    except X509Fault as fault:
        raise BuiltinError(f"{name}: {fault}") from fault


@builtin("crypto.x509.parse_rsa_private_key")
def parse_rsa_private_key(key: Value) -> Value:
    """The first of them, of whatever kind, as a JWK."""
    name = "crypto.x509.parse_rsa_private_key"
    text = operand_string(name, 1, key)
    if not text:
        raise BuiltinError(f"{name}: input PEM data was empty")
    try:
        plain = text if text.startswith("-----BEGIN") else base64_bytes(text).decode("utf-8", "replace")
        keys = _keys(plain)
        return _jwk(keys[0]) if keys else None
    except X509Fault as fault:
        raise BuiltinError(f"{name}: {fault}") from fault


def private_key_value(key: PrivateKey) -> Value:
    """The fields of Go's structs."""
    if isinstance(key, RsaKey):
        precomputed = {"Dp": key.d % (key.p - 1), "Dq": key.d % (key.q - 1), "Qinv": pow(key.q, -1, key.p)}
        return {
            "N": key.n,
            "E": key.e,
            "D": key.d,
            "Primes": [key.p, key.q],
            "Precomputed": {**precomputed, "CRTValues": []},
        }
    if isinstance(key, EcKey):
        return {"Curve": {}, "X": key.public.x, "Y": key.public.y, "D": key.d}
    return base64.b64encode(key.seed + key.public).decode("ascii")


def key_of_pair(data: bytes, public: PublicKey | None) -> PrivateKey:
    """The first private key among PEM blocks, or all of it as PKCS #8; it must be the one of this public key."""
    if not data.startswith(b"-----BEGIN"):
        return _matching(_any_key(data), public)
    blocks = pem_blocks(data)
    for block in blocks:
        if block.kind == "PRIVATE KEY" or block.kind.endswith(" PRIVATE KEY"):
            return _matching(_any_key(block.data), public)
    if not blocks:
        raise X509Fault("tls: failed to find any PEM data in key input")
    kinds = [block.kind for block in blocks]
    if kinds == ["CERTIFICATE"]:
        raise X509Fault("tls: found a certificate rather than a key in the PEM for the private key")
    skipped = " ".join(kinds)
    words = 'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks'
    raise X509Fault(f"{words} of the following types: [{skipped}]")


def _matching(key: PrivateKey, public: PublicKey | None) -> PrivateKey:
    own: PublicKey = RsaPublic(key.n, key.e) if isinstance(key, RsaKey) else key.public
    if public is None or isinstance(public, DsaPublic):
        raise MatchFault("tls: unknown public key algorithm")
    if type(public) is not type(own):
        raise MatchFault("tls: private key type does not match public key type")
    if own != public:
        raise MatchFault("tls: private key does not match public key")
    return key


def _keys(text: str) -> list[PrivateKey]:
    data = input_bytes(text)
    with suppress(X509Fault):
        data = base64_bytes(text)
    readers = {"RSA PRIVATE KEY": _pkcs1, "PRIVATE KEY": _pkcs8, "EC PRIVATE KEY": _sec1}
    return [readers[block.kind](block.data) for block in pem_blocks(data) if block.kind in readers]


def _any_key(data: bytes) -> PrivateKey:
    for read in (_pkcs1, _pkcs8, _sec1):
        try:
            return read(data)
        except X509Fault:
            continue
    raise X509Fault("tls: failed to parse private key")


def _pkcs1(data: bytes) -> RsaKey:
    fault = "asn1: structure error: not a private key of PKCS #1"
    reader = Der(data).inside(SEQUENCE, fault)
    version = reader.integer(fault)
    if reader.peek(SEQUENCE):
        raise X509Fault("x509: failed to parse private key (use ParsePKCS8PrivateKey instead for this key format)")
    if version == 1 and reader.peek(OCTET_STRING):
        raise X509Fault("x509: failed to parse private key (use ParseECPrivateKey instead for this key format)")
    n, e, d, p, q = (reader.integer(fault) for _ in range(5))
    if version > 1:
        raise X509Fault("x509: unsupported private key version")
    if min(n, d, p, q) <= 0:
        raise X509Fault("x509: private key contains zero or negative value")
    if n.bit_length() > MAX_RSA_BITS:
        raise X509Fault(f"an RSA key of more than {MAX_RSA_BITS} bits")
    if version or p < 2 or q < 2 or p * q != n or e < 2 or e * d % lcm(p - 1, q - 1) != 1:
        raise X509Fault("crypto/rsa: invalid key")
    return RsaKey(n, e, d, p, q)


def _pkcs8(data: bytes) -> PrivateKey:
    fault = "asn1: structure error: not a private key of PKCS #8"
    reader = Der(data).inside(SEQUENCE, fault)
    reader.integer(fault)
    if reader.peek(OCTET_STRING):
        raise X509Fault("x509: failed to parse private key (use ParseECPrivateKey instead for this key format)")
    if reader.peek(INTEGER):
        raise X509Fault("x509: failed to parse private key (use ParsePKCS1PrivateKey instead for this key format)")
    algorithm = reader.inside(SEQUENCE, fault)
    kind = algorithm.oid(fault)
    inside = reader.octets(OCTET_STRING, fault)
    if kind == _RSA:
        return _wrapped("RSA", lambda: _pkcs1(inside))
    if kind == _EC:
        curve = None if algorithm.empty else algorithm.oid("x509: invalid ECDSA parameters")
        return _wrapped("EC", lambda: _sec1(inside, curve))
    if kind == _ED25519:
        if not algorithm.empty:
            raise X509Fault("x509: invalid Ed25519 private key parameters")
        return _ed25519(inside)
    dotted = ".".join(map(str, kind))
    raise X509Fault(f"x509: PKCS#8 wrapping contained private key with unknown algorithm: {dotted}")


def _wrapped(kind: str, read: Callable[[], PrivateKey]) -> PrivateKey:
    try:
        return read()
    except X509Fault as fault:
        raise X509Fault(f"x509: failed to parse {kind} private key embedded in PKCS#8: {fault}") from fault


def _sec1(data: bytes, curve_id: ObjectId | None = None) -> EcKey:
    fault = "asn1: structure error: not a private key of SEC 1"
    reader = Der(data).inside(SEQUENCE, fault)
    version = reader.integer(fault)
    if reader.peek(SEQUENCE):
        raise X509Fault("x509: failed to parse private key (use ParsePKCS8PrivateKey instead for this key format)")
    if reader.peek(INTEGER):
        raise X509Fault("x509: failed to parse private key (use ParsePKCS1PrivateKey instead for this key format)")
    if version != 1:
        raise X509Fault(f"x509: unknown EC private key version {version}")
    d = int.from_bytes(reader.octets(OCTET_STRING, fault))
    parameters = reader.optional(context(0, constructed=True), fault)
    curve = CURVES.get(curve_id or (parameters.oid(fault) if parameters else ()))
    if curve is None:
        raise X509Fault("x509: unknown elliptic curve")
    try:
        numbers = ec.derive_private_key(d, curve).public_key().public_numbers()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise X509Fault("x509: invalid elliptic curve private key value") from error
    return EcKey(d, EcPublic(curve, numbers.x, numbers.y))


def _ed25519(data: bytes) -> EdKey:
    seed = Der(data).octets(OCTET_STRING, "x509: invalid Ed25519 private key")
    if len(seed) != 32:
        raise X509Fault(f"x509: invalid Ed25519 private key length: {len(seed)}")
    public = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return EdKey(seed, public.public_bytes(Encoding.Raw, PublicFormat.Raw))


def _jwk(key: PrivateKey) -> dict[str, Value]:
    if isinstance(key, RsaKey):
        numbers = {"n": key.n, "e": key.e, "d": key.d, "p": key.p, "q": key.q}
        numbers |= {"dp": key.d % (key.p - 1), "dq": key.d % (key.q - 1), "qi": pow(key.q, -1, key.p)}
        return {"kty": "RSA", **{name: _base64url(_bytes(number)) for name, number in numbers.items()}}
    if isinstance(key, EdKey):
        return {"kty": "OKP", "crv": "Ed25519", "d": _base64url(key.seed), "x": _base64url(key.public)}
    curve = key.public.curve
    if curve.name not in _JWK_CURVES:
        raise X509Fault("jwk.Import: failed to import the key: unsupported elliptic curve")
    size = (curve.key_size + 7) // 8
    parts = {"d": key.d, "x": key.public.x, "y": key.public.y}
    texts = {name: _base64url(number.to_bytes(size)) for name, number in parts.items()}
    return {"kty": "EC", "crv": _JWK_CURVES[curve.name], **texts}


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
