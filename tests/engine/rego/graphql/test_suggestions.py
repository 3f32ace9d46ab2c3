"""What someone may have meant."""

from __future__ import annotations

import pytest

from engine.rego.graphql.faults import Budget, TooLarge
from engine.rego.graphql.suggestions import did_you_mean, or_list, suggested


@pytest.mark.parametrize(
    ("written", "options", "found"),
    [
        ("name", ["name", "nam", "NAME", "size"], ["name", "nam", "NAME"]),
        ("nmae", ["name", "mane", "other"], ["name", "mane"]),
        ("ab", ["a", "abcd", "b"], ["a", "b"]),
        ("", ["a", "ab"], ["a"]),
        ("gpu", ["disk"], []),
    ],
)
def test_the_closest_options_come_first(written: str, options: list[str], found: list[str]):
    assert suggested(written, options, Budget()) == found


def test_options_beyond_the_budget_are_refused():
    with pytest.raises(TooLarge, match="more than 1000000 steps"):
        suggested("a" * 4000, ["b" * 4000], Budget())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["a"], '"a"'),
        (["a", "b"], '"a" or "b"'),
        (["a", "b", "c"], '"a", "b", or "c"'),
        (list("abcdef"), '"a", "b", "c", "d", or "e"'),
    ],
)
def test_a_list_of_options_is_one_phrase(options: list[str], text: str):
    assert or_list(options) == text
    assert did_you_mean("Did you mean", options) == f" Did you mean {text}?"


def test_nothing_to_suggest_is_nothing_to_say():
    assert did_you_mean("Did you mean", []) == ""
