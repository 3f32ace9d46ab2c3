"""`glob.match`: a glob is translated into an expression for RE2, which does not backtrack."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from engine.rego.builtins.operands import operand_element_error, operand_one_of, operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.builtins.regular_expressions import bounded_work, compile_pattern
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

CACHED_GLOBS: Final = 128

_SPECIAL: Final = frozenset("*?\\[]{}")
_TEXT_ENDS: Final = frozenset("?*[{")
_TERM_ENDS: Final = _TEXT_ENDS | {"}", ","}


@builtin("glob.match")
def match(pattern: Value, delimiters: Value, value: Value) -> bool:
    name = "glob.match"
    glob = operand_string(name, 1, pattern)
    operand_one_of(name, 2, delimiters, ("array", "null"))
    separators = "" if delimiters is None else _separators(name, delimiters)
    text = operand_string(name, 3, value)
    try:
        compiled = _compiled(glob, separators)
        bounded_work("glob.match", compiled, text)
        return compiled.search(text) is not None
    except UnicodeEncodeError as error:
        raise BuiltinError(f"{name}: the text is not valid Unicode") from error


@builtin("glob.quote_meta")
def quote_meta(pattern: Value) -> str:
    text = operand_string("glob.quote_meta", 1, pattern)
    return "".join("\\" + char if char in _SPECIAL else char for char in text)


def _separators(name: str, delimiters: list[Value]) -> str:
    for delimiter in delimiters:
        if type(delimiter) is not str:
            raise operand_element_error(name, 2, delimiters, delimiter, ("string",))
        if len(delimiter) != 1:
            raise operand_element_error(name, 2, delimiters, delimiter, ("rune",))
    return "".join(delimiters) or "."


@lru_cache(maxsize=CACHED_GLOBS)
def _compiled(glob: str, separators: str) -> Any:  # noqa: ANN401  # re2 has no types
    expression = _Translation(glob, separators).run()
    try:
        return compile_pattern(expression)
    except re2.error as error:
        raise BuiltinError(f"glob.match: the pattern is too large: {len(glob)} characters") from error


class _Translation:
    """One pass over the glob; braces nest in the expression as they do in the glob."""

    def __init__(self, glob: str, separators: str) -> None:
        self._glob = glob
        self._at = 0
        self._level = 0
        self._one = f"[^{''.join(map(_code, separators))}]" if separators else "."

    def run(self) -> str:
        made = []
        while self._at < len(self._glob):
            made.append(self._term())
        if self._level:
            raise self._fault("unclosed `{`")
        return rf"(?s)\A(?:{''.join(made)})\z"

    def _term(self) -> str:
        char = self._glob[self._at]
        if char == "{":
            self._level += 1
            return self._taken(1, "(?:")
        if char == "," and self._level:
            return self._taken(1, "|")
        if char == "}" and self._level:
            self._level -= 1
            return self._taken(1, ")")
        if char == "[":
            return self._class()
        if char == "?":
            return self._taken(1, self._one)
        if char == "*":
            return self._taken(2, ".*") if self._glob.startswith("**", self._at) else self._taken(1, self._one + "*")
        return "".join(map(_code, self._text(_TERM_ENDS if self._level else _TEXT_ENDS)))

    def _taken(self, count: int, expression: str) -> str:
        self._at += count
        return expression

    def _class(self) -> str:
        """Either one range, or a list of characters in which `-` is one of them."""
        self._at += 1
        negated = self._glob.startswith("!", self._at)
        self._at += negated
        if self._glob[self._at + 1 : self._at + 2] == "-":
            low, high = self._glob[self._at], self._glob[self._at + 2 : self._at + 3]
            self._at = min(self._at + 3, len(self._glob))
            content = _code(low) + "-" + _code(high) if high else ""
        else:
            low = high = ""
            content = "".join(map(_code, self._text(frozenset("]"))))
        if self._at >= len(self._glob):
            raise self._fault("unexpected end of input")
        self._at += 1
        if self._glob[self._at - 1] != "]":
            raise self._fault("expected close range character")
        if high < low:
            raise self._fault("range hi character is less than lo")
        if not content:
            raise self._fault("could not parse range")
        return f"[{'^' if negated else ''}{content}]"

    def _text(self, ends: frozenset[str]) -> str:
        chars = []
        while self._at < len(self._glob) and self._glob[self._at] not in ends:
            if self._glob[self._at] == "\\":
                self._at += 1
                if self._at == len(self._glob):
                    raise self._fault("trailing backslash")
            chars.append(self._glob[self._at])
            self._at += 1
        return "".join(chars)

    def _fault(self, reason: str) -> BuiltinError:
        offset = len(self._glob[: self._at].encode("utf-8", "replace"))
        return BuiltinError(f"glob.match: glob: syntax error at {offset}: {reason}")


def _code(char: str) -> str:
    return char if char.isascii() and char.isalnum() else rf"\x{{{ord(char):x}}}"
