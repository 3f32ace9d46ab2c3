"""Keys of JSON web tokens, and the signatures made and verified with them.

Not here: the tokens themselves (jwt). A key is a PEM certificate, a PEM public key, a JWK, or a set of JWKs.
"""

from __future__ import annotations

import binascii
import hmac
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key

from engine.rego.builtins.jose_pss import KeyUnfit, pss_signature

PublicKey: TypeAlias = "rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey"
PrivateKey: TypeAlias = "rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey"
AnyKey: TypeAlias = "PublicKey | PrivateKey | bytes"

_HASHES: Final = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
ALGORITHMS: Final = frozenset({"EdDSA", *(family + size for family in ("HS", "RS", "PS", "ES") for size in _HASHES)})

_PEM: Final = re.compile(r"(?:^|\n)-----BEGIN ([^-\n]*)-----\r?\n(.*?)-----END \1-----[ \t]*\r?(?:\n|$)", re.DOTALL)
_CURVES: Final = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
_ALPHABET: Final = re.compile(r"[A-Za-z0-9_\-\r\n]*")
_MAX_PEM: Final = 65_536
_MAX_RSA_BITS: Final = 16_384


class KeyFault(ValueError):
    """A key that cannot be read or cannot be used so."""


@dataclass(frozen=True, slots=True)
class VerificationKey:
    key: AnyKey
    alg: str = ""
    kid: str = ""


@lru_cache(maxsize=100)
def verification_keys(text: str) -> tuple[VerificationKey, ...]:
    """Policies verify many tokens with few keys: what was read once is kept."""
    if len(text) > _MAX_PEM:
        raise KeyFault(f"a key of more than {_MAX_PEM} characters")
    block = _PEM.search(text)
    if block is not None:
        if text[block.end() :]:
            raise KeyFault("extra data after a PEM certificate block")
        return (VerificationKey(_pem_key(block[1], block[2])),)
    try:
        jwks = [VerificationKey(_jwk_key(jwk), _text(jwk, "alg"), _text(jwk, "kid")) for jwk in _jwks(text)]
    except KeyFault as error:
        raise KeyFault(f"failed to parse a JWK key (set): {error}") from error
    return tuple(key for key in jwks if not key.alg or key.alg in ALGORITHMS)


def signing_key(text: str) -> AnyKey:
    jwks = _jwks(text)
    if not jwks:
        raise KeyFault("no keys found in JWK set")
    return _jwk_key(jwks[0])


def verifies(key: AnyKey, alg: str, data: bytes, signature: bytes) -> bool:
    """Whether the signature is right and the key is one for this algorithm; a private key stands for its public one."""
    public = key if isinstance(key, bytes) or not hasattr(key, "public_key") else key.public_key()
    if isinstance(public, ec.EllipticCurvePublicKey) and len(signature) != 2 * _part_size(public.curve):
        return False
    return alg in ALGORITHMS and public_verifies(public, alg, data, signature, strict_salt=True)


def public_verifies(key: AnyKey, alg: str, data: bytes, signature: bytes, *, strict_salt: bool = False) -> bool:
    try:
        if alg.startswith("HS"):
            return isinstance(key, bytes) and hmac.compare_digest(mac(key, alg, data), signature)
        if alg == "EdDSA" and isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, data)
        elif alg.startswith("ES") and isinstance(key, ec.EllipticCurvePublicKey):
            half = len(signature) // 2
            r, s = int.from_bytes(signature[:half]), int.from_bytes(signature[half:])
            key.verify(encode_dss_signature(r, s), data, ec.ECDSA(_HASHES[alg[2:]]))
        elif alg[:2] in ("RS", "PS") and isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, _padding(alg, strict=strict_salt), _HASHES[alg[2:]])
        else:
            return False
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


def mac(secret: bytes, alg: str, data: bytes) -> bytes:
    return hmac.new(secret, data, "sha" + alg[2:]).digest()


def sign(key: AnyKey, alg: str, data: bytes, seed: str) -> bytes:
    """The same each time; of PS, whose padding holds a salt, for the same seed."""
    if alg.startswith("HS") and isinstance(key, bytes):
        return mac(key, alg, data)
    if alg == "EdDSA" and isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(data)
    if alg.startswith("ES") and isinstance(key, ec.EllipticCurvePrivateKey):
        signed = key.sign(data, ec.ECDSA(_HASHES[alg[2:]], deterministic_signing=True))
        size = _part_size(key.curve)
        return b"".join(part.to_bytes(size) for part in decode_dss_signature(signed))
    if alg.startswith("RS") and isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), _HASHES[alg[2:]])
    if alg.startswith("PS") and isinstance(key, rsa.RSAPrivateKey):
        return _signed_with_salt(key, alg, data, seed)
    raise KeyFault(f"the key cannot sign with {alg}")


def _signed_with_salt(key: rsa.RSAPrivateKey, alg: str, data: bytes, seed: str) -> bytes:
    try:
        return pss_signature(key, "sha" + alg[2:], data, seed)
    except KeyUnfit as error:
        raise KeyFault(str(error)) from error


