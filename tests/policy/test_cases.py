"""Every case of every table gives the answer that its table wants, and no fact can be left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from engine.contracts.entrypoints import ENTRYPOINTS
from tests.policy.case_tables import Case, cases_of
from tests.policy.conftest import Ask
from tests.policy.starter import EXAMPLES, POLICY, all_cases

# What may be missing: a SKU that is not listed is not granted, not used, or not free; `id` of an ancestor and `time`
# are for the record; whole hosts are counted for bare metal only.
OPTIONAL = {"time", "tenant.ancestors.0.id", "fleet.skus.h100-80g.free_hosts"}
NOT_LISTED = {
    "tenant.usage.h100-80g": "allow",
    "tenant.ancestors.0.usage.h100-80g": "allow",
    "fleet.skus.h100-80g": "queue",
}


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_case_gives_the_wanted_answer(case: Case, ask: Ask) -> None:
    answer = ask(case.path, case.input)
    contract = ENTRYPOINTS[case.path]
    assert contract is not None
    contract.model_validate(answer)
    assert _as_wanted(answer, case.want) == _in_order(case.want)


@pytest.mark.parametrize("case", [case for case in all_cases() if case.path == "lictor/admission"], ids=str)
def test_admission_case_states_the_whole_answer(case: Case) -> None:
    assert {"outcome", "reasons", "obligations"} <= case.want.keys()


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_reasons_are_of_the_kind_that_their_code_has(case: Case, ask: Ask) -> None:
    codes = yaml.safe_load((POLICY / "lictor/codes/data.yaml").read_text())
    answer: Any = ask(case.path, case.input)
    for reason in answer["reasons"]:
        assert reason["kind"] == codes[reason["code"]]["kind"]


def _facts_of(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"{at}{key}"
            yield from _facts_of(child, f"{at}{key}.")
    if isinstance(value, list):
        for index, child in enumerate(value):
            yield from _facts_of(child, f"{at}{index}.")


def _without_each_fact() -> list[Case]:
    """The base input of the admission table for its one SKU, each time without one of its fields."""
    table = yaml.safe_load((POLICY / "lictor/admission/cases.yaml").read_text())
    for others in (table["given"]["tenant"]["envelope"], table["given"]["tenant"]["ancestors"][0]["envelope"]):
        others["skus"] = {"h100-80g": others["skus"]["h100-80g"]}
    table["given"]["fleet"]["skus"] = {"h100-80g": table["given"]["fleet"]["skus"]["h100-80g"]}
    facts = list(_facts_of(table["given"]))
    table["cases"] = [{"name": fact, "unset": [fact], "want": {}} for fact in facts]
    return list(cases_of(table, "each fact unset"))


@pytest.mark.parametrize("case", _without_each_fact(), ids=lambda case: case.name)
def test_fact_left_out_denies(case: Case, ask: Ask) -> None:
    answer: Any = ask(case.path, case.input)
    if case.name in OPTIONAL:
        assert answer["outcome"] == "allow"
    elif case.name in NOT_LISTED:
        assert answer["outcome"] == NOT_LISTED[case.name]
    else:
        assert answer["outcome"] == "deny"
        assert answer["reasons"]


def test_example_that_is_admitted(ask: Ask) -> None:
    assert ask("lictor/admission", _example("submit-admitted.json")) == {
        "outcome": "allow",
        "reasons": [],
        "obligations": [
            {"type": "burst", "parameters": {"gpus": 2}},
            {"type": "max_runtime", "parameters": {"hours": 168}},
        ],
    }


def test_example_that_is_refused(ask: Ask) -> None:
    own = "limited by the tenant itself"
    answer: Any = ask("lictor/admission", _example("submit-refused.json"))
    assert answer["outcome"] == "deny"
    assert answer["obligations"] == []
    assert sorted((reason["code"], reason["message"]) for reason in answer["reasons"]) == [
        (
            "envelope_exceeded",
            f"asked for 8 h100-80g: 2 guaranteed left ({own}), 4 burst left ({own})",
        ),
        ("priority_not_permitted", "priority high: expected one of batch, normal"),
        ("region_not_permitted", "region us-east: expected one of eu-west"),
    ]


def _example(name: str) -> Any:
    body = json.loads((EXAMPLES / name).read_text())
    assert body.keys() == {"input"}
    return body["input"]


def _as_wanted(answer: Any, want: dict[str, Any]) -> dict[str, Any]:
    """The answer in the table's words: reasons as codes, their messages apart; sets have no order."""
    told = dict(answer)
    told["messages"] = [reason["message"] for reason in answer["reasons"]]
    told["reasons"] = [reason["code"] for reason in answer["reasons"]]
    return _in_order({key: told.get(key, "not in the answer") for key in want})


def _in_order(told: dict[str, Any]) -> dict[str, Any]:
    return {
        key: sorted(value, key=lambda item: json.dumps(item, sort_keys=True)) if isinstance(value, list) else value
        for key, value in told.items()
    }
