"""Whether a type has all that an interface demands of it."""

from __future__ import annotations

from engine.rego.builtins.go_text import quote
from engine.rego.graphql.faults import definition_fault
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.syntax import INTERFACE, Definition, FieldDefinition, Type


def check_implements(schema: Schema, definition: Definition, name: str) -> None:
    interface = schema.types.get(name)
    if interface is None:
        raise definition_fault(f"Undefined type {quote(name)}.", definition.position)
    if interface.kind != INTERFACE:
        raise definition_fault(f"{quote(name)} is a non interface type {interface.kind}.", definition.position)
    pair = f"For {definition.name} to implement {interface.name}"
    for required in interface.fields:
        schema.budget.spend()
        found = definition.fields.first(required.name)
        if found is None:
            raise definition_fault(f"{pair} it must have a field called {required.name}.", definition.position)
        if not _is_covariant(schema, required.type, found.type):
            message = f"{pair} the field {required.name} must have type {required.type}."
            raise definition_fault(message, found.position)
        _check_arguments(schema, pair, required, found)
    _check_ancestors(schema, definition, interface)


def is_compatible(given: Type, wanted: Type) -> bool:
    """Whether a value of one type can stand where the other is wanted."""
    if given.named_type != wanted.named_type or (wanted.non_null and not given.non_null):
        return False
    if given.elem is None:
        return True
    return wanted.elem is not None and is_compatible(given.elem, wanted.elem)


def _check_arguments(schema: Schema, pair: str, required: FieldDefinition, found: FieldDefinition) -> None:
    schema.budget.spend(len(required.arguments) + len(found.arguments))
    same = f"{pair} the field {required.name} must have the same arguments but"
    for wanted in required.arguments:
        given = found.arguments.first(wanted.name)
        if given is None:
            raise definition_fault(f"{same} it is missing {wanted.name}.", found.position)
        if not is_compatible(wanted.type, given.type):
            raise definition_fault(f"{same} {wanted.name} has the wrong type.", given.position)
    for given in found.arguments:
        optional = not given.type.non_null or given.default_value is not None
        if not optional and required.arguments.first(given.name) is None:
            any_other = f"any additional arguments on {found.name} must be optional or have a default value"
            raise definition_fault(f"{pair} {any_other} but {given.name} is required.", given.position)


def _check_ancestors(schema: Schema, definition: Definition, interface: Definition) -> None:
    implemented = set(definition.interfaces)
    schema.budget.spend(len(implemented))
    for ancestor in interface.interfaces:
        if ancestor in implemented:
            continue
        if ancestor == definition.name:
            circular = f"cannot implement {interface.name} because it would create a circular reference"
            raise definition_fault(f"Type {definition.name} {circular}.", definition.position)
        message = f"Type {definition.name} must implement {ancestor} because it is implemented by {interface.name}."
        raise definition_fault(message, definition.position)


def _is_covariant(schema: Schema, required: Type, found: Type) -> bool:
    if required.non_null and not found.non_null:
        return False
    if required.named_type:
        possible = schema.possible_types.get(required.named_type, [])
        schema.budget.spend(len(possible))
        return required.named_type == found.named_type or any(one.name == found.named_type for one in possible)
    if required.elem is None or found.elem is None:
        return False
    return _is_covariant(schema, required.elem, found.elem)
