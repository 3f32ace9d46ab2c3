from __future__ import annotations

import pytest
from pydantic import ValidationError

from engine.contracts.reason import Reason, ReasonKind
from engine.contracts.results import AdmissionResult, EntitlementResult, Obligation, Outcome
from engine.jsontext import JsonValue

AUTHORITY: JsonValue = {"code": "envelope_exceeded", "kind": "authority", "message": "8 of 4 GPUs"}
CAPACITY: JsonValue = {"code": "sku_unavailable", "kind": "capacity", "message": "no slot is free"}
FAULT: JsonValue = {"code": "bundle_missing", "kind": "fault", "message": "no bundle"}

SKU: dict[str, JsonValue] = {"guaranteed": 8, "burst": 4, "used": 2, "guaranteed_left": 6, "burst_left": 4}
ENTITLEMENT: dict[str, JsonValue] = {
    "reasons": [],
    "tier": "gold",
    "skus": {"h100": dict(SKU)},
    "priorities": ["batch"],
    "shapes": ["gpu_slice"],
    "regions": [],
}


def admission(outcome: JsonValue, *reasons: JsonValue, **changes: JsonValue) -> dict[str, JsonValue]:
    return {"outcome": outcome, "reasons": list(reasons), "obligations": [], **changes}


def faults(contract: type[AdmissionResult | EntitlementResult], value: JsonValue) -> list[str]:
    """`field: message` of everything that is wrong."""
    with pytest.raises(ValidationError) as refused:
        contract.model_validate(value)
    return [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in refused.value.errors()]


@pytest.mark.parametrize(
    ("outcome", "reasons"),
    [
        ("allow", []),
        ("queue", [CAPACITY]),
        ("queue", [CAPACITY, CAPACITY]),
        ("deny", [AUTHORITY]),
        ("deny", [CAPACITY]),
        ("deny", [FAULT]),
        ("deny", [AUTHORITY, CAPACITY, FAULT]),
    ],
)
def test_outcome_with_fitting_reasons_is_an_admission(outcome: str, reasons: list[JsonValue]):
    result = AdmissionResult.model_validate(admission(outcome, *reasons))
    assert result.verdict == outcome
    assert [reason.model_dump(mode="json", exclude_none=True) for reason in result.reasons] == reasons


@pytest.mark.parametrize(
    ("outcome", "reasons", "message"),
    [
        ("allow", [AUTHORITY], "outcome is allow, yet there are reasons against it"),
        ("allow", [CAPACITY], "outcome is allow, yet there are reasons against it"),
        ("queue", [], "outcome is queue: it needs reasons, all of kind capacity"),
        ("queue", [AUTHORITY], "outcome is queue: it needs reasons, all of kind capacity"),
        ("queue", [CAPACITY, AUTHORITY], "outcome is queue: it needs reasons, all of kind capacity"),
        ("queue", [FAULT], "outcome is queue: it needs reasons, all of kind capacity"),
        ("deny", [], "outcome is deny without a reason"),
    ],
)
def test_outcome_that_its_reasons_do_not_explain_is_refused(outcome: str, reasons: list[JsonValue], message: str):
    assert faults(AdmissionResult, admission(outcome, *reasons)) == [f": Value error, {message}"]


@pytest.mark.parametrize("outcome", ["maybe", "ALLOW", "", None, True, 1, ["allow"]])
def test_other_outcome_than_the_three_is_refused(outcome: JsonValue):
    assert faults(AdmissionResult, admission(outcome)) == ["outcome: Input should be 'allow', 'queue' or 'deny'"]


@pytest.mark.parametrize("field", ["outcome", "reasons", "obligations"])
def test_missing_field_is_named(field: str):
    value = admission("allow")
    del value[field]
    assert faults(AdmissionResult, value) == [f"{field}: Field required"]


