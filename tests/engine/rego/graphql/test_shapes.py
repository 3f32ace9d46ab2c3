"""Documents as values, and back."""

from __future__ import annotations

import pytest

from engine.rego.graphql.query_parser import parse_query
from engine.rego.graphql.schema_parser import parse_schema
from engine.rego.graphql.shapes import WrongShape, from_value, to_value
from engine.rego.graphql.syntax import (
    Argument,
    Field,
    FragmentSpread,
    OperationDefinition,
    QueryDocument,
    SchemaDocument,
)
from tests.engine.rego.builtins.graphql_documents import SCHEMA


def test_a_schema_comes_back_as_it_went():
    value = to_value(parse_schema(SCHEMA))
    assert to_value(from_value(SchemaDocument, value)) == value


def test_a_query_without_fragments_comes_back_as_it_went():
    value = to_value(parse_query("query Q($a: Int = 1) { b(c: [$a {d: E}]) @f(g: null) { h } }"))
    assert to_value(from_value(QueryDocument, value)) == value


def test_a_spread_comes_back_as_a_field():
    selections = from_value(Field, {"SelectionSet": [{"Name": "F"}]}).selection_set
    assert [(type(one), one.name) for one in selections if isinstance(one, Field)] == [(Field, "F")]


def test_a_selection_that_cannot_be_a_field_is_a_spread():
    (selection,) = from_value(Field, {"SelectionSet": [{"Name": "F", "Alias": 1}, 1]}).selection_set
    assert isinstance(selection, FragmentSpread)


def test_names_in_any_case_are_known_where_go_reads_them_itself():
    assert from_value(Argument, {"nAME": "a", "value": {"raw": "b"}}).value.raw == "b"
    assert from_value(OperationDefinition, {"name": "a"}).name == ""


def test_nothing_leaves_what_is_there_by_default():
    assert from_value(OperationDefinition, {"Name": None, "SelectionSet": None}).selection_set == []


@pytest.mark.parametrize(
    "value", [{"Value": {"Kind": 1.5}}, {"Value": {"Kind": -1}}, {"Value": {"Kind": True}}, {}, []]
)
def test_what_is_no_argument_is_refused(value: object):
    with pytest.raises(WrongShape):
        from_value(Argument, value)
