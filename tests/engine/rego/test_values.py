from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.values import UNDEFINED, RegoSet, Value, compare, equal, freeze, get, make_object, sort_values, thaw

scalars = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -2.0]) | st.sampled_from(["", "a", "b"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(RegoSet)
        | st.lists(st.tuples(inner, inner), max_size=3).map(make_object)
    ),
    max_leaves=8,
)


@given(values, values)
def test_order_and_equality_and_hash_agree(one: Value, other: Value):
    assert (compare(one, other) == 0) is equal(one, other) is (freeze(one) == freeze(other))
    assert compare(one, other) == -compare(other, one)
    if equal(one, other):
        assert hash(freeze(one)) == hash(freeze(other))


@given(values, values, values)
def test_order_is_transitive(one: Value, two: Value, three: Value):
    first, second, third = sort_values([one, two, three])
    assert compare(first, second) <= 0
    assert compare(second, third) <= 0
    assert compare(first, third) <= 0


@given(values)
def test_frozen_value_thaws_to_itself(value: Value):
    assert equal(thaw(freeze(value)), value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1), (False, 0), ([True], [1]), ({"a": True}, {"a": 1}), (RegoSet([True]), RegoSet([1])), ("1", 1),
        (None, False), ([], RegoSet()), ({}, RegoSet()), (make_object([(True, 1)]), make_object([(1, 1)])),
    ],
)  # fmt: skip
def test_values_that_python_confuses_are_different(one: Value, other: Value):
    assert not equal(one, other)
    assert compare(one, other) != 0


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), ([1], [1.0]), (RegoSet([1, 2]), RegoSet([2.0, 1.0]))])
def test_integral_float_equals_its_integer_at_any_depth(one: Value, other: Value):
    assert equal(one, other)


def test_set_iterates_in_order_and_holds_each_value_once():
    mixed = RegoSet([{"b": 1}, "b", [2], 2, None, RegoSet([1]), True, "a", 2.0, False])
    assert list(mixed) == [None, False, True, 2, "a", "b", [2], {"b": 1}, RegoSet([1])]
    assert len(mixed) == 9
    assert (1 in mixed, True in mixed, [2.0] in mixed) == (False, True, True)


def test_lookup_of_what_is_not_there_is_undefined():
    assert get({"a": None}, "a") is None
    for collection, key in (
        ({"a": 1}, "b"),
        ([1], 1),
        ([1], -1),
        ([1], "0"),
        ([1], True),
        (RegoSet([1]), 2),
        ("text", 0),
    ):
        assert get(collection, key) is UNDEFINED
    assert (get([1, 2], 1.0), get(RegoSet(["x"]), "x"), get(make_object([([1], 2)]), [1.0])) == (2, "x", 2)


def test_undefined_is_neither_true_nor_false():
    with pytest.raises(TypeError, match="undefined is neither true nor false"):
        bool(UNDEFINED)


def test_order_is_that_of_opa(opa):
    texts = ['"b"', "[2]", "null", "{1, 2}", "true", '{"a": 2}', "2", '"a"', "[1, 5]", "false", '{"a": 1}', "{1}",
             "1.5", "[]", '{"a": 1, "b": 0}', "set()", '{"b": 0}', "-1", "{}", "[1]", "{3}"]  # fmt: skip
    query = f"[json.marshal(x) | some x in sort([{', '.join(texts)}])]"
    run = subprocess.run([opa, "eval", "-f", "raw", query], capture_output=True, text=True, check=True, timeout=60)
    ours = [
        "b", [2], None, RegoSet([1, 2]), True, {"a": 2}, 2, "a", [1, 5], False, {"a": 1}, RegoSet([1]), 1.5, [],
        {"a": 1, "b": 0}, RegoSet(), {"b": 0}, -1, {}, [1], RegoSet([3]),
    ]  # fmt: skip
    shown = [json.dumps(list(v) if isinstance(v, RegoSet) else v, separators=(",", ":")) for v in sort_values(ours)]
    assert shown == json.loads(run.stdout)
