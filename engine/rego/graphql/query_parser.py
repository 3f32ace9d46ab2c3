"""The text of a query document to its syntax."""

from __future__ import annotations

from engine.rego.graphql.cursor import Cursor
from engine.rego.graphql.faults import Fault
from engine.rego.graphql.lexer import EOF, NAME
from engine.rego.graphql.syntax import (
    Field,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    Names,
    OperationDefinition,
    QueryDocument,
    Selection,
    VariableDefinition,
)


def parse_query(text: str) -> QueryDocument:
    cursor = Cursor(text)
    document = QueryDocument()
    while (token := cursor.peek()).kind != EOF:
        if token.kind == "{":
            document.operations.append(OperationDefinition(operation="query", selection_set=_selections(cursor)))
            document.operations[-1].position = token.position
        elif token.kind == NAME and token.value in ("query", "mutation", "subscription"):
            document.operations.append(_operation(cursor))
        elif token.kind == NAME and token.value == "fragment":
            document.fragments.append(_fragment(cursor))
        else:
            raise cursor.unexpected()
    return document


def _operation(cursor: Cursor) -> OperationDefinition:
    place, comment = cursor.place(), cursor.comment
    operation = cursor.take().value
    return OperationDefinition(
        operation=operation,
        name=cursor.take().value if cursor.peek().kind == NAME else "",
        variable_definitions=_variables(cursor),
        directives=cursor.directives(constant=False),
        selection_set=_selections(cursor),
        position=place,
        comment=comment,
    )


def _fragment(cursor: Cursor) -> FragmentDefinition:
    place = cursor.place()
    comment = cursor.keyword("fragment")
    name, variables = _fragment_name(cursor), _variables(cursor)
    cursor.keyword("on")
    return FragmentDefinition(
        name=name,
        variable_definition=variables,
        type_condition=cursor.name(),
        directives=cursor.directives(constant=False),
        selection_set=_selections(cursor),
        position=place,
        comment=comment,
    )


def _fragment_name(cursor: Cursor) -> str:
    if cursor.peek().value == "on":
        raise cursor.unexpected()
    return cursor.name()


def _variables(cursor: Cursor) -> Names[VariableDefinition]:
    return Names([_variable(cursor) for _ in cursor.some("(", ")")])


def _variable(cursor: Cursor) -> VariableDefinition:
    place, comment = cursor.place(), cursor.comment
    name = cursor.variable()
    cursor.expect(":")
    return VariableDefinition(
        variable=name,
        type=cursor.type_reference(),
        default_value=cursor.value(constant=True) if cursor.skip("=") else None,
        directives=cursor.directives(constant=False),
        position=place,
        comment=comment,
    )


def _selections(cursor: Cursor) -> list[Selection]:
    token = cursor.peek()
    if token.kind != "{":
        raise Fault(f"Expected {{, found {token.kind}", token.position)
    return [_selection(cursor) for _ in cursor.some("{", "}")]


def _selection(cursor: Cursor) -> Selection:
    return _spread(cursor) if cursor.peek().kind == "..." else _field(cursor)


def _field(cursor: Cursor) -> Field:
    place, comment = cursor.place(), cursor.comment
    alias = cursor.name()
    return Field(
        alias=alias,
        name=cursor.name() if cursor.skip(":") else alias,
        arguments=cursor.arguments(constant=False),
        directives=cursor.directives(constant=False),
        selection_set=_selections(cursor) if cursor.peek().kind == "{" else [],
        position=place,
        comment=comment,
    )


def _spread(cursor: Cursor) -> Selection:
    comment = cursor.comment
    cursor.expect("...")
    place, token = cursor.place(), cursor.peek()
    if token.kind == NAME and token.value != "on":
        return FragmentSpread(
            name=cursor.name(), directives=cursor.directives(constant=False), position=place, comment=comment
        )
    condition = ""
    if token.value == "on":
        cursor.take()
        condition = cursor.name()
    return InlineFragment(
        type_condition=condition,
        directives=cursor.directives(constant=False),
        selection_set=_selections(cursor),
        position=place,
        comment=comment,
    )
