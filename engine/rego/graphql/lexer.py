"""Text to tokens. What is no GraphQL ends in one INVALID token, which says why: the parser decides when it hurts.

Columns are gqlparser's: a string begins after its opening quote, a block string is on the line where it ends, and the
first column after CR LF is 2.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from engine.rego.builtins.bounds import MAX_TEXT
from engine.rego.builtins.go_text import quote
from engine.rego.graphql.faults import MAX_TOKENS, Position, TooLarge

INVALID: Final = "<Invalid>"
EOF: Final = "<EOF>"
NAME: Final = "Name"
INT: Final = "Int"
FLOAT: Final = "Float"
STRING: Final = "String"
BLOCK_STRING: Final = "BlockString"
COMMENT: Final = "Comment"


class Token(NamedTuple):
    kind: str
    """One of the above, or the punctuator itself."""
    value: str
    position: Position
    fault: str = ""
    """Why the token is INVALID."""

    def __str__(self) -> str:
        return f"{self.kind} {quote(self.value)}" if self.value else self.kind


def tokens(text: str) -> list[Token]:
    """All tokens with the comments among them, up to EOF or to the first INVALID one."""
    if len(text) > MAX_TEXT:
        raise TooLarge(f"the document has more than {MAX_TEXT} characters")
    lexer = _Lexer(text)
    found = [lexer.token()]
    while found[-1].kind not in (EOF, INVALID):
        if len(found) >= MAX_TOKENS:
            raise TooLarge(f"the document has more than {MAX_TOKENS} tokens")
        found.append(lexer.token())
    return found


_BLANK: Final = re.compile("[\t ,\n\r\ufeff]*")
_LINE_END: Final = re.compile(r"\r\n?|\n")
_TOKEN: Final = re.compile(
    r"(?P<mark>\.\.\.|[!$&():=@\[\]{}|])"
    r"|(?P<name>[_A-Za-z][_0-9A-Za-z]*)"
    r"|(?P<comment>#[^\x00-\x08\x0a-\x1f]*)"
    r"|(?P<number>-?[0-9]+|-)"
    r'|(?P<block>""")'
    r'|(?P<string>")'
)
_FRACTION: Final = re.compile(r"\.(?P<fraction>[0-9]*)")
_EXPONENT: Final = re.compile(r"[eE][-+]?(?P<digits>[0-9]*)")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x08\x0a-\x1f]*')
_BLOCK_STOP: Final = re.compile(r'\\"""|"+|[\x00-\x08\x0b\x0c\x0e-\x1f]')
_HEX: Final = re.compile("[0-9a-fA-F]{4}")
_ESCAPES: Final = {'"': '"', "/": "/", "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._line = 1
        self._line_start = 0

    def token(self) -> Token:
        self._skip_blank()
        start = self._end
        if start >= len(self._text):
            return self._made(EOF, "", start)
        match = _TOKEN.match(self._text, start)
        if match is None:
            return self._unexpected(self._text[start])
        self._end = match.end()
        if match.lastgroup == "mark":
            return self._made(match.group(), "", start)
        if match.lastgroup == "name":
            return self._made(NAME, match.group(), start)
        if match.lastgroup == "comment":
            return self._made(COMMENT, match.group(), start)
        if match.lastgroup == "number":
            return self._number(start, match.group().lstrip("-"))
        return self._string() if match.lastgroup == "string" else self._block_string()

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self._text, self._end)
        begin, self._end = self._end, blank.end() if blank else self._end
        for line_end in _LINE_END.finditer(self._text, begin, self._end):
            self._line += 1
            self._line_start = line_end.start() + 1

    def _made(self, kind: str, value: str, start: int) -> Token:
        return Token(kind, value, Position(self._line, start - self._line_start + 1))

    def _invalid(self, message: str) -> Token:
        return Token(INVALID, "", Position(self._line, self._end - self._line_start + 1), message)

    def _unexpected(self, character: str) -> Token:
        if character < " ":
            return self._invalid(f'Cannot contain the invalid character "\\u{ord(character):04x}"')
        if character == "'":
            return self._invalid("Unexpected single quote character ('), did you mean to use a double quote (\")?")
        return self._invalid(f'Cannot parse the unexpected character "{_first_byte(character)}".')

    def _number(self, start: int, digits: str) -> Token:
        if not digits:
            return self._no_digit()
        if digits[0] == "0" and len(digits) > 1:
            self._end -= len(digits) - 1
            return self._invalid(f"Invalid number, unexpected digit after 0: {self._next()}.")
        kind = INT
        for part in (_FRACTION, _EXPONENT):
            if match := part.match(self._text, self._end):
                kind, self._end = FLOAT, match.end()
                if not match.group(1):
                    return self._no_digit()
        return self._made(kind, self._text[start : self._end], start)

    def _no_digit(self) -> Token:
        return self._invalid(f"Invalid number, expected digit but got: {self._next()}.")

    def _next(self) -> str:
        return f'"{_first_byte(self._text[self._end])}"' if self._end < len(self._text) else EOF

    def _string(self) -> Token:
        start = self._end
        parts: list[str] = []
        while True:
            plain = _PLAIN.match(self._text, self._end)
            if plain is not None:
                parts.append(plain.group())
                self._end = plain.end()
            stop = self._text[self._end : self._end + 1]
            if stop == '"':
                token = self._made(STRING, "".join(parts), start)
                self._end += 1
                return token
            if stop in ("", "\n", "\r"):
                return self._invalid("Unterminated string.")
            if stop != "\\":
                return self._invalid(f'Invalid character within String: "\\u{ord(stop):04x}".')
            escaped = self._escaped()
            if isinstance(escaped, Token):
                return escaped
            parts.append(escaped)

    def _escaped(self) -> str | Token:
        """The character that the escape sequence at the end stands for."""
        self._end += 1
        escape = self._text[self._end : self._end + 1]
        if not escape:
            return self._invalid("Invalid character escape sequence.")
        if escape in _ESCAPES:
            self._end += 1
            return _ESCAPES[escape]
        if escape != "u":
            return self._invalid(f"Invalid character escape sequence: \\{_first_byte(escape)}.")
        digits = _HEX.match(self._text, self._end + 1)
        if digits is None or digits.end() >= len(self._text):
            return self._invalid(f"Invalid character escape sequence: \\{self._text[self._end : self._end + 5]}.")
        self._end = digits.end()
        character = chr(int(digits.group(), 16))
        return "\ufffd" if "\ud800" <= character <= "\udfff" else character

    def _block_string(self) -> Token:
        start = self._end
        parts: list[str] = []
        for stop in _BLOCK_STOP.finditer(self._text, start):
            found = stop.group()
            self._pass_block(self._text[self._end : stop.start()], parts)
            if found < " ":
                return self._invalid(f'Invalid character within String: "\\u{ord(found):04x}".')
            if found[0] == '"' and len(found) >= 3:
                parts.append(found[3:])
                token = self._made(BLOCK_STRING, _block_value("".join(parts)), start)
                self._end = stop.end()
                return token
            parts.append(found.removeprefix("\\"))
            self._end = stop.end()
        self._pass_block(self._text[self._end :], parts)
        return self._invalid("Unterminated string.")

    def _pass_block(self, text: str, parts: list[str]) -> None:
        """Takes text that has neither quotes nor what may not be there; a line ends in LF, whatever it ended in."""
        last_line_start = max(text.rfind("\n"), text.rfind("\r")) + 1
        parts.append(text.replace("\r\n", "\n").replace("\r", "\n"))
        self._line += parts[-1].count("\n")
        if last_line_start:
            self._line_start = self._end + last_line_start
        self._end += len(text)


def _block_value(raw: str) -> str:
    """Without the indentation that all lines share, and without blank lines at both ends."""
    lines = raw.split("\n")
    # The first line has its say in what is shared, although it keeps its own: gqlparser's reading of the rule.
    indents = [_indent(line) for line in lines if line.strip(" \t")]
    if indents:
        lines[1:] = [line[min(indents) :] for line in lines[1:]]
    written = [place for place, line in enumerate(lines) if line.strip(" \t")]
    return "\n".join(lines[written[0] : written[-1] + 1]) if written else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _first_byte(character: str) -> str:
    """gqlparser shows the first byte of a character as if it were the character."""
    return chr(character.encode("utf-8", "replace")[0])
