"""The functions that Go's `text/template` offers to a template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote_plus

from engine.rego.builtins.templates_printing import GoValue, Number, printed, sprint, sprintf_go, sprintln, type_name


class Nothing:
    """Not even a nil: what a name that is not there stands for."""

    __slots__ = ()


NOTHING: Final = Nothing()

_HTML: Final = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_JAVASCRIPT: Final = {
    "\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D",
}  # fmt: skip
_ZERO_VALUE: Final = "reflect: call of reflect.Value.Type on zero Value"


class CallFault(ValueError):
    """A function that has no answer, with Go's words."""


def truth(value: GoValue) -> bool:
    """Not empty, and not zero; every number of Rego is true, being a text."""
    return bool(value) if value is not NOTHING else False


def length(value: GoValue) -> int:
    if value is None:
        raise CallFault("len of nil pointer")
    if isinstance(value, str):
        return len(_bytes(value))
    if isinstance(value, list | dict):
        return len(value)
    raise CallFault(_ZERO_VALUE if value is NOTHING else f"len of type {type_name(value)}")


def index(item: GoValue, *places: GoValue) -> GoValue:
    if item is NOTHING or item is None:
        raise CallFault("index of untyped nil")
    for place in places:
        if item is None:
            raise CallFault("index of nil pointer")
        if isinstance(item, dict):
            if type(place) is not str:
                missing = place is NOTHING or place is None
                fault = (
                    "value is nil; should be of type string"
                    if missing
                    else f"value has type {type_name(place)}; should be string"
                )
                raise CallFault(fault)
            item = item.get(place)
        elif isinstance(item, str | list):
            item = _element(item, place)
        else:
            raise CallFault(f"can't index item of type {type_name(item)}")
    return item


def _element(item: str | list[GoValue], place: GoValue) -> GoValue:
    elements = _bytes(item) if isinstance(item, str) else item
    at = _position(place, len(elements))
    if at == len(elements):
        raise CallFault(f"reflect: {'string' if isinstance(item, str) else 'slice'} index out of range")
    return elements[at]


def slice_(item: GoValue, *places: GoValue) -> GoValue:
    if item is NOTHING or item is None:
        raise CallFault("slice of untyped nil")
    if len(places) > 3:
        raise CallFault(f"too many slice indexes: {len(places)}")
    if not isinstance(item, str | list):
        raise CallFault(f"can't slice item of type {type_name(item)}")
    if isinstance(item, str) and len(places) == 3:
        raise CallFault("cannot 3-index slice a string")
    elements = _bytes(item) if isinstance(item, str) else item
    found = [_position(place, len(elements)) for place in places]
    start, end, *rest = found if len(found) > 1 else [*(found or [0]), len(elements)]
    for low, high in ((start, end), (end, *rest)) if rest else ((start, end),):
        if low > high:
            raise CallFault(f"invalid slice index: {low} > {high}")
    cut = elements[start:end]
    return type(item)(cut.decode("utf-8", "replace")) if isinstance(cut, bytes) else cut


def _position(place: GoValue, limit: int) -> int:
    if place is NOTHING or place is None:
        raise CallFault("cannot index slice/array with nil")
    if type(place) is not int:
        raise CallFault(f"cannot index slice/array with type {type_name(place)}")
    if not 0 <= place <= limit:
        raise CallFault(f"index out of range: {place}")
    return place


def equal(one: GoValue, *others: GoValue) -> bool:
    """Whether it is equal to any of the others."""
    if not others:
        raise CallFault("missing argument for comparison")
    return any(_same(_plain(one), _plain(other)) for other in others)


def _same(one: GoValue, other: GoValue) -> bool:
    if one is NOTHING or other is NOTHING:
        return one is other
    if _kind(one) != _kind(other):
        raise _incompatible(one, other)
    if isinstance(one, list | dict):
        if type(one) is not type(other):
            raise CallFault(
                f"non-comparable types {printed(one)}: {type_name(one)}, {type_name(other)}: {printed(other)}"
            )
        raise CallFault(f"non-comparable type {printed(other)}: {type_name(other)}")
    return bool(one == other)


def less(one: GoValue, other: GoValue) -> bool:
    one, other = _plain(one), _plain(other)
    if any(value is NOTHING or isinstance(value, list | dict) for value in (one, other)):
        raise CallFault("invalid type for comparison")
    if _kind(one) != _kind(other):
        raise _incompatible(one, other)
    if isinstance(one, bool | complex):
        raise CallFault("invalid type for comparison")
    return bool(one < other)


def _plain(value: GoValue) -> GoValue:
    return NOTHING if value is None else value


def _kind(value: GoValue) -> object:
    return str if type(value) is Number else None if type(value) in (list, dict) else type(value)


def _incompatible(one: GoValue, other: GoValue) -> CallFault:
    return CallFault(f"incompatible types for comparison: {type_name(one)} and {type_name(other)}")


def _joined(values: tuple[GoValue, ...]) -> str:
    return sprint(["<no value>" if value is None else value for value in values])


def _html(*values: GoValue) -> str:
    return _joined(values).translate(_HTML)


def _javascript(*values: GoValue) -> str:
    return "".join(_JAVASCRIPT.get(char) or _plain_character(char) for char in _joined(values))


def _plain_character(char: str) -> str:
    return (
        char
        if " " <= char < "\x7f" or char == "\x7f" or (char > "\x7f" and char.isprintable())
        else f"\\u{ord(char):04X}"
    )


def _query(*values: GoValue) -> str:
    return quote_plus(_bytes(_joined(values)), safe="~")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _call(name: str, function: GoValue, *_: GoValue) -> GoValue:
    """Of a function among the data; there is none."""
    if function is NOTHING or function is None:
        raise CallFault("call of nil")
    raise CallFault(f"non-function {name} of type {type_name(function)}")


SHORT_CIRCUIT: Final = ("and", "or")
LEAST: Final = {"and": 1, "or": 1, "eq": 1, "index": 1, "slice": 1, "printf": 1, "call": 1}
"""How many arguments a function of any number of them takes at least."""
EXACTLY: Final = {"len": 1, "not": 1, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2}
TAKE_ANY: Final = frozenset(("html", "js", "urlquery", "print", "println", "printf"))
"""These are given a nil for what is not there."""
CALLS: Final[dict[str, Callable[..., GoValue]]] = {
    "call": _call,
    "len": length,
    "not": lambda value: not truth(value),
    "index": index,
    "slice": slice_,
    "eq": equal,
    "ne": lambda one, other: not equal(one, other),
    "lt": less,
    "le": lambda one, other: less(one, other) or equal(one, other),
    "gt": lambda one, other: not (less(one, other) or equal(one, other)),
    "ge": lambda one, other: not less(one, other),
    "print": lambda *values: sprint(list(values)),
    "println": lambda *values: sprintln(list(values)),
    "printf": lambda form, *values: sprintf_go(form, list(values)),
    "html": _html,
    "js": _javascript,
    "urlquery": _query,
}
