from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.journal.mask import Masked, MaskRule, apply_mask, mask_everything, parse_mask
from engine.jsontext import JsonValue
from tests.builders import nested


def masked(event: dict[str, JsonValue], *rules: JsonValue) -> Masked:
    return apply_mask(event, parse_mask(list(rules)))


def event(given: JsonValue) -> dict[str, JsonValue]:
    return {"decision_id": "d", "input": given, "result": {"reasons": ["no"]}}


def upsert(path: str, value: JsonValue) -> JsonValue:
    return {"op": "upsert", "path": path, "value": value}


def test_string_is_a_rule_that_removes():
    assert parse_mask(["/input/card"]) == [MaskRule("/input/card")]


def test_object_is_a_rule_with_its_op():
    assert parse_mask(
        [{"op": "remove", "path": "/result"}, upsert("/input/a", 1), {"op": "upsert", "path": "/input"}]
    ) == [
        MaskRule("/result"),
        MaskRule("/input/a", upsert=True, value=1),
        MaskRule("/input", upsert=True, value=None),
    ]


@pytest.mark.parametrize(
    ("mask", "complaint"),
    [
        (None, "the mask must be a set of rules"),
        ({"/input/a": True}, "the mask must be a set of rules"),
        ("/input/a", "the mask must be a set of rules"),
        ([1], "a mask rule needs a path: 1"),
        ([["/input/a"]], "a mask rule needs a path"),
        ([{"op": "remove"}], "a mask rule needs a path"),
        ([{"op": "remove", "path": 5}], "a mask rule needs a path"),
        ([""], "a mask path begins with /input or /result: ''"),
        (["/"], "a mask path begins with /input or /result: '/'"),
        (["input/a"], "a mask path begins with /input or /result: 'input/a'"),
        (["/inputs/a"], "a mask path begins with /input or /result: '/inputs/a'"),
        (["/labels"], "a mask path begins with /input or /result: '/labels'"),
        (["x/input"], "a mask path begins with /input or /result: 'x/input'"),
        ([{"path": "/input/a"}], "a mask's op is remove or upsert: None"),
        ([{"op": "hide", "path": "/input/a"}], "a mask's op is remove or upsert: 'hide'"),
        ([{"op": ["remove"], "path": "/input/a"}], "a mask's op is remove or upsert: ['remove']"),
        ([{"op": {}, "path": "/input/a"}], "a mask's op is remove or upsert: {}"),
        (["/input/a", 1], "a mask rule needs a path: 1"),
    ],
)
def test_mask_that_is_not_understood_is_an_error(mask: JsonValue, complaint: str):
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the text is compared below
        parse_mask(mask)
    assert str(refused.value).startswith(complaint)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["op", "path", "value", "a"]), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_mask_is_understood_or_a_value_error(mask: JsonValue):
    try:
        parse_mask(mask)
    except ValueError:
        return


def test_removed_field_is_gone_and_named():
    assert masked(event({"card": 1, "name": 2}), "/input/card") == Masked(event({"name": 2}), erased=("/input/card",))


def test_removal_of_the_whole_input_or_result():
    assert masked(event(1), "/input", "/result") == Masked({"decision_id": "d"}, erased=("/input", "/result"))


def test_upserted_field_has_the_new_value_and_is_named():
    assert masked(event({"card": 1}), upsert("/input/card", "***")) == Masked(
        event({"card": "***"}), masked=("/input/card",)
    )


def test_upsert_adds_a_field_to_an_object_that_is_there():
    assert masked(event({}), upsert("/input/card", None)).event == event({"card": None})


def test_upsert_of_the_whole_input():
    assert masked(event({"card": 1}), upsert("/input", {})).event == event({})


@pytest.mark.parametrize(
    "rule",
    [
        "/input/b", "/input/a/x/y", "/input/a/5", "/input/a/-1", "/input/a/x", "/input/s/0", "/input/n/0",
        "/result/x/y", "/nd_builtin_cache/http.send", upsert("/input/b/c", 1), upsert("/input/a/5", 1),
        upsert("/input/a/-", 1), upsert("/input/s/0", 1), upsert("/nd_builtin_cache", 1),
    ],
)  # fmt: skip
def test_rule_for_what_is_not_there_does_nothing_and_is_not_named(rule: JsonValue):
    given = event({"a": [1, 2], "s": "text", "n": None})
    result = masked(given, rule)
    assert result == Masked(given)
    assert result.replayable


