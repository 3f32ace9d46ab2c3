from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.contracts.reason import Reason, ReasonKind
from engine.decision.decide import Decision
from engine.decision.recording import INDEXED_LENGTH, Asker, Occasion, draft_of, event_of
from engine.evaluator.port import NO_INPUT, Defined, Evaluation, EvaluationError, NoInput, Question, Undefined
from engine.journal.mask import Masked, apply_mask, mask_everything, parse_mask
from engine.journal.record import Draft, Kind
from engine.journal.words import LENGTH
from engine.jsontext import JsonValue, canonical, parse
from tests.builders import DECISION_ID, NOON_NS, bundle

OPERATOR = Asker("key_1", "", "10.0.0.1:5000")
OF_ACME = Asker("key_2", "acme", "10.0.0.2:5000")
INPUT: dict[str, JsonValue] = {
    "action": "submit_workload",
    "tenant": {"id": "acme", "card": "4111-1111"},
    "subject": {"id": "wl_1"},
    "request": {"name": "train llama", "gpus": 8, "labels": ["night", {"team": "atlas"}]},
}
REASON = Reason(code="envelope_exceeded", kind=ReasonKind.AUTHORITY, message="8 of 4 GPUs")
RESULT: JsonValue = {
    "outcome": "deny",
    "reasons": [REASON.model_dump(mode="json", exclude_none=True)],
    "obligations": [],
}
DENIED = Decision(Defined(RESULT), "deny", (REASON,))


def occasion(given: JsonValue | NoInput = INPUT, asker: Asker = OPERATOR, **changes: object) -> Occasion:
    fields: dict[str, object] = {
        "decision_id": DECISION_ID,
        "question": Question("lictor/admission", given, NOON_NS, "5eed"),
        "asker": asker,
        "bundle": bundle(),
        "labels": {"id": "replica-1"},
        **changes,
    }
    return Occasion(**fields)  # type: ignore[arg-type]


def drafted(
    given: JsonValue | NoInput = INPUT, asker: Asker = OPERATOR, decision: Decision = DENIED, mask: JsonValue = None
) -> Draft:
    asked = occasion(given, asker)
    masked = apply_mask(event_of(asked, decision), parse_mask(mask if mask is not None else []))
    return draft_of(asked, decision, masked, {"timer_rego_query_eval_ns": 5})


def payload_of(draft: Draft) -> dict[str, JsonValue]:
    value = parse(draft.payload)
    assert isinstance(value, dict)
    return value


def test_event_has_the_field_names_of_opa():
    loaded = bundle()
    assert event_of(occasion(bundle=loaded), DENIED) == {
        "decision_id": DECISION_ID,
        "path": "lictor/admission",
        "labels": {"id": "replica-1"},
        "requested_by": "10.0.0.1:5000",
        "timestamp": "2026-01-01T12:00:00.000000000Z",
        "bundles": {"lictor": {"revision": "r1", "digest": loaded.digest}},
        "input": INPUT,
        "result": RESULT,
    }


def test_event_leaves_out_what_there_is_not():
    event = event_of(occasion(NO_INPUT, bundle=None), Decision(Undefined(), "undefined"))
    assert sorted(event) == ["decision_id", "labels", "path", "requested_by", "timestamp"]


@pytest.mark.parametrize("value", [None, False, 0, ""])
def test_input_and_result_that_are_empty_values_are_kept(value: JsonValue):
    event = event_of(occasion(value), Decision(Defined(value), "answered"))
    assert (event["input"], event["result"]) == (value, value)


def test_draft_says_what_was_decided_and_where_to_find_it():
    made = drafted()
    assert made == Draft(
        kind=Kind.DECISION,
        decision_id=DECISION_ID,
        time_ns=NOON_NS,
        payload=made.payload,
        path="lictor/admission",
        action="submit_workload",
        tenant="acme",
        outcome="deny",
        reasons=(("envelope_exceeded", "authority"),),
        revision="r1",
        bundle_digest=bundle().digest,
        subject="wl_1",
        text="envelope exceeded authority 8 of 4 GPUs night atlas train llama",
    )


def test_payload_has_everything_that_a_replay_needs():
    made = drafted()
    assert payload_of(made) == {
        "labels": {"id": "replica-1"},
        "requested_by": "10.0.0.1:5000",
        "identity": "key_1",
        "subject": "wl_1",
        "facts": "caller",
        "seed": "5eed",
        "metrics": {"timer_rego_query_eval_ns": 5},
        "input": INPUT,
        "result": RESULT,
        "input_digest": "sha256:" + hashlib.sha256(canonical(INPUT)).hexdigest(),
    }
    assert made.payload == canonical(payload_of(made))


def test_question_of_a_batch_names_the_batch():
    asked = occasion(batch_id="b1")
    made = draft_of(asked, DENIED, Masked(event_of(asked, DENIED)), {})
    assert payload_of(made)["batch_decision_id"] == "b1"


def test_no_bundle_and_no_input_leave_their_fields_empty():
    asked = occasion(NO_INPUT, bundle=None)
    decision = Decision(Undefined(), "undefined")
    made = draft_of(asked, decision, Masked(event_of(asked, decision)), {})
    assert (made.revision, made.bundle_digest, made.action, made.tenant, made.subject, made.text) == ("",) * 6
    assert not {"input", "result", "input_digest", "error"} & payload_of(made).keys()


