"""Values as JSON has them."""

from __future__ import annotations

from engine.rego.run.plain import plain
from engine.rego.values import RegoSet, make_object


def test_sets_at_any_depth_are_sorted_arrays():
    assert plain({"a": RegoSet(["b", 2, RegoSet([3, 1])])}) == {"a": [2, "b", [1, 3]]}
    assert plain([RegoSet(), RegoSet([True, None, "x", 0])]) == [[], [None, True, 0, "x"]]


def test_keys_that_are_no_strings_become_json_text():
    value = make_object([(1, "a"), (None, "b"), ([1, "<"], "c"), ("s", "d"), (2.0, "e"), (True, "f")])
    assert plain(value) == {"1": "a", "null": "b", '[1,"\\u003c"]': "c", "s": "d", "2": "e", "true": "f"}


def test_scalars_are_themselves():
    assert [plain(value) for value in (None, True, 1, 1.5, "x", 2**70)] == [None, True, 1, 1.5, "x", 2**70]
