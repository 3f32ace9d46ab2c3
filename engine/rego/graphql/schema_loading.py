"""A schema document to a Schema: types with their extensions, roots, and who is what; all of it checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from engine.rego.graphql.faults import definition_fault
from engine.rego.graphql.prelude import BUILT_IN_DIRECTIVES, prelude
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.schema_checks import (
    check_definition,
    check_directive_definition,
    check_directives,
    check_input_cycles,
)
from engine.rego.graphql.syntax import (
    INPUT_OBJECT,
    INTERFACE,
    OBJECT,
    UNION,
    ArgumentDefinition,
    Definition,
    DirectiveDefinition,
    FieldDefinition,
    Names,
    SchemaDefinition,
    SchemaDocument,
    Type,
)


def load_schema(document: SchemaDocument) -> Schema:
    """Raises the first Fault. The document stays as it is."""
    types = _types((*prelude().definitions, *document.definitions), document.extensions)
    directives = _directives((*prelude().directives, *document.directives))
    schema = Schema(types, directives, _possible_types(types))
    if len(document.schema) > 1:
        message = "Cannot have multiple schema entry points, consider schema extensions instead."
        raise definition_fault(message, document.schema[1].position)
    for definition in (*document.schema, *document.schema_extension):
        _set_roots(schema, definition)
        check_directives(schema, definition.directives, "SCHEMA")
    for name in sorted(types):
        check_definition(schema, types[name])
    check_input_cycles(schema)
    for name in sorted(directives):
        check_directive_definition(schema, directives[name])
    if not document.schema:
        _infer_roots(schema)
    _add_introspection(schema)
    return schema


def _types(definitions: Iterable[Definition], extensions: Iterable[Definition]) -> dict[str, Definition]:
    types: dict[str, Definition] = {}
    for definition in definitions:
        if definition.name in types:
            raise definition_fault(f"Cannot redeclare type {definition.name}.", definition.position)
        types[definition.name] = _own(definition)
    for extension in extensions:
        fresh = Definition(kind=extension.kind, name=extension.name, position=extension.position)
        base = types.setdefault(extension.name, fresh)
        if base.kind != extension.kind:
            named = f"Cannot extend type {extension.name} because the base type is a {base.kind}, not {extension.kind}."
            raise definition_fault(named, extension.position)
        base.directives += extension.directives
        base.interfaces += extension.interfaces
        base.fields += extension.fields
        base.types += extension.types
        base.type_positions += extension.type_positions
        base.enum_values += extension.enum_values
    return types


def _own(definition: Definition) -> Definition:
    """A copy that extensions can grow."""
    return replace(
        definition,
        directives=Names(definition.directives),
        interfaces=list(definition.interfaces),
        fields=Names(definition.fields),
        types=list(definition.types),
        type_positions=list(definition.type_positions),
        enum_values=Names(definition.enum_values),
    )


def _directives(definitions: Iterable[DirectiveDefinition]) -> dict[str, DirectiveDefinition]:
    directives: dict[str, DirectiveDefinition] = {}
    for definition in definitions:
        if definition.name in directives and definition.name not in BUILT_IN_DIRECTIVES:
            raise definition_fault(f"Cannot redeclare directive {definition.name}.", definition.position)
        directives[definition.name] = definition
    return directives


def _possible_types(types: dict[str, Definition]) -> dict[str, list[Definition]]:
    possible: defaultdict[str, list[Definition]] = defaultdict(list)
    for definition in types.values():
        if definition.kind == UNION:
            possible[definition.name] += [types[name] for name in definition.types if name in types]
        elif definition.kind in (OBJECT, INPUT_OBJECT, INTERFACE):
            for name in definition.interfaces:
                possible[name].append(definition)
            if definition.kind != INTERFACE:
                possible[definition.name].append(definition)
    return possible


def _set_roots(schema: Schema, definition: SchemaDefinition) -> None:
    for entry in definition.operation_types:
        if entry.type not in schema.types:
            message = f"Schema root {entry.operation} refers to a type {entry.type} that does not exist."
            raise definition_fault(message, entry.position)
        schema.roots[entry.operation] = schema.types[entry.type]


def _infer_roots(schema: Schema) -> None:
    for operation in ("query", "mutation", "subscription"):
        named = schema.types.get(operation.title())
        if named is not None:
            schema.roots.setdefault(operation, named)


def _add_introspection(schema: Schema) -> None:
    query = schema.roots.get("query")
    if query is None:
        return
    by_name = ArgumentDefinition(name="name", type=Type("String", non_null=True))
    query.fields.append(FieldDefinition(name="__schema", type=Type("__Schema", non_null=True)))
    query.fields.append(FieldDefinition(name="__type", type=Type("__Type"), arguments=Names([by_name])))
