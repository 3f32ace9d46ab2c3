from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.contracts.entrypoints import ENTRYPOINTS
from engine.contracts.reason import Reason, ReasonKind
from engine.contracts.results import AdmissionResult, EntitlementResult
from engine.decision.decide import Decision, decide
from engine.evaluator.port import FAULT_CODES, NO_INPUT, Defined, Evaluation, EvaluationError, Question, Undefined
from engine.jsontext import JsonValue
from tests.builders import NOON_NS, FakePolicy, nested

ADMISSION = "lictor/admission"
ENTITLEMENT = "lictor/entitlement"
ALLOW: dict[str, JsonValue] = {"outcome": "allow", "reasons": [], "obligations": []}
DENY: dict[str, JsonValue] = {
    "outcome": "deny",
    "reasons": [{"code": "envelope_exceeded", "kind": "authority", "message": "8 of 4 GPUs"}],
    "obligations": [],
}
QUEUE: dict[str, JsonValue] = {
    "outcome": "queue",
    "reasons": [{"code": "gang_incomplete", "kind": "capacity", "message": "3 of 4 slots"}],
    "obligations": [{"type": "max_runtime", "parameters": {"hours": 1}}],
}
ENTITLED: dict[str, JsonValue] = {
    "reasons": [], "tier": "gold", "skus": {}, "priorities": [], "shapes": [], "regions": []
}  # fmt: skip

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=15
)
reasons = st.fixed_dictionaries(
    {
        "code": st.sampled_from(["ab", "A", ""]) | json_values,
        "kind": st.sampled_from(["authority", "capacity", "fault"]),
    },
    optional={"message": st.text(max_size=5) | json_values, "rule": json_values, "extra": json_values},
)
nearly_admissions = st.fixed_dictionaries(
    {"outcome": st.sampled_from(["allow", "queue", "deny"]) | json_values},
    optional={
        "reasons": st.lists(reasons, max_size=3) | json_values,
        "obligations": st.just([]) | json_values,
        "extra": json_values,
    },
)


def ask(path: str, answer: Evaluation) -> Decision:
    return decide(FakePolicy({path: answer}), question(path))


def question(path: str) -> Question:
    return Question(path, {"tenant": {"id": "acme"}}, NOON_NS, "seed")


def fault_of(decision: Decision) -> tuple[str, str]:
    """Code and message of a denial that has exactly one reason, of kind fault."""
    assert decision.outcome == "deny"
    assert decision.is_fault
    (reason,) = decision.reasons
    assert reason.kind is ReasonKind.FAULT
    assert decision.evaluation == Defined(
        {
            "outcome": "deny",
            "reasons": [{"code": reason.code, "kind": "fault", "message": reason.message}],
            "obligations": [],
        }
    )
    return reason.code, reason.message


@pytest.mark.parametrize("value", [ALLOW, DENY, QUEUE], ids=["allow", "deny", "queue"])
def test_answer_in_its_contract_is_the_decision(value: dict[str, JsonValue]):
    decision = ask(ADMISSION, Defined(value))
    assert decision.evaluation == Defined(value)
    assert decision.outcome == value["outcome"]
    assert [reason.model_dump(mode="json", exclude_none=True) for reason in decision.reasons] == value["reasons"]
    assert not decision.is_fault


def test_entitlement_in_its_contract_is_answered():
    assert ask(ENTITLEMENT, Defined(ENTITLED)) == Decision(Defined(ENTITLED), "answered")


def test_policy_is_asked_exactly_what_was_asked():
    policy = FakePolicy({ADMISSION: Defined(ALLOW)})
    asked = Question(ADMISSION, NO_INPUT, 7, "seed")
    decide(policy, asked)
    assert policy.asked == [asked]


@pytest.mark.parametrize("path", [ADMISSION, ENTITLEMENT])
def test_no_bundle_denies(path: str):
    assert fault_of(decide(None, question(path))) == (
        "bundle_missing",
        "no bundle could be loaded; mend the bundle and start again, or roll back to a good one",
    )


@pytest.mark.parametrize("path", [ADMISSION, ENTITLEMENT])
def test_undefined_result_denies(path: str):
    assert fault_of(ask(path, Undefined())) == ("result_undefined", f"{path} is undefined in the active bundle")


@pytest.mark.parametrize("code", ["eval_conflict_error", *FAULT_CODES])
def test_error_of_the_evaluation_denies_with_its_code(code: str):
    assert fault_of(ask(ADMISSION, EvaluationError(code, "why"))) == (code, "why")


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        ("Weird Code", "why", ("internal_error", "why")),
        ("", "why", ("internal_error", "why")),
        ("a" * 65, "why", ("internal_error", "why")),
        ("ab\n", "why", ("internal_error", "why")),
        ("eval_type_error", "", ("eval_type_error", "the evaluator gave no message")),
        ("eval_type_error", "x" * 3000, ("eval_type_error", "x" * 2000)),
        ("eval_type_error", "half \ud800", ("eval_type_error", "half ?")),
    ],
)
def test_error_that_cannot_be_a_reason_as_it_is_denies_all_the_same(code: str, message: str, reason: tuple[str, str]):
    assert fault_of(ask(ADMISSION, EvaluationError(code, message))) == reason


