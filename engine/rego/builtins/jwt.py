"""JSON web tokens: decoded, verified and signed."""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import dataclass
from typing import Final

from engine.rego.builtins.jose import (
    ALGORITHMS,
    KeyFault,
    VerificationKey,
    base64url_decode,
    mac,
    public_verifies,
    sign,
    signing_key,
    verification_keys,
    verifies,
)
from engine.rego.builtins.operands import operand_object, operand_string
from engine.rego.builtins.registry import Circumstances, Function, builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Frozen, RegoSet, Value, keys_of, thaw

Object = dict[Frozen, Value]

_HALF_PAIR: Final = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER_LIKE: Final = re.compile(r"\s*[-+.0-9eE]+\s*")
_MAX_NESTING: Final = 16
_KNOWN_HEADERS: Final = ("alg", "kid", "typ", "cty")
_HTML: Final = {
    ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    header_text: str
    payload_text: str
    signature_text: str

    @property
    def signed(self) -> bytes:
        return f"{self.header_text}.{self.payload_text}".encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a token has to meet: either keys or a secret, and what may be asked of its claims."""

    keys: tuple[VerificationKey, ...] | None
    secret: str
    alg: str
    iss: str
    aud: str
    time_ns: int | float


class TokenFault(ValueError):
    """Not a token; or one that cannot be judged."""


@builtin("io.jwt.decode")
def decode(value: Value) -> Value:
    try:
        return _decoded(operand_string("io.jwt.decode", 1, value), _MAX_NESTING)
    except ValueError as error:
        raise BuiltinError(f"io.jwt.decode: {error}") from error


@builtin("io.jwt.decode_verify", circumstances=True)
def decode_verify(circumstances: Circumstances, value: Value, constraints: Value) -> Value:
    name = "io.jwt.decode_verify"
    wanted = operand_object(name, 2, constraints)
    try:
        met = _constraints(wanted, circumstances.time_ns)
        found = _verified(operand_string(name, 1, value), met, _MAX_NESTING)
        if found is None or not _claims_hold(found[1], met):
            return [False, {}, {}]
    except ValueError as error:
        raise BuiltinError(f"{name}: {error}") from error
    return [True, *found]


@builtin("io.jwt.encode_sign", circumstances=True)
def encode_sign(circumstances: Circumstances, header: Value, payload: Value, key: Value) -> str:
    name = "io.jwt.encode_sign"
    head, claims = _marshalled(operand_object(name, 1, header)), _marshalled(operand_object(name, 2, payload))
    return _encoded(name, head, claims, _marshalled(operand_object(name, 3, key)), circumstances.seed)


@builtin("io.jwt.encode_sign_raw", circumstances=True)
def encode_sign_raw(circumstances: Circumstances, header: Value, payload: Value, key: Value) -> str:
    name = "io.jwt.encode_sign_raw"
    jwk = operand_string(name, 3, key)
    return _encoded(name, operand_string(name, 1, header), operand_string(name, 2, payload), jwk, circumstances.seed)


def _verify_secret(name: str, alg: str) -> Function:
    def verify(value: Value, secret: Value) -> bool:
        text, key = operand_string(name, 1, value), operand_string(name, 2, secret)
        try:
            token = _token(text)
            signature = base64url_decode(token.signature_text)
        except ValueError as error:
            raise BuiltinError(f"{name}: {error}") from error
        return mac(_bytes(key), alg, token.signed) == signature

    return verify


def _verify_key(name: str, alg: str) -> Function:
    def verify(value: Value, key: Value) -> bool:
        text, certificate = operand_string(name, 1, value), operand_string(name, 2, key)
        try:
            token = _token(text)
            keys = verification_keys(certificate)
            signature, header = base64url_decode(token.signature_text), _header(token)
        except ValueError as error:
            raise BuiltinError(f"{name}: {error}") from error
        candidates = _candidates(keys, header.get("kid", ""), header.get("alg", ""))
        return any(public_verifies(one.key, alg, token.signed, signature) for one in candidates)

    return verify


for _size in ("256", "384", "512"):
    builtin(f"io.jwt.verify_hs{_size}")(_verify_secret(f"io.jwt.verify_hs{_size}", f"HS{_size}"))
    for _family in ("rs", "ps", "es"):
        _name = f"io.jwt.verify_{_family}{_size}"
        builtin(_name)(_verify_key(_name, _family.upper() + _size))
builtin("io.jwt.verify_eddsa")(_verify_key("io.jwt.verify_eddsa", "EdDSA"))


def _token(text: str) -> Token:
    if "." not in text:
        raise TokenFault("encoded JWT had no period separators")
    parts = text.split(".")
    if len(parts) != 3:
        raise TokenFault(f"encoded JWT must have 3 sections, found {len(parts)}")
    return Token(*parts)


def _decoded(text: str, nesting: int) -> Value:
    token = _token(text)
    header = _plain_header(token)
    payload = _base64("payload", token.payload_text)
    if header.get("cty") == "JWT":
        if not nesting:
            raise TokenFault(f"the JWT holds JWTs more than {_MAX_NESTING} deep")
        return _decoded(payload.decode("utf-8", "replace").strip("\"'"), nesting - 1)
    claims = _json_object(payload)
    return [header, claims, _base64("signature", token.signature_text).hex()]


def _base64(part: str, text: str) -> bytes:
    try:
        return base64url_decode(text)
    except ValueError as error:
        raise TokenFault(f"JWT {part} had invalid encoding: {error}") from error


def _plain_header(token: Token) -> Object:
    encoded = _base64("header", token.header_text)
    try:
        header = _json_object(encoded)
    except TokenFault as error:
        raise TokenFault(f"bad JWT header: {error}") from error
    if "enc" in header:
        raise TokenFault("JWT is a JWE object, which is not supported")
    return header


def _header(token: Token) -> Object:
    """With what we know of it checked."""
    header = _plain_header(token)
    for name in _KNOWN_HEADERS:
        if name in header and type(header[name]) is not str:
            raise TokenFault(f"{name}: must be a string")
    if "crit" in header and type(header["crit"]) is not list:
        raise TokenFault("crit: must be a list")
    if "crit" in header and not any(type(item) is str for item in header["crit"]):
        raise TokenFault("crit: must be a nonempty list")
    return header


def _candidates(keys: tuple[VerificationKey, ...], kid: str, alg: str) -> list[VerificationKey]:
    """The key that the token names, if we have it; else each that may be meant."""
    named = [key for key in keys if kid and key.kid == kid]
    return named[:1] or [key for key in keys if key.alg in ("", alg)]


def _constraints(wanted: Object, now_ns: int) -> Constraints:
    known = ("alg", "aud", "cert", "iss", "secret", "time")
    for name in keys_of(wanted):
        if name not in known:
            raise TokenFault(f"unknown token validation constraint: {name}")
        if name != "time" and type(wanted[name]) is not str:
            raise TokenFault(f"{name} constraint: must be a string")
    keys = verification_keys(wanted["cert"]) if "cert" in wanted else None
    texts = {name: wanted.get(name, "") for name in ("secret", "alg", "iss", "aud")}
    if keys is not None and texts["secret"]:
        raise TokenFault("duplicate key constraints")
    if keys is None and not texts["secret"]:
        raise TokenFault("no key constraint")
    return Constraints(keys, **texts, time_ns=_time(wanted.get("time", now_ns)))


def _time(value: Value) -> int | float:
    if type(value) is not int and type(value) is not float:
        raise TokenFault("token time constraint: must be a number")
    if value < 0:
        raise TokenFault("token time constraint: must not be negative")
    return value


def _verified(text: str, constraints: Constraints, nesting: int) -> tuple[Object, Object] | None:
    """Header and claims, of the innermost token if they are nested; None if a signature is wrong."""
    token = _token(text)
    header = _header(token)
    alg = header.get("alg", "")
    critical = {item for item in header.get("crit", ()) if type(item) is str}
    unknown = {name for name in header if name not in (*_KNOWN_HEADERS, "crit")}
    if not alg or critical & unknown or constraints.alg not in ("", alg):
        return None
    signature = base64url_decode(token.signature_text)
    if constraints.keys is None:
        keys = [VerificationKey(_bytes(constraints.secret))]
    else:
        keys = _candidates(constraints.keys, header.get("kid", ""), alg)
    if not any(verifies(key.key, alg, token.signed, signature) for key in keys):
        return None
    payload = _base64("payload", token.payload_text)
    if header.get("cty", "").upper() == "JWT":
        if not nesting:
            raise TokenFault(f"the JWT holds JWTs more than {_MAX_NESTING} deep")
        return _verified(payload.decode("utf-8", "replace"), constraints, nesting - 1)
    return header, _json_object(payload)


def _claims_hold(claims: Object, constraints: Constraints) -> bool:
    if constraints.iss and claims.get("iss") != constraints.iss:
        return False
    if not _audience_holds(claims, constraints.aud):
        return False
    seconds = constraints.time_ns / 1_000_000_000
    for name in ("exp", "nbf"):
        if name in claims and type(claims[name]) is not int and type(claims[name]) is not float:
            raise TokenFault(f"{name} value must be a number")
        if name == "exp" and name in claims and seconds >= claims[name]:
            return False
    return "nbf" not in claims or bool(seconds >= claims["nbf"])


def _audience_holds(claims: Object, wanted: str) -> bool:
    """A token that says for whom it is wants to be asked for it."""
    if "aud" not in claims:
        return not wanted
    audience = claims["aud"]
    return bool(audience == wanted if type(audience) is str else type(audience) is list and wanted in audience)


def _encoded(name: str, header: str, payload: str, jwk: str, seed: str) -> str:
    try:
        key = signing_key(jwk)
        alg = _signing_algorithm(header, payload)
        signed = f"{_base64url(_bytes(header))}.{_base64url(_bytes(payload))}"
        return f"{signed}.{_base64url(sign(key, alg, signed.encode(), seed))}"
    except (TokenFault, KeyFault) as error:
        raise BuiltinError(f"{name}: {error}") from error


def _signing_algorithm(header: str, payload: str) -> str:
    headers = _signing_headers(header)
    if headers["alg"] not in ALGORITHMS:
        raise TokenFault(f"unknown JWS algorithm: {headers['alg']}")
    if headers.get("typ", "JWT") == "JWT" and not _is_json(payload):
        raise TokenFault("type is JWT but payload is not JSON")
    return headers["alg"]


def _signing_headers(text: str) -> dict[str, str]:
    """Those that are strings."""
    if not text:
        raise TokenFault(
            "missing or invalid 'alg' header: cannot parse JSON: cannot parse empty string; unparsed tail: \"\""
        )
    try:
        # OPA's reader takes anything that could be part of a number for one.
        parsed = None if _NUMBER_LIKE.fullmatch(text) else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenFault(f"missing or invalid 'alg' header: cannot parse JSON: {error}") from error
    headers = {name: value for name, value in parsed.items() if type(value) is str} if type(parsed) is dict else {}
    if "alg" not in headers:
        raise TokenFault("missing or invalid 'alg' header: jwsbb: header \"alg\" not found")
    return headers


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _json_object(data: bytes) -> Object:
    text = data.decode("utf-8", "replace")
    try:
        parsed = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise TokenFault(f"invalid JSON: {error}") from error
    if type(parsed) is not dict:
        raise TokenFault("decoded JSON type was not an Object")
    cleaned: Object = _whole_characters(parsed) if _HALF_PAIR.search(text) else parsed
    return cleaned


def _refuse_constant(text: str) -> Value:
    raise ValueError(f"invalid character {text[0]!r} looking for beginning of value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text} is too large")
    return number


def _whole_characters(value: Value) -> Value:
    """Half a surrogate pair is no character: it is replaced, as Go does."""
    if type(value) is str:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if type(value) is list:
        return [_whole_characters(item) for item in value]
    if type(value) is dict:
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _marshalled(value: Value) -> str:
    """As Go writes JSON: keys in order, no spaces, nothing that HTML would read."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.translate(_HTML)


def _plain(value: Value) -> Value:
    if type(value) is dict:
        return {key if type(key) is str else _marshalled(thaw(key)): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if type(value) in (list, RegoSet) else value


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
