"""Rules of fields and of their arguments; directives have arguments too."""

from __future__ import annotations

from typing import Final

from engine.rego.graphql.faults import Position
from engine.rego.graphql.suggestions import did_you_mean, suggested
from engine.rego.graphql.syntax import (
    INTERFACE,
    OBJECT,
    Argument,
    ArgumentDefinition,
    Definition,
    Directive,
    Field,
    FragmentSpread,
    Names,
    Selection,
)
from engine.rego.graphql.walker import Findings

MAX_INTROSPECTED_LISTS: Final = 3
_LISTS_OF_TYPES: Final = frozenset({"fields", "interfaces", "possibleTypes", "inputFields"})


class FieldRules:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._schema = findings.schema
        self._budget = findings.budget

    def is_of_its_type(self, field: Field) -> None:
        parent = field.object_definition
        if parent is None or field.definition is not None:
            return
        message = f'Cannot query field "{field.name}" on type "{parent.name}".'
        hint = did_you_mean("Did you mean to use an inline fragment on", self._types_with(parent, field.name))
        hint = hint or did_you_mean("Did you mean", self._fields_like(parent, field.name))
        self._findings.report(message + hint, field.position)

    def has_known_arguments(self, field: Field) -> None:
        if field.definition is not None and field.object_definition is not None:
            owner = f'field "{field.object_definition.name}.{field.name}"'
            self._known(field.arguments, field.definition.arguments, owner, field.position)

    def directive_has_known_arguments(self, directive: Directive) -> None:
        if directive.definition is not None:
            owner = f'directive "@{directive.name}"'
            self._known(directive.arguments, directive.definition.arguments, owner, directive.position)

    def is_not_too_deep_introspection(self, field: Field) -> None:
        if field.name in ("__schema", "__type") and self._lists_too_deep([field], set(), 0):
            self._findings.report("Maximum introspection depth exceeded", field.position)

    def has_required_arguments(self, field: Field) -> None:
        if field.definition is not None:
            owner = f'Field "{field.name}"'
            self._required(field.arguments, field.definition.arguments, owner, field.position)

    def directive_has_required_arguments(self, directive: Directive) -> None:
        if directive.definition is not None:
            owner = f'Directive "@{directive.definition.name}"'
            self._required(directive.arguments, directive.definition.arguments, owner, directive.position)

    def selects_where_it_must(self, field: Field) -> None:
        kind = self._schema.types.get(field.definition.type.name) if field.definition else None
        if field.definition is None or kind is None:
            return
        if kind.is_leaf and field.selection_set:
            message = f'Field "{field.name}" must not have a selection since type "{kind.name}" has no subfields.'
            self._findings.report(message, field.position)
        if not kind.is_leaf and not field.selection_set:
            message = f'Field "{field.name}" of type "{field.definition.type}" must have a selection of subfields.'
            self._findings.report(f'{message} Did you mean "{field.name} {{ ... }}"?', field.position)

    def has_each_argument_once(self, field: Field) -> None:
        self._once(field.arguments)

    def directive_has_each_argument_once(self, directive: Directive) -> None:
        self._once(directive.arguments)

    def _types_with(self, parent: Definition, name: str) -> list[str]:
        """What `parent` can be and has the field: first interfaces, that of the most types before the others."""
        if not parent.is_abstract:
            return []
        usage: dict[str, int] = {}
        objects = []
        for possible in self._schema.possible_types.get(parent.name, []):
            self._budget.spend(1 + len(possible.interfaces))
            if possible.fields.first(name) is None:
                continue
            objects.append(possible.name)
            for interface in possible.interfaces:
                definition = self._schema.types.get(interface)
                if definition is not None and definition.fields.first(name) is not None:
                    usage[interface] = usage.get(interface, 0) + 1
        return sorted([*usage, *objects], key=lambda found: (-usage.get(found, 0), found))

    def _fields_like(self, parent: Definition, name: str) -> list[str]:
        if parent.kind not in (OBJECT, INTERFACE):
            return []
        return suggested(name, [field.name for field in parent.fields], self._budget)

    def _known(
        self, given: Names[Argument], wanted: Names[ArgumentDefinition], owner: str, position: Position | None
    ) -> None:
        for argument in given:
            if wanted.first(argument.name) is None:
                similar = suggested(argument.name, [definition.name for definition in wanted], self._budget)
                message = f'Unknown argument "{argument.name}" on {owner}.'
                self._findings.report(message + did_you_mean("Did you mean", similar), position)

    def _required(
        self, given: Names[Argument], wanted: Names[ArgumentDefinition], owner: str, position: Position | None
    ) -> None:
        self._budget.spend(len(wanted))
        for definition in wanted:
            required = definition.type.non_null and definition.default_value is None
            if required and given.first(definition.name) is None:
                argument = f'argument "{definition.name}" of type "{definition.type}"'
                self._findings.report(f"{owner} {argument} is required, but it was not provided.", position)

    def _once(self, arguments: Names[Argument]) -> None:
        count: dict[str, int] = {}
        for argument in arguments:
            count[argument.name] = count.get(argument.name, 0) + 1
            if count[argument.name] == 2:
                message = f'There can be only one argument named "{argument.name}".'
                self._findings.report(message, argument.position)

    def _lists_too_deep(self, selections: list[Selection], visiting: set[str], lists: int) -> bool:
        self._budget.deeper()
        found = any(self._list_too_deep(selection, visiting, lists) for selection in selections)
        self._budget.back()
        return found

    def _list_too_deep(self, selection: Selection, visiting: set[str], lists: int) -> bool:
        self._budget.spend()
        if isinstance(selection, FragmentSpread):
            if selection.name in visiting or selection.definition is None:
                return False
            inside = visiting | {selection.name}
            return self._lists_too_deep(selection.definition.selection_set, inside, lists)
        if isinstance(selection, Field) and selection.name in _LISTS_OF_TYPES:
            lists += 1
            if lists >= MAX_INTROSPECTED_LISTS:
                return True
        return self._lists_too_deep(selection.selection_set, visiting, lists)