def test_unknown_field_is_refused_at_every_level():
    value = admission(
        "deny", {**_object(AUTHORITY), "severity": 1}, allowed=True, obligations=[{"type": "max_runtime", "hours": 1}]
    )
    assert faults(AdmissionResult, value) == [
        "reasons.0.severity: Extra inputs are not permitted",
        "obligations.0.hours: Extra inputs are not permitted",
        "allowed: Extra inputs are not permitted",
    ]


@pytest.mark.parametrize("value", [None, True, 1, "allow", [], [admission("allow")]])
def test_answer_that_is_no_object_is_refused(value: JsonValue):
    assert len(faults(AdmissionResult, value)) == 1


@pytest.mark.parametrize("code", ["", "a", "Envelope", "1st", "with space", "dash-ed", "trailing\n", "a" * 65, 7, None])
def test_reason_code_of_another_form_is_refused(code: JsonValue):
    (fault,) = faults(AdmissionResult, admission("deny", {**_object(AUTHORITY), "code": code}))
    assert fault.startswith("reasons.0.code: ")


@pytest.mark.parametrize("code", ["ab", "a1", "a_", "a" * 64])
def test_reason_code_of_two_to_64_characters_is_taken(code: str):
    value = admission("deny", {**_object(AUTHORITY), "code": code})
    assert AdmissionResult.model_validate(value).reasons[0].code == code


@pytest.mark.parametrize(
    ("field", "value"),
    [("kind", "politics"), ("kind", None), ("message", ""), ("message", "x" * 2001), ("message", 5), ("rule", 5)],
)
def test_reason_with_a_wrong_field_is_refused(field: str, value: JsonValue):
    (fault,) = faults(AdmissionResult, admission("deny", {**_object(AUTHORITY), field: value}))
    assert fault.startswith(f"reasons.0.{field}: ")


def test_reason_keeps_its_remedy_and_rule():
    reason = Reason(code="ab", kind=ReasonKind.FAULT, message="m", remedy="admitted at 6 GPUs", rule="a.rego:7")
    assert Reason.model_validate(reason.model_dump(mode="json")) == reason


def test_obligation_carries_any_json():
    parameters: dict[str, JsonValue] = {"hours": 24, "big": 2**70, "deep": [{"a": None}]}
    value = admission("allow", obligations=[{"type": "max_runtime", "parameters": parameters}, {"type": "watch"}])
    assert AdmissionResult.model_validate(value).obligations == [
        Obligation(type="max_runtime", parameters=parameters),
        Obligation(type="watch", parameters={}),
    ]


def test_contract_cannot_be_changed():
    result = AdmissionResult.model_validate(admission("allow"))
    with pytest.raises(ValidationError, match="frozen"):
        result.outcome = Outcome.DENY  # type: ignore[misc]


def test_entitlement_is_answered_whatever_its_reasons():
    assert EntitlementResult.model_validate(ENTITLEMENT).verdict == "answered"
    assert EntitlementResult.model_validate({**ENTITLEMENT, "reasons": [AUTHORITY], "tier": None}).tier is None


@pytest.mark.parametrize("field", sorted(ENTITLEMENT))
def test_missing_field_of_an_entitlement_is_named(field: str):
    value = {name: given for name, given in ENTITLEMENT.items() if name != field}
    assert faults(EntitlementResult, value) == [f"{field}: Field required"]


@pytest.mark.parametrize("field", sorted(SKU))
@pytest.mark.parametrize("amount", [-1, 1.5, 1.0, "1", True, None])
def test_amount_that_is_no_natural_number_is_refused(field: str, amount: JsonValue):
    (fault,) = faults(EntitlementResult, {**ENTITLEMENT, "skus": {"h100": {**SKU, field: amount}}})
    assert fault.startswith(f"skus.h100.{field}: Input should be")


def test_entitlement_has_no_outcome():
    assert faults(EntitlementResult, {**ENTITLEMENT, "outcome": "allow"}) == ["outcome: Extra inputs are not permitted"]


def _object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value
