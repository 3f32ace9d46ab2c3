"""Digests and message authentication codes. Certificates and private keys are not read here."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import Function, builtin
from engine.rego.values import Value


@builtin("crypto.hmac.equal")
def hmac_equal(one: Value, other: Value) -> bool:
    return hmac.compare_digest(_bytes("crypto.hmac.equal", 1, one), _bytes("crypto.hmac.equal", 2, other))


def _digest(name: str, algorithm: Callable[[bytes], hashlib._Hash]) -> Function:
    return lambda value: algorithm(_bytes(name, 1, value)).hexdigest()


def _hmac(name: str, algorithm: str) -> Function:
    def authenticate(message: Value, key: Value) -> str:
        data = _bytes(name, 1, message)
        return hmac.new(_bytes(name, 2, key), data, algorithm).hexdigest()

    return authenticate


def _bytes(name: str, position: int, value: Value) -> bytes:
    return operand_string(name, position, value).encode("utf-8", "surrogatepass")


def _weak(algorithm: str) -> Callable[[bytes], hashlib._Hash]:
    """Broken as signatures; policies name them for what others have signed."""
    return lambda data: hashlib.new(algorithm, data, usedforsecurity=False)


builtin("crypto.md5")(_digest("crypto.md5", _weak("md5")))
builtin("crypto.sha1")(_digest("crypto.sha1", _weak("sha1")))
builtin("crypto.sha256")(_digest("crypto.sha256", hashlib.sha256))
for _algorithm in ("md5", "sha1", "sha256", "sha512"):
    builtin(f"crypto.hmac.{_algorithm}")(_hmac(f"crypto.hmac.{_algorithm}", _algorithm))
