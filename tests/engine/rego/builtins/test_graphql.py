"""What graphql answers, by itself and beside a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.graphql  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet
from tests.engine.rego.builtins.against_opa import Call, differences, ours
from tests.engine.rego.builtins.graphql_documents import (
    CHECKED_SCHEMAS,
    PARSED_QUERIES,
    PARSED_SCHEMAS,
    QUERIES,
    SCHEMA,
)

SMALL = "type Query { a(x: Int = 3): Query, b: Int }"
TWO_FAULTS = (
    'Cannot query field "c" on type "Int".\n'
    'input:1:7: Field "b" must not have a selection since type "Int" has no subfields'
)
SMALL_VALUE = ours("graphql.parse_schema", SMALL)


def field(name: str, **more: object) -> dict[str, object]:
    return {"Alias": name, "Name": name, **more}


def query(*selections: object, operation: str = "query", **more: object) -> dict[str, object]:
    return {"Operations": [{"Operation": operation, "Name": "", "SelectionSet": list(selections), **more}]}


def definitions(**more: object) -> dict[str, object]:
    kind = {"NamedType": "Int", "NonNull": False}
    return {"Definitions": [{"Kind": "OBJECT", "Name": "Query", "Fields": [{"Name": "b", "Type": kind}], **more}]}


VALUES: list[Call] = [
    ("graphql.parse", query(field("b")), SMALL),
    ("graphql.parse", "{ b }", SMALL_VALUE),
    ("graphql.parse", query(field("b")), SMALL_VALUE),
    ("graphql.parse", {}, {}),
    ("graphql.parse_and_verify", query(field("b"), Unknown=1), SMALL),
    ("graphql.parse", {"operations": query(field("b"))["Operations"]}, SMALL),
    ("graphql.parse", query(field("b"), operation=""), SMALL),
    ("graphql.parse", query(field("b"), operation="mutation"), SMALL),
    ("graphql.parse", query(field("nope")), SMALL),
    ("graphql.parse", query(field("b", Comment={"List": [{"Value": "# gone"}]})), SMALL),
    ("graphql.parse", query(field("b", SelectionSet=[None])), SMALL),
    ("graphql.parse", query({"Name": "F"}), SMALL),
    ("graphql.parse", query({"TypeCondition": "Query", "SelectionSet": [field("b")]}), SMALL),
    ("graphql.parse", query(field("b"), 1, {"Name": 1}), SMALL),
    ("graphql.parse", query({"Alias": 1, "Name": "F"}), SMALL),
    ("graphql.is_valid", query(RegoSet(["x"])), SMALL),
    ("graphql.is_valid", {"Operations": 1}, SMALL),
    ("graphql.is_valid", {"Operations": [{"Name": 1}]}, SMALL),
    ("graphql.parse", "{ b }", definitions()),
    ("graphql.parse", "{ b }", definitions(name="Other")),
    ("graphql.parse", "{ b }", definitions(Name="__Query")),
    ("graphql.parse", "{ b }", definitions(Name="__Query", BuiltIn=True)),
    ("graphql.parse", "{ b }", definitions(Interfaces=["I"], Fields=None)),
    ("graphql.schema_is_valid", definitions(Kind="ENUM")),
    ("graphql.schema_is_valid", definitions(Fields=True)),
    ("graphql.schema_is_valid", {"Definitions": RegoSet()}),
]
KINDS: list[Call] = [
    ("graphql.parse", 1, SMALL),
    ("graphql.parse", "{ b }", ["a"]),
    ("graphql.parse", "{", ["a"]),
    ("graphql.parse_and_verify", None, SMALL),
    ("graphql.parse_and_verify", "{ b }", True),
    ("graphql.is_valid", "{ b }", 1),
    ("graphql.is_valid", RegoSet(), SMALL),
    ("graphql.schema_is_valid", []),
    ("graphql.parse_query", {}),
    ("graphql.parse_schema", None),
]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (
            ("graphql.parse_query", "# why\nquery Q($v: [Int!]) { x: b(a: $v, c: [1.5]) @d ...F }"),
            {
                "Operations": [
                    {
                        "Comment": {"List": [{"Value": "# why"}]},
                        "Name": "Q",
                        "Operation": "query",
                        "SelectionSet": [
                            {
                                "Alias": "x",
                                "Arguments": [
                                    {"Name": "a", "Value": {"ExpectedTypeHasDefault": False, "Kind": 0, "Raw": "v"}},
                                    {
                                        "Name": "c",
                                        "Value": {
                                            "Children": [
                                                {
                                                    "Name": "",
                                                    "Value": {
                                                        "ExpectedTypeHasDefault": False,
                                                        "Kind": 2,
                                                        "Raw": "1.5",
                                                    },
                                                }
                                            ],
                                            "ExpectedTypeHasDefault": False,
                                            "Kind": 8,
                                            "Raw": "",
                                        },
                                    },
                                ],
                                "Directives": [{"Location": "", "Name": "d"}],
                                "Name": "b",
                            },
                            {"Name": "F"},
                        ],
                        "VariableDefinitions": [
                            {
                                "Type": {
                                    "Elem": {"NamedType": "Int", "NonNull": True},
                                    "NamedType": "",
                                    "NonNull": False,
                                },
                                "Used": False,
                                "Variable": "v",
                            }
                        ],
                    }
                ]
            },
        ),
        (
            ("graphql.parse_schema", '"all"\nunion U = A | B'),
            {
                "Definitions": [
                    {"BuiltIn": False, "Description": "all", "Kind": "UNION", "Name": "U", "Types": ["A", "B"]}
                ]
            },
        ),
        (("graphql.parse_and_verify", "{ c }", SMALL), [False, {}, {}]),
        (("graphql.is_valid", "{ a { b } }", SMALL), True),
        (("graphql.is_valid", "{ a }", SMALL), False),
        (("graphql.schema_is_valid", "type A { a: B }"), False),
        (
            ("graphql.parse", "{ a { b { c } } }", SMALL),
            ("error", "eval_builtin_error", f"graphql.parse: {TWO_FAULTS} in GraphQL string at location 1:11"),
        ),
    ],
)
def test_a_call_gives_the_exact_answer(call: Call, answer: object):
    assert ours(*call) == answer


def test_every_query_is_read_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, [("graphql.parse_query", text) for text in PARSED_QUERIES], tmp_path) == []


def test_every_schema_is_read_as_by_opa(opa: str, tmp_path: Path):
    texts = PARSED_SCHEMAS + CHECKED_SCHEMAS
    assert differences(opa, [("graphql.parse_schema", text) for text in texts], tmp_path) == []


def test_every_schema_is_judged_as_by_opa(opa: str, tmp_path: Path):
    texts = PARSED_SCHEMAS + CHECKED_SCHEMAS
    calls: list[Call] = [("graphql.schema_is_valid", text) for text in texts]
    calls += [("graphql.parse", "{ __typename }", text) for text in texts]
    assert differences(opa, calls, tmp_path) == []


def test_every_query_is_judged_as_by_opa(opa: str, tmp_path: Path):
    names = ("graphql.parse", "graphql.parse_and_verify", "graphql.is_valid")
    calls: list[Call] = [(name, text, SCHEMA) for name in names for text in QUERIES]
    assert differences(opa, calls, tmp_path) == []


def test_every_document_that_is_a_value_is_judged_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, VALUES, tmp_path) == []


def test_every_kind_of_operand_is_taken_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, KINDS, tmp_path) == []


@pytest.mark.parametrize("operation", ["upload", "Query"])
def test_an_operation_that_nobody_knows_is_no_answer(operation: str):
    document = query(field("b"), operation=operation)
    message = f'graphql.parse: input: got unknown operation type "{operation}"'
    assert ours("graphql.parse", document, SMALL) == ("error", "eval_builtin_error", message)
    assert ours("graphql.is_valid", document, SMALL) is False


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (definitions(Fields=[{"Name": "b"}]), "FieldDefinition has no Type"),
        (definitions(Fields=[{"Name": "b", "Type": {}}]), "Type has neither NamedType nor Elem"),
        (definitions(Fields=[None]), "json: cannot unmarshal null into FieldDefinition"),
        (definitions(Name=False), "json: cannot unmarshal bool into str"),
        (
            definitions(Directives=[{"Name": "d", "Arguments": [{"Name": "a", "Value": {"Kind": 10}}]}]),
            "unknown value kind 10",
        ),
    ],
)
def test_an_object_that_is_no_document_is_an_error(schema: object, message: str):
    assert ours("graphql.parse", "{ b }", schema) == ("error", "eval_builtin_error", f"graphql.parse: {message}")
    assert ours("graphql.schema_is_valid", schema) is False


DEEP = "nested more than 100 levels deep"
LONG = "needs more than 1000000 steps"
OVER = [
    ("{ a" * 101 + "}" * 101, SMALL, DEEP),
    ("{ a(x: " + "[" * 101, SMALL, DEEP),
    ("{ b }", "type A { a: " + "[" * 101, DEEP),
    ("{ ...F0 } " + "".join(f"fragment F{n} on Query {{ ...F{n + 1} }} " for n in range(101)), SMALL, DEEP),
    ("{ ...F a { ...F } } fragment F on Query { a { ...F a { ...F } } }", SMALL, DEEP),
    ("{" + " b" * 1500 + "}", SMALL, LONG),
    ("{ ...F }" * 300 + "fragment F on Query {" + " ".join(f"x{n}: b" for n in range(1000)) + "}", SMALL, LONG),
    ("{ " + "x" * 4000 + " }", f"type Query {{ {'x' * 4001}: Int }}", LONG),
    ("{" + " a" * 500_001, SMALL, "has more than 500000 tokens"),
    (" " * (16 * 1024 * 1024 + 1), SMALL, "has more than 16777216 characters"),
    ("{ " + " ".join(f"{'x' * 1000}{n}" for n in range(1001)) + " }", SMALL, "more than 1000000 characters"),
]


@pytest.mark.parametrize(("text", "schema", "message"), OVER, ids=range(len(OVER)))
def test_a_document_beyond_a_bound_is_an_error_and_no_verdict(text: str, schema: str, message: str):
    kind, code, said = ours("graphql.is_valid", text, schema)
    assert (kind, code) == ("error", "eval_builtin_error")
    assert said.startswith("graphql.is_valid: the ")
    assert message in said


def test_a_value_beyond_a_bound_is_an_error_and_no_verdict():
    kind: dict[str, object] = {"NamedType": "Int"}
    for _ in range(200):
        kind = {"Elem": kind}
    schema = definitions(Fields=[{"Name": "b", "Type": kind}])
    message = f"graphql.schema_is_valid: the document is {DEEP}"
    assert ours("graphql.schema_is_valid", schema) == ("error", "eval_builtin_error", message)


def test_a_document_within_the_bounds_is_answered():
    assert ours("graphql.is_valid", "{ a" * 98 + "{ b }" + "}" * 98, SMALL) is True
    chain = "".join(f"fragment F{n} on Query {{ ...F{n + 1} }} " for n in range(90))
    assert ours("graphql.is_valid", "{ ...F0 } " + chain + "fragment F90 on Query { b }", SMALL) is True


def test_a_schema_is_not_changed_by_the_queries_that_it_judges():
    before = ours("graphql.parse", "{ b }", SMALL)
    assert ours("graphql.is_valid", '{ __type(name: "A") { name } a(x: 1) { b @skip(if: true) } }', SMALL) is True
    assert ours("graphql.parse", "{ b }", SMALL) == before
    assert before[1] == SMALL_VALUE
