"""Strings: searching, cutting, joining and replacing. Positions and lengths count characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engine.rego.builtins.bounds import bounded_length, bounded_results
from engine.rego.builtins.go_text import integer_text
from engine.rego.builtins.operands import (
    operand_error,
    operand_int,
    operand_number,
    operand_object,
    operand_one_of,
    operand_string,
    operand_strings,
)
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value, freeze, keys_of

MAX_REPLACEMENT_WORK: Final = 100_000_000
"""Characters times patterns of one `strings.replace_n`."""

# Go's unicode.IsSpace; Python's own strip() also takes U+001C to U+001F.
_SPACE: Final = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # noqa: E501
_BASES: Final = {2: "b", 8: "o", 16: "x"}


@builtin("concat")
def concat(delimiter: Value, collection: Value) -> str:
    joint = operand_string("concat", 1, delimiter)
    parts = operand_strings("concat", 2, collection)
    bounded_length("concat", sum(map(len, parts)) + len(joint) * len(parts))
    return joint.join(parts)


@builtin("contains")
def contains(haystack: Value, needle: Value) -> bool:
    return operand_string("contains", 2, needle) in operand_string("contains", 1, haystack)


@builtin("startswith")
def startswith(search: Value, base: Value) -> bool:
    return operand_string("startswith", 1, search).startswith(operand_string("startswith", 2, base))


@builtin("endswith")
def endswith(search: Value, base: Value) -> bool:
    return operand_string("endswith", 1, search).endswith(operand_string("endswith", 2, base))


@builtin("strings.any_prefix_match")
def any_prefix_match(search: Value, base: Value) -> bool:
    return _any_affix("strings.any_prefix_match", search, base, str.startswith)


@builtin("strings.any_suffix_match")
def any_suffix_match(search: Value, base: Value) -> bool:
    return _any_affix("strings.any_suffix_match", search, base, str.endswith)


@builtin("strings.count")
def count(search: Value, substring: Value) -> int:
    return operand_string("strings.count", 1, search).count(operand_string("strings.count", 2, substring))


@builtin("format_int")
def format_int(number: Value, base: Value) -> str:
    truncated = int(operand_number("format_int", 1, number))
    radix = operand_number("format_int", 2, base)
    if radix == 10:
        return integer_text(truncated)
    if radix not in _BASES:
        raise operand_error("format_int", 2, "must be one of {2, 8, 10, 16}")
    return format(truncated, _BASES[int(radix)])


@builtin("indexof")
def indexof(haystack: Value, needle: Value) -> int:
    text, search = _searched("indexof", haystack, needle)
    return text.find(search)


@builtin("indexof_n")
def indexof_n(haystack: Value, needle: Value) -> list[Value]:
    text, search = _searched("indexof_n", haystack, needle)
    found: list[Value] = []
    at = text.find(search)
    while at >= 0:
        found.append(at)
        at = text.find(search, at + 1)
    bounded_results("indexof_n", len(found))
    return found


@builtin("lower")
def lower(value: Value) -> str:
    text = operand_string("lower", 1, value)
    return text.lower() if text.isascii() else "".join(map(_lower, text))


@builtin("upper")
def upper(value: Value) -> str:
    text = operand_string("upper", 1, value)
    return text.upper() if text.isascii() else "".join(map(_upper, text))


@builtin("replace")
def replace(value: Value, old: Value, new: Value) -> str:
    text = operand_string("replace", 1, value)
    before, after = operand_string("replace", 2, old), operand_string("replace", 3, new)
    bounded_length("replace", len(text) + text.count(before) * len(after))
    return text.replace(before, after)


@builtin("strings.replace_n")
def replace_n(patterns: Value, value: Value) -> str:
    name = "strings.replace_n"
    table = operand_object(name, 1, patterns)
    text = operand_string(name, 2, value)
    pairs = {}
    for key in keys_of(table):
        if type(key) is not str:
            raise operand_error(name, 1, "non-string key found in pattern object")
        if type(table[freeze(key)]) is not str:
            raise operand_error(name, 1, "non-string value found in pattern object")
        pairs[key] = table[freeze(key)]
    if len(pairs) * len(text) > MAX_REPLACEMENT_WORK:
        raise BuiltinError(f"{name}: {len(pairs)} patterns in {len(text)} characters are too many")
    return _replace_pairs(name, text, pairs)


@builtin("strings.reverse")
def reverse(value: Value) -> str:
    return operand_string("strings.reverse", 1, value)[::-1]


@builtin("split")
def split(value: Value, delimiter: Value) -> list[Value]:
    parts = _split(operand_string("split", 1, value), operand_string("split", 2, delimiter))
    bounded_results("split", len(parts))
    return parts


@builtin("strings.split_n")
def split_n(value: Value, delimiter: Value, number: Value) -> list[Value]:
    name = "strings.split_n"
    text, joint = operand_string(name, 1, value), operand_string(name, 2, delimiter)
    wanted = operand_int(name, 3, number)
    parts = _split(text, joint)
    bounded_results(name, len(parts))
    return parts[:wanted] if wanted >= 0 else parts[wanted:]


@builtin("substring")
def substring(value: Value, offset: Value, length: Value) -> str:
    text = operand_string("substring", 1, value)
    start = operand_int("substring", 2, offset)
    size = operand_int("substring", 3, length)
    if start < 0:
        raise BuiltinError("substring: negative offset")
    return text[start:] if size < 0 else text[start : start + size]


@builtin("trim")
def trim(value: Value, cutset: Value) -> str:
    return operand_string("trim", 1, value).strip(_cutset("trim", cutset))


@builtin("trim_left")
def trim_left(value: Value, cutset: Value) -> str:
    return operand_string("trim_left", 1, value).lstrip(_cutset("trim_left", cutset))


@builtin("trim_right")
def trim_right(value: Value, cutset: Value) -> str:
    return operand_string("trim_right", 1, value).rstrip(_cutset("trim_right", cutset))


@builtin("trim_prefix")
def trim_prefix(value: Value, prefix: Value) -> str:
    return operand_string("trim_prefix", 1, value).removeprefix(operand_string("trim_prefix", 2, prefix))


@builtin("trim_suffix")
def trim_suffix(value: Value, suffix: Value) -> str:
    return operand_string("trim_suffix", 1, value).removesuffix(operand_string("trim_suffix", 2, suffix))


@builtin("trim_space")
def trim_space(value: Value) -> str:
    return operand_string("trim_space", 1, value).strip(_SPACE)


def _cutset(name: str, cutset: Value) -> str:
    """Each letter once: Python looks through all of them for every letter of the text."""
    return "".join(set(operand_string(name, 2, cutset)))


def _any_affix(name: str, search: Value, base: Value, matches: Callable[[str, tuple[str, ...]], bool]) -> bool:
    texts = _one_or_many(name, 1, search)
    affixes = tuple(_one_or_many(name, 2, base))
    return any(matches(text, affixes) for text in texts)


def _one_or_many(name: str, position: int, value: Value) -> list[str]:
    operand_one_of(name, position, value, ("string", "set", "array"))
    return [value] if type(value) is str else operand_strings(name, position, value)


def _searched(name: str, haystack: Value, needle: Value) -> tuple[str, str]:
    text, search = operand_string(name, 1, haystack), operand_string(name, 2, needle)
    if not search:
        raise BuiltinError(f"{name}: empty search character")
    return text, search


def _split(text: str, delimiter: str) -> list[Value]:
    return list(text.split(delimiter)) if delimiter else list(text)


def _lower(char: str) -> str:
    """Go maps each character to one; the only one that Python makes two of is U+0130."""
    return "i" if char == "\u0130" else char.lower()


def _upper(char: str) -> str:
    """Where Python writes several characters, Unicode's simple mapping is the title case, if that is one."""
    for mapped in (char.upper(), char.title()):
        if len(mapped) == 1:
            return mapped
    return char


def _replace_pairs(name: str, text: str, pairs: dict[str, str]) -> str:
    """One pass from the left, each time the first of the sorted patterns: one that another begins with never wins."""
    made: list[str] = []
    total = last = 0
    nonempty = [pattern for pattern in pairs if pattern]
    matching = re.compile("|".join(map(re.escape, nonempty))) if nonempty else re.compile(r"(?!)")
    if "" in pairs:
        return _replace_everywhere(name, text, pairs, matching)
    for match in matching.finditer(text):
        made += (text[last : match.start()], pairs[match.group()])
        total += len(made[-1]) + len(made[-2])
        bounded_length(name, total)
        last = match.end()
    return "".join(made) + text[last:]


def _replace_everywhere(name: str, text: str, pairs: dict[str, str], matching: re.Pattern[str]) -> str:
    """The empty pattern matches before each character and at the end, then the others have their turn."""
    made: list[str] = []
    total = at = 0
    while at <= len(text):
        match = matching.match(text, at)
        made += (pairs[""], pairs[match.group()] if match else text[at : at + 1])
        total += len(made[-1]) + len(made[-2])
        bounded_length(name, total)
        at = match.end() if match else at + 1
    return "".join(made)
