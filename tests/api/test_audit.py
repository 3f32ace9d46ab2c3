from __future__ import annotations

import json

import pytest

from engine.access.roles import Role
from engine.journal.checkpoint import heads_of
from engine.journal.verify import verify
from engine.journal.view import record_of

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def answered(served):
    """Decisions of two tenants."""
    asked = {
        "acme-allow": {
            "want": "allow",
            "tenant": {"id": "acme"},
            "subject": {"id": "user:ana"},
            "request": {"w": "llama"},
        },
        "acme-deny": {"tenant": {"id": "acme"}, "subject": {"id": "user:bo"}, "action": "submit_workload"},
        "beta-queue": {"want": "queue", "tenant": {"id": "beta"}, "subject": {"id": "user:cy"}},
    }
    return {
        name: served.ask("/v1/data/lictor/admission", {"input": given}).json()["decision_id"]
        for name, given in asked.items()
    }


def found(answer) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [decision["decision_id"] for decision in answer.json()["decisions"]]


def test_filters_find_exactly_their_decisions(served, answered):
    assert found(served.get("/v1/decisions?tenant=acme")) == [answered["acme-deny"], answered["acme-allow"]]
    assert found(served.get("/v1/decisions?reason=full_house")) == [answered["beta-queue"]]
    assert found(served.get("/v1/decisions?outcome=deny&action=submit_workload")) == [answered["acme-deny"]]
    assert found(served.get("/v1/decisions?subject=user:ana")) == [answered["acme-allow"]]
    assert found(served.get("/v1/decisions?text=llama&path=lictor/admission")) == [answered["acme-allow"]]
    assert found(served.get("/v1/decisions?tenant=acme&since=2100-01-01")) == []
    assert found(served.get("/v1/decisions?tenant=acme&until=2000-01-01T00:00:00Z")) == []


