"""Text into tokens, each with its place and what stood before it. Faults of the text travel on the token they spoil.

Names and keywords are told apart here, except `and` and `or`: whether those are keywords is decided by the imports.
Blanks make no tokens: a token knows whether a blank, and a new line, came right before it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

KEYWORDS: Final = frozenset(
    "package import as default else not some with null true false in every contains if".split()  # noqa: SIM905
)
EOF: Final = "eof"
ILLEGAL: Final = "illegal"
BLANK: Final = "whitespace"
"""Of no token: what a parser sees that must not skip it."""
NAME: Final = "identifier"
NUMBER: Final = "number"
STRING: Final = "string"
RAW_STRING: Final = "raw string"
PART: Final = "template-string-part"
END: Final = "template-string-end"
RAW_PART: Final = "raw-template-string-part"
RAW_END: Final = "raw-template-string-end"


class Token(NamedTuple):
    kind: str
    """A keyword and a sign are their own kinds."""
    text: str
    row: int
    col: int
    start: int
    end: int
    spaced: bool
    """A blank, a new line or a comment is right before it."""
    starts_line: bool
    """A new line lies between it and the token before."""
    faults: tuple[str, ...] = ()


class Comment(NamedTuple):
    text: str
    """What follows the `#`."""
    row: int
    col: int
    before: int
    """The index of the token that follows."""


def tokenize(source: str) -> tuple[list[Token], list[Comment]]:
    """All tokens, an `eof` last. Never fails: what cannot be read is an `illegal` token with its faults."""
    return _Lexer(source).run()


_WORD: Final = r"[A-Za-z_](?:[A-Za-z_]|\d)*+"
_ESCAPE: Final = r"\\(?:[\"\\/bfnrt]|u[\s\S]{3})"
_TOKEN: Final = re.compile(
    rf"""
    (?P<blank>[ \t\r\n]++)
  | (?P<comment>\#[^\n]*+)
  | (?P<word>{_WORD})
  | (?P<number>[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+(?![.eEA-Za-z_]))
  | (?P<string>"[^"\\\n]*+(?:{_ESCAPE}[^"\\\n]*+)*+")
  | (?P<raw>`[^`]*+`)
  | (?P<sign>:=|==|!=|<=|>=|[\[\]{{}}(),:+\-*/%&|=<>;.])
  | (?P<template>\$["`])
  | (?P<badnumber>[0-9]++(?P<fraction>\.[0-9]*+)?+(?P<exponent>[eE][+-]?[0-9]*+)?+(?P<rest>{_WORD})?+)
  | (?P<openraw>`[^`]*+)
  | (?P<other>[\s\S])
    """,
    re.VERBOSE,
)
_QUOTED_PART: Final = re.compile(r'[^"\\\n{]*+(?:\\(?:["\\/bfnrt{]|u[\s\S]{3})[^"\\\n{]*+)*+')
_RAW_PART: Final = re.compile(r"(?:[^`\\{]|\\\{|\\)*+")
_UNREADABLE: Final = re.compile("[\x00\ufeff\ud800-\udfff]")
_UNREADABLE_FAULTS: Final = {"\x00": "illegal null character", "\ufeff": "illegal byte-order mark"}
_OTHER_FAULTS: Final = {
    "!": "illegal ! character",
    "$": "illegal $ character",
    "\u00a0": "illegal non-breaking space character, use a regular space instead",
}


class _Lexer:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.comments: list[Comment] = []
        self.row = 1
        self.line_start = 0
        """The offset of the first character of this row."""
        self.spaced = self.starts_line = False
        self.has_unreadable = _UNREADABLE.search(source, 1) is not None
        self.templates: list[list[int]] = []
        """One for each template string that is open: whether it is raw, and the braces open in its expression."""

    def run(self) -> tuple[list[Token], list[Comment]]:
        source, match = self.source, _TOKEN.match
        offset = 1 if source.startswith("\ufeff") else 0
        size = len(source)
        while offset < size:
            found = match(source, offset)
            assert found is not None  # noqa: S101 — `other` takes any character
            kind, text, end = found.lastgroup or "", found[0], found.end()
            if kind == "word":
                self.add(text if text in KEYWORDS else NAME, text, offset, end)
            elif kind == "blank":
                self.blank(text, offset, end)
            elif kind == "sign":
                self.add(text, text, offset, end)
                if self.templates and text in "{}":
                    end = self.brace(text, end)
            elif kind == "comment":
                self.comment(text, offset, end)
            else:
                end = self.rare(kind, found)
            offset = end
        # OPA's place of the end is that of the last character.
        self.tokens.append(Token(EOF, "", self.row, size - self.line_start, size, size, self.spaced, self.starts_line))
        return self.tokens, self.comments

    def add(self, kind: str, text: str, start: int, end: int, faults: tuple[str, ...] = ()) -> None:
        if self.has_unreadable:
            faults += self.unreadable(start + 1, end + 1)
        if faults:
            kind = ILLEGAL
        col = start - self.line_start + 1
        self.tokens.append(Token(kind, text, self.row, col, start, end, self.spaced, self.starts_line, faults))
        self.spaced = self.starts_line = False

    def unreadable(self, start: int, end: int) -> tuple[str, ...]:
        """OPA reads one character ahead: a token is spoilt by what follows it, too."""
        found = _UNREADABLE.findall(self.source, start, end)
        return tuple(_UNREADABLE_FAULTS.get(char, "illegal utf-8 character") for char in found)

    def blank(self, text: str, start: int, end: int) -> None:
        if self.has_unreadable and self.unreadable(end, end + 1):
            self.blank(text[:-1], start, end - 1)
            self.add(ILLEGAL, text[-1], end - 1, end)
            if text[-1] == "\n":
                self.newlines("\n", end - 1)
            return
        self.spaced = self.spaced or bool(text)
        if "\n" in text:
            self.starts_line = True
            self.newlines(text, start)

    def newlines(self, text: str, start: int) -> None:
        self.row += text.count("\n")
        self.line_start = start + text.rfind("\n") + 1

    def comment(self, text: str, start: int, end: int) -> None:
        if self.has_unreadable and self.unreadable(start + 1, end + 1):
            self.add(ILLEGAL, text, start, end)
            return
        self.comments.append(Comment(text[1:].rstrip("\r"), self.row, start - self.line_start + 1, len(self.tokens)))

    def brace(self, text: str, end: int) -> int:
        top = self.templates[-1]
        if text == "{":
            top[1] += 1
        elif top[1]:
            top[1] -= 1
        else:
            self.templates.pop()
            return self.template(end, end, bool(top[0]))
        return end

    def template(self, start: int, inside: int, raw: bool) -> int:
        """One stretch of text of a template string, from `inside` on: up to its end, or to an expression."""
        source = self.source
        end = (_RAW_PART if raw else _QUOTED_PART).match(source, inside).end()  # type: ignore[union-attr]
        closing = source[end : end + 1]
        text = source[inside:end]
        if closing == "{":
            self.templates.append([int(raw), 0])
            self.add(RAW_PART if raw else PART, text, start, end + 1)
        elif closing == ("`" if raw else '"'):
            self.add(RAW_END if raw else END, text, start, end + 1)
        elif closing == "\\":
            return self.bad_string(start, end, '"{')
        else:
            self.add(ILLEGAL, text, start, end, ("non-terminated string",))
            end -= 1
        if "\n" in source[start : end + 1]:
            self.newlines(source[start : end + 1], start)
        return end + 1

    def bad_string(self, start: int, at: int, closing: str) -> int:
        """A string with an escape that is none, or without an end on its line."""
        source, size, faults = self.source, len(self.source), []
        while True:
            char = source[at] if at < size else "\n"
            if char == "\n":
                faults.append("non-terminated string")
                break
            at += 1
            if char in closing:
                break
            if char == "\\":
                escaped = source[at : at + 1]
                if escaped == "u":
                    at = min(at + 4, size)
                elif escaped and (escaped in '\\"/bfnrt' or (escaped == "{" and "{" in closing)):
                    at += 1
                else:
                    faults.append("illegal escape sequence")
        self.add(ILLEGAL, source[start:at], start, at, tuple(faults))
        if "\n" in source[start:at]:
            self.newlines(source[start:at], start)
        return at

    def rare(self, kind: str, found: re.Match[str]) -> int:
        text, start, end = found[0], found.start(), found.end()
        if kind == "number":
            self.add(NUMBER, text, start, end)
        elif kind in ("string", "raw"):
            self.add(STRING if kind == "string" else RAW_STRING, text, start, end)
            if "\n" in text:
                self.newlines(text, start)
        elif kind == "template":
            return self.template(start, end, text == "$`")
        elif kind == "openraw":
            self.add(ILLEGAL, text, start, end, ("non-terminated string",))
            if "\n" in text:
                self.newlines(text, start)
        elif text == '"':
            return self.bad_string(start, end, '"')
        elif found["badnumber"]:
            self.add(ILLEGAL, text, start, end, _number_faults(found))
        else:
            fault = _OTHER_FAULTS.get(text)
            self.add(ILLEGAL, text, start, end, (fault,) if fault else ())
        return end


def _number_faults(found: re.Match[str]) -> tuple[str, ...]:
    faults = []
    if found["fraction"] == ".":
        faults.append("expected fraction")
    if found["exponent"] and found["exponent"][-1] in "eE+-":
        faults.append("expected exponent")
    if found["rest"]:
        faults.append("illegal number format")
    return tuple(faults)
