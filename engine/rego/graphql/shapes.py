"""Nodes as Rego values and back, in the shape that OPA gets from Go's JSON: names in camel case, nothing that is empty.

Strings, booleans and numbers are always there; positions never are. An object that came from elsewhere is read as Go
reads it: an unknown name is ignored, a name may be in any case, and a selection is taken for a field wherever it can
be one. So a fragment's spread that went through a value becomes a field, as in OPA.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from engine.rego.graphql import syntax
from engine.rego.graphql.faults import Budget
from engine.rego.graphql.syntax import (
    Field,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    OperationDefinition,
    Type,
    Value,
    ValueKind,
)
from engine.rego.values import RegoSet, kind_of
from engine.rego.values import Value as RegoValue

D = TypeVar("D")
Part: TypeAlias = Any
"""A node, a list of nodes, or what a node holds: which one, only the hint of its attribute says."""
Hint: TypeAlias = Any

_UNSEEN: Final = frozenset({"position", "type_positions"})
_EXACT: Final = (OperationDefinition, FragmentDefinition, InlineFragment, Field)
"""Go reads these with code of gqlparser's own: names as they are written, and no comments."""


class WrongShape(Exception):
    """An object is not a document; the message is Go's, without the place in Go's structures."""


def to_value(node: Part) -> RegoValue:
    if isinstance(node, list):
        return [value for value in map(to_value, node) if value not in ({}, [])]
    if isinstance(node, ValueKind):
        return int(node)
    if node is None or isinstance(node, str | bool):
        return node
    kind: type = type(node)
    pairs = ((name, to_value(getattr(node, attribute))) for name, attribute in _attributes(kind).items())
    return {name: value for name, value in pairs if value not in (None, {}, [])}


def from_value(kind: type[D], value: RegoValue) -> D:
    made: D = _Reader().node(kind, value)
    return made


@cache
def _attributes(kind: type) -> Mapping[str, str]:
    """The names in OPA's objects, to the names of attributes."""
    fields = (field for field in dataclasses.fields(kind) if field.name not in _UNSEEN)
    return {field.metadata.get("name", field.name.title().replace("_", "")): field.name for field in fields}


@cache
def _folded(kind: type) -> Mapping[str, str]:
    return {name.lower(): attribute for name, attribute in _attributes(kind).items()}


@cache
def _hints(kind: type) -> Mapping[str, Hint]:
    return get_type_hints(kind, vars(syntax))


class _Reader:
    def __init__(self) -> None:
        self._budget = Budget()

    def node(self, kind: type, value: RegoValue) -> Part:
        made = kind()
        given: set[str] = set()
        for name, item in sorted(self._object(kind, value).items()):
            attribute = self._attribute(kind, name)
            if attribute is not None and item is not None:
                setattr(made, attribute, self._read(_hints(kind)[attribute], item))
                given.add(attribute)
        self._demand(kind, made, given)
        return made

    def _object(self, kind: type, value: RegoValue) -> dict[str, RegoValue]:
        if value is None and kind in _EXACT:
            return {}
        if type(value) is not dict:
            raise _mismatch(value, kind.__name__)
        return {name: item for name, item in value.items() if type(name) is str}

    def _attribute(self, kind: type, name: str) -> str | None:
        exact = _attributes(kind).get(name)
        if kind in _EXACT:
            return exact if exact != "comment" else None
        return exact or _folded(kind).get(name.lower())

    def _demand(self, kind: type, made: Part, given: set[str]) -> None:
        """Where gqlparser would end the whole program for want of a type or a value."""
        for attribute, hint in _hints(kind).items():
            if hint in (Type, Value) and attribute not in given:
                raise WrongShape(f"{kind.__name__} has no {attribute.title()}")
        if isinstance(made, Type) and not made.named_type and made.elem is None:
            raise WrongShape("Type has neither NamedType nor Elem")

    def _read(self, hint: Hint, value: RegoValue) -> Part:
        if hint in (str, bool):
            if type(value) is not hint:
                raise _mismatch(value, hint.__name__)
            return value
        if hint is ValueKind:
            return _value_kind(value)
        if isinstance(hint, types.UnionType):
            hint = get_args(hint)[0]
        if not get_args(hint) and hint is not Type:
            return self.node(hint, value)
        self._budget.deeper()
        made = self._list(hint, value) if get_args(hint) else self.node(hint, value)
        self._budget.back()
        return made

    def _list(self, hint: Hint, value: RegoValue) -> Part:
        if type(value) not in (list, RegoSet):
            raise _mismatch(value, "list")
        (inner,) = get_args(hint)
        if isinstance(inner, types.UnionType):
            return [selection for item in value if (selection := self._selection(item)) is not None]
        if inner is str:
            return ["" if item is None else self._read(str, item) for item in value]
        origin: Hint = get_origin(hint)
        return origin(self.node(inner, item) for item in value)

    def _selection(self, value: RegoValue) -> syntax.Selection | None:
        for kind in (Field, FragmentSpread, InlineFragment):
            try:
                made: syntax.Selection = self.node(kind, value)
            except WrongShape:
                continue
            return made
        return None


def _value_kind(value: RegoValue) -> ValueKind:
    if type(value) is not int:
        raise _mismatch(value, "ValueKind")
    if value not in set(ValueKind):
        raise WrongShape(f"unknown value kind {value}")
    return ValueKind(value)


def _mismatch(value: RegoValue, wanted: str) -> WrongShape:
    return WrongShape(f"json: cannot unmarshal {_JSON_KINDS.get(kind_of(value), kind_of(value))} into {wanted}")


_JSON_KINDS: Final = {"boolean": "bool", "set": "array"}
