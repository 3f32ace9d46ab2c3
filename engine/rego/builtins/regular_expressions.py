"""Regular expressions on RE2: the same syntax and the same matches as Go's, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from engine.rego.builtins.bounds import bounded_length, bounded_results
from engine.rego.builtins.go_text import quote
from engine.rego.builtins.operands import operand_int, operand_string
from engine.rego.builtins.pattern_overlap import overlap
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

MAX_WORK: Final = 100_000_000
"""Instructions of a pattern times characters of a text: about a second where RE2 has to follow all ways at once."""
_SHORT: Final = 1_024
CACHED_PATTERNS: Final = 128
"""A compiled pattern and its automaton may take up to 8 MiB."""

# RE2's words for a fault, and Go's.
_FAULTS: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_ANY_BYTE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\C)")
_REFERENCE: Final = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))")
_UNANCHORED: Final = re2._Anchor.UNANCHORED  # noqa: SLF001
_NOWHERE: Final = (-1, -1)
_META: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")


@builtin("regex.is_valid")
def is_valid(pattern: Value) -> bool:
    if type(pattern) is not str:
        return False
    try:
        _compiled(pattern)
    except BuiltinError:
        return False
    return True


@builtin("re_match")
@builtin("regex.match")
def match(pattern: Value, value: Value) -> bool:
    expression, text = _pattern_and_text("regex.match", pattern, value)
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise BuiltinError("the text is not valid Unicode") from error
    # What `search` does, without the places of the groups, which take most of its time.
    spans = expression._regexp.Match(_UNANCHORED, encoded, 0, len(encoded))  # noqa: SLF001
    return bool(spans[0] != _NOWHERE)


@builtin("regex.split")
def split(pattern: Value, value: Value) -> list[Value]:
    expression, text = _pattern_and_text("regex.split", pattern, value)
    if expression.pattern and not text:
        return [""]
    parts: list[Value] = []
    start = end = 0
    for found in _matches(expression, text):
        end = found.start()
        if found.end():
            parts.append(text[start:end])
        start = found.end()
    if end != len(text):
        parts.append(text[start:])
    bounded_results("regex.split", len(parts))
    return parts


@builtin("regex.find_n")
def find_n(pattern: Value, value: Value, number: Value) -> list[Value]:
    expression, text = _pattern_and_text("regex.find_n", pattern, value)
    found = _limited(_matches(expression, text), operand_int("regex.find_n", 3, number))
    return [one.group() for one in found]


@builtin("regex.find_all_string_submatch_n")
def find_all_string_submatch_n(pattern: Value, value: Value, number: Value) -> list[Value]:
    name = "regex.find_all_string_submatch_n"
    expression, text = _pattern_and_text(name, pattern, value)
    rows: list[Value] = []
    for found in _limited(_matches(expression, text), operand_int(name, 3, number)):
        rows.append([found.group(), *found.groups("")])
        bounded_results(name, len(rows) * (expression.groups + 1))
    return rows


@builtin("regex.replace")
def replace(value: Value, pattern: Value, replacement: Value) -> str:
    name = "regex.replace"
    text = operand_string(name, 1, value)
    expression = _compiled_for(name, operand_string(name, 2, pattern))
    template = _template(operand_string(name, 3, replacement), expression)
    made: list[str] = []
    length = last = 0
    for found in _matches(expression, text):
        new = "".join(part if type(part) is str else found.group(part) or "" for part in template)
        made += (text[last : found.start()], new)
        length += len(made[-1]) + len(made[-2])
        bounded_length(name, length)
        last = found.end()
    return "".join(made) + text[last:]


@builtin("regex.template_match")
def template_match(template: Value, value: Value, start: Value, end: Value) -> bool:
    name = "regex.template_match"
    pattern, text = operand_string(name, 1, template), operand_string(name, 2, value)
    opening, closing = operand_string(name, 3, start), operand_string(name, 4, end)
    for what, mark in (("start", opening), ("end", closing)):
        if len(mark.encode("utf-8", "replace")) != 1:
            size = len(opening.encode("utf-8", "replace"))
            raise BuiltinError(f"{name}: {what} delimiter has to be exactly one character long but is {size} long")
    return _search(_compiled_for(name, _from_template(name, pattern, opening, closing)), text) is not None


@builtin("regex.globs_match")
def globs_match(one: Value, other: Value) -> bool:
    name = "regex.globs_match"
    return overlap(operand_string(name, 1, one), operand_string(name, 2, other))


def compile_pattern(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    """A pattern with RE2's options as Go has them. Raises `re2.error`."""
    options = re2.Options()
    options.log_errors = False
    return re2._Regexp(pattern, options)  # noqa: SLF001  # re2.compile() would keep it a second time


