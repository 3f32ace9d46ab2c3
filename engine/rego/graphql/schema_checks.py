"""The rules of a schema, each of which raises the first Fault that it finds, in gqlparser's order and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.graphql.faults import Fault, Position, definition_fault
from engine.rego.graphql.implementing import check_implements
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.syntax import (
    ENUM,
    INPUT_OBJECT,
    INTERFACE,
    OBJECT,
    SCALAR,
    UNION,
    ArgumentDefinition,
    Definition,
    Directive,
    DirectiveDefinition,
    FieldDefinition,
    N,
    Names,
    Type,
    ValueKind,
)

_OUTPUT: Final = (SCALAR, OBJECT, INTERFACE, UNION, ENUM)
_INPUT: Final = (SCALAR, ENUM, INPUT_OBJECT)


def check_definition(schema: Schema, definition: Definition) -> None:
    for field in definition.fields:
        _check_field(schema, definition, field)
    _check_members(schema, definition)
    for interface in definition.interfaces:
        check_implements(schema, definition, interface)
    if definition.kind in (OBJECT, INTERFACE):
        _check_output_fields(schema, definition)
    elif definition.kind == ENUM:
        _check_enum_values(schema, definition)
    elif definition.kind == INPUT_OBJECT:
        _check_input_fields(schema, definition)
    _check_once(definition)
    if not definition.built_in:
        check_name(definition.name, definition.position)
    # These are merged from the definition and its extensions, which are places of their own: none is twice at one.
    check_directives(schema, definition.directives, definition.kind, once=False)


def check_directive_definition(schema: Schema, definition: DirectiveDefinition) -> None:
    check_name(definition.name, definition.position)
    _check_arguments(schema, definition.arguments, inside=definition.name)


def check_directives(
    schema: Schema,
    directives: Iterable[Directive],
    location: str,
    *,
    inside: str | None = None,
    once: bool = True,
) -> None:
    """`inside` names the directive whose arguments carry these."""
    seen: set[str] = set()
    for directive in directives:
        check_name(directive.name, directive.position)
        if directive.name == inside:
            raise definition_fault(f"Directive {inside} cannot refer to itself.", directive.position)
        definition = schema.directives.get(directive.name)
        if definition is None:
            raise definition_fault(f"Undefined directive {directive.name}.", directive.position)
        if once and directive.name in seen and not definition.is_repeatable:
            message = f"The directive {directive.name} can only be used once at this location."
            raise definition_fault(message, directive.position)
        seen.add(directive.name)
        if location not in definition.locations:
            message = f"Directive {directive.name} is not applicable on {location}."
            raise definition_fault(message, directive.position)
        _check_directive_arguments(schema, directive, definition)


def check_name(name: str, position: Position | None) -> None:
    if name.startswith("__"):
        message = f'Name "{name}" must not begin with "__", which is reserved by GraphQL introspection.'
        raise definition_fault(message, position)


def check_input_cycles(schema: Schema) -> None:
    """An input object that must hold itself can never be written."""
    done: set[str] = set()
    for name in sorted(schema.types):
        if schema.types[name].kind == INPUT_OBJECT and name not in done:
            _check_cycles_from(schema, schema.types[name], done)


def _check_cycles_from(schema: Schema, start: Definition, done: set[str]) -> None:
    """Depth first without recursion: a schema may chain as many inputs as it likes."""
    path: list[FieldDefinition] = []
    depth_of = {start.name: 0}
    done.add(start.name)
    stack = [(start, iter(_required_inputs(schema, start)))]
    while stack:
        definition, onward = stack[-1]
        step = next(onward, None)
        if step is None:
            stack.pop()
            del depth_of[definition.name]
            if path:
                path.pop()
            continue
        field, target = step
        path.append(field)
        if target.name in depth_of:
            raise _cycle(target, path[depth_of[target.name] :])
        if target.name in done:
            path.pop()
            continue
        done.add(target.name)
        depth_of[target.name] = len(path)
        stack.append((target, iter(_required_inputs(schema, target))))


def _required_inputs(schema: Schema, definition: Definition) -> list[tuple[FieldDefinition, Definition]]:
    required = [field for field in definition.fields if field.type.non_null and field.type.named_type]
    found = [(field, schema.types.get(field.type.named_type)) for field in required]
    return [(field, target) for field, target in found if target is not None and target.kind == INPUT_OBJECT]


def _cycle(target: Definition, path: Sequence[FieldDefinition]) -> Fault:
    way = quote(".".join(field.name for field in path))
    named = f"Cannot reference Input Object {quote(target.name)} within itself through a series of non-null fields: "
    return definition_fault(f"{named}{way}.", path[0].position)


def _check_field(schema: Schema, definition: Definition, field: FieldDefinition) -> None:
    check_name(field.name, field.position)
    _check_type(schema, field.type)
    _check_arguments(schema, field.arguments)
    location = "INPUT_FIELD_DEFINITION" if definition.kind == INPUT_OBJECT else "FIELD_DEFINITION"
    check_directives(schema, field.directives, location)


def _check_type(schema: Schema, reference: Type) -> None:
    if reference.name not in schema.types:
        raise definition_fault(f"Undefined type {reference.name}.", reference.position)


def _check_arguments(schema: Schema, arguments: Iterable[ArgumentDefinition], *, inside: str | None = None) -> None:
    for argument in arguments:
        check_name(argument.name, argument.position)
        _check_type(schema, argument.type)
        kind = schema.types[argument.type.name].kind
        if kind not in _INPUT:
            named = f"cannot use {argument.type} as argument {argument.name} because {kind} is not a valid input type"
            raise definition_fault(named, argument.position)
        check_directives(schema, argument.directives, "ARGUMENT_DEFINITION", inside=inside)


def _check_directive_arguments(schema: Schema, directive: Directive, definition: DirectiveDefinition) -> None:
    schema.budget.spend(len(definition.arguments))
    for given in directive.arguments:
        if definition.arguments.first(given.name) is None:
            message = f"Undefined argument {given.name} for directive {directive.name}."
            raise definition_fault(message, given.position)
    for wanted in definition.arguments:
        if wanted.type.non_null and wanted.default_value is None:
            found = directive.arguments.first(wanted.name)
            if found is None or found.value.kind == ValueKind.NULL:
                message = f"Argument {wanted.name} for directive {directive.name} cannot be null."
                raise definition_fault(message, directive.position)


def _check_members(schema: Schema, definition: Definition) -> None:
    for name in definition.types:
        member = schema.types.get(name)
        if member is None:
            raise definition_fault(f"Undefined type {quote(name)}.", definition.position)
        if member.kind != OBJECT:
            raise definition_fault(f"{definition.kind} type {quote(name)} must be {OBJECT}.", definition.position)


def _check_output_fields(schema: Schema, definition: Definition) -> None:
    if not definition.fields:
        message = f"{definition.kind} {definition.name}: must define one or more fields."
        raise definition_fault(message, definition.position)
    for field in definition.fields:
        if schema.types[field.type.name].kind not in _OUTPUT:
            message = f"{definition.kind} {definition.name}: field must be one of {', '.join(_OUTPUT)}."
            raise definition_fault(message, field.position)


def _check_enum_values(schema: Schema, definition: Definition) -> None:
    if not definition.enum_values:
        message = f"{definition.kind} {definition.name}: must define one or more unique enum values."
        raise definition_fault(message, definition.position)
    for value in definition.enum_values:
        if value.name in ("true", "false", "null"):
            message = f"{definition.kind} {definition.name}: non-enum value {value.name}."
            raise definition_fault(message, definition.position)
        check_directives(schema, value.directives, "ENUM_VALUE")


def _check_input_fields(schema: Schema, definition: Definition) -> None:
    if not definition.fields:
        message = f"{definition.kind} {definition.name}: must define one or more input fields."
        raise definition_fault(message, definition.position)
    for field in definition.fields:
        kind = schema.types[field.type.name].kind
        if kind not in _INPUT:
            message = f"{kind} {field.name}: field must be one of {', '.join(_INPUT)}."
            raise definition_fault(message, field.position)


def _check_once(definition: Definition) -> None:
    field = _repeated(definition.fields)
    if field is not None:
        message = f"Field {definition.name}.{field.name} can only be defined once."
        raise definition_fault(message, field.position)
    value = _repeated(definition.enum_values)
    if value is not None:
        message = f"Enum value {definition.name}.{value.name} can only be defined once."
        raise definition_fault(message, value.position)
    place = _repeated_place(definition.types)
    if place is not None:
        positions = definition.type_positions
        position = positions[place] if len(positions) == len(definition.types) else definition.position
        message = f"Union type {definition.name} can only include type {definition.types[place]} once."
        raise definition_fault(message, position)


def _repeated(items: Names[N]) -> N | None:
    """The second one of the first name that is there twice."""
    place = _repeated_place([item.name for item in items])
    return None if place is None else items[place]


def _repeated_place(names: Sequence[str]) -> int | None:
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for place, name in enumerate(names):
        if first.setdefault(name, place) != place:
            second.setdefault(name, place)
    return second[min(second, key=first.__getitem__)] if second else None
