"""JSON text: parsed within limits, written in one canonical form.

orjson is fast but turns integers of more than 64 bits into floats when it reads and refuses them when it writes, so
text with long digit runs takes the slower path of the standard library. Which path is taken depends on the value alone,
hence `canonical(parse(canonical(v))) == canonical(v)` for every value: the journal's digests rest on that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TypeAlias

import orjson

from engine.errors import MalformedJson, TooLarge

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 128

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_DIGITS = b"0" * 19
"""Found ten times sooner in a translated text than by a regular expression."""


def parse(text: bytes, *, what: str = "body", max_depth: int = MAX_DEPTH) -> JsonValue:
    """The value of a JSON text; `what` names it in errors."""
    value = _decode(text, what, max_depth)
    brackets = text.count(b"{") + text.count(b"[")  # no more levels than these: most texts need no walk
    if brackets > max_depth and too_deep(value, max_depth):
        raise TooLarge(f"{what}: nested deeper than {max_depth} levels; flatten it")
    return value


def canonical(value: object) -> bytes:
    """Sorted keys, no spaces, UTF-8: equal values give equal bytes. NaN and infinities are no JSON values: whatever
    brings them (YAML does) must refuse them before."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def too_deep(value: object, limit: int) -> bool:
    """Whether more than `limit` objects and arrays are nested in each other, empty ones included."""
    level = _containers([value])
    for _ in range(limit):
        if not level:
            return False
        level = [
            inner for outer in level for inner in _containers(outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _containers(values: Iterable[object]) -> list[dict[str, object] | list[object]]:
    return [value for value in values if isinstance(value, dict | list)]


def _decode(text: bytes, what: str, max_depth: int) -> JsonValue:
    try:
        if _LONG_DIGITS not in text.translate(_AS_ZEROS):
            decoded: JsonValue = orjson.loads(text)
        else:
            decoded = _decode_long_numbers(text)
    except RecursionError:
        raise TooLarge(f"{what}: nested deeper than {max_depth} levels; flatten it") from None
    except ValueError as error:
        if "depth limit" in str(error):
            raise TooLarge(f"{what}: nested deeper than {max_depth} levels; flatten it") from error
        raise MalformedJson(f"{what}: not JSON: {error}") from error
    return decoded


def _decode_long_numbers(text: bytes) -> JsonValue:
    """Integers of any size, and otherwise as strict as orjson."""
    # Decoded here: given bytes, the standard library takes UTF-16 and byte order marks too.
    decoded: JsonValue = json.loads(
        text.decode(), parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer
    )
    canonical(decoded)  # half of a surrogate pair is no text: it cannot be written again
    return decoded


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        raise ValueError(f"an integer of {len(digits)} digits is too long") from error


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"number is too large: {digits[:20]}")
    return number