def test_upsert_of_an_input_that_was_not_given_does_nothing():
    assert masked({"result": 1}, upsert("/input", 1)) == Masked({"result": 1})


def test_element_of_an_array_is_removed_or_replaced():
    given = event({"a": [10, 11, 12]})
    assert masked(given, "/input/a/1").event == event({"a": [10, 12]})
    assert masked(given, upsert("/input/a/1", "x")).event == event({"a": [10, "x", 12]})


@given(st.sets(st.integers(0, 14)), st.randoms(use_true_random=False))
def test_every_index_means_the_element_that_it_meant_before_any_was_removed(gone: set[int], random):
    rules: list[JsonValue] = [f"/input/{index}" for index in gone]
    random.shuffle(rules)
    assert masked(event(list(range(12))), *rules).event == event([n for n in range(12) if n not in gone])


def test_element_named_twice_is_removed_once():
    given = event({"a": [0, 1, 2]})
    result = masked(given, "/input/a/0", {"op": "remove", "path": "/input/a/0"}, "/input/a/00")
    assert result == Masked(event({"a": [1, 2]}), erased=("/input/a/0", "/input/a/00"))


@pytest.mark.parametrize("order", [1, -1])
def test_field_of_an_element_that_is_removed_too_is_not_taken_from_its_neighbour(order: int):
    given = event([{"x": 0}, {"x": 1}])
    result = masked(given, *["/input/0", "/input/0/x"][::order])
    assert result == Masked(event([{"x": 1}]), erased=("/input/0", "/input/0/x"))


def test_arrays_in_arrays_are_thinned_each():
    given = event([[1, 2, 3], [4, 5, 6], [7]])
    assert masked(given, "/input/0/0", "/input/0/2", "/input/1", "/input/2/0").event == event([[2], []])


def test_empty_array_that_was_there_is_not_taken_for_a_removed_element():
    assert masked(event([[], 1, []]), "/input/1").event == event([[], []])


def test_object_key_of_digits_is_a_key():
    assert masked(event({"0": 1, "1": 2}), "/input/0").event == event({"1": 2})


@pytest.mark.parametrize(
    ("path", "key"), [("/input/a~1b", "a/b"), ("/input/a~0b", "a~b"), ("/input/~01", "~1"), ("/input/", "")]
)
def test_escaped_path_means_the_key_as_it_is(path: str, key: str):
    assert masked(event({key: 1, "kept": 2}), path) == Masked(event({"kept": 2}), erased=(path,))


def test_removal_wins_over_upsert():
    assert masked(event({"a": 1}), "/input/a", upsert("/input/a", 2)).event == event({})


def test_what_was_given_is_untouched():
    given = event({"a": [{"b": 1}, 2], "c": {"d": 3}})
    before = deepcopy(given)
    masked(given, "/input/a/0/b", "/input/a/1", upsert("/input/c/d", 0), upsert("/input/e", 0), "/result/reasons/0")
    assert given == before


def test_no_rules_leave_the_event_replayable():
    given = event(1)
    assert masked(given) == Masked(given)
    assert masked(given).replayable


def test_erased_or_masked_is_not_replayable():
    assert not Masked({}, erased=("/input",), failed=True).replayable
    assert not Masked({}, masked=("/input",)).replayable


def test_deep_input_can_be_masked():
    assert masked({"input": nested(600), "result": 1}, "/result").event == {"input": nested(600)}


def test_everything_masked_leaves_neither_input_nor_result():
    assert mask_everything(event({"card": 1})) == Masked(
        {"decision_id": "d"}, erased=("/input", "/result"), failed=True
    )
    assert mask_everything({"decision_id": "d", "input": None}) == Masked(
        {"decision_id": "d"}, erased=("/input",), failed=True
    )
