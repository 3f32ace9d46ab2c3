"""Values of a template as Go's `fmt` prints them: `Sprint`, `Sprintln` and `Sprintf`.

A number of Rego is `json.Number` to Go, a kind of string: `%d` is a wrong verb for it.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from engine.rego.builtins.bounds import bounded_length
from engine.rego.builtins.sprintf import sprintf

GoValue: TypeAlias = Any
"""None (a nil), bool, int, float, complex, str, Number, list or dict."""

_NAME: Final = "strings.render_template"
_DIRECTIVE: Final = re.compile(r"%([+\-# 0]*)([0-9]*)((?:\.[0-9]*)?)(.?)", re.DOTALL)


class Number(str):
    """`json.Number`: the text of a number."""

    __slots__ = ()


def type_name(value: GoValue) -> str:
    names: dict[type, str] = {
        bool: "bool", int: "int", float: "float64", complex: "complex128", str: "string", Number: "json.Number",
        list: "[]interface {}", dict: "map[string]interface {}",
    }  # fmt: skip
    return names.get(type(value), "<nil>")


def printed(value: GoValue) -> str:
    return _formatted("%v", "v", value)


def sprint(values: list[GoValue]) -> str:
    """A blank between two of which neither is a string."""
    made: list[str] = []
    length = 0
    for place, value in enumerate(values):
        apart = place and not isinstance(value, str) and not isinstance(values[place - 1], str)
        made.append((" " if apart else "") + printed(value))
        length += len(made[-1])
        bounded_length(_NAME, length)
    return "".join(made)


def sprintln(values: list[GoValue]) -> str:
    texts = list(map(printed, values))
    bounded_length(_NAME, sum(map(len, texts)))
    return " ".join(texts) + "\n"


def sprintf_go(form: str, values: list[GoValue]) -> str:
    if re.search(r"%[+\-# 0-9.]*[*\[]", form):
        return _sprintf(form, [value if type(value) in (str, int, float) else printed(value) for value in values])
    rest = iter(values)
    used = length = 0

    def directive(found: re.Match[str]) -> str:
        nonlocal used, length
        verb = found[4]
        if verb == "%":
            return "%"
        if not verb:
            return "%!(NOVERB)"
        if used == len(values):
            return f"%!{verb}(MISSING)"
        used += 1
        text = _formatted(found[0], verb, next(rest))
        length += len(text)
        bounded_length(_NAME, length)
        return text

    made = _DIRECTIVE.sub(directive, form)
    extra = ", ".join("<nil>" if one is None else f"{type_name(one)}={printed(one)}" for one in values[used:])
    return f"{made}%!(EXTRA {extra})" if extra else made


def _formatted(directive: str, verb: str, value: GoValue) -> str:
    if verb == "T":
        return _sprintf(directive[:-1] + "s", [type_name(value)])
    if value is None:
        return _sprintf(directive, ["<nil>"]) if verb == "v" else f"%!{verb}(<nil>)"
    if type(value) is list:
        return "[" + " ".join(_inner(directive, verb, item) for item in value) + "]"
    if type(value) is dict:
        pairs = (f"{_formatted(directive, verb, key)}:{_inner(directive, verb, value[key])}" for key in sorted(value))
        return "map[" + " ".join(pairs) + "]"
    if type(value) is bool:
        if verb not in "tv":
            return f"%!{verb}(bool={str(value).lower()})"
        return _sprintf(directive[:-1] + "s", [str(value).lower()])
    if type(value) is Number:
        return _sprintf(directive, [str(value)]) if verb in "vsxXq" else f"%!{verb}(json.Number={value})"
    if type(value) is complex:
        return f"({_part(value.real, '')}{_part(value.imag, '+')}i)"
    made = _sprintf(directive, [value])
    return made.replace("(int64=", "(int=", 1) if made.startswith(f"%!{verb}(int64=") else made


def _sprintf(form: str, values: list[GoValue]) -> str:
    return str(sprintf(form, values))


def _inner(directive: str, verb: str, value: GoValue) -> str:
    return "<nil>" if value is None else _formatted(directive, verb, value)


def _part(number: float, sign: str) -> str:
    return _sprintf(f"%{sign}g", [number])
