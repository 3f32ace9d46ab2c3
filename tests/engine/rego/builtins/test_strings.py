from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.builtins import strings
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet


def test_a_set_is_joined_in_opas_order():
    assert strings.concat("-", RegoSet(["b", "a", "c"])) == "a-b-c"


def test_the_sorted_first_pattern_wins_at_each_place():
    assert strings.replace_n({"ll": "2", "l": "1"}, "hello") == "he11o"


def test_an_empty_pattern_matches_between_all_characters():
    assert strings.replace_n({"": "x", "a": "y"}, "abc") == "xyxbxcx"


def test_any_prefix_of_a_set_matches():
    assert strings.any_prefix_match(["a/b", "e/f"], RegoSet(["e/"])) is True


def test_a_result_beyond_the_bound_is_an_error():
    with pytest.raises(BuiltinError, match="more than 16777216 characters"):
        strings.replace("a" * 100_000, "a", "b" * 1000)
    with pytest.raises(BuiltinError, match="more than 16777216 characters"):
        strings.concat("x" * 1_000_000, ["a"] * 100)


@given(st.text(), st.text(max_size=2))
def test_splitting_and_joining_gives_the_text_back(text: str, delimiter: str):
    parts = strings.split(text, delimiter)
    assert strings.concat(delimiter, parts) == text


@given(st.text(alphabet="ab"), st.text(alphabet="ab", min_size=1, max_size=2))
def test_indexes_are_all_places_that_start_with_the_needle(text: str, needle: str):
    assert strings.indexof_n(text, needle) == [at for at in range(len(text)) if text.startswith(needle, at)]
