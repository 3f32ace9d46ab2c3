"""JSON schemas, by themselves and beside a real OPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine.rego.builtins.json_schema  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

MATCH = "json.match_schema"
CHECK = "json.verify_schema"
DRAFT = "http://json-schema.org/draft-0{}/schema#"

FORMATS = {
    "date": ["2020-01-01", "2020-02-30", "2020-1-1", ""],
    "time": ["10:00:00", "10:00:00+02:00", "10:00:00.5Z", "25:00:00", "9:00:00", "10:00:00z"],
    "date-time": ["2020-01-01T10:00:00Z", "2020-01-01 10:00:00Z", "2020-01-01", "10:00:00"],
    "hostname": ["a.b", "-a", "a..b", "a.", "x" * 63, "x" * 64, "a_b", "é", ".".join(["a" * 60] * 5)],
    "email": [
        "a.b@c.d",
        "a..b@c",
        "@b",
        "a b@c",
        '"a b"@c',
        '""@c',
        "A <a@b>",
        '"A, B" <a@b>',
        "a@[1.2.3.4]",
        "a@[x]",
        "a@b (c)",
        "a@b x",
        "é@ü.de",
        "A, B <a@b>",
        "a @b",
        "a@ b",
        "A <a@b",
        "G: a@b;",
        "G: a@b, c@d;",
        "A (c) <a@b>",
        "a@b(c(d))",
        "a@.b",
        "x@y@z",
        " a@b\t",
    ],
    "ipv4": ["1.2.3.4", "01.2.3.4", "1.2.3", "::ffff:1.2.3.4"],
    "ipv6": ["::1", "fe80::1%eth0", "1.2.3.4", "12345::"],
    "uri": ["http://x", "/a", "http://x y", "a:b", "http://x\\y", "1a:b", "http://[x]", ":a", "http://a:b", "ü:x"],
    "uri-reference": ["", "#%zz", "a\\b", "///x", "1:2", "./1:2"],
    "uri-template": ["/a/{b}", "/a/{b", "{{}}"],
    "uuid": ["12345678-1234-1234-1234-123456789aBc", "x", "12345678-1234-1234-1234-123456789abc\n"],
    "regex": ["a", "(", "(?!a)", "", "a{1001}"],
    "json-pointer": ["", "/a~0", "/a~2", "a"],
    "relative-json-pointer": ["0", "1#", "01", "0/a", "0#/a"],
    "unknown": ["x"],
}
FAULTY: list[Any] = [
    {"type": 3},
    {"type": ["string", "string"]},
    {"type": "x"},
    {"properties": 3},
    {"properties": {"a": 3}},
    {"additionalProperties": 3},
    {"patternProperties": {"(?!a)": {}}},
    {"patternProperties": 3},
    {"propertyNames": 3},
    {"dependencies": {"a": [3]}},
    {"dependencies": 3},
    {"items": [3]},
    {"additionalItems": 3},
    {"not": 3},
    {"then": 3},
    {"contains": 3},
    {"oneOf": 3},
    {"oneOf": [3]},
    {"minLength": 3, "maxLength": 2},
    {"minItems": -1},
    {"maxItems": 1.5},
    {"minProperties": 3, "maxProperties": 2},
    {"pattern": "["},
    {"format": 3},
    {"exclusiveMaximum": True},
    {"enum": [1, 1]},
    {"minimum": 1, "exclusiveMinimum": "x"},
    {"multipleOf": 0},
    {"required": ["a", "a"]},
    {"uniqueItems": 1},
    {"title": 3},
    {"definitions": {"a": 3}},
    {"$ref": 3},
    {"$ref": ":"},
    {"$ref": "foo"},
    {"$ref": "#/nope"},
    {"$schema": 3},
    {"id": 3},
    {"$ref": "#/title", "title": "a"},
    {"allOf": [{}], "$ref": "#/allOf/1"},
    {"definitions": {"a": {"$id": "x"}, "b": {"$id": "x"}}},
    {"$schema": DRAFT.format(4), "exclusiveMinimum": 3},
    {"$schema": DRAFT.format(4), "properties": {"a": True}},
    {"$schema": DRAFT.format(6), "exclusiveMinimum": True},
    {"$schema": DRAFT.format(7), "if": 5},
    [],
    3,
    "nope",
    "3",
]
TYPES = ("array", "boolean", "integer", "number", "null", "object", "string")
VALUES: list[Any] = [
    {"a": value} for value in (None, True, 1, 2.5, -3, "", "abc", "b", [], [1, 1], [1, "x"], {}, {"a": 1, "b": 2})
]
# OPA goes through names in no order: of each, at most one name is at fault.
SUBSCHEMAS: list[Any] = [
    *({"type": name} for name in TYPES),
    {"type": ["integer", "string"]},
    True,
    False,
    {"const": 1},
    {"enum": [1.0, "b", None]},
    {"enum": []},
    {"minimum": 0.00001, "maximum": 1},
    {"exclusiveMinimum": 1, "exclusiveMaximum": 1234567},
    {"multipleOf": 0.5},
    {"minLength": 1, "maxLength": 2, "pattern": "^a"},
    {"minItems": 1, "maxItems": 1, "uniqueItems": True},
    {"items": {"type": "integer"}},
    {"items": [{"type": "string"}], "additionalItems": False},
    {"contains": {"const": "x"}},
    {"items": [True], "additionalItems": {"type": "integer"}},
    {"minProperties": 1, "maxProperties": 1},
    {"required": ["a", "c"]},
    {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
    {"propertyNames": {"pattern": "^a"}},
    {"dependencies": {"a": ["c"]}},
    {"dependencies": {"b": {"required": ["d"]}}},
    {"not": {"type": "object"}},
    {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
    {"allOf": [{"minimum": 2}, {"type": "number"}]},
    {"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"type": "string"}},
    {"$ref": "#/definitions/deep"},
    {"$ref": "http://e.com/named.json"},
    {"$ref": "http://json-schema.org/draft-04/schema#/definitions/positiveInteger"},
]
SCHEMAS: list[Any] = [
    {
        "properties": {"a": schema},
        "definitions": {"deep": {"type": "integer"}, "named": {"$id": "http://e.com/named.json", "type": "string"}},
    }
    for schema in SUBSCHEMAS
]


def test_a_document_that_fits_has_no_faults():
    assert ours(MATCH, {"id": 5}, {"properties": {"id": {"type": "integer"}}}) == [True, []]


def test_a_fault_has_its_kind_its_place_and_its_words():
    schema = {"properties": {"a": {"items": {"maximum": 1_000_000.5}}}}
    assert ours(MATCH, {"a": [1, 1e7]}, schema) == [
        False,
        [
            {
                "type": "number_lte",
                "field": "a.1",
                "desc": "Must be less than or equal to 1.0000005e+06",
                "error": "a.1: Must be less than or equal to 1.0000005e+06",
            }
        ],
    ]


def test_of_schemas_none_of_which_fits_the_nearest_is_explained():
    schema = {"anyOf": [{"type": "string"}, {"required": ["a", "b"]}]}
    assert [fault["desc"] for fault in ours(MATCH, {"a": 1}, schema)[1]] == [
        "Must validate at least one schema (anyOf)",
        "b is required",
    ]


@pytest.mark.parametrize(
    "address", ["http://example.com/schema.json", "file:///etc/schema.json", "https://10.0.0.1/#/a"]
)
def test_a_reference_leads_to_no_host_and_to_no_file(address: str):
    assert ours(CHECK, {"$ref": address}) == [False, f"jsonschema: remote reference loading disabled: {address}"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "#"}, "the validation takes more than 1000000 steps"),
        ({"not": {"$ref": "#"}}, "nested too deeply"),
        ('{"maximum": 1e5001}', "the number 1e5001 is too large or too small"),
    ],
)
def test_what_would_have_no_end_is_an_error(schema: Any, message: str):
    assert ours(MATCH, {}, schema) == ("error", "eval_builtin_error", f"{MATCH}: {message}")


def test_a_schema_that_multiplies_itself_is_stopped():
    twice = {"allOf": [{"$ref": "#/definitions/x"}] * 2}
    schema: dict[str, Any] = {"definitions": {"x": {"type": "integer"}}, **twice}
    for depth in range(30):
        schema["definitions"][f"x{depth}"] = {"allOf": [{"$ref": f"#/definitions/x{depth - 1 if depth else ''}"}] * 2}
    answer = ours(MATCH, "1", {"$ref": "#/definitions/x29", "definitions": schema["definitions"]})
    assert answer == ("error", "eval_builtin_error", f"{MATCH}: the validation takes more than 1000000 steps")


def test_a_deep_document_is_an_error_and_no_crash():
    deep = '{"a":' * 900 + "1" + "}" * 900
    schema = {"properties": {"a": {"$ref": "#"}}}
    assert ours(MATCH, deep, schema) == ("error", "eval_builtin_error", f"{MATCH}: nested too deeply")


def test_every_fault_of_a_schema_is_found_as_by_opa(opa: str, tmp_path: Path):
    calls: list[Call] = [(name, *rest, schema) for schema in FAULTY for name, *rest in ((CHECK,), (MATCH, {}))]
    assert differences(opa, calls, tmp_path) == []


def test_every_document_is_judged_as_by_opa(opa: str, tmp_path: Path):
    calls: list[Call] = [(MATCH, value, schema) for schema in SCHEMAS for value in VALUES]
    assert differences(opa, calls, tmp_path) == []


def test_every_format_is_judged_as_by_opa(opa: str, tmp_path: Path):
    calls: list[Call] = [
        (MATCH, {"a": text}, {"properties": {"a": {"format": name}}})
        for name, texts in FORMATS.items()
        for text in texts
    ]
    assert differences(opa, calls, tmp_path) == []


@pytest.mark.parametrize("number", [4, 6, 7])
def test_schemas_are_judged_by_the_schema_of_their_draft_as_by_opa(opa: str, tmp_path: Path, number: int):
    calls: list[Call] = [
        (MATCH, schema, {"$ref": DRAFT.format(number)})
        for schema in ({}, {"type": "x"}, {"minLength": -1}, {"title": 1})
    ]
    assert differences(opa, calls, tmp_path) == []


def test_numbers_are_judged_as_they_are_written_as_by_opa(opa: str, tmp_path: Path):
    pairs = [
        ('{"a":1.0}', '{"properties":{"a":{"type":"integer"}}}'),
        ("[1,1.0]", '{"uniqueItems":true}'),
        ('"x"', '{"minLength":1.0}'),
        ('"x"', '{"minLength":1e0}'),
        ("5", '{"multipleOf":0.3}'),
        ("5", '{"maximum":-1e30}'),
        ("-5", '{"minimum":12345678901234567890123}'),
        ('"😀"', '{"minLength":2}'),
        ("-5", '{"minimum":-0.0}'),
        ("1", '{"enum":[12345678901234567890,1e21,1e-7,0.000001,123e-20,1.5e300,-1e-9]}'),
        ("null", "true"),
        ("1", "false"),
    ]
    assert differences(opa, [(MATCH, *pair) for pair in pairs], tmp_path) == []
