"""Rego values as JSON has them: a set is a sorted array, a key that is no string is written out as one."""

from __future__ import annotations

import json
import re
from typing import Final

from engine.rego.values import Frozen, RegoSet, Value, thaw

_SCALARS: Final = frozenset({str, int, bool, float, type(None)})


def plain(value: Value) -> Value:
    kind = type(value)
    if kind is dict:
        return {
            key if type(key) is str else _key(key): item if type(item) in _SCALARS else plain(item)
            for key, item in value.items()
        }
    if kind is list or kind is RegoSet:
        return [item if type(item) in _SCALARS else plain(item) for item in value]
    return value


def _key(key: Frozen) -> str:
    """As Go writes JSON: 1.0 is 1, and what HTML gives a meaning to is escaped."""
    value = thaw(key)
    value = plain(int(value) if isinstance(value, float) and value.is_integer() else value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return _HTML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_HTML: Final = re.compile("[<>&\u2028\u2029]")
