"""YAML as OPA reads it: JSON's types only, so that a date or a time of day stays the text that it was written as.

A few lines of YAML can stand for more values than there is memory (aliases of aliases), or for an endless one. What
aliases repeat is counted and bounded; what is part of itself is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Final

import yaml

from engine.errors import BundleInvalid, Problem
from engine.jsontext import MAX_DEPTH, JsonValue

MAX_REPEATED = 100_000
"""Values that aliases and merge keys may add to those that are written out."""

_TAG: Final = "tag:yaml.org,2002:"
_KEPT_TAGS: Final = frozenset({f"{_TAG}null", f"{_TAG}bool", f"{_TAG}merge"})
_INTEGER: Final = re.compile(r"[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_OCTAL: Final = re.compile(r"[-+]?0[0-7]+")
_FLOAT: Final = re.compile(
    r"([-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"
)
_BOOLEANS: Final = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels; flatten it"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parse_yaml(text: bytes, path: str) -> JsonValue:
    """The value of one YAML document; `BundleInvalid` with its place in the file at `path` if there is none."""
    try:
        root = yaml.compose(text, Loader=_JsonYaml)
    except yaml.MarkedYAMLError as error:
        raise _fault(path, error.problem_mark, f"not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise _fault(path, None, f"not YAML: {error}".replace("\n", " ")) from error
    except RecursionError as error:
        raise _fault(path, None, _TOO_DEEP) from error
    return _Reading(path).value(root) if root is not None else None


class _JsonYaml(yaml.SafeLoader):
    """What an unquoted word means: null, booleans and numbers (not 22:30, which YAML 1.1 takes for 1350), else text."""


_JsonYaml.yaml_implicit_resolvers = {
    **{
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT_TAGS]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    },
    **{first: [(f"{_TAG}int", _INTEGER), (f"{_TAG}float", _FLOAT)] for first in "-+.0123456789"},
}


class _Reading:
    """From nodes to values; each alias becomes a copy, so that no two places share an object."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._repeated = 0

    def value(self, node: yaml.Node) -> JsonValue:
        self._count(node)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._open:
            raise self._fault(node, "it is part of itself; an alias must not name what it stands in")
        if len(self._open) >= MAX_DEPTH:
            raise self._fault(node, _TOO_DEEP)
        self._open.add(id(node))
        value: JsonValue
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            value = [self.value(item) for item in node.value]
        elif isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            value = self._mapping(node)
        else:
            raise self._fault(node, f"{node.tag} is not a type of JSON")
        self._open.discard(id(node))
        return value

    def _count(self, node: yaml.Node) -> None:
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > MAX_REPEATED:
                raise self._fault(
                    node, f"aliases repeat more than {MAX_REPEATED} values; write them out, or as data.json"
                )
        self._seen.add(id(node))

    def _mapping(self, node: yaml.MappingNode) -> dict[str, JsonValue]:
        own: dict[str, JsonValue] = {}
        merged: dict[str, JsonValue] = {}
        for key, child in node.value:
            if key.tag == f"{_TAG}merge":
                for part in self._merged(child):
                    merged = {**part, **merged}
            elif not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
                raise self._fault(key, "a key is not a string; quote it")
            else:
                own[str(self._scalar(key))] = self.value(child)
        return {**merged, **own}

    def _merged(self, node: yaml.Node) -> Iterator[dict[str, JsonValue]]:
        for part in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            value = self.value(part)
            if not isinstance(value, dict):
                raise self._fault(part, "only an object can be merged with <<")
            yield value

    def _scalar(self, node: yaml.ScalarNode) -> JsonValue:
        read = _SCALARS.get(node.tag)
        if read is None:
            raise self._fault(node, f"{node.tag} is not a type of JSON")
        try:
            return read(node.value)
        except (KeyError, ValueError) as error:
            raise self._fault(node, f"{node.value[:40]!r} is not a value of JSON") from error

    def _fault(self, node: yaml.Node, message: str) -> BundleInvalid:
        return _fault(self._path, node.start_mark, message)


def _text(text: str) -> str:
    if _SURROGATE.search(text):
        raise ValueError("half of a surrogate pair is no text")
    return text


def _integer(text: str) -> int:
    digits = text.replace("_", "")
    return int(digits, 8) if _OCTAL.fullmatch(digits) else int(digits, 0)


def _finite(text: str) -> float:
    number = float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number


_SCALARS: Final[dict[str, Callable[[str], JsonValue]]] = {
    f"{_TAG}str": _text,
    f"{_TAG}null": lambda _: None,
    f"{_TAG}bool": lambda text: _BOOLEANS[text.lower()],
    f"{_TAG}int": _integer,
    f"{_TAG}float": _finite,
}


def _fault(path: str, mark: yaml.Mark | None, message: str) -> BundleInvalid:
    row, col = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    return BundleInvalid(message, [Problem("data_invalid", message, path, row, col)])
