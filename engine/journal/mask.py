"""Masking, as OPA has it: `data.system.log.mask` names what must not be remembered; it is taken out before the hash.

A mask that cannot be understood takes out everything: a secret in the journal could not be taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.jsontext import JsonValue

MASK_PATH = "system/log/mask"

_MASKABLE = ("input", "result")
_NEVER_PRESENT = "nd_builtin_cache"
"""OPA has it, so a rule for it is no mistake; there is nothing to mask."""

_GONE: Final[list[JsonValue]] = []
"""Stands for a removed element until all are removed: every index keeps the meaning that its rule gave it."""


@dataclass(frozen=True, slots=True)
class MaskRule:
    path: str
    upsert: bool = False
    value: JsonValue = None

    @property
    def parts(self) -> list[str]:
        return [part.replace("~1", "/").replace("~0", "~") for part in self.path.split("/")[1:]]


@dataclass(frozen=True, slots=True)
class Masked:
    event: dict[str, JsonValue]
    erased: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    failed: bool = False
    """Nobody knows what the mask would have hidden, so all that it could have is gone."""

    @property
    def replayable(self) -> bool:
        return not (self.erased or self.masked)


def parse_mask(value: JsonValue) -> list[MaskRule]:
    """The rules that a mask document states; ValueError if it states anything else."""
    if not isinstance(value, list):
        raise ValueError("the mask must be a set of rules")
    return [_rule(item) for item in value]


def apply_mask(event: dict[str, JsonValue], rules: list[MaskRule]) -> Masked:
    if not rules:
        return Masked(event)
    event = {**event, **{name: _copy(event[name]) for name in _MASKABLE if name in event}}
    masked = {rule.path for rule in rules if rule.upsert and _upsert(event, rule.parts, rule.value)}
    removals = sorted((rule for rule in rules if not rule.upsert), key=lambda rule: -len(rule.parts))
    thinned: list[list[JsonValue]] = []
    erased = {rule.path for rule in removals if _remove(event, rule.parts, thinned)}
    for items in thinned:
        items[:] = [item for item in items if item is not _GONE]
    return Masked(event, tuple(sorted(erased)), tuple(sorted(masked)))


def mask_everything(event: dict[str, JsonValue]) -> Masked:
    kept = {key: value for key, value in event.items() if key not in _MASKABLE}
    return Masked(kept, erased=tuple(f"/{key}" for key in _MASKABLE if key in event), failed=True)


def _copy(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        copied = dict(value)
        for key, child in value.items():
            copied[key] = _copy(child)
        return copied
    if isinstance(value, list):
        items = list(value)
        for index, child in enumerate(value):
            items[index] = _copy(child)
        return items
    return value


def _rule(item: JsonValue) -> MaskRule:
    if isinstance(item, str):
        item = {"op": "remove", "path": item}
    if not isinstance(item, dict) or not isinstance(path := item.get("path"), str):
        raise ValueError(f"a mask rule needs a path: {item!r}")
    if path.split("/")[:2] not in [["", name] for name in (*_MASKABLE, _NEVER_PRESENT)]:
        raise ValueError(f"a mask path begins with /input or /result: {path!r}")
    if item.get("op") not in ("remove", "upsert"):
        raise ValueError(f"a mask's op is remove or upsert: {item.get('op')!r}")
    return MaskRule(path, upsert=item["op"] == "upsert", value=item.get("value"))


def _upsert(event: dict[str, JsonValue], parts: list[str], value: JsonValue) -> bool:
    holder = _descend(event, parts[:-1])
    if isinstance(holder, dict) and parts[0] in event:
        holder[parts[-1]] = value
        return True
    index = _index(holder, parts[-1])
    if isinstance(holder, list) and index is not None:
        holder[index] = value
        return True
    return False


def _remove(event: dict[str, JsonValue], parts: list[str], thinned: list[list[JsonValue]]) -> bool:
    holder = _descend(event, parts[:-1])
    if isinstance(holder, dict) and parts[-1] in holder:
        del holder[parts[-1]]
        return True
    index = _index(holder, parts[-1])
    if isinstance(holder, list) and index is not None:
        holder[index] = _GONE
        thinned.append(holder)
        return True
    return False


def _descend(value: JsonValue, parts: list[str]) -> JsonValue:
    for part in parts:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and (index := _index(value, part)) is not None:
            value = value[index]
        else:
            return None
    return value


def _index(holder: JsonValue, part: str) -> int | None:
    if isinstance(holder, list) and part.isascii() and part.isdigit() and int(part) < len(holder):
        return int(part)
    return None
