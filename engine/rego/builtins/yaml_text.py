"""YAML in and out, as OPA has it: JSON's types only, the words of YAML 1.2, keys as text.

Aliases can make a few lines stand for more values than there is memory: what they repeat is counted and bounded.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final, cast

import yaml

from engine.rego.builtins.bounds import bounded_length, bounded_results
from engine.rego.builtins.encoding import json_marshal
from engine.rego.builtins.go_text import number_text, without_surrogates
from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value, thaw

MAX_DEPTH: Final = 500

_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final[dict[str, Value]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?(?:0b[01]+|0o[0-7]+|0x[0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# What another reader would take for something else is quoted: old booleans, times of day, dates.
_QUOTED_WORD: Final = re.compile(
    r"y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|=|<<|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"
)


@builtin("yaml.marshal")
def yaml_marshal(value: Value) -> str:
    # Written as JSON first: that has the bounds on size and depth, and what follows is of the same order.
    bounded_length("yaml.marshal", len(json_marshal(value)))
    text: str = yaml.dump(
        _plain(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=False
    )
    return text.removesuffix("...\n")


@builtin("yaml.unmarshal")
def yaml_unmarshal(value: Value) -> Value:
    return _read("yaml.unmarshal", operand_string("yaml.unmarshal", 1, value))


@builtin("yaml.is_valid")
def yaml_is_valid(value: Value) -> bool:
    if type(value) is not str:
        return False
    try:
        _read("yaml.is_valid", value)
    except BuiltinError:
        return False
    return True


def _read(name: str, text: str) -> Value:
    """The first document; the rest of the text has to be YAML too."""
    reading = _Reading(name)
    try:
        for event in yaml.parse(without_surrogates(text), Loader=yaml.CSafeLoader):
            reading.take(event)
    except yaml.MarkedYAMLError as error:
        raise BuiltinError(f"{name}: yaml: {_place(error)}{error.problem}") from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise BuiltinError(f"{name}: yaml: {error}") from error
    return reading.document


def _place(error: yaml.MarkedYAMLError) -> str:
    """The line as Go counts it: from 0 for what the parser finds, from 1 for what the scanner does."""
    lines = [mark.line for mark in (error.context_mark, error.problem_mark) if mark is not None]
    line = next(filter(None, lines), 0) + isinstance(error, yaml.scanner.ScannerError)
    return f"line {line}: " if line else ""


class _Reading:
    """Events in, one value out. No recursion: the text decides how deep it goes."""

    def __init__(self, name: str) -> None:
        self.document: Value = None
        self._name = name
        self._documents = 0
        self._open: list[_Collection] = []
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._count = 0

    def take(self, event: Any) -> None:  # noqa: ANN401  # of a dozen classes
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            self._anchors = {}
        elif isinstance(event, yaml.ScalarEvent):
            plain_merge = event.value == "<<" and event.implicit[0] and self._is_key()
            self._done(_MERGE if plain_merge else self._scalar(event), 1, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(cast("str", event.anchor))
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(self._open) >= MAX_DEPTH:
                raise self._fault(f"exceeded max depth of {MAX_DEPTH}")
            self._open.append(_Collection(isinstance(event, yaml.MappingStartEvent), event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            value = self._object(closed.items) if closed.mapping else closed.items
            self._done(value, closed.count, closed.anchor)

    def _is_key(self) -> bool:
        return bool(self._open) and self._open[-1].mapping and len(self._open[-1].items) % 2 == 0

    def _alias(self, anchor: str) -> None:
        if anchor not in self._anchors:
            inside = any(collection.anchor == anchor for collection in self._open)
            raise self._fault(f"anchor '{anchor}' value contains itself" if inside else f"unknown anchor '{anchor}'")
        value, count = self._anchors[anchor]
        self._done(value, count, None)

    def _done(self, value: Value, count: int, anchor: str | None) -> None:
        self._count += count
        bounded_results(self._name, self._count)
        if anchor is not None:
            self._anchors[anchor] = value, count
        if self._open:
            self._open[-1].items.append(value)
            self._open[-1].count += count
        elif self._documents == 1:
            self.document = value

    def _object(self, items: list[Value]) -> dict[str, Value]:
        made: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            if key is not _MERGE:
                made[self._key(key)] = value
                continue
            for source in value if type(value) is list else [value]:
                if type(source) is not dict:
                    raise self._fault("map merge requires map or sequence of maps as the value")
                for name in source:
                    merged.setdefault(name, source[name])
        return {**merged, **made}

    def _key(self, key: Value) -> str:
        if type(key) is str:
            return key
        if type(key) is bool:
            return "true" if key else "false"
        if type(key) is int or type(key) is float:
            return number_text(key)
        raise self._fault("unsupported map key: only text, numbers and booleans can be keys")

    def _scalar(self, event: yaml.ScalarEvent) -> Value:
        text, tag = event.value, event.tag
        if tag is None or tag == "!":
            return self._plain(text) if event.implicit[0] else text
        kind = tag.removeprefix(_TAG)
        if kind not in ("int", "float", "bool", "null"):
            return text
        value = self._plain(text)
        wanted = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}[kind]
        if type(value) not in wanted:
            raise self._fault(f"cannot decode !!str `{text}` as a !!{kind}")
        return value

    def _plain(self, text: str) -> Value:
        """What an unquoted word means."""
        if text in _WORDS:
            return _WORDS[text]
        digits = text.replace("_", "") if text[0] in "+-.0123456789" else ""
        if _INTEGER.fullmatch(digits):
            return self._integer(digits)
        if _FLOAT.fullmatch(digits):
            number = float(digits)
            if math.isinf(number):
                raise self._fault(f"the number {text} is out of range")
            return number
        if _INFINITE.fullmatch(text):
            raise self._fault(f"json: unsupported value: {text}")
        return text

    def _integer(self, digits: str) -> int | float:
        body = digits.lstrip("+-")
        base = {"0b": 2, "0o": 8, "0x": 16}.get(body[:2], 8 if len(body) > 1 and body[0] == "0" else 10)
        if len(body) > 400:
            raise self._fault("a number of more than 400 digits is out of range")
        number = int(body[2:] if base != 10 and body[1].isalpha() else body, base)
        number = -number if digits[0] == "-" else number
        if -(2**63) <= number < 2**64:
            return number
        try:
            return float(number)
        except OverflowError as error:
            raise self._fault("a number is out of range") from error

    def _fault(self, message: str) -> BuiltinError:
        return BuiltinError(f"{self._name}: yaml: {message}")


class _Collection:
    """One that is not yet closed: its items, keys and values in turn for a mapping."""

    def __init__(self, mapping: bool, anchor: str | None) -> None:
        self.mapping = mapping
        self.anchor = anchor
        self.items: list[Value] = []
        self.count = 1


_MERGE: Final = object()


class _Dumper(yaml.SafeDumper):
    """Go's layout: lists are indented, nothing is shared, several lines are a block."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif _means_something(text) or _QUOTED_WORD.fullmatch(text):
        style = '"'
    return dumper.represent_scalar(f"{_TAG}str", text, style=style)


