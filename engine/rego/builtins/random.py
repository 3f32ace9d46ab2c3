"""Chance, from the seed of the evaluation: equal circumstances give equal numbers, equal arguments too."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from engine.rego.builtins.operands import operand_int, operand_string
from engine.rego.builtins.registry import Circumstances, builtin
from engine.rego.values import UNDEFINED, Undefined, Value

_DIGITS: Final = "([0-9a-fA-F]{8})-([0-9a-fA-F]{4})-([0-9a-fA-F]{4})-([0-9a-fA-F]{4})-([0-9a-fA-F]{12})"
_UUID: Final = re.compile(f"(?:[uU][rR][nN]:[uU][uU][iI][dD]:)?{_DIGITS}")
_ANY_BRACES: Final = re.compile(f".{_DIGITS}.", re.DOTALL)
_BARE: Final = re.compile("[0-9a-fA-F]{32}")
_EPOCH_OF_UUID: Final = 0x01B21DD213814000
"""Steps of 100 ns from 1582-10-15 to 1970-01-01."""
_DOMAINS: Final = {0: "Person", 1: "Group", 2: "Org"}


@builtin("rand.intn", circumstances=True)
def intn(circumstances: Circumstances, name: Value, below: Value) -> int:
    text, limit = operand_string("rand.intn", 1, name), abs(operand_int("rand.intn", 2, below))
    return int.from_bytes(_drawn(circumstances, "rand.intn", f"{limit}-{text}", 32)) % limit if limit else 0


@builtin("uuid.rfc4122", circumstances=True)
def uuid_rfc4122(circumstances: Circumstances, name: Value) -> str:
    """Version 4."""
    drawn = bytearray(_drawn(circumstances, "uuid.rfc4122", operand_string("uuid.rfc4122", 1, name), 16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    digits = drawn.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@builtin("uuid.parse")
def uuid_parse(value: Value) -> dict[str, Value] | Undefined:
    digits = _uuid_digits(operand_string("uuid.parse", 1, value))
    if digits is None:
        return UNDEFINED
    data = bytes.fromhex(digits)
    version = data[6] >> 4
    parsed: dict[str, Value] = {"version": version, "variant": _variant(data[8])}
    if version in (1, 2):
        parsed |= _time_based(data)
    if version == 2:
        parsed |= {"id": int.from_bytes(data[:4]), "domain": _DOMAINS.get(data[9], f"Domain{data[9]}")}
    return parsed


def _drawn(circumstances: Circumstances, kind: str, name: str, size: int) -> bytes:
    seed = "\0".join((circumstances.seed, kind, name))
    return hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:size]


def _uuid_digits(text: str) -> str | None:
    match = _UUID.fullmatch(text) or _ANY_BRACES.fullmatch(text)
    if match:
        return "".join(match.groups())
    return text if _BARE.fullmatch(text) else None


def _variant(byte: int) -> str:
    if byte & 0xC0 == 0x80:
        return "RFC4122"
    if byte & 0xE0 == 0xC0:
        return "Microsoft"
    return "Future" if byte & 0xE0 == 0xE0 else "Reserved"


def _time_based(data: bytes) -> dict[str, Value]:
    ticks = int.from_bytes(data[:4]) | int.from_bytes(data[4:6]) << 32
    ticks |= (int.from_bytes(data[6:8]) & 0x0FFF) << 48
    reach = ("global:unicast", "global:multicast", "local:unicast", "local:multicast")[data[10] & 3]
    return {
        "time": ((ticks - _EPOCH_OF_UUID) * 100 + (1 << 63)) % (1 << 64) - (1 << 63),  # as Go overflows
        "nodeid": data[10:].hex("-"),
        "macvariables": reach,
        "clocksequence": int.from_bytes(data[8:10]) & 0x3FFF,
    }
