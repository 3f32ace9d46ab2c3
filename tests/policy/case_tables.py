"""Case tables: a base input, and per case what to set or unset in it and what answer is wanted.

Pure but for reading the file. A table that cannot mean what it says is refused (`TableError`), never half applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from engine.jsontext import JsonValue

_TABLE_KEYS = {"path", "given", "cases"}
_CASE_KEYS = {"name", "set", "unset", "want"}


class TableError(ValueError):
    """The table is wrong, not the rules."""


@dataclass(frozen=True, slots=True)
class Case:
    path: str
    name: str
    input: JsonValue
    want: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.path}: {self.name}"


def tables_under(root: Path) -> list[Path]:
    return sorted(root.rglob("cases.yaml"))


def read_table(file: Path) -> list[Case]:
    return list(cases_of(yaml.safe_load(file.read_text()), file.as_posix()))


def cases_of(table: dict[str, Any], where: str) -> Iterator[Case]:
    _keys_are(table, _TABLE_KEYS, required=_TABLE_KEYS, where=where)
    seen: set[str] = set()
    for row in table["cases"]:
        name = row.get("name", "a case without a name")
        _keys_are(row, _CASE_KEYS, required={"name", "want"}, where=f"{where}: {name}")
        if name in seen:
            raise TableError(f"{where}: two cases are named {name!r}; names must differ")
        seen.add(name)
        changed = _changed(table["given"], row, f"{where}: {name}")
        yield Case(table["path"], name, changed, row["want"])


def _changed(given: JsonValue, row: dict[str, Any], where: str) -> JsonValue:
    value = deepcopy(given)
    for dotted, replacement in row.get("set", {}).items():
        holder, last = _holder(value, dotted, where)
        if isinstance(holder, list) and last == len(holder):
            holder.append(deepcopy(replacement))
        elif isinstance(holder, list) and last > len(holder):
            raise TableError(f"{where}: {dotted}: the list has {len(holder)} items; the next index is its length")
        else:
            holder[last] = deepcopy(replacement)
    for dotted in row.get("unset", []):
        holder, last = _holder(value, dotted, where)
        if not _has(holder, last):
            raise TableError(f"{where}: {dotted}: cannot be unset, it is not there")
        del holder[last]
    return value


def _holder(value: Any, dotted: str, where: str) -> tuple[Any, Any]:
    """What holds the last step of the path, and that step as its key or index."""
    *parents, last = dotted.split(".")
    walked: list[str] = []
    for step in parents:
        walked.append(step)
        key = _key(value, step, dotted, where)
        if not _has(value, key):
            raise TableError(f"{where}: {dotted}: there is no {'.'.join(walked)}")
        value = value[key]
    return value, _key(value, last, dotted, where)


def _key(holder: Any, step: str, dotted: str, where: str) -> str | int:
    if isinstance(holder, dict):
        return step
    if isinstance(holder, list) and step.isdigit():
        return int(step)
    raise TableError(f"{where}: {dotted}: {step!r} is neither a key of an object nor an index of a list here")


def _has(holder: Any, key: str | int) -> bool:
    return key in holder if isinstance(holder, dict) else int(key) < len(holder)


def _keys_are(row: dict[str, Any], known: set[str], *, required: set[str], where: str) -> None:
    if unknown := sorted(row.keys() - known):
        raise TableError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    if missing := sorted(required - row.keys()):
        raise TableError(f"{where}: {', '.join(missing)} is missing")