def _pattern_and_text(name: str, pattern: Value, value: Value) -> tuple[Any, str]:
    expression, text = operand_string(name, 1, pattern), operand_string(name, 2, value)
    compiled = _compiled_for(name, expression)
    bounded_work(name, compiled, text)
    return compiled, text


def bounded_work(name: str, expression: Any, text: str) -> None:  # noqa: ANN401
    """Linear in both, and no deadline ends it: a large pattern takes no large text."""
    if len(text) > _SHORT and len(text) * expression._regexp.ProgramSize() > MAX_WORK:  # noqa: SLF001
        raise BuiltinError(f"{name}: the pattern and the text are too large for each other")


def _compiled_for(name: str, pattern: str) -> Any:  # noqa: ANN401
    try:
        return _compiled(pattern)
    except BuiltinError as error:
        raise BuiltinError(f"{name}: {error.message}") from error


@lru_cache(maxsize=CACHED_PATTERNS)
def _compiled(pattern: str) -> Any:  # noqa: ANN401
    if _ANY_BYTE.search(pattern):
        raise BuiltinError("error parsing regexp: invalid escape sequence: `\\C`")
    try:
        return compile_pattern(pattern)
    except re2.error as error:
        raise BuiltinError(f"error parsing regexp: {_fault(error)}") from error
    except UnicodeEncodeError as error:
        raise BuiltinError("error parsing regexp: invalid UTF-8") from error


def _fault(error: Exception) -> str:
    message = error.args[0]
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    kind, _, part = text.partition(": ")
    return f"{_FAULTS.get(kind, kind)}: `{part}`"


def _search(expression: Any, text: str) -> Any:  # noqa: ANN401
    try:
        return expression.search(text)
    except UnicodeEncodeError as error:
        raise BuiltinError("the text is not valid Unicode") from error


def _matches(expression: Any, text: str) -> Iterator[Any]:  # noqa: ANN401
    """As Go finds all: an empty match right after another match is none."""
    last = -1
    try:
        for found in expression.finditer(text):
            if found.end() > found.start() or found.start() != last:
                last = found.end()
                yield found
    except UnicodeEncodeError as error:
        raise BuiltinError("the text is not valid Unicode") from error


def _limited(found: Iterator[Any], number: int) -> Iterator[Any]:
    """The first `number` of them; all, if it is negative."""
    if number == 0:
        return
    for taken, one in enumerate(found, 1):
        bounded_results("regex", taken)
        yield one
        if taken == number:
            return


def _template(text: str, expression: Any) -> list[str | int]:  # noqa: ANN401
    """Literal parts and the numbers of groups; what names no group stands for nothing."""
    parts: list[str | int] = []
    last = 0
    for found in _REFERENCE.finditer(text):
        parts.append(text[last : found.start()])
        last = found.end()
        dollar, braced, bare = found.groups()
        group = "$" if dollar else _group(braced or bare, expression)
        if group is not None:
            parts.append(group)
    parts.append(text[last:])
    return parts


def _group(name: str, expression: Any) -> int | None:  # noqa: ANN401
    if name.isascii() and name.isdigit() and (name == "0" or name[0] != "0"):
        return int(name[:9]) if len(name) < 9 and int(name) <= expression.groups else None
    index: int | None = expression.groupindex.get(name)
    return index


def _from_template(name: str, template: str, opening: str, closing: str) -> str:
    pattern, end = "^", 0
    for start, stop in _delimited(name, template, opening, closing):
        inner = template[start + 1 : stop - 1]
        _compiled_for(name, f"^{inner}$")
        pattern += f"{_quoted(template[end:start])}({inner})"
        end = stop
    return pattern + _quoted(template[end:]) + "$"


def _delimited(name: str, template: str, opening: str, closing: str) -> list[tuple[int, int]]:
    level = start = 0
    spans = []
    for at, char in enumerate(template):
        if char == opening:
            level += 1
            start = at if level == 1 else start
        elif char == closing:
            level -= 1
            if level == 0:
                spans.append((start, at + 1))
        if level < 0:
            break
    if level != 0:
        raise BuiltinError(f"{name}: unbalanced braces in {quote(template)}")
    return spans


def _quoted(text: str) -> str:
    return _META.sub(r"\\\g<0>", text)