@pytest.mark.parametrize(
    ("asker", "tenant"), [(OF_ACME, "acme"), (OPERATOR, "globex")], ids=["key of a tenant", "key of the platform"]
)
def test_tenant_of_the_key_wins_over_the_one_in_the_input(asker: Asker, tenant: str):
    assert drafted({"tenant": {"id": "globex"}}, asker).tenant == tenant


@pytest.mark.parametrize(
    "given", [None, 1, "acme", [], {}, {"tenant": "acme"}, {"tenant": {"id": 7}}, {"action": ["x"], "subject": None}]
)
def test_input_of_another_shape_is_filed_under_nothing(given: JsonValue):
    made = drafted(given)
    assert (made.action, made.tenant, made.subject) == ("", "", "")


@pytest.mark.parametrize("rule", ["remove", "upsert"])
@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("/input/tenant/card", "4111-1111"),
        ("/input/subject/id", "wl_1"),
        ("/input/request/labels/1/team", "atlas"),
        ("/input/request", "llama"),
        ("/input", "night"),
        ("/result/reasons/0/message", "8 of 4 GPUs"),
    ],
)
def test_masked_value_is_nowhere_in_the_draft(rule: str, path: str, secret: str):
    made = drafted(mask=[{"op": rule, "path": path, "value": "***"}])
    assert secret not in repr(made)
    payload = payload_of(made)
    assert payload["erased" if rule == "remove" else "masked"] == [path]
    assert payload["masked" if rule == "remove" else "erased"] == []


def test_masked_tenant_and_action_are_not_filed():
    made = drafted(mask=["/input/tenant/id", "/input/action"])
    assert (made.tenant, made.action) == ("", "")


def test_failed_mask_files_only_words_that_hide_nothing():
    asked = occasion({"action": "my password", "tenant": {"id": "Ana Miller"}})
    made = draft_of(asked, DENIED, mask_everything(event_of(asked, DENIED)), {})
    assert (made.action, made.tenant) == ("", "")


def test_digest_of_a_masked_input_is_that_of_what_is_kept():
    payload = payload_of(drafted(mask=["/input/tenant/card"]))
    assert payload["input_digest"] == "sha256:" + hashlib.sha256(canonical(payload["input"])).hexdigest()


def test_nothing_of_input_and_result_is_kept_when_everything_is_masked():
    asked = occasion()
    made = draft_of(asked, DENIED, mask_everything(event_of(asked, DENIED)), {})
    assert not {"input", "result", "input_digest"} & payload_of(made).keys()
    assert payload_of(made)["erased"] == ["/input", "/result"]
    assert (made.text, made.subject, made.action, made.tenant) == ("", "", "submit_workload", "acme")
    assert made.reasons == (("envelope_exceeded", "authority"),)


def test_error_is_kept_with_its_message():
    failed: Evaluation = EvaluationError("eval_type_error", "input.card: 4111-1111 is no number")
    made = drafted(decision=Decision(failed, "error"))
    assert payload_of(made)["error"] == {"code": "eval_type_error", "message": "input.card: 4111-1111 is no number"}


def test_message_of_an_error_that_may_quote_what_was_masked_is_not_kept():
    failed: Evaluation = EvaluationError("eval_type_error", "input.card: 4111-1111 is no number")
    made = drafted(decision=Decision(failed, "error"), mask=["/input/tenant/card"])
    assert payload_of(made)["error"] == {"code": "eval_type_error"}
    assert "4111" not in repr(made)


def test_nul_characters_are_in_no_column_but_stay_in_the_payload():
    given: dict[str, JsonValue] = {
        "action": "a\x00b",
        "tenant": {"id": "\x00acme"},
        "subject": {"id": "w\x00l"},
        "request": "te\x00xt",
    }
    made = drafted(given)
    assert (made.action, made.tenant, made.subject) == ("ab", "acme", "wl")
    assert made.text.endswith(" te xt")
    assert payload_of(made)["input"] == given
    assert payload_of(made)["subject"] == "wl"


def test_columns_are_cut_to_what_an_index_can_hold():
    long = "x" * 5000
    asked = occasion({"action": long, "tenant": {"id": long}, "subject": {"id": long}, "request": [long, "more"]})
    asked = Occasion(DECISION_ID, Question(long, asked.question.input, NOON_NS, ""), asked.asker, asked.bundle, {}, "")
    made = draft_of(asked, DENIED, Masked(event_of(asked, DENIED)), {})
    assert {len(column) for column in (made.path, made.action, made.tenant, made.subject)} == {INDEXED_LENGTH}
    assert made.text == "envelope exceeded authority 8 of 4 GPUs " + "x" * (LENGTH // 2 - 1)


def test_key_of_a_long_tenant_is_cut_as_the_tenant_of_an_input_is():
    assert drafted(asker=Asker("key", "t" * 300, "")).tenant == "t" * INDEXED_LENGTH


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["action", "tenant", "subject", "id", "request", "reasons"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(json_values, json_values)
def test_any_input_and_result_can_be_recorded(given: JsonValue, result: JsonValue):
    made = drafted(given, decision=Decision(Defined(result), "answered"))
    payload = payload_of(made)
    assert (payload["input"], payload["result"]) == (given, result)
    assert payload["subject"] == made.subject
    columns = (made.path, made.action, made.tenant, made.subject, made.text)
    assert all("\x00" not in column and len(column) <= LENGTH for column in columns)
