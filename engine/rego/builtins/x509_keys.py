"""Public keys of certificates, and the ways to sign, by the numbers that Go has for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec

from engine.rego.builtins.x509_der import SEQUENCE, Der, X509Fault, right_aligned

ObjectId = tuple[int, ...]

RSA, DSA, ECDSA, ED25519 = 1, 2, 3, 4
"""Go's numbers for kinds of keys."""
_KEY_ALGORITHMS: Final[dict[ObjectId, int]] = {
    (1, 2, 840, 113549, 1, 1, 1): RSA,
    (1, 2, 840, 10040, 4, 1): DSA,
    (1, 2, 840, 10045, 2, 1): ECDSA,
    (1, 3, 101, 112): ED25519,
}
CURVES: Final[dict[ObjectId, ec.EllipticCurve]] = {
    (1, 3, 132, 0, 33): ec.SECP224R1(),
    (1, 2, 840, 10045, 3, 1, 7): ec.SECP256R1(),
    (1, 3, 132, 0, 34): ec.SECP384R1(),
    (1, 3, 132, 0, 35): ec.SECP521R1(),
}
_SIGNATURES: Final[dict[ObjectId, int]] = {
    (1, 2, 840, 113549, 1, 1, 4): 2, (1, 2, 840, 113549, 1, 1, 5): 3, (1, 3, 14, 3, 2, 29): 3,
    (1, 2, 840, 113549, 1, 1, 11): 4, (1, 2, 840, 113549, 1, 1, 12): 5, (1, 2, 840, 113549, 1, 1, 13): 6,
    (1, 2, 840, 10040, 4, 3): 7, (2, 16, 840, 1, 101, 3, 4, 3, 2): 8, (1, 2, 840, 10045, 4, 1): 9,
    (1, 2, 840, 10045, 4, 3, 2): 10, (1, 2, 840, 10045, 4, 3, 3): 11, (1, 2, 840, 10045, 4, 3, 4): 12,
    (1, 3, 101, 112): 16,
}  # fmt: skip
"""Go's numbers for ways to sign."""
_PSS: Final[ObjectId] = (1, 2, 840, 113549, 1, 1, 10)
_MGF1: Final[ObjectId] = (1, 2, 840, 113549, 1, 1, 8)
_PSS_HASHES: Final[dict[ObjectId, tuple[int, int]]] = {
    (2, 16, 840, 1, 101, 3, 4, 2, 1): (13, 32),
    (2, 16, 840, 1, 101, 3, 4, 2, 2): (14, 48),
    (2, 16, 840, 1, 101, 3, 4, 2, 3): (15, 64),
}
_NULL: Final = b"\x05\x00"


@dataclass(frozen=True, slots=True)
class RsaPublic:
    n: int
    e: int


@dataclass(frozen=True, slots=True)
class DsaPublic:
    p: int
    q: int
    g: int
    y: int


@dataclass(frozen=True, slots=True)
class EcPublic:
    curve: ec.EllipticCurve
    x: int
    y: int


PublicKey = RsaPublic | DsaPublic | EcPublic | bytes
"""Bytes: of Ed25519."""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    raw: bytes
    algorithm: int
    key: PublicKey | None
    """None: of a kind that Go does not know."""


def parse_key_info(raw: bytes) -> KeyInfo:
    info = Der(raw).inside(SEQUENCE, "x509: malformed spki")
    algorithm = info.inside(SEQUENCE, "x509: malformed public key algorithm identifier")
    kind = algorithm.oid("x509: malformed OID")
    parameters = b"" if algorithm.empty else algorithm.element(None, "x509: malformed parameters")[1]
    data = right_aligned(*info.bits("x509: malformed subjectPublicKey"))
    number = _KEY_ALGORITHMS.get(kind, 0)
    return KeyInfo(raw, number, _public_key(number, parameters, data))


def signature_algorithm_of(data: bytes, fault: str) -> int:
    reader = Der(data)
    kind = reader.oid(fault)
    parameters = b"" if reader.empty else reader.element(None, "x509: malformed parameters")[1]
    if kind == (1, 3, 101, 112) and parameters:
        return 0
    if kind != _PSS:
        return _SIGNATURES.get(kind, 0)
    try:
        return _pss_algorithm(Der(parameters).inside(SEQUENCE, ""))
    except X509Fault:
        return 0


def _pss_algorithm(reader: Der) -> int:
    """Only with one hash for all, a salt of its length, and the usual end."""
    hash_, hash_parameters = _identifier(reader.inside(0xA0, "").inside(SEQUENCE, ""))
    mask = reader.inside(0xA1, "").inside(SEQUENCE, "")
    generator = mask.oid("")
    mask_hash, mask_parameters = _identifier(mask.inside(SEQUENCE, ""))
    salt = reader.inside(0xA2, "").integer("")
    trailer = reader.inside(0xA3, "").integer("") if reader.peek(0xA3) else 1
    number, size = _PSS_HASHES.get(hash_, (0, -1))
    usual = hash_parameters in (b"", _NULL) and mask_parameters in (b"", _NULL) and trailer == 1
    return number if usual and generator == _MGF1 and mask_hash == hash_ and salt == size else 0


def _identifier(reader: Der) -> tuple[ObjectId, bytes]:
    return reader.oid(""), b"" if reader.empty else reader.element(None, "")[1]


def _public_key(algorithm: int, parameters: bytes, data: bytes) -> PublicKey | None:
    if algorithm == RSA:
        return _rsa_key(parameters, data)
    if algorithm == ECDSA:
        return _ec_key(parameters, data)
    if algorithm == DSA:
        return _dsa_key(parameters, data)
    if algorithm == ED25519:
        if parameters:
            raise X509Fault("x509: Ed25519 key encoded with illegal parameters")
        if len(data) != 32:
            raise X509Fault("x509: wrong Ed25519 public key size")
        return data
    return None


def _rsa_key(parameters: bytes, data: bytes) -> RsaPublic:
    if parameters != _NULL:
        raise X509Fault("x509: RSA key missing NULL parameters")
    reader = Der(data).inside(SEQUENCE, "x509: invalid RSA public key")
    n, e = reader.integer("x509: invalid RSA modulus"), reader.integer("x509: invalid RSA public exponent")
    if n <= 0:
        raise X509Fault("x509: RSA modulus is not a positive number")
    if not -(2**63) <= e < 2**63:
        raise X509Fault("x509: invalid RSA public exponent")
    if e <= 0:
        raise X509Fault("x509: RSA public exponent is not a positive number")
    return RsaPublic(n, e)


def _ec_key(parameters: bytes, data: bytes) -> EcPublic:
    curve = CURVES.get(Der(parameters).oid("x509: invalid ECDSA parameters"))
    if curve is None:
        raise X509Fault("x509: unsupported elliptic curve")
    try:
        if data[:1] != b"\x04":
            raise X509Fault("ecdsa: invalid uncompressed public key")
        numbers = ec.EllipticCurvePublicKey.from_encoded_point(curve, data).public_numbers()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise X509Fault("ecdsa: invalid uncompressed public key") from error
    return EcPublic(curve, numbers.x, numbers.y)


def _dsa_key(parameters: bytes, data: bytes) -> DsaPublic:
    y = Der(data).integer("x509: invalid DSA public key")
    fault = "x509: invalid DSA parameters"
    reader = Der(parameters).inside(SEQUENCE, fault)
    key = DsaPublic(reader.integer(fault), reader.integer(fault), reader.integer(fault), y)
    if min(key.p, key.q, key.g, key.y) <= 0:
        raise X509Fault("x509: zero or negative DSA parameter")
    return key
