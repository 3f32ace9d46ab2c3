"""Rules of operations and of their variables, and of directives as they are placed."""

from __future__ import annotations

from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.graphql.faults import Fault, Position
from engine.rego.graphql.syntax import (
    Directive,
    Field,
    FragmentSpread,
    Names,
    OperationDefinition,
    Selection,
    VariableDefinition,
)
from engine.rego.graphql.walker import Findings

_OPERATIONS: Final = frozenset({"", "query", "mutation", "subscription"})


class OperationRules:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._schema = findings.schema
        self._names: set[str] = set()
        self._misplaced: set[tuple[str, Position | None]] = set()

    def has_a_root(self, operation: OperationDefinition) -> None:
        if operation.operation not in _OPERATIONS:
            # Only a value can say so; gqlparser gives up on the whole query.
            raise Fault(f'got unknown operation type "{operation.operation}"', operation.position)
        if (operation.operation or "query") not in self._schema.roots:
            message = f'Schema does not support operation type "{operation.operation}"'
            self._findings.report(message, operation.position)

    def is_alone_without_name(self, operation: OperationDefinition) -> None:
        if not operation.name and len(self._findings.document.operations) > 1:
            self._findings.report("This anonymous operation must be the only defined operation.", operation.position)

    def uses_its_variables(self, operation: OperationDefinition) -> None:
        where = f' in operation "{operation.name}"' if operation.name else ""
        for variable in operation.variable_definitions:
            if not variable.used:
                self._findings.report(f'Variable "${variable.variable}" is never used{where}.', variable.position)

    def subscribes_to_one_field(self, operation: OperationDefinition) -> None:
        if "subscription" not in self._schema.roots or operation.operation != "subscription":
            return
        name = f"Subscription {quote(operation.name)}" if operation.name else "Anonymous Subscription"
        fields: dict[str, Position | None] = {}
        self._top_fields(operation.selection_set, fields, set())
        positions = list(fields.values())
        if len(positions) > 1:
            self._findings.report(f"{name} must select only one top level field.", positions[1])
        for field, position in fields.items():
            if field.startswith("__"):
                self._findings.report(f"{name} must not select an introspection top level field.", position)

    def name_is_unique(self, operation: OperationDefinition) -> None:
        if operation.name in self._names:
            self._findings.report(f'There can be only one operation named "{operation.name}".', operation.position)
        self._names.add(operation.name)

    def has_each_variable_once(self, operation: OperationDefinition) -> None:
        count: dict[str, int] = {}
        for variable in operation.variable_definitions:
            count[variable.variable] = count.get(variable.variable, 0) + 1
            if count[variable.variable] == 2:
                message = f'There can be only one variable named "${variable.variable}".'
                self._findings.report(message, variable.position)

    def takes_input_types(self, operation: OperationDefinition) -> None:
        for variable in operation.variable_definitions:
            if variable.definition is not None and not variable.definition.is_input:
                message = f'Variable "${variable.variable}" cannot be non-input type "{variable.type}".'
                self._findings.report(message, variable.position)

    def variable_has_known_type(self, variable: VariableDefinition) -> None:
        if variable.type.name not in self._schema.types:
            self._findings.report(f'Unknown type "{variable.type.name}".', variable.position)

    def directive_is_known(self, directive: Directive) -> None:
        if directive.definition is None:
            self._findings.report(f'Unknown directive "@{directive.name}".', directive.position)
        elif directive.location not in directive.definition.locations:
            place = (directive.name, directive.position)
            if place not in self._misplaced:
                message = f'Directive "@{directive.name}" may not be used on {directive.location}.'
                self._findings.report(message, directive.position)
            self._misplaced.add(place)

    def directives_are_unique(self, directives: Names[Directive]) -> None:
        seen: set[str] = set()
        for directive in directives:
            repeatable = directive.definition is not None and directive.definition.is_repeatable
            if directive.name in seen and not repeatable:
                message = f'The directive "@{directive.name}" can only be used once at this location.'
                self._findings.report(message, directive.position)
            seen.add(directive.name)

    def _top_fields(self, selections: list[Selection], fields: dict[str, Position | None], inside: set[str]) -> None:
        self._findings.budget.deeper()
        for selection in selections:
            if isinstance(selection, Field):
                fields.setdefault(selection.name, selection.position)
            elif not isinstance(selection, FragmentSpread):
                self._top_fields(selection.selection_set, fields, inside)
            elif selection.definition is None:
                break
            elif selection.definition.name not in inside:
                inside.add(selection.definition.name)
                self._top_fields(selection.definition.selection_set, fields, inside)
        self._findings.budget.back()