def _means_something(text: str) -> bool:
    digits = text.replace("_", "")
    return text in _WORDS or any(pattern.fullmatch(digits) is not None for pattern in (_INTEGER, _FLOAT, _INFINITE))


def _represent_word(dumper: yaml.SafeDumper, value: bool | None) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"{_TAG}str", json_marshal(value))


def _represent_number(dumper: yaml.SafeDumper, number: float) -> yaml.ScalarNode:
    if type(number) is int and -(2**63) <= number < 2**64:
        return dumper.represent_scalar(f"{_TAG}str", str(number))
    try:
        exact = Decimal(repr(float(number))).normalize()
    except OverflowError as error:
        raise BuiltinError("yaml.marshal: a number is out of range") from error
    if -4 <= exact.adjusted() < 6 or not exact:
        return dumper.represent_scalar(f"{_TAG}str", format(exact, "f"))
    digits = "".join(map(str, exact.as_tuple().digits))
    mantissa = ("-" if exact < 0 else "") + digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return dumper.represent_scalar(f"{_TAG}str", f"{mantissa}e{exact.adjusted():+03d}")


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(type(None), _represent_word)
_Dumper.add_representer(bool, _represent_word)
_Dumper.add_representer(int, _represent_number)
_Dumper.add_representer(float, _represent_number)
# Every scalar is plain text to the emitter, which so writes no tags: what could be misread was quoted above.
_Dumper.yaml_implicit_resolvers = {}


def _plain(value: Value) -> Value:
    if type(value) is dict:
        texts = {key if type(key) is str else json_marshal(thaw(key)): item for key, item in value.items()}
        return {key: _plain(texts[key]) for key in sorted(texts, key=_natural)}
    if type(value) is list or type(value) is RegoSet:
        return [_plain(item) for item in value]
    if type(value) is float and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value


def _natural(key: str) -> list[tuple[int, int, str]]:
    """Go's order of keys: runs of digits by their number, and letters after everything else."""
    parts = re.findall(r"[0-9]+|[^0-9]", key)
    return [
        (1, int(part[:4000]), part) if part[0] in "0123456789" else (2 if part.isalpha() else 0, 0, part)
        for part in parts
    ]
