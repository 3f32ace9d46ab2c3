from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluator.exact_text import exact_text, reference, segments_of
from engine.jsontext import JsonValue

UNREADABLE: list[tuple[JsonValue, str]] = [
    ({"request": {"name": 'a"b'}}, "input.request.name: the string has a double quote"),
    ({"a": ["x", "a\\b"]}, "input.a[1]: the string has a backslash"),
    ("a\nb", "input: the string has the control character U+000A"),
    ("a\x00b", "input: the string has a NUL"),
    ("a\ud800b", "input: the string has the lone surrogate U+D800"),
    ({"a b": {'k"': 1}}, "input['a b']: the key 'k\"' has a double quote"),
    ({"n": 2**63}, "input.n: the integer is outside 64 bits"),
    ({"n": -(2**63) - 1}, "input.n: the integer is outside 64 bits"),
    ({"n": 0.1234567}, "input.n: the number 0.1234567 does not survive"),
    ({"n": 1e300}, "input.n: the number 1e+300 does not survive"),
    ({"n": math.nan}, "input.n: the number nan does not survive"),
    ({"n": math.inf}, "input.n: the number inf does not survive"),
]


@pytest.mark.parametrize(("value", "message"), UNREADABLE)
def test_unreadable_value_is_named_with_its_place(value: JsonValue, message: str):
    _, unreadable = exact_text(value, "input")
    assert len(unreadable) == 1
    assert str(unreadable[0]).startswith(message)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, True, None, "é\u2028\x7f"], "b": {}}, '{"a":[1,true,null,"é\u2028\x7f"],"b":{}}'),
        ([], "[]"),
        (0.000001, "0.000001"),
        (1.0, "1.0"),
        (-2.5, "-2.5"),
        (2**63 - 1, "9223372036854775807"),
    ],
)
def test_readable_value_is_written_without_escapes_or_exponents(value: JsonValue, text: str):
    assert exact_text(value, "input") == (text, ())


def test_all_unreadable_values_are_found():
    _, unreadable = exact_text({"a": '"', "b": [2**64, "fine", "\\"]}, "data")
    assert [fault.place for fault in unreadable] == ["data.a", "data.b[0]", "data.b[2]"]


def test_deep_nesting_is_unreadable():
    value: JsonValue = 1
    for _ in range(5000):
        value = [value]
    _, unreadable = exact_text(value, "input")
    assert "nested deeper than 128 levels" in unreadable[0].reason


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=10))
def test_text_without_a_fault_reads_back_as_the_value(value: JsonValue):
    text, unreadable = exact_text(value, "input")
    if not unreadable:
        assert json.loads(text) == value


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "data"),
        ("lictor/admission", 'data["lictor"]["admission"]'),
        ("/a//b/", 'data["a"]["b"]'),
        ("a/0/-1/+2", 'data["a"][0][-1][2]'),
        ("a/99999999999999999999", 'data["a"]["99999999999999999999"]'),
        ("a b/x] == 1; y", 'data["a b"]["x] == 1; y"]'),
    ],
)
def test_path_becomes_quoted_segments(path: str, expected: str):
    assert reference(segments_of(path)) == expected


@pytest.mark.parametrize("path", ['a"]', "a\\", "a\nb", "a\x00"])
def test_path_that_cannot_be_quoted_is_refused(path: str):
    with pytest.raises(ValueError, match="the path segment"):
        reference(segments_of(path))
