"""What OPA's builtins take and give: `signatures.json`, one line each, with types as OPA writes them in messages.

A test compares the table with `opa capabilities --current`, so it is never edited by hand from memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

from engine.rego.types.types import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    STRING,
    UNKNOWN,
    AnyOf,
    Array,
    Function,
    Object,
    Set,
    Type,
    text_of,
)
from engine.rego.values import Frozen


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    type: Function
    arg_names: tuple[str, ...] = ()
    """Of every argument, or of none."""
    result_name: str = ""
    infix: str | None = None
    """The operator that calls it: `+` for `plus`."""
    relation: bool = False
    """It may have many results for the same arguments (`walk`)."""
    nondeterministic: bool = False
    """It may answer otherwise the next time."""
    deprecated: bool = False
    """Refused in a module of Rego v1."""

    @property
    def args_text(self) -> str:
        """As OPA writes it where the number of arguments is wrong: `(x: number, y: number)`."""
        if not self.arg_names:
            return self.type.args_text
        named = zip(self.arg_names, self.type.args, strict=True)
        return "(" + ", ".join(f"{name}: {of}" for name, of in named) + ")"

    @property
    def result_text(self) -> str:
        return f"{self.result_name}: {self.type.result}" if self.result_name else text_of(self.type.result)

    @property
    def wanted_text(self) -> str:
        """As OPA writes it where an argument does not fit, the result being one more: `(x: number, y: number)`."""
        if self.type.result is None:
            return self.args_text
        return self.args_text[:-1] + (", " if self.type.args else "") + self.result_text + ")"


def signature(name: str) -> Signature | None:
    return signatures().get(name)


@cache
def signatures() -> Mapping[str, Signature]:
    """By name, in the order of names. Read when it is first asked for."""
    table = json.loads(resources.files(__package__).joinpath("signatures.json").read_text("utf-8"))
    return MappingProxyType({name: _signature(name, **entry) for name, entry in table.items()})


def _signature(name: str, type: str, **rest: str | bool) -> Signature:  # noqa: A002
    reading = _Reading(_TOKEN.findall(type))
    found = reading.whole()
    if not isinstance(found, Function):
        raise ValueError(f"{name}: {type!r} is not the type of a function")
    return Signature(name, found, tuple(reading.arg_names), reading.result_name, **rest)  # type: ignore[arg-type]


def parse_type(text: str) -> Type | None:
    """The type that is written as `text`; keys of objects are bare words. `???` is None."""
    return _Reading(_TOKEN.findall(text)).whole()


class _Reading:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self.arg_names: list[str] = []
        self.result_name = ""

    def whole(self) -> Type | None:
        found = self.type()
        if self.tokens:
            raise ValueError(f"the text goes on after a type, with {self.tokens[-1]!r}")
        return found

    def type(self) -> Type | None:
        word = self.tokens.pop()
        if word == "(":
            return self._function()
        if word == "array":
            return Array(self._static(), self._dynamic())
        if word == "object":
            return Object(self._properties(), self._dynamic_property())
        if word == "set":
            return Set(self._dynamic())
        if word == "any":
            members = self._static()
            return AnyOf(members) if members else ANY
        return _NAMED[word]

    def _known(self) -> Type:
        found = self.type()
        if found is None:
            raise ValueError("an unknown type has no place here")
        return found

    def _function(self) -> Function:
        args: list[Type] = []
        variadic = None
        while not self._took(")"):
            if self._is_named():
                self.arg_names.append(self._words_before(":"))
            arg = self._known()
            if self._took("..."):
                variadic = arg
            else:
                args.append(arg)
            self._took(",")
        self._expect("=>")
        if self._is_named():
            self.result_name = self._words_before(":")
        return Function(tuple(args), self.type(), variadic)

    def _static(self) -> tuple[Type, ...]:
        found: list[Type] = []
        if self._took("<"):
            while not self._took(">"):
                found.append(self._known())
                self._took(",")
        return tuple(found)

    def _dynamic(self) -> Type | None:
        if not self._took("["):
            return None
        found = self.type()
        self._expect("]")
        return found

    def _properties(self) -> tuple[tuple[Frozen, Type], ...]:
        found: list[tuple[Frozen, Type]] = []
        if self._took("<"):
            while not self._took(">"):
                key = self.tokens.pop()
                self._expect(":")
                found.append((key, self._known()))
                self._took(",")
        return tuple(found)

    def _dynamic_property(self) -> tuple[Type, Type] | None:
        if not self._took("["):
            return None
        key = self._known()
        self._expect(":")
        value = self._known()
        self._expect("]")
        return key, value

    def _is_named(self) -> bool:
        """A name, perhaps of several words, and a colon come first; no type begins so."""
        return next((part for part in reversed(self.tokens) if not part.isidentifier()), "") == ":"

    def _words_before(self, end: str) -> str:
        words = []
        while not self._took(end):
            words.append(self.tokens.pop())
        return " ".join(words)

    def _took(self, token: str) -> bool:
        if self.tokens and self.tokens[-1] == token:
            self.tokens.pop()
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._took(token):
            raise ValueError(f"{token!r} is missing before {''.join(self.tokens[::-1])!r}")


_TOKEN: Final = re.compile(r"\?\?\?|\w+|=>|\.\.\.|[^\s\w]")
_NAMED: Final[dict[str, Type | None]] = {
    "null": NULL, "boolean": BOOLEAN, "number": NUMBER, "string": STRING, UNKNOWN: None,
}  # fmt: skip
