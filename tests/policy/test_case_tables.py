"""A table that cannot mean what it says is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policy.case_tables import TableError, cases_of


def _table(*cases: dict[str, Any]) -> dict[str, Any]:
    return {"path": "a/b", "given": {"x": {"y": 1}, "list": [{"z": 1}]}, "cases": list(cases)}


def _case(name: str = "a case", **rest: Any) -> dict[str, Any]:
    return {"name": name, "want": {}, **rest}


def test_set_and_unset_change_a_copy() -> None:
    table = _table(
        _case("first", set={"x.y": 2, "x.new": 3, "list.0.z": 4, "list.1": 5}),
        _case("second", unset=["x.y", "list.0"]),
        _case("third"),
    )
    assert [case.input for case in cases_of(table, "t")] == [
        {"x": {"y": 2, "new": 3}, "list": [{"z": 4}, 5]},
        {"x": {}, "list": []},
        {"x": {"y": 1}, "list": [{"z": 1}]},
    ]


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (_case(set={"w.y": 1}), "t: a case: w.y: there is no w"),
        (_case(set={"x.v.u": 1}), "t: a case: x.v.u: there is no x.v"),
        (_case(set={"list.1.z": 1}), "t: a case: list.1.z: there is no list.1"),
        (_case(set={"list.2": 1}), "t: a case: list.2: the list has 1 items; the next index is its length"),
        (_case(set={"list.z": 1}), "t: a case: list.z: 'z' is neither a key of an object nor an index of a list here"),
        (_case(set={"x.y.z": 1}), "t: a case: x.y.z: 'z' is neither a key of an object nor an index of a list here"),
        (_case(unset=["x.v"]), "t: a case: x.v: cannot be unset, it is not there"),
        (_case(wants={}), "t: a case: unknown wants; known are name, set, unset, want"),
        ({"name": "a case"}, "t: a case: want is missing"),
    ],
)
def test_case_that_cannot_be_applied_is_refused(case: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TableError) as refused:
        list(cases_of(_table(case), "t"))
    assert str(refused.value) == complaint


def test_two_cases_of_one_name_are_refused() -> None:
    with pytest.raises(TableError, match="two cases are named 'a case'"):
        list(cases_of(_table(_case(), _case()), "t"))


def test_table_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(TableError, match="t: unknown case; known are cases, given, path"):
        list(cases_of({**_table(), "case": []}, "t"))
