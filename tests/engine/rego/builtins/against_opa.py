"""Calls of builtins, made by us and by a real OPA, all of a table in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.rego.builtins.registry import BUILTINS, Circumstances
from engine.rego.errors import BuiltinError
from engine.rego.values import UNDEFINED, RegoSet, Value, make_object, thaw

Call = tuple[Any, ...]
"""A builtin's name and its arguments."""


def ours(name: str, *arguments: Value, circumstances: Circumstances | None = None) -> Value:
    """What we answer; an error is ("error", code, message)."""
    declared = BUILTINS[name]
    first = [circumstances or Circumstances()] if declared.circumstances else []
    try:
        return declared.call(*first, *arguments)
    except BuiltinError as error:
        return ("error", error.code, error.message)


def differences(opa: str, calls: Sequence[Call], folder: Path) -> list[str]:
    """Each call that the two answer differently, in value, in kind or in a word of the error."""
    theirs = _asked(opa, calls, folder)
    mine = [as_json(ours(*call)) for call in calls]
    return [
        f"{call}: OPA says {their!r}, we say {my!r}"
        for call, their, my in zip(calls, theirs, mine, strict=True)
        if not _alike(their, my)
    ]


def as_json(value: Value) -> Any:
    """A set becomes an array, as in OPA's own output."""
    if isinstance(value, RegoSet | list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(thaw(key)): as_json(item) for key, item in value.items()}
    return value


def rego(value: Value) -> str:
    """The value as a term of Rego."""
    if isinstance(value, RegoSet):
        return "{" + ", ".join(map(rego, value)) + "}" if len(value) else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(map(rego, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{rego(thaw(key))}: {rego(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def obj(*pairs: tuple[Value, Value]) -> Value:
    return make_object(pairs)


def _asked(opa: str, calls: Sequence[Call], folder: Path) -> list[Any]:
    # What comes out of object.get is of any type: the type checker leaves wrong arguments to the builtins.
    lines = ["package calls"]
    for place, (name, *arguments) in enumerate(calls):
        terms = ", ".join(f'object.get({{"v": {rego(argument)}}}, "v", 0)' for argument in arguments)
        lines.append(f"r{place} := {name}({terms})")
    module = folder / "calls.rego"
    module.write_text("\n".join(lines) + "\n")
    command = [opa, "eval", "--show-builtin-errors", "-f", "json", "-d", str(module), "data.calls"]
    output = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    failures = {e["location"]["row"]: e for e in output.get("errors", ())}
    values = output["result"][0]["expressions"][0]["value"] if "result" in output else {}
    answers = []
    for place in range(len(calls)):
        failure = failures.get(place + 2)
        error = ("error", failure["code"], failure["message"]) if failure else UNDEFINED
        answers.append(values.get(f"r{place}", error))
    return answers


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is UNDEFINED or other is UNDEFINED:
        return one is other
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    return bool(one == other)


def _key(key: Value) -> str:
    return key if isinstance(key, str) else json.dumps(as_json(key), separators=(",", ":"))