def base64url_decode(text: str) -> bytes:
    """Padding may be missing. Raises ValueError with OPA's words."""
    if not text.endswith("="):
        if len(text) % 4 == 1:
            raise ValueError(f"illegal base64url string: {text}")
        text += "=" * (-len(text) % 4)
    body = text.rstrip("=")
    good = _ALPHABET.match(body)
    bare = re.sub(r"[\r\n]", "", text)
    if good is None or good.end() != len(body) or len(bare) % 4 or len(text) - len(body) > 2:
        raise ValueError(f"illegal base64 data at input byte {good.end() if good else 0}")
    return binascii.a2b_base64(bare.translate({ord("-"): "+", ord("_"): "/"}))


def _padding(alg: str, *, strict: bool) -> padding.AsymmetricPadding:
    if alg.startswith("RS"):
        return padding.PKCS1v15()
    return padding.PSS(padding.MGF1(_HASHES[alg[2:]]), padding.PSS.DIGEST_LENGTH if strict else padding.PSS.AUTO)


def _part_size(curve: ec.EllipticCurve) -> int:
    return (curve.key_size + 7) // 8


def _pem_key(kind: str, body: str) -> PublicKey:
    if kind not in ("CERTIFICATE", "PUBLIC KEY"):
        raise KeyFault("failed to extract a Key from the PEM certificate")
    what = "certificate" if kind == "CERTIFICATE" else "public key"
    try:
        der = binascii.a2b_base64(body)
        key = x509.load_der_x509_certificate(der).public_key() if kind == "CERTIFICATE" else load_der_public_key(der)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFault(f"failed to parse a PEM {what}: {error}") from error
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey):
        raise KeyFault(f"failed to parse a PEM {what}: unknown kind of key")
    return key


def _jwks(text: str) -> list[dict[str, Any]]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise KeyFault(f"jwk.Parse: {error}") from error
    jwks = parsed["keys"] if isinstance(parsed, dict) and "keys" in parsed else [parsed]
    if not isinstance(jwks, list) or not all(isinstance(jwk, dict) for jwk in jwks):
        raise KeyFault("jwk.Parse: not an object, or a set of them")
    return jwks


def _jwk_key(jwk: dict[str, Any]) -> AnyKey:
    kind = _text(jwk, "kty")
    try:
        if kind == "oct":
            return _part(jwk, "k")
        if kind == "RSA":
            return _rsa_key(jwk)
        if kind == "EC":
            return _ec_key(jwk)
        if kind == "OKP":
            return _ed25519_key(jwk)
    except KeyFault:
        raise
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFault(f"jwk.ParseKey: {error}") from error
    raise KeyFault(f"jwk.ParseKey: invalid key type from JSON ({kind})")


def _rsa_key(jwk: dict[str, Any]) -> AnyKey:
    n, e = _number(jwk, "n"), _number(jwk, "e")
    if n.bit_length() > _MAX_RSA_BITS:
        raise KeyFault(f"jwk.ParseKey: an RSA key of more than {_MAX_RSA_BITS} bits")
    public = rsa.RSAPublicNumbers(e, n)
    if "d" not in jwk:
        return public.public_key()
    d = _number(jwk, "d")
    p, q = (_number(jwk, "p"), _number(jwk, "q")) if "p" in jwk else rsa.rsa_recover_prime_factors(n, e, d)
    crt = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, d, *crt, public).private_key()


def _ec_key(jwk: dict[str, Any]) -> AnyKey:
    curve = _CURVES.get(_text(jwk, "crv"))
    if curve is None:
        raise KeyFault(f"jwk.ParseKey: unknown curve {_text(jwk, 'crv')!r}")
    public = ec.EllipticCurvePublicNumbers(_number(jwk, "x"), _number(jwk, "y"), curve)
    return (
        ec.EllipticCurvePrivateNumbers(_number(jwk, "d"), public).private_key() if "d" in jwk else public.public_key()
    )


def _ed25519_key(jwk: dict[str, Any]) -> AnyKey:
    if _text(jwk, "crv") != "Ed25519":
        raise KeyFault(f"jwk.ParseKey: unknown curve {_text(jwk, 'crv')!r}")
    if "d" in jwk:
        return ed25519.Ed25519PrivateKey.from_private_bytes(_part(jwk, "d"))
    return ed25519.Ed25519PublicKey.from_public_bytes(_part(jwk, "x"))


def _number(jwk: dict[str, Any], name: str) -> int:
    return int.from_bytes(_part(jwk, name))


def _part(jwk: dict[str, Any], name: str) -> bytes:
    if name not in jwk:
        raise KeyFault(f"jwk.ParseKey: required field {name} is missing")
    return base64url_decode(_text(jwk, name))


def _text(jwk: dict[str, Any], name: str) -> str:
    value = jwk.get(name, "")
    if not isinstance(value, str):
        raise KeyFault(f"jwk.ParseKey: field {name} is not a string")
    return value
