"""The walk through a query beside its schema: every node learns its definition, and then every rule sees the node.

A fragment is walked where it is first spread in an operation, and once more by itself. Rules are told of a node after
what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from engine.rego.graphql.faults import MAX_FAULTS_TEXT, Budget, Fault, Position, TooLarge
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.syntax import (
    Argument,
    ArgumentDefinition,
    Definition,
    Directive,
    Field,
    FieldDefinition,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    Names,
    OperationDefinition,
    QueryDocument,
    Selection,
    Type,
    Value,
    ValueKind,
    VariableDefinition,
)

T = TypeVar("T")
Rules: TypeAlias = tuple[Callable[[T], None], ...]
_TYPENAME = FieldDefinition(name="__typename", type=Type("String"))


class Findings:
    """The faults of a query, and what a rule needs to find them."""

    def __init__(self, schema: Schema, document: QueryDocument) -> None:
        self.schema = schema
        self.document = document
        self.budget = Budget()
        self.operation: OperationDefinition | None = None
        """The one that is being walked; none in the walk of a fragment by itself."""
        self.faults: list[Fault] = []
        self._size = 0

    def report(self, message: str, position: Position | None) -> None:
        self._size += len(message)
        if self._size > MAX_FAULTS_TEXT:
            raise TooLarge(f"the faults of the document have more than {MAX_FAULTS_TEXT} characters")
        self.faults.append(Fault(message, position))


@dataclass(frozen=True, slots=True)
class Observers:
    """The rules, by the nodes that they look at, in the order in which they report."""

    operation: Rules[OperationDefinition]
    field: Rules[Field]
    fragment: Rules[FragmentDefinition]
    inline_fragment: Rules[InlineFragment]
    spread: Rules[FragmentSpread]
    directive: Rules[Directive]
    directives: Rules[Names[Directive]]
    value: Rules[Value]
    variable: Rules[VariableDefinition]


class Walker:
    def __init__(self, findings: Findings, observers: Observers) -> None:
        self._findings = findings
        self._schema = findings.schema
        self._document = findings.document
        self._observers = observers
        self._spread: set[str] = set()

    def walk(self) -> None:
        for operation in self._document.operations:
            self._spread = set()
            self._findings.operation = operation
            self._operation(operation)
            self._findings.operation = None
        for fragment in self._document.fragments:
            self._spread = set()
            self._fragment(fragment)

    def _operation(self, operation: OperationDefinition) -> None:
        for variable in operation.variable_definitions:
            variable.definition = self._schema.types.get(variable.type.name)
            _tell(self._observers.variable, variable)
            if variable.default_value is not None:
                variable.default_value.expected_type = variable.type
                variable.default_value.definition = variable.definition
        for variable in operation.variable_definitions:
            if variable.default_value is not None:
                self._value(variable.default_value)
            self._directives(variable.definition, variable.directives, "VARIABLE_DEFINITION")
        kind = operation.operation or "query"
        root = self._schema.roots.get(kind)
        self._directives(root, operation.directives, kind.upper())
        self._selections(root, operation.selection_set)
        _tell(self._observers.operation, operation)

    def _fragment(self, fragment: FragmentDefinition) -> None:
        fragment.definition = self._schema.types.get(fragment.type_condition)
        self._directives(fragment.definition, fragment.directives, "FRAGMENT_DEFINITION")
        self._selections(fragment.definition, fragment.selection_set)
        _tell(self._observers.fragment, fragment)

    def _directives(self, parent: Definition | None, directives: Names[Directive], location: str) -> None:
        for directive in directives:
            directive.definition = self._schema.directives.get(directive.name)
            directive.parent_definition = parent
            directive.location = location
            self._arguments(directive.definition.arguments if directive.definition else None, directive.arguments)
            _tell(self._observers.directive, directive)
        _tell(self._observers.directives, directives)

    def _arguments(self, definitions: Names[ArgumentDefinition] | None, arguments: Iterable[Argument]) -> None:
        for argument in arguments:
            definition = definitions.first(argument.name) if definitions else None
            if definition is not None:
                self._expect(argument.value, definition)
            self._value(argument.value)

    def _expect(self, value: Value, definition: ArgumentDefinition | FieldDefinition) -> None:
        default = definition.default_value
        value.expected_type = definition.type
        value.expected_type_has_default = default is not None and default.kind != ValueKind.NULL
        value.definition = self._schema.types.get(definition.type.name)

    def _value(self, value: Value) -> None:
        self._findings.budget.deeper()
        self._findings.budget.spend()
        if value.kind == ValueKind.VARIABLE and self._findings.operation is not None:
            value.variable_definition = self._findings.operation.variable_definitions.first(value.raw)
            if value.variable_definition is not None:
                value.variable_definition.used = True
        elif value.kind == ValueKind.OBJECT:
            self._object_fields(value)
        elif value.kind == ValueKind.LIST:
            self._elements(value)
        _tell(self._observers.value, value)
        self._findings.budget.back()

    def _object_fields(self, value: Value) -> None:
        for child in value.children:
            definition = value.definition.fields.first(child.name) if value.definition else None
            if definition is not None:
                self._expect(child.value, definition)
            self._value(child.value)

    def _elements(self, value: Value) -> None:
        for child in value.children:
            if value.expected_type is not None and value.expected_type.elem is not None:
                child.value.expected_type = value.expected_type.elem
                child.value.definition = value.definition
            self._value(child.value)

    def _selections(self, parent: Definition | None, selections: Iterable[Selection]) -> None:
        self._findings.budget.deeper()
        for selection in selections:
            # A selection is seen by many rules: it weighs more than one comparison.
            self._findings.budget.spend(5)
            if isinstance(selection, Field):
                self._field(parent, selection)
            elif isinstance(selection, InlineFragment):
                self._inline_fragment(parent, selection)
            else:
                self._fragment_spread(parent, selection)
        self._findings.budget.back()

    def _field(self, parent: Definition | None, field: Field) -> None:
        if field.name == "__typename":
            field.definition = _TYPENAME
        else:
            field.definition = parent.fields.first(field.name) if parent is not None else None
        field.object_definition = parent
        inner = self._schema.types.get(field.definition.type.name) if field.definition else None
        self._arguments(field.definition.arguments if field.definition else None, field.arguments)
        self._directives(inner, field.directives, "FIELD")
        self._selections(inner, field.selection_set)
        _tell(self._observers.field, field)

    def _inline_fragment(self, parent: Definition | None, fragment: InlineFragment) -> None:
        fragment.object_definition = parent
        inner = self._schema.types.get(fragment.type_condition) if fragment.type_condition else parent
        self._directives(inner, fragment.directives, "INLINE_FRAGMENT")
        self._selections(inner, fragment.selection_set)
        _tell(self._observers.inline_fragment, fragment)

    def _fragment_spread(self, parent: Definition | None, spread: FragmentSpread) -> None:
        fragment = self._document.fragments.first(spread.name)
        spread.definition = fragment
        spread.object_definition = parent
        inner = self._schema.types.get(fragment.type_condition) if fragment else None
        self._directives(inner, spread.directives, "FRAGMENT_SPREAD")
        if fragment is not None and fragment.name not in self._spread:
            self._spread.add(fragment.name)
            self._directives(inner, fragment.directives, "FRAGMENT_DEFINITION")
            self._selections(inner, fragment.selection_set)
        _tell(self._observers.spread, spread)


def _tell(rules: Rules[T], node: T) -> None:
    for rule in rules:
        rule(node)
