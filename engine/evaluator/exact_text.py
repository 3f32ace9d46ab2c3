"""JSON text that regopy reads exactly, or the reason why there is none.

regopy keeps strings in escaped form, so a quote or a backslash in a value can change what a rule sees and even what the
answer says; it compares numbers in exponent form wrongly and computes floats with 15 digits. Such values are refused
here, with their place, before they reach it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.jsontext import MAX_DEPTH, JsonValue

_UNSAFE: Final = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
_FLOAT_LIMIT: Final = 2.0**53

Segment: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that regopy would not see as it is."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def exact_text(value: JsonValue, name: str) -> tuple[str, tuple[Unreadable, ...]]:
    """The value as JSON text for regopy; the text is meaningless if anything was unreadable."""
    writer = _Writer(name)
    writer.write(value)
    return "".join(writer.parts), tuple(writer.unreadable)


def unsafe_string(text: str) -> str:
    """Why regopy cannot read the string exactly; empty if it can."""
    found = _UNSAFE.search(text)
    if found is None:
        return ""
    return f"has {_character_name(found.group())}, which regopy cannot read exactly"


def segments_of(path: str) -> tuple[Segment, ...]:
    """As OPA reads a URL's path: empty segments are skipped, integers index arrays."""
    return tuple(_segment(part) for part in path.split("/") if part)


def reference(segments: Sequence[Segment]) -> str:
    """`data["a"][0]`: each segment is a quoted literal, never code. ValueError if one cannot be quoted safely."""
    return "data" + "".join(f"[{_literal(segment)}]" for segment in segments)


class _Writer:
    def __init__(self, name: str) -> None:
        self.parts: list[str] = []
        self.unreadable: list[Unreadable] = []
        self._place: list[str | int] = [name]

    def write(self, value: JsonValue) -> None:
        match value:
            case str():
                self._string(value, "the string")
            case bool() | None:
                self.parts.append(_CONSTANTS[value])
            case int():
                self._integer(value)
            case float():
                self._float(value)
            case list() | dict() if len(self._place) > MAX_DEPTH + 1:
                self._refuse(f"nested deeper than {MAX_DEPTH} levels; flatten it")
            case list():
                self._array(value)
            case dict():
                self._object(value)

    def _string(self, text: str, what: str) -> None:
        reason = unsafe_string(text)
        if reason:
            self._refuse(f"{what} {reason}; remove it")
        self.parts.append(f'"{text}"')

    def _integer(self, value: int) -> None:
        if not _INT64_MIN <= value <= _INT64_MAX:
            self._refuse("the integer is outside 64 bits, signed; send it as a string")
        self.parts.append(str(value))

    def _float(self, value: float) -> None:
        if not _survives(value):
            self._refuse(f"the number {value!r} does not survive 6 decimals and 15 digits; round it or scale it")
            return
        text = f"{value:.6f}".rstrip("0")
        self.parts.append(f"{text}0" if text.endswith(".") else text)

    def _array(self, items: list[JsonValue]) -> None:
        self.parts.append("[")
        for index, item in enumerate(items):
            if index:
                self.parts.append(",")
            self._place.append(index)
            self.write(item)
            self._place.pop()
        self.parts.append("]")

    def _object(self, members: dict[str, JsonValue]) -> None:
        separator = "{"
        for key, member in members.items():
            self.parts.append(separator)
            separator = ","
            self._string(key, f"the key {key!r}")
            self.parts.append(":")
            self._place.append(key)
            self.write(member)
            self._place.pop()
        self.parts.append("}" if members else "{}")

    def _refuse(self, reason: str) -> None:
        self.unreadable.append(Unreadable(place_text(self._place), reason))


_CONSTANTS: Final = {True: "true", False: "false", None: "null"}


def place_text(place: Sequence[str | int]) -> str:
    """`input.xs[0]["a b"]`: as one would write it in Rego."""
    first, *rest = place
    return str(first) + "".join(_step(step) for step in rest)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _IDENTIFIER.fullmatch(step) else f"[{step!r}]"


def _survives(value: float) -> bool:
    """Exponent forms and long mantissas are what regopy gets wrong; plain decimals of 15 digits are safe."""
    return (
        math.isfinite(value)
        and -_FLOAT_LIMIT < value < _FLOAT_LIMIT
        and float(f"{value:.6f}") == value
        and float(f"{value:.15g}") == value
    )


def _character_name(character: str) -> str:
    match character:
        case '"':
            return "a double quote"
        case "\\":
            return "a backslash"
        case "\x00":
            return "a NUL"
        case _ if character < " ":
            return f"the control character U+{ord(character):04X}"
        case _:
            return f"the lone surrogate U+{ord(character):04X}"


def _segment(part: str) -> Segment:
    if _INTEGER.fullmatch(part) and len(part) < 20 and _INT64_MIN <= int(part) <= _INT64_MAX:
        return int(part)
    return part


def _literal(segment: Segment) -> str:
    if isinstance(segment, int):
        return str(segment)
    reason = unsafe_string(segment)
    if reason:
        raise ValueError(f"the path segment {segment!r} {reason}")
    return f'"{segment}"'