def test_pages_follow_the_cursor_to_the_end(served, answered):
    first = served.get("/v1/decisions?limit=2").json()
    second = served.get(f"/v1/decisions?limit=2&cursor={first['next']}").json()
    seen = [each["decision_id"] for each in (*first["decisions"], *second["decisions"])]
    assert seen == [answered["beta-queue"], answered["acme-deny"], answered["acme-allow"]]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("colour=red", "colour: Extra inputs are not permitted"),
        ("limit=0", "limit: Input should be greater than or equal to 1"),
        ("limit=9999", "limit: Input should be less than or equal to 500"),
        ("limit=many", "limit: Input should be a valid integer"),
        ("since=yesterday", "since: 'yesterday' is not a time; write it as 2026-01-31T12:00:00Z"),
        ("since=2026-01-02&until=2026-01-01", "since: must be earlier than until"),
        ("cursor=nonsense", "cursor: not one that a page gave"),
        ("tenant=", "tenant: give 1 to 256 characters, not 0"),
        ("text=" + "x" * 300, "text: give 1 to 256 characters, not 300"),
        ("outcome=alow", "outcome: 'alow' is not one of allow, queue, deny"),
        ("text=%20%2D%20", "text: has no word to look for"),
        ("since=9999-12-31", "since: '9999-12-31' is not a time"),
        ("subject=%00", "subject: has a character that no record is filed under"),
    ],
)
def test_bad_filter_says_which_field_and_what_is_expected(served, query, words):
    answer = served.get(f"/v1/decisions?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    assert words in answer.json()["message"]


def test_tenants_identity_sees_that_tenant_only(served, answered):
    tenant = {"role": Role.TENANT_USER, "tenant": "acme"}
    assert found(served.get("/v1/decisions", **tenant)) == [answered["acme-deny"], answered["acme-allow"]]
    assert served.get(f"/v1/decisions/{answered['acme-deny']}", **tenant).status_code == 200
    other = served.get(f"/v1/decisions/{answered['beta-queue']}", **tenant)
    missing = served.get(f"/v1/decisions/{UNKNOWN}", **tenant)
    assert (other.status_code, missing.status_code) == (404, 404)
    assert other.json()["message"].replace(answered["beta-queue"], "") == missing.json()["message"].replace(UNKNOWN, "")
    assert served.get("/v1/decisions?tenant=beta", **tenant).status_code == 404
    for path in ("export", "checkpoint"):
        assert served.get(f"/v1/decisions/{path}", **tenant).status_code == 403


def test_tenant_is_not_told_the_place_in_a_chain_that_others_share(served, answered):
    shown = served.get(f"/v1/decisions/{answered['acme-deny']}", Role.TENANT_ADMIN, "acme").json()
    assert not {"chain", "seq", "prev", "hash", "salt"} & shown.keys()
    assert shown["reasons"] == [{"code": "not_asked_for", "kind": "authority"}]


def test_text_search_inside_a_tenant_finds_that_tenants_words_only(served, answered):
    assert found(served.get("/v1/decisions?text=llama", Role.TENANT_USER, "acme")) == [answered["acme-allow"]]
    assert found(served.get("/v1/decisions?text=llama", Role.TENANT_USER, "beta")) == []


def test_tenants_decision_is_filed_under_the_keys_tenant(served):
    asked = {"input": {"tenant": {"id": "beta"}}}
    answer = served.ask("/v1/data/lictor/admission", asked, Role.TENANT_USER, "gamma").json()
    assert served.get(f"/v1/decisions/{answer['decision_id']}").json()["tenant"] == "gamma"


@pytest.mark.parametrize("decision_id", [UNKNOWN, "nonsense", "../../etc/passwd", "' OR 1=1 --", "x" * 5000])
def test_unknown_decision_is_404(served, decision_id):
    answer = served.get(f"/v1/decisions/{decision_id}")
    assert (answer.status_code, answer.json()["code"]) == (404, "resource_not_found")


@pytest.mark.parametrize(
    ("role", "reads", "erases"),
    [(Role.AUDITOR, 200, 403), (Role.POLICY_AUTHOR, 403, 403), (Role.NODE_AGENT, 403, 403)],
)
def test_roles_read_and_erase_as_granted(served, role, reads, erases):
    assert served.get("/v1/decisions", role).status_code == reads
    assert served.ask(f"/v1/decisions/{UNKNOWN}/erase", {"reason": "x"}, role).status_code == erases


def test_export_verifies_without_the_store(served, answered):
    lines = served.get("/v1/decisions/export", Role.AUDITOR).text.splitlines()
    records = [record_of(json.loads(line)) for line in lines]
    report = verify(
        records, lambda: [record for record in records if record.cites], served.runtime.store.journal.heads()
    )
    assert (report.ok, report.records) == (True, len(lines))


def test_checkpoint_vouches_for_the_heads(served, answered):
    checkpoint = served.get("/v1/decisions/checkpoint", Role.AUDITOR).json()
    assert heads_of(checkpoint) == served.runtime.store.journal.heads()


def test_erased_decision_keeps_its_place_and_says_who_erased_it(served):
    asked = {"input": {"want": "allow", "subject": {"id": "user:del"}, "request": {"w": "forgetme"}}}
    decision_id = served.ask("/v1/data/lictor/admission", asked).json()["decision_id"]
    before = served.get(f"/v1/decisions/{decision_id}").json()
    erased = served.ask(f"/v1/decisions/{decision_id}/erase", {"reason": "article 17"})
    again = served.ask(f"/v1/decisions/{decision_id}/erase", {"reason": "twice"})
    assert (erased.status_code, again.status_code) == (200, 200)
    after = served.get(f"/v1/decisions/{decision_id}").json()
    assert (after["hash"], after["outcome"]) == (before["hash"], "allow")
    assert "input" not in after
    assert (after["replayable"], after["salt"]) == (False, None)
    assert [(later["kind"], later["why"]) for later in after["history"]] == [("erasure", "article 17")]
    assert found(served.get("/v1/decisions?text=forgetme")) == []
    assert found(served.get("/v1/decisions?subject=user:del")) == []
    journal = served.runtime.store.journal
    assert verify(journal.in_chain_order(), journal.citing, journal.heads()).ok


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x", "force": True}, {"reason": 7}, [], None])
def test_erasure_without_a_reason_is_refused(served, answered, body):
    answer = served.ask(f"/v1/decisions/{answered['acme-allow']}/erase", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    assert "input" in served.get(f"/v1/decisions/{answered['acme-allow']}").json()
