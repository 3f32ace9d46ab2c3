"""Semantic versions, as OPA reads and orders them: a leading `v` is allowed, build metadata does not count."""

from __future__ import annotations

import re
from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

_IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_VERSION: Final = re.compile(rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?")
_PADDED: Final = re.compile(r"(?:.*\.)?0[0-9]+(?:\..*)?")
_LARGEST: Final = 2**63 - 1
_MAX_DIGITS: Final = 19

Identifier = tuple[int, int, str]
"""Numbers come before words: (0, number, "") or (1, 0, word)."""
Version = tuple[int, int, int, bool, list[Identifier]]


@builtin("semver.compare")
def compare(one: Value, other: Value) -> int:
    name = "semver.compare"
    texts = operand_string(name, 1, one), operand_string(name, 2, other)
    versions = []
    for position, text in enumerate(texts, 1):
        version = _parse(text)
        if version is None:
            raise BuiltinError(f"{name}: operand {position}: string {quote(text)} is not a valid SemVer")
        versions.append(version)
    return (versions[0] > versions[1]) - (versions[0] < versions[1])


@builtin("semver.is_valid")
def is_valid(value: Value) -> bool:
    return type(value) is str and _parse(value) is not None


def _parse(text: str) -> Version | None:
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    *numbers, release = match.groups()
    if any(len(number) > _MAX_DIGITS or int(number) > _LARGEST for number in numbers):
        return None
    if release is not None and _PADDED.fullmatch(release):
        return None
    major, minor, patch = map(int, numbers)
    return major, minor, patch, release is None, [_identifier(part) for part in (release or "").split(".")]


def _identifier(part: str) -> Identifier:
    """A number that is too large for Go's integers is the largest of them there."""
    if part.isdecimal():
        return 0, _LARGEST if len(part) > _MAX_DIGITS else min(int(part), _LARGEST), ""
    return 1, 0, part
