from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.builtins import encoding, yaml_text
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, make_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_sets_are_arrays_and_keys_are_text():
    value = make_object([(1, RegoSet([2, 1])), ([True], None), ("a", 1.0)])
    assert encoding.json_marshal(value) == '{"1":[1,2],"[true]":null,"a":1}'


def test_bytes_that_are_no_text_are_replaced_one_by_one():
    assert encoding.hex_decode("ffe282") == "\ufffd\ufffd\ufffd"


def test_a_number_that_we_cannot_hold_is_an_error():
    with pytest.raises(BuiltinError, match="out of range"):
        encoding.json_unmarshal("1e999")
    assert encoding.json_is_valid("1e999") is True


def test_indentation_is_bounded():
    with pytest.raises(BuiltinError, match="more than 16777216 characters"):
        encoding.json_marshal_with_options([[1] * 100], {"indent": "x" * 1_000_000})


def test_aliases_of_aliases_are_an_error():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(BuiltinError, match="more than 1000000 elements"):
        yaml_text.yaml_unmarshal("\n".join(lines))


def test_yaml_that_is_nested_too_deeply_is_an_error():
    assert yaml_text.yaml_is_valid("[" * 100_000) is False
    assert encoding.json_is_valid("[" * 100_000) is False


@given(JSON)
def test_json_comes_back_as_it_was(value: object):
    assert json.loads(encoding.json_marshal(value)) == value
    assert encoding.json_unmarshal(encoding.json_marshal(value)) == value


@given(st.text(st.characters(codec="utf-8")))
def test_every_encoding_comes_back(text: str):
    assert encoding.base64_decode(encoding.base64_encode(text)) == text
    assert encoding.base64url_decode(encoding.base64url_encode_no_pad(text)) == text
    assert encoding.hex_decode(encoding.hex_encode(text)) == text
    assert encoding.urlquery_decode(encoding.urlquery_encode(text)) == text
