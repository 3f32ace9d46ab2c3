from __future__ import annotations

import pytest

from engine.rego.builtins.json_paths import filter_, patch, remove
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet


def test_elements_of_a_set_are_their_own_path():
    steps = [{"op": "add", "path": ["s", 3], "value": 3}, {"op": "remove", "path": ["s", 1]}]
    assert patch({"s": RegoSet([1, 2])}, steps) == {"s": RegoSet([2, 3])}


def test_an_element_of_a_set_can_change():
    steps = [{"op": "add", "path": [{"a": 1}, "b"], "value": 2}]
    assert patch(RegoSet([{"a": 1}]), steps) == RegoSet([{"a": 1, "b": 2}])


def test_what_is_patched_stays_as_it_was():
    document = {"a": [1, {"b": 2}]}
    assert patch(document, [{"op": "replace", "path": "/a/1/b", "value": 3}]) == {"a": [1, {"b": 3}]}
    assert document == {"a": [1, {"b": 2}]}


def test_an_index_means_the_array_as_the_steps_before_left_it():
    steps = [{"op": "add", "path": "/0", "value": 0}, {"op": "test", "path": "/1", "value": 1}]
    assert patch([1, 2], steps) == [0, 1, 2]


def test_copies_of_copies_are_bounded():
    with pytest.raises(BuiltinError, match="more than 1000000 elements"):
        patch({}, [{"op": "copy", "path": f"/{n}", "from": ""} for n in range(40)])


def test_true_is_not_1_in_a_path_or_a_test():
    with pytest.raises(BuiltinError):
        patch([True], [{"op": "test", "path": "/0", "value": 1}])


def test_a_path_ends_those_that_go_deeper():
    document = {"a": {"b": 1, "c": 2}, "d": [1, 2]}
    assert filter_(document, ["a", "a/b"]) == {"a": {"b": 1, "c": 2}}
    assert remove(document, ["a/b", "d/0"]) == {"a": {"c": 2}, "d": [2]}
