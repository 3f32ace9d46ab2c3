"""A light look at Rego source for what regopy must not be given. Not a parser: tokens with their positions.

regopy accepts a call in many spellings (`time.now_ns()`, `time["now_ns"] ()`, a dot on the next line, inside a template
string, as a mock after `as`), hence tokens rather than a search in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from engine.bundle.content import Module
from engine.errors import Problem

_CLOCK: Final = "regopy cannot take its clock from the decision: time comes in input"
_OUTSIDE: Final = "a decision rests on its input and its bundle alone: gather the fact before and send it in input"
_CHANCE: Final = "the answer could not be repeated: random values come in input"
_UNESCAPED: Final = (
    "regopy keeps the decoded text unescaped, so that a caller could forge a value with a quote: "
    "decode before asking and send the result in input"
)
_TEXT_ORDER: Final = "regopy compares numbers as text there, max([10, 9]) is 9: compare with `<` in a rule of your own"

REFUSED_BUILTINS: Final = {
    "time.now_ns": _CLOCK,
    "io.jwt.decode_verify": _CLOCK,
    "crypto.x509.parse_and_verify_certificates": _CLOCK,
    "crypto.x509.parse_and_verify_certificates_with_options": _CLOCK,
    "http.send": _OUTSIDE,
    "opa.runtime": _OUTSIDE,
    "net.lookup_ip_addr": _OUTSIDE,
    "rand.intn": _CHANCE,
    "uuid.rfc4122": _CHANCE,
    "io.jwt.encode_sign": _CHANCE,
    "io.jwt.encode_sign_raw": _CHANCE,
    "base64.decode": _UNESCAPED,
    "base64url.decode": _UNESCAPED,
    "hex.decode": _UNESCAPED,
    # `sort` has the same fault, but is mostly given names, which it orders rightly.
    "max": _TEXT_ORDER,
    "min": _TEXT_ORDER,
}

_CUTS_STRINGS: Final = re.compile(
    r"(?:base64|base64url|crypto|glob|hex|io|json|regex|strings|urlquery|yaml)\..*"
    r"|lower|upper|replace|split|substring|trim|trim_left|trim_prefix|trim_right|trim_space|trim_suffix|indexof|indexof_n"
)

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+ | \#[^\n]*)
    | (?P<template>\$["`])
    | (?P<string>"(?:[^"\\\n]|\\.)*" | `[^`]*`)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """`name`, `string` or `mark`."""
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Use:
    """A builtin or function named where it is called or put in another's place."""

    name: str
    offset: int


def problems_of(module: Module) -> list[Problem]:
    """Everything in the module that makes regopy's answer unrepeatable or wrong, in the order of the source."""
    tokens = list(tokens_of(module.source))
    found = [*_refused_uses(tokens), *_refused_escapes(tokens), *_missing_package(tokens)]
    return [
        Problem(code, message, module.path, *position(module.source, offset)) for offset, code, message in sorted(found)
    ]


def cuts_strings(modules: Iterable[Module]) -> bool:
    """Whether a rule can take a string apart: then an escape in an answer may be half of one and is not exact."""
    return any(_CUTS_STRINGS.fullmatch(use.name) for module in modules for use in uses_of(module.source))


def input_mocks(module: Module) -> list[Problem]:
    """The places of `with input as …`, the usual cause when regopy's compiler dies."""
    tokens = list(tokens_of(module.source))
    return [
        Problem(
            "evaluator_died",
            "`with input as` a rule makes regopy's compiler end: give a literal, or move this into a test",
            module.path,
            *position(module.source, first.offset),
        )
        for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if (first.text, second.text, third.text) == ("with", "input", "as")
    ]


def uses_of(source: str) -> Iterator[Use]:
    yield from _uses(list(tokens_of(source)))


def position(source: str, offset: int) -> tuple[int, int]:
    """Row and column, both from 1."""
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def tokens_of(source: str) -> Iterator[Token]:
    """Comments and spaces are left out; of a template string, only the code in its braces comes back."""
    offset = 0
    open_braces: list[str] = []
    while offset < len(source):
        # The last alternative matches any character, so there is always a match.
        found = cast("re.Match[str]", _TOKEN.match(source, offset))
        kind, text = str(found.lastgroup), found.group()
        start, offset = offset, found.end()
        if kind == "template":
            offset = _template_text(source, offset, text[1], open_braces)
            continue
        if text == "{":
            open_braces.append("")
        elif text == "}" and open_braces and (quote := open_braces.pop()):
            offset = _template_text(source, offset, quote, open_braces)
        if kind != "space":
            yield Token(kind, text, start)


def _template_text(source: str, offset: int, quote: str, open_braces: list[str]) -> int:
    """Skips a template's text up to its end, or up to a brace, which is then remembered as this template's."""
    while offset < len(source):
        character = source[offset]
        offset += 2 if character == "\\" else 1
        if character == quote:
            break
        if character == "{":
            open_braces.append(quote)
            break
    return offset


def _uses(tokens: Sequence[Token]) -> Iterator[Use]:
    index = 0
    while index < len(tokens):
        name, after = _dotted_name(tokens, index)
        if name and _is_use(tokens, index, after):
            yield Use(name, tokens[index].offset)
        index = max(after, index + 1)


def _dotted_name(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """The reference that starts at `index` as a dotted name, and the index after it; empty if none starts there."""
    if tokens[index].kind != "name":
        return "", index
    name = tokens[index].text
    index += 1
    while True:
        following = [token.text for token in tokens[index : index + 3]]
        if following[:1] == ["."] and len(following) > 1 and tokens[index + 1].kind == "name":
            name, index = f"{name}.{following[1]}", index + 2
        elif following[:1] == ["["] and following[2:] == ["]"] and tokens[index + 1].kind == "string":
            name, index = f"{name}.{following[1][1:-1]}", index + 3
        else:
            return name, index


def _is_use(tokens: Sequence[Token], start: int, after: int) -> bool:
    called = after < len(tokens) and tokens[after].text == "("
    replaces = start > 0 and tokens[start - 1].text == "as"
    return called or replaces


def _refused_uses(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    for use in _uses(tokens):
        reason = REFUSED_BUILTINS.get(use.name)
        if reason is not None:
            yield use.offset, "builtin_refused", f"{use.name} is refused: {reason}"


def _refused_escapes(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    for token in tokens:
        if token.kind == "string" and token.text[0] == '"' and re.search(r"(?<!\\)(?:\\\\)*\\[u/]", token.text):
            yield (
                token.offset,
                "escape_refused",
                "regopy does not decode `\\u…` and `\\/`, so that equal strings differ: write the character itself",
            )


def _missing_package(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    if not tokens or tokens[0].text != "package":
        yield 0, "rego_parse_error", "package expected: regopy silently drops a module without one"
