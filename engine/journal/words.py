"""The words under which a record is found: derived from what is kept, so that a proof can tell if they were changed.

Both databases split plain words alike, whatever their own idea of a word is. A tenant's words are kept apart by a token
of the tenant, so that a search inside one tenant neither costs nor tells what others have.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from engine.jsontext import JsonValue

LENGTH = 1_000

_NOT_A_WORD = re.compile(r"[\W_]+")


def words_of(given: JsonValue, result: JsonValue) -> str:
    """Of the reasons and of what was asked; half of the room each, so that neither crowds out the other."""
    reasons = _bounded(_within(result, "reasons"), LENGTH // 2)
    asked = _bounded(_within(given, "request"), LENGTH // 2 - 1)
    return f"{reasons} {asked}".strip()


def plain_words(text: str) -> str:
    """Letters and digits, one space between words."""
    return _NOT_A_WORD.sub(" ", text).strip()


def tenant_token(tenant: str) -> str:
    return "t" + hashlib.sha256(tenant.encode(errors="replace")).hexdigest()[:24]


def _within(value: JsonValue, key: str) -> JsonValue:
    return value.get(key) if isinstance(value, dict) else None


def _bounded(value: JsonValue, room: int) -> str:
    words: list[str] = []
    left = room
    for word in _strings(value):
        words.append(word[:left])
        left -= len(word) + 1
        if left <= 0:
            break
    return plain_words(" ".join(words))[:room]


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value):  # as in the canonical bytes, from which a proof starts
            yield from _strings(value[key])
    elif isinstance(value, list):
        for child in value:
            yield from _strings(child)
