from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.bundle import yamltext
from engine.bundle.yamltext import parse_yaml
from engine.errors import BundleInvalid
from engine.jsontext import JsonValue, canonical
from tests.builders import problems_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def problem(text: str | bytes) -> str:
    with pytest.raises(BundleInvalid) as refused:
        parse_yaml(text if isinstance(text, bytes) else text.encode(), "data.yaml")
    (found,) = problems_of(refused.value)
    return found


@given(json_values)
def test_json_written_as_yaml_is_read_as_it_was(value: JsonValue):
    # Quoted: PyYAML leaves text such as 0E0 bare, which is a number to OPA and to us.
    assert parse_yaml(yaml.safe_dump(value, default_style='"').encode(), "data.yaml") == value


@given(st.text(max_size=60) | st.text(alphabet="&a*<:-[]{}!? \n0.1_e", max_size=60))
def test_any_text_is_a_json_value_or_refused(text: str):
    try:
        value = parse_yaml(text.encode(errors="replace"), "data.yaml")
    except BundleInvalid:
        return
    canonical(value)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("22:30", "22:30"),
        ("1:30:15.5", "1:30:15.5"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("0x", "0x"),
        ("", None),
        ("~", None),
        ("null", None),
        ("yes", True),
        ("Off", False),
        ("'yes'", "yes"),
        ("0", 0),
        ("-12", -12),
        ("+12", 12),
        ("1_000", 1000),
        ("014", 12),
        ("0o14", 12),
        ("0x1F", 31),
        ("-0b11", -3),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.50", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("!!str 12", "12"),
        ("!!float 12", 12.0),
    ],
)
def test_word_means_what_it_means_to_opa(word: str, value: JsonValue):
    found = parse_yaml(f"a: {word}".encode(), "data.yaml")
    assert isinstance(found, dict)
    assert (found["a"], type(found["a"])) == (value, type(value))


@pytest.mark.parametrize("word", [".nan", ".inf", "-.INF", "1e999", "!!int x", "!!int ''", "!!bool maybe", "!!float x"])
def test_number_or_boolean_that_json_does_not_have_is_refused_with_its_place(word: str):
    value = word.rpartition(" ")[2].strip("'")
    assert problem(f"x: 1\na: {word}") == f"data.yaml:2:4: data_invalid: {value!r} is not a value of JSON"


def test_integer_of_thousands_of_digits_is_refused():
    assert problem(f"a: {'1' * 5000}") == f"data.yaml:1:4: data_invalid: '{'1' * 40}' is not a value of JSON"


@pytest.mark.parametrize(
    "tag", ["binary aGk=", "timestamp 2026-01-31", "set {a}", "omap [a: 1]", "python/object:os.system x"]
)
def test_type_that_json_does_not_have_is_refused(tag: str):
    name = tag.split(" ", maxsplit=1)[0]
    assert problem(f"a: !!{tag}") == f"data.yaml:1:4: data_invalid: tag:yaml.org,2002:{name} is not a type of JSON"


@pytest.mark.parametrize("key", ["1", "yes", "null", "~", "1.5", "? [a]\n", "? {a: 1}\n", "? !!str [a]\n"])
def test_key_that_is_not_a_string_is_refused(key: str):
    assert problem(f"b: {{c: 1}}\n{key}: 2").endswith("data_invalid: a key is not a string; quote it")


def test_quoted_number_is_a_good_key():
    assert parse_yaml(b"'1': a", "data.yaml") == {"1": "a"}


def test_half_of_a_surrogate_pair_is_refused_as_value_and_as_key():
    assert problem(r'a: "\ud800"').endswith(r"'\ud800' is not a value of JSON")
    assert problem(r'"\ud800": a').endswith(r"'\ud800' is not a value of JSON")


@pytest.mark.parametrize("text", ["a: {", "a: b: c", "a: *x", "--- 1\n--- 2", "\tb: 1", "a: 'x"])
def test_text_that_is_no_yaml_is_refused_with_its_place(text: str):
    found = problem(text)
    assert found.startswith("data.yaml:")
    assert ": data_invalid: not YAML: " in found


def test_text_that_is_not_utf8_is_refused():
    assert problem(b"a: \xff").startswith("data.yaml: data_invalid: not YAML: ")


def test_aliases_and_merge_keys_are_written_out():
    text = "base: &b {x: 1, y: 2}\na: {<<: *b, y: 3}\nb: {<<: [{x: 7}, *b], z: *b}"
    assert parse_yaml(text.encode(), "data.yaml") == {
        "base": {"x": 1, "y": 2},
        "a": {"x": 1, "y": 3},
        "b": {"x": 7, "y": 2, "z": {"x": 1, "y": 2}},
    }


def test_alias_is_a_copy_and_not_the_same_object():
    value = parse_yaml(b"a: &x [1]\nb: *x", "data.yaml")
    assert isinstance(value, dict)
    assert value["a"] == value["b"]
    assert value["a"] is not value["b"]


@pytest.mark.parametrize("merged", ["5", "[1]", "a"])
def test_merge_of_what_is_no_object_is_refused(merged: str):
    assert problem(f"a: {{<<: {merged}}}").endswith("data_invalid: only an object can be merged with <<")


@pytest.mark.parametrize("text", ["a: &x [*x]", "&x {a: *x}", "a: &x {<<: *x}", "a: &x {b: &y {c: *x, d: *y}}"])
def test_alias_of_what_it_is_part_of_is_refused(text: str):
    assert problem(text).endswith("data_invalid: it is part of itself; an alias must not name what it stands in")


@pytest.mark.parametrize(
    "repeat", ["[*{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}]", "{{<<: [*{0}, *{0}, *{0}, *{0}], m{0}: *{0}}}"]
)
def test_aliases_of_aliases_that_stand_for_too_much_are_refused(repeat: str):
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} " + repeat.format(f"a{n - 1}") for n in range(1, 40))]
    found = problem("\n".join(lines))
    assert found.endswith("data_invalid: aliases repeat more than 100000 values; write them out, or as data.json")


def test_repeated_values_are_counted_exactly(monkeypatch: pytest.MonkeyPatch):
    text = b"a: &x [1, 2]\nb: [*x, *x]"  # the second and third time: a list and two numbers each
    monkeypatch.setattr(yamltext, "MAX_REPEATED", 6)
    assert parse_yaml(text, "data.yaml") == {"a": [1, 2], "b": [[1, 2], [1, 2]]}
    monkeypatch.setattr(yamltext, "MAX_REPEATED", 5)
    assert "aliases repeat more than 5 values" in problem(text)


def test_nesting_up_to_the_limit_is_read_and_more_is_refused():
    parse_yaml(b"[" * 128 + b"]" * 128, "data.yaml")
    assert problem("[" * 129 + "]" * 129) == "data.yaml:1:129: data_invalid: nested deeper than 128 levels; flatten it"


def test_nesting_beyond_the_parser_is_refused():
    assert problem("[" * 20_000) == "data.yaml: data_invalid: nested deeper than 128 levels; flatten it"