@given(st.text(), st.text())
def test_any_error_denies(code: str, message: str):
    fault_of(ask(ADMISSION, EvaluationError(code, message)))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({**ALLOW, "outcome": "maybe"}, "outcome: Input should be 'allow', 'queue' or 'deny'"),
        ({"outcome": "allow", "reasons": []}, "obligations: Field required"),
        ({**ALLOW, "allow": True}, "allow: Extra inputs are not permitted"),
        ({**DENY, "reasons": [{"code": "ab", "kind": "authority"}]}, "reasons.0.message: Field required"),
        ({**ALLOW, "outcome": "deny"}, "the result: Value error, outcome is deny without a reason"),
        ({"outcome": "maybe"}, "reasons: Field required"),
        (True, "the result: Input should be a valid dictionary or instance of AdmissionResult"),
    ],
)
def test_broken_contract_denies_and_names_the_field(value: JsonValue, complaint: str):
    assert fault_of(ask(ADMISSION, Defined(value))) == (
        "contract_broken",
        f"lictor/admission broke its contract: {complaint}",
    )


def test_broken_contract_does_not_repeat_the_value():
    _, message = fault_of(ask(ADMISSION, Defined({**ALLOW, "outcome": "s3cret"})))
    assert "s3cret" not in message


def test_obligations_nested_without_end_deny():
    obligation: JsonValue = {"type": "ab", "parameters": {"deep": nested(5000)}}
    code, message = fault_of(ask(ADMISSION, Defined({**ALLOW, "obligations": [obligation]})))
    assert code == "contract_broken"
    assert message.startswith("lictor/admission broke its contract: obligations.0.parameters.deep.")


@pytest.mark.parametrize("path", sorted(path for path, contract in ENTRYPOINTS.items() if contract is None))
def test_entrypoint_without_a_contract_denies_unasked(path: str):
    policy = FakePolicy({path: Defined(ALLOW)})
    assert fault_of(decide(policy, question(path))) == (
        "entrypoint_unbound",
        f"{path} has no contract yet, so no answer of it can be trusted",
    )
    assert policy.asked == []


@given(json_values | nearly_admissions)
@example(ALLOW)
@example(QUEUE)
def test_whatever_a_policy_answers_the_decision_is_in_the_contract(value: JsonValue):
    decision = ask(ADMISSION, Defined(value))
    assert isinstance(decision.evaluation, Defined)
    result = AdmissionResult.model_validate(decision.evaluation.value)
    assert (result.verdict, tuple(result.reasons)) == (decision.outcome, decision.reasons)
    if decision.evaluation.value != value:
        assert fault_of(decision)[0] == "contract_broken"


@given(json_values)
@example(dict(ENTITLED))
def test_whatever_a_policy_answers_an_entitlement_is_in_its_contract_or_denied(value: JsonValue):
    decision = ask(ENTITLEMENT, Defined(value))
    if decision.outcome == "deny":
        assert fault_of(decision)[0] == "contract_broken"
    else:
        assert decision.outcome == "answered"
        EntitlementResult.model_validate(value)


@pytest.mark.parametrize(
    ("evaluation", "outcome"),
    [
        (Defined({"outcome": "nonsense"}), "answered"),
        (Defined(None), "answered"),
        (Undefined(), "undefined"),
        (EvaluationError("eval_conflict_error", "why"), "error"),
    ],
)
@pytest.mark.parametrize("path", ["", "example/allow", "lictor", "lictor/admission/outcome", "/lictor/admission"])
def test_plain_path_answers_as_opa_would(path: str, evaluation: Evaluation, outcome: str):
    decision = ask(path, evaluation)
    assert decision == Decision(evaluation, outcome)
    assert decision.is_fault is (outcome == "error")


def test_plain_path_without_a_bundle_is_an_error():
    decision = decide(None, question("example/allow"))
    assert isinstance(decision.evaluation, EvaluationError)
    assert (decision.evaluation.code, decision.outcome, decision.is_fault) == ("bundle_missing", "error", True)


def test_denial_by_authority_is_no_fault_and_one_fault_among_reasons_is():
    authority = Reason(code="ab", kind=ReasonKind.AUTHORITY, message="m")
    fault = Reason(code="ab", kind=ReasonKind.FAULT, message="m")
    assert not Decision(Undefined(), "deny", (authority,)).is_fault
    assert Decision(Undefined(), "deny", (authority, fault)).is_fault
