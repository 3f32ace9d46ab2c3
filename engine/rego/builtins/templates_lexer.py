"""The words of a template of Go's `text/template`: plain text, and what stands between `{{` and `}}`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from engine.rego.builtins.go_text import quote

KEYWORDS: Final = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with")
)
_SPACE: Final = " \t\r\n"
_COMMENT: Final = re.compile(r"(?:-[ \t\r\n])?/\*")
_CLOSING: Final = re.compile(r"([ \t\r\n]-)?\}\}")
_TERMINATOR: Final = re.compile(r"[ \t\r\n.,|:)(]|\}\}|\Z")
_FRACTION: Final = r"(?:\.[0-9_]*+)?+"
_ONE_NUMBER: Final = (
    r"[+-]?+(?:0[xX][0-9a-fA-F_]*+(?:\.[0-9a-fA-F_]*+)?+(?:[pP][+-]?+[0-9_]*+)?+|0[oO][0-7_]*+(?:\.[0-7_]*+)?+"
    rf"|0[bB][01_]*+(?:\.[01_]*+)?+|[0-9_]*+{_FRACTION}(?:[eE][+-]?+[0-9_]*+)?+)i?+"
)
_TOKEN: Final = re.compile(
    rf"""
    (?P<space>[ \t\r\n]++) | (?P<assign>=) | (?P<declare>:=) | (?P<pipe>\|) | (?P<open>\() | (?P<close>\))
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*+") | (?P<raw>`[^`]*+`) | (?P<char>'(?:[^'\\\n]|\\[^\n])*+')
  | (?P<variable>\$\w*+) | (?P<field>\.(?![0-9])\w*+)
  | (?P<number>(?=[+\-.0-9]){_ONE_NUMBER}(?P<imaginary>[+-]{_ONE_NUMBER})?+)
  | (?P<word>\w++) | (?P<punctuation>[!-~])
    """,
    re.VERBOSE,
)
_UNFINISHED: Final = {
    '"': "unterminated quoted string", "`": "unterminated raw quoted string", "'": "unterminated character constant",
    ":": "expected :=",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """`text`, `left`, `right`, `end of text`, `error`, a keyword, or a group of _TOKEN."""
    text: str
    at: int
    line: int

    def __str__(self) -> str:
        if self.kind == "error":
            return self.text
        if self.kind == "EOF":
            return "EOF"
        if self.kind in KEYWORDS or self.kind == "dot":
            return f"<{self.text}>"
        return quote(self.text[:10]) + "..." if len(self.text) > 10 else quote(self.text)


def tokens(text: str) -> list[Token]:
    """All of them; if one cannot be read, that fault is the last but one."""
    return _Lexer(text).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._made: list[Token] = []

    def run(self) -> list[Token]:
        trimmed = False
        while self._at < len(self._text):
            opening = self._text.find("{{", self._at)
            trimmed = self._plain(opening if opening >= 0 else len(self._text), trimmed)
            if opening < 0:
                break
            closing = self._comment() if _COMMENT.match(self._text, opening + 2) else self._action()
            if closing is None:
                break
            self._at = closing.end()
            trimmed = closing[1] is not None
        self._add("EOF", "", len(self._text))
        return self._made

    def _plain(self, end: int, trimmed: bool) -> bool:
        text = self._text[self._at : end]
        start = self._at
        if trimmed:
            start += len(text) - len(text.lstrip(_SPACE))
            text = text.lstrip(_SPACE)
        if self._text[end + 2 : end + 3] == "-" and self._text[end + 3 : end + 4] in tuple(_SPACE):
            text = text.rstrip(_SPACE)
        if text:
            self._add("text", text, start)
        self._at = end
        return False

    def _comment(self) -> re.Match[str] | None:
        ending = self._text.find("*/", self._at)
        closing = _CLOSING.match(self._text, ending + 2) if ending >= 0 else None
        if closing is None:
            fault = "unclosed comment" if ending < 0 else "comment ends before closing delimiter"
            self._add("error", fault, self._at)
        return closing

    def _action(self) -> re.Match[str] | None:
        self._add("left", "{{", self._at)
        self._at += 2
        if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] in tuple(_SPACE):
            self._at += 2
        depth = 0
        while True:
            closing = _CLOSING.match(self._text, self._at)
            if closing is not None and not depth:
                self._add("right", "}}", closing.end() - 2)
                return closing
            fault = "unclosed left paren" if closing is not None else None
            found = None if fault else self._token()
            if found is None:
                self._add("error", fault or self._fault(), self._at)
                return None
            depth += {"open": 1, "close": -1}.get(found.kind, 0)
            if depth < 0:
                self._made[-1] = Token("error", "unexpected right paren", found.at, found.line)
                return None

    def _token(self) -> Token | None:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["punctuation"] in _UNFINISHED:
            return None
        kind, text = found.lastgroup or "", found[0]
        if found["number"] is not None:
            return self._number(found)
        end = found.end()
        if kind == "space" and text[-1] in _SPACE and self._text.startswith("-}}", end):
            end -= 1  # the last blank belongs to the closing
            text = text[:-1]
            if not text:
                return None
        if kind in ("word", "field", "variable") and not _TERMINATOR.match(self._text, end):
            return None
        if kind == "word":
            kind = text if text in KEYWORDS else "bool" if text in ("true", "false") else "identifier"
        elif text == ".":
            kind = "dot"
        self._add(kind, text, self._at)
        self._at = end
        return self._made[-1]

    def _number(self, found: re.Match[str]) -> Token | None:
        following = self._text[found.end() : found.end() + 1]
        pair = found["imaginary"]
        if following == "_" or following.isalnum() or (pair and not pair.endswith("i")):
            return None
        self._add("complex" if pair else "number", found[0], self._at)
        self._at = found.end()
        return self._made[-1]

    def _fault(self) -> str:
        rest = self._text[self._at :]
        if not rest:
            return "unclosed action"
        if rest[0] in _UNFINISHED:
            return _UNFINISHED[rest[0]]
        found = _TOKEN.match(rest)
        if found is not None and found["number"] is not None:
            following = rest[found.end() : found.end() + 1]
            more = following == "_" or following.isalnum()
            return f"bad number syntax: {quote(found[0] + following * more)}"
        if found is not None and found.end() < len(rest):
            return f"bad character {_code(rest[found.end()])}"
        return f"unrecognized character in action: {_code(rest[0])}"

    def _add(self, kind: str, text: str, at: int) -> None:
        self._line += self._text.count("\n", self._counted, at)
        self._counted = max(at, self._counted)
        self._made.append(Token(kind, text, at, self._line))


def _code(character: str) -> str:
    shown = f" '{character}'" if character.isprintable() else ""
    return f"U+{ord(character):04X}{shown}"
