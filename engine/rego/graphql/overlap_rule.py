"""The rule that fields with one response name must be one field: two of them are answered in one place.

Fields are compared within a selection set, then with those of every fragment that is spread in it, then those of the
fragments with each other, and so on into what overlapping fields select themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeAlias

from engine.rego.graphql.faults import Position
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.syntax import (
    OBJECT,
    Argument,
    Field,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    Names,
    OperationDefinition,
    Selection,
    Type,
    Value,
    ValueKind,
)
from engine.rego.graphql.walker import Findings

Fields: TypeAlias = dict[str, list[Field]]
"""By response name."""


@dataclass(slots=True)
class Conflict:
    name: str
    reason: str
    """Empty if it lies in what the fields select."""
    position: Position | None
    inner: list[Conflict] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.inner:
            return self.reason
        return " and ".join(f'subfields "{conflict.name}" conflict because {conflict}' for conflict in self.inner)


class OverlapRule:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._schema = findings.schema
        self._budget = findings.budget
        self._pairs: dict[tuple[str, str], bool] = {}
        """The fragments that were compared, and whether only as mutually exclusive ones."""
        self._compared: set[str] = set()
        """The fragments that were compared with the fields at hand."""

    def in_operation(self, operation: OperationDefinition) -> None:
        self._check(operation.selection_set)

    def in_field(self, selected: Field) -> None:
        # By itself a fragment would say again what it said where it was spread.
        if self._findings.operation is not None:
            self._check(selected.selection_set)

    def in_inline_fragment(self, fragment: InlineFragment) -> None:
        self._check(fragment.selection_set)

    def in_fragment(self, fragment: FragmentDefinition) -> None:
        self._check(fragment.selection_set)

    def _check(self, selections: list[Selection]) -> None:
        for conflict in self._within(selections) if selections else ():
            because = f'Fields "{conflict.name}" conflict because {conflict}.'
            hint = "Use different aliases on the fields to fetch both if this was intentional."
            self._findings.report(f"{because} {hint}", conflict.position)

    def _within(self, selections: list[Selection]) -> list[Conflict]:
        fields, spreads = self._collected(selections)
        conflicts: list[Conflict] = []
        for same in fields.values():
            for one, other in combinations(same, 2):
                conflicts += self._between_two(False, one, other)
        self._compared = set()
        for place, spread in enumerate(spreads):
            conflicts += self._fields_and_fragment(False, fields, spread)
            for other_spread in spreads[place + 1 :]:
                conflicts += self._between_fragments(False, spread, other_spread)
        return conflicts

    def _collected(self, selections: list[Selection]) -> tuple[Fields, list[FragmentSpread]]:
        fields: Fields = {}
        spreads: list[FragmentSpread] = []
        for selection in _flat(selections):
            self._budget.spend()
            if isinstance(selection, Field):
                fields.setdefault(selection.alias or selection.name, []).append(selection)
            else:
                spreads.append(selection)
        return fields, spreads

    def _fields_and_fragment(self, exclusive: bool, fields: Fields, spread: FragmentSpread) -> list[Conflict]:
        if spread.name in self._compared:
            return []
        self._compared.add(spread.name)
        if spread.definition is None:
            return []
        inner, spreads = self._collected(spread.definition.selection_set)
        if _same_fields(fields, inner):
            return []
        self._budget.deeper()
        conflicts = self._between(exclusive, fields, inner)
        for inner_spread in spreads:
            if inner_spread.name != spread.name:
                conflicts += self._fields_and_fragment(exclusive, fields, inner_spread)
        self._budget.back()
        return conflicts

    def _between_fragments(self, exclusive: bool, one: FragmentSpread, other: FragmentSpread) -> list[Conflict]:
        self._budget.spend()
        if one.name == other.name or self._are_compared(exclusive, one, other):
            return []
        self._pairs[one.name, other.name] = self._pairs[other.name, one.name] = exclusive
        if one.definition is None or other.definition is None:
            return []
        self._budget.deeper()
        fields, spreads = self._collected(one.definition.selection_set)
        other_fields, other_spreads = self._collected(other.definition.selection_set)
        conflicts = self._between(exclusive, fields, other_fields)
        for spread in other_spreads:
            conflicts += self._between_fragments(exclusive, one, spread)
        for spread in spreads:
            conflicts += self._between_fragments(exclusive, spread, other)
        self._budget.back()
        return conflicts

    def _are_compared(self, exclusive: bool, one: FragmentSpread, other: FragmentSpread) -> bool:
        """Compared as not exclusive covers both."""
        before = self._pairs.get((one.name, other.name))
        return before is not None and (exclusive or not before)

    def _between(self, exclusive: bool, fields: Fields, others: Fields) -> list[Conflict]:
        conflicts: list[Conflict] = []
        for name, same in fields.items():
            for one, other in product(same, others.get(name, ())):
                conflicts += self._between_two(exclusive, one, other)
        return conflicts

    def _between_two(self, exclusive: bool, one: Field, other: Field) -> list[Conflict]:
        """None or one."""
        self._budget.spend()
        if one.object_definition is None or other.object_definition is None:
            return []
        exclusive = exclusive or _are_exclusive(one, other)
        name = one.alias or one.name
        if not exclusive and one.name != other.name:
            return [Conflict(name, f'"{one.name}" and "{other.name}" are different fields', other.position)]
        if not exclusive and not _same_arguments(one.arguments, other.arguments):
            return [Conflict(name, "they have differing arguments", other.position)]
        if one.definition is not None and other.definition is not None:
            types = one.definition.type, other.definition.type
            if _types_conflict(self._schema, *types):
                reason = f'they return conflicting types "{types[0]}" and "{types[1]}"'
                return [Conflict(name, reason, other.position)]
        if not one.selection_set and not other.selection_set:
            return []
        inner = self._between_selections(exclusive, one.selection_set, other.selection_set)
        return [Conflict(name, "", other.position, inner)] if inner else []

    def _between_selections(
        self, exclusive: bool, selections: list[Selection], others: list[Selection]
    ) -> list[Conflict]:
        self._budget.deeper()
        fields, spreads = self._collected(selections)
        other_fields, other_spreads = self._collected(others)
        conflicts = self._between(exclusive, fields, other_fields)
        for spread in other_spreads:
            self._compared = set()
            conflicts += self._fields_and_fragment(exclusive, fields, spread)
        for spread in spreads:
            self._compared = set()
            conflicts += self._fields_and_fragment(exclusive, other_fields, spread)
        for one, other in product(spreads, other_spreads):
            conflicts += self._between_fragments(exclusive, one, other)
        self._budget.back()
        return conflicts


def _flat(selections: list[Selection]) -> Iterator[Field | FragmentSpread]:
    for selection in selections:
        if isinstance(selection, InlineFragment):
            yield from _flat(selection.selection_set)
        else:
            yield selection


def _same_fields(fields: Fields, others: Fields) -> bool:
    return fields.keys() == others.keys() and all(fields[name] == others[name] for name in fields)


def _are_exclusive(one: Field, other: Field) -> bool:
    """Of two object types: no answer holds both."""
    parent, other_parent = one.object_definition, other.object_definition
    if parent is None or other_parent is None or parent.name == other_parent.name:
        return False
    both_defined = one.definition is not None and other.definition is not None
    return parent.kind == OBJECT and other_parent.kind == OBJECT and both_defined


def _same_arguments(arguments: Names[Argument], others: Names[Argument]) -> bool:
    if len(arguments) != len(others):
        return False
    values: dict[str, list[Value]] = {}
    for other in others:
        values.setdefault(other.name, []).append(other.value)
    return all(any(_same_value(one.value, value) for value in values.get(one.name, ())) for one in arguments)


def _same_value(value: Value, other: Value) -> bool:
    """The order matters in lists, not in objects."""
    if (value.kind, value.raw, len(value.children)) != (other.kind, other.raw, len(other.children)):
        return False
    children, others = list(value.children), list(other.children)
    if value.kind == ValueKind.OBJECT:
        children.sort(key=lambda child: child.name)
        others.sort(key=lambda child: child.name)
    pairs = zip(children, others, strict=True)
    return all(child.name == match.name and _same_value(child.value, match.value) for child, match in pairs)


def _types_conflict(schema: Schema, one: Type, other: Type) -> bool:
    """Different leaves, or different in what wraps them."""
    if one.elem is not None and other.elem is not None:
        return _types_conflict(schema, one.elem, other.elem)
    if one.elem is not None or other.elem is not None or one.non_null != other.non_null:
        return True
    definition, other_definition = schema.types.get(one.named_type), schema.types.get(other.named_type)
    if definition is None or other_definition is None:
        return False
    return definition.is_leaf and other_definition.is_leaf and definition.name != other_definition.name
