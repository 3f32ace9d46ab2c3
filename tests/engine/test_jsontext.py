from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import MalformedJson, TooLarge
from engine.jsontext import MAX_DEPTH, JsonValue, canonical, parse, too_deep
from tests.builders import nested

LONG = "11111111111111111111"
"""More than 64 bits: text with such a number takes the path of the standard library."""

integers = st.integers() | st.integers(min_value=-(10**300), max_value=10**300)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=25
)


@given(json_values)
def test_canonical_text_read_and_written_again_is_the_same(value: JsonValue):
    text = canonical(value)
    assert canonical(parse(text)) == text


@given(json_values)
def test_value_written_and_read_again_is_the_same_value(value: JsonValue):
    again = parse(canonical(value))
    assert again == value
    assert repr(again) == repr(_sorted(value))


@given(st.dictionaries(st.text(), integers))
def test_order_of_keys_does_not_change_the_canonical_text(value: dict[str, JsonValue]):
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_canonical_text_has_sorted_keys_no_spaces_and_utf8():
    assert canonical({"b": [1, 2.5, None], "a": {"é": True}}) == '{"a":{"é":true},"b":[1,2.5,null]}'.encode()


def test_canonical_text_with_a_huge_integer_has_the_same_form():
    assert canonical({"b": [2**70], "a": "é"}) == '{"a":"é","b":[1180591620717411303424]}'.encode()


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**40 + 1, -(10**40) - 1])
def test_integer_of_any_size_survives_exactly(number: int):
    found = parse(f'{{"n":{number}}}'.encode())
    assert found == {"n": number}
    assert canonical(found) == f'{{"n":{number}}}'.encode()


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', f'{{"a":1,"a":2,"n":{LONG}}}'])
def test_last_of_two_equal_keys_wins(text: str):
    found = parse(text.encode())
    assert isinstance(found, dict)
    assert found["a"] == 2


@pytest.mark.parametrize("with_long_number", [False, True], ids=["orjson", "standard library"])
@pytest.mark.parametrize(
    "wrong",
    [
        b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", rb'"\ud800"', rb'"\udc00\ud800"', b'"\xed\xa0\x80"',
        b'"\xff"', b'"\x01"', b"01", b"+1", b".5", b"1.", b"'a'", b"[1,]", b'{"a":1,}', b"{1:2}", b"//", b"True", b"",
        b"1 2", b"\xef\xbb\xbf1", b"\x0c1",
    ],
)  # fmt: skip
def test_text_that_is_no_json_is_refused_on_both_paths(wrong: bytes, with_long_number: bool):
    text = b"[" + wrong + b"," + LONG.encode() + b"]" if with_long_number else wrong
    with pytest.raises(MalformedJson, match=r"^input: not JSON: "):
        parse(text, what="input")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_other_encoding_than_utf8_is_refused(encoding: str):
    # U+3131 is two bytes that are digits, which sends the text to the standard library.
    with pytest.raises(MalformedJson, match=r"^body: not JSON: "):
        parse(f'["{chr(0x3131) * 20}", {LONG}]'.encode(encoding))


def test_integer_of_thousands_of_digits_is_refused_with_its_length():
    with pytest.raises(MalformedJson) as refused:
        parse(b"1" * 5000, what="amount")
    assert refused.value.message == "amount: not JSON: an integer of 5000 digits is too long"


def test_number_too_large_for_a_float_is_shown_shortened():
    with pytest.raises(MalformedJson) as refused:
        parse(f"[{LONG}, 1{'0' * 400}.0]".encode())
    assert refused.value.message == "body: not JSON: number is too large: 10000000000000000000"


@pytest.mark.parametrize("innermost", [b"1", b"", LONG.encode()], ids=["number", "empty", "long number"])
@pytest.mark.parametrize("limit", [1, 3, MAX_DEPTH])
def test_nesting_up_to_the_limit_is_read_and_one_level_more_is_refused(limit: int, innermost: bytes):
    assert parse(b"[" * limit + innermost + b"]" * limit, max_depth=limit) is not None
    with pytest.raises(TooLarge) as refused:
        parse(b"[" * (limit + 1) + innermost + b"]" * (limit + 1), what="input", max_depth=limit)
    assert refused.value.message == f"input: nested deeper than {limit} levels; flatten it"


def test_objects_count_as_levels():
    with pytest.raises(TooLarge):
        parse(b'{"a":{"b":{}}}', max_depth=2)


@pytest.mark.parametrize("innermost", [b"1", LONG.encode()])
def test_nesting_beyond_every_parser_is_refused_as_too_deep(innermost: bytes):
    with pytest.raises(TooLarge, match="nested deeper than 128 levels"):
        parse(b"[" * 100_000 + innermost + b"]" * 100_000)


@pytest.mark.parametrize(
    ("value", "limit", "deep"),
    [
        (1, 0, False),
        ([], 0, True),
        ([], 1, False),
        ([[]], 1, True),
        ([1, {"a": [2]}], 2, True),
        ([1, {"a": 2}], 2, False),
    ],
)
def test_depth_is_the_number_of_nested_objects_and_arrays(value: JsonValue, limit: int, deep: bool):
    assert too_deep(value, limit) is deep


@given(st.integers(0, 60), st.integers(0, 60))
def test_depth_limit_is_exact(depth: int, limit: int):
    assert too_deep(nested(depth), limit) is (depth > limit)


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, [math.nan, 2**70], [math.inf, 2**70]])
def test_value_that_is_no_json_cannot_be_written(value: object):
    with pytest.raises(ValueError, match=r"surrogates|not JSON compliant"):
        canonical(value)


def _sorted(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
