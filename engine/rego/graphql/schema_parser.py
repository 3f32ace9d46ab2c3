"""The text of a schema document to its syntax. Nothing is looked up: a type may be extended that nobody defined."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.rego.graphql.cursor import Cursor
from engine.rego.graphql.lexer import BLOCK_STRING, EOF, NAME, STRING
from engine.rego.graphql.syntax import (
    ENUM,
    INPUT_OBJECT,
    INTERFACE,
    OBJECT,
    SCALAR,
    UNION,
    ArgumentDefinition,
    CommentGroup,
    Definition,
    DirectiveDefinition,
    EnumValueDefinition,
    FieldDefinition,
    Names,
    OperationTypeDefinition,
    SchemaDefinition,
    SchemaDocument,
)

KINDS: Final = {
    "scalar": SCALAR, "type": OBJECT, "interface": INTERFACE, "union": UNION, "enum": ENUM, "input": INPUT_OBJECT,
}  # fmt: skip
LOCATIONS: Final = frozenset({
    "QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION", "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INTERFACE",
    "UNION", "ENUM", "ENUM_VALUE", "INPUT_OBJECT", "INPUT_FIELD_DEFINITION",
})  # fmt: skip


class _Description(NamedTuple):
    text: str = ""
    comment: CommentGroup | None = None


def parse_schema(text: str, *, built_in: bool = False) -> SchemaDocument:
    cursor = Cursor(text)
    document = SchemaDocument()
    while cursor.peek().kind != EOF:
        description = _description(cursor)
        token = cursor.peek()
        if token.kind != NAME:
            raise cursor.unexpected()
        _definition(cursor, document, token.value, description)
    document.comment = cursor.comment
    for definition in (*document.definitions, *document.extensions):
        definition.built_in = built_in
    return document


def _definition(cursor: Cursor, document: SchemaDocument, word: str, description: _Description) -> None:
    if word in KINDS:
        document.definitions.append(_type(cursor, word, description))
    elif word == "schema":
        document.schema.append(_schema(cursor, description))
    elif word == "directive":
        document.directives.append(_directive(cursor, description))
    elif word == "extend":
        if description.text:
            raise cursor.unexpected(cursor.taken)
        _extension(cursor, document)
    else:
        raise cursor.unexpected()


def _description(cursor: Cursor) -> _Description:
    if cursor.peek().kind not in (BLOCK_STRING, STRING):
        return _Description()
    comment = cursor.comment
    return _Description(cursor.take().value, comment)


def _extension(cursor: Cursor, document: SchemaDocument) -> None:
    comment = cursor.keyword("extend")
    word = cursor.peek().value
    if word == "schema":
        schema = _schema(cursor, _Description())
        schema.after_description_comment = comment
        document.schema_extension.append(schema)
        empty = not (schema.directives or schema.operation_types)
    elif word in KINDS:
        extended = _type(cursor, word, _Description(), extension=True)
        extended.after_description_comment = comment
        document.extensions.append(extended)
        parts = (extended.directives, extended.interfaces, extended.fields, extended.types, extended.enum_values)
        empty = not any(parts)
    else:
        raise cursor.unexpected()
    if empty:
        raise cursor.unexpected()


def _schema(cursor: Cursor, description: _Description) -> SchemaDefinition:
    comment = cursor.keyword("schema")
    return SchemaDefinition(
        position=cursor.place(),
        description=description.text,
        directives=cursor.directives(constant=True),
        operation_types=[_operation_type(cursor) for _ in cursor.some("{", "}")],
        before_description_comment=description.comment,
        after_description_comment=comment,
        end_of_definition_comment=cursor.closing_comment,
    )


def _operation_type(cursor: Cursor) -> OperationTypeDefinition:
    place, comment = cursor.place(), cursor.comment
    token = cursor.take()
    if token.value not in ("query", "mutation", "subscription"):
        raise cursor.unexpected(token)
    cursor.expect(":")
    return OperationTypeDefinition(token.value, cursor.name(), place, comment)


def _type(cursor: Cursor, word: str, description: _Description, *, extension: bool = False) -> Definition:
    comment = cursor.keyword(word)
    made = Definition(
        kind=KINDS[word],
        position=cursor.place(),
        name=cursor.name(),
        description=description.text,
        before_description_comment=description.comment,
        after_description_comment=comment,
    )
    # gqlparser lets an extension of an interface implement nothing, and one of an input have variables in directives.
    if word == "type" or (word == "interface" and not extension):
        made.interfaces = _interfaces(cursor)
    made.directives = cursor.directives(constant=not (extension and word == "input"))
    if word == "union":
        _members(cursor, made)
    elif word != "scalar":
        _body(cursor, made)
    return made


def _interfaces(cursor: Cursor) -> list[str]:
    if cursor.peek().value != "implements":
        return []
    cursor.take()
    cursor.skip("&")
    found = [cursor.name()]
    while cursor.skip("&"):
        found.append(cursor.name())
    return found


def _members(cursor: Cursor, union: Definition) -> None:
    if not cursor.skip("="):
        return
    cursor.skip("|")
    more = True
    while more:
        union.type_positions.append(cursor.place())
        union.types.append(cursor.name())
        more = cursor.skip("|")


def _body(cursor: Cursor, made: Definition) -> None:
    group = cursor.some("{", "}")
    if made.kind == ENUM:
        made.enum_values = Names([_enum_value(cursor) for _ in group])
    elif made.kind == INPUT_OBJECT:
        made.fields = Names([_input_field(cursor) for _ in group])
    else:
        made.fields = Names([_field(cursor) for _ in group])
    made.end_of_definition_comment = cursor.closing_comment


def _enum_value(cursor: Cursor) -> EnumValueDefinition:
    description = _inner_description(cursor)
    return EnumValueDefinition(
        position=cursor.place(),
        after_description_comment=cursor.comment,
        name=cursor.name(),
        directives=cursor.directives(constant=True),
        description=description.text,
        before_description_comment=description.comment,
    )


def _field(cursor: Cursor) -> FieldDefinition:
    description = _inner_description(cursor)
    made = FieldDefinition(
        position=cursor.place(),
        after_description_comment=cursor.comment,
        name=cursor.name(),
        arguments=Names([_argument(cursor) for _ in cursor.some("(", ")")]),
        description=description.text,
        before_description_comment=description.comment,
    )
    cursor.expect(":")
    made.type = cursor.type_reference()
    made.directives = cursor.directives(constant=True)
    return made


def _input_field(cursor: Cursor) -> FieldDefinition:
    read = _argument(cursor)
    return FieldDefinition(
        position=read.position,
        description=read.description,
        name=read.name,
        default_value=read.default_value,
        type=read.type,
        directives=read.directives,
        before_description_comment=read.before_description_comment,
        after_description_comment=read.after_description_comment,
    )


def _argument(cursor: Cursor) -> ArgumentDefinition:
    description = _inner_description(cursor)
    made = ArgumentDefinition(
        position=cursor.place(),
        after_description_comment=cursor.comment,
        name=cursor.name(),
        description=description.text,
        before_description_comment=description.comment,
    )
    cursor.expect(":")
    made.type = cursor.type_reference()
    if cursor.skip("="):
        made.default_value = cursor.value(constant=True)
    made.directives = cursor.directives(constant=True)
    return made


def _inner_description(cursor: Cursor) -> _Description:
    """An empty one loses the comment before it."""
    description = _description(cursor)
    return description if description.text else _Description()


def _directive(cursor: Cursor, description: _Description) -> DirectiveDefinition:
    comment = cursor.keyword("directive")
    cursor.expect("@")
    made = DirectiveDefinition(
        position=cursor.place(),
        name=cursor.name(),
        arguments=Names([_argument(cursor) for _ in cursor.some("(", ")")]),
        description=description.text,
        before_description_comment=description.comment,
        after_description_comment=comment,
    )
    token = cursor.peek()
    if token.kind == NAME and token.value == "repeatable":
        made.is_repeatable = True
        cursor.take()
    cursor.keyword("on")
    cursor.skip("|")
    made.locations = [_location(cursor)]
    while cursor.skip("|"):
        made.locations.append(_location(cursor))
    return made


def _location(cursor: Cursor) -> str:
    token = cursor.expect(NAME)
    if token.value not in LOCATIONS:
        raise cursor.unexpected(token)
    return token.value
