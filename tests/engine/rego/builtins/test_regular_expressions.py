from __future__ import annotations

import pytest

from engine.rego.builtins import regular_expressions as regex
from engine.rego.errors import BuiltinError


def test_a_pattern_that_would_backtrack_is_quick():
    assert regex.match("(a*)*b", "a" * 50_000) is False


def test_groups_are_named_or_numbered():
    assert regex.replace("foo", "(?P<x>o)(o)", "${2}-$x-$3-$$") == "fo-o--$"


def test_a_template_matches_between_its_delimiters():
    assert regex.template_match("urn:foo:{.*}", "urn:foo:bar:baz", "{", "}") is True


def test_overlap_of_many_repetitions_is_bounded():
    with pytest.raises(BuiltinError, match="more than 100 repetitions"):
        regex.globs_match("a*b*" * 60, "a*b*" * 60)


def test_overlap_does_not_try_twice():
    assert regex.globs_match(".*a" * 20 + "c", ".*b" * 20 + "d") is False


def test_too_many_groups_are_an_error():
    with pytest.raises(BuiltinError, match="more than 1000000 elements"):
        regex.find_all_string_submatch_n("()" * 100 + "a", "a" * 20_000, -1)
