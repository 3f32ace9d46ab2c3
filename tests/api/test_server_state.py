"""What the server is and says: health, metrics, keys, and what happens when a part of it is broken."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from api.errors import STATUS
from api.runtime import Runtime
from api.settings import Settings
from engine import errors
from engine.access.roles import Role
from engine.bundle.content import Bundle
from engine.errors import LictorError, StoreLocked
from tests.api.conftest import BUNDLE, Served, serving, write_bundle


def active_bundle(server: Served) -> Bundle:
    assert server.runtime.active.current is not None
    return server.runtime.active.current.bundle


def test_every_error_code_has_a_status():
    def codes(kind: type[LictorError]) -> set[str]:
        own = {kind.code} if "code" in vars(kind) else set()
        return own.union(*(codes(child) for child in kind.__subclasses__() if child.__module__ == errors.__name__))

    assert set(STATUS) == codes(LictorError)


def test_every_error_is_drawn_in_the_tree_of_its_docstring():
    assert errors.__doc__ is not None
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, LictorError):
            assert name in errors.__doc__
            assert getattr(thing, "code", "") in errors.__doc__


def test_healthy_server_says_so_to_anyone(served):
    assert served.client.get("/health").json() == {}
    assert served.client.get("/health/live").json() == {"live": True}
    ready = served.client.get("/health/ready")
    assert (ready.status_code, ready.json()) == (
        200,
        {"ready": True, "checks": {"store": "ok", "journal": "ok", "bundle": "ok"}, "revision": "test-1"},
    )


def test_unknown_route_and_method_are_coded(served):
    missing = served.client.get("/v2/nothing")
    assert (missing.status_code, missing.json()["code"]) == (404, "resource_not_found")
    wrong = served.client.delete("/v1/decisions")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")


def test_metrics_count_by_action_and_outcome_and_bound_their_labels(served):
    for action in ("submit_workload", "attack\n{}", "x" * 1000):
        served.ask("/v1/data/lictor/admission", {"input": {"want": "allow", "action": action.replace("\n", " ")}})
    text = served.get("/metrics", Role.AUDITOR).text
    assert 'action="submit_workload",entrypoint="lictor/admission",outcome="allow"} 1.0' in text
    assert 'action="other",entrypoint="lictor/admission",outcome="allow"} 2.0' in text
    assert "attack" not in text
    for name in ("lictor_decision_seconds_bucket", "lictor_journal_lag_seconds", "lictor_journal_waiting_records"):
        assert name in text


@pytest.mark.parametrize(("role", "status"), [(Role.OPERATOR, 200), (Role.AUDITOR, 200), (Role.POLICY_AUTHOR, 403)])
def test_metrics_take_a_key(served, role, status):
    assert served.get("/metrics", role).status_code == status
    assert served.client.get("/metrics").status_code == 401


def test_key_is_shown_once_opens_and_is_revoked_at_once(served):
    made = served.ask("/v1/api-keys", {"name": "ana", "role": "tenant_user", "tenant": "acme"})
    assert made.status_code == 201
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    assert served.client.get("/v1/decisions", headers=headers).status_code == 200
    listed = served.get("/v1/api-keys")
    assert made.json()["key"].split("_", 2)[2] not in listed.text
    assert made.json()["id"] in [each["id"] for each in listed.json()["keys"]]
    assert served.client.delete(f"/v1/api-keys/{made.json()['id']}", headers=served.headers()).status_code == 200
    assert served.client.get("/v1/decisions", headers=headers).status_code == 401
    assert served.client.delete("/v1/api-keys/key_none", headers=served.headers()).status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"name": "a", "role": "king"}, "role: Input should be"),
        ({"name": "a", "role": "tenant_user"}, "tenant: role tenant_user needs a tenant"),
        ({"name": "a", "role": "operator", "tenant": "acme"}, "tenant: role operator is not bound to a tenant"),
        ({"name": "", "role": "operator"}, "name: String should have at least 1 character"),
        ({"name": "a", "role": "operator", "extra": 1}, "extra: Extra inputs are not permitted"),
    ],
)
def test_bad_key_request_names_the_field(served, body, words):
    answer = served.ask("/v1/api-keys", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    assert words in answer.json()["message"]


def test_json_sent_as_a_form_is_told_what_to_change(served):
    headers = {**served.headers(), "Content-Type": "application/x-www-form-urlencoded"}
    answer = served.client.post("/v1/api-keys", content=b'{"name": "a", "role": "operator"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    assert "content-type: send the body as application/json, not application/x-www-form-urlencoded" in answer.text


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OPERATOR])
def test_only_operators_manage_keys(served, role):
    tenant = "acme" if role.value.startswith("tenant") else ""
    assert served.get("/v1/api-keys", role, tenant).status_code == 403


def test_first_operator_key_is_kept_for_its_owner_alone(tmp_path):
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle")) as server:
        file = server.runtime.settings.operator_key_file
        assert file.read_text().strip() == server.runtime.new_operator_key
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "state" / "lictor.db").stat().st_mode) == 0o600
        headers = {"Authorization": f"Bearer {server.runtime.new_operator_key}"}
        assert server.client.get("/v1/api-keys", headers=headers).status_code == 200
        stored = (tmp_path / "state" / "lictor.db").read_bytes() + (tmp_path / "state" / "lictor.db-wal").read_bytes()
        assert server.runtime.new_operator_key.split("_", 2)[2].encode() not in stored
    with serving(tmp_path, bundle=tmp_path / "bundle") as server:
        assert server.runtime.new_operator_key is None
        assert server.client.get("/v1/api-keys", headers=headers).status_code == 200


def test_second_server_on_the_same_file_is_refused(tmp_path):
    bundle = write_bundle(tmp_path / "bundle")
    with serving(tmp_path, bundle=bundle), pytest.raises(StoreLocked):
        Runtime(Settings(data_dir=tmp_path / "state", bundle=bundle))


def test_broken_bundle_at_start_keeps_the_last_good_one(tmp_path):
    bundle = write_bundle(tmp_path / "bundle")
    with serving(tmp_path, bundle=bundle) as server:
        good = active_bundle(server).digest
    (bundle / "test" / "test.rego").write_text("package test\nbroken := := 1\n")
    with serving(tmp_path, bundle=bundle) as server:
        ready = server.client.get("/health/ready")
        assert (ready.status_code, ready.json()["revision"]) == (200, "test-1")
        assert "last good one decides" in ready.json()["warning"]
        answer = server.ask("/v1/data/lictor/admission", {"input": {"want": "allow"}}).json()
        assert answer["result"]["outcome"] == "allow"
        record = server.get(f"/v1/decisions/{answer['decision_id']}").json()
        assert record["bundles"]["lictor"]["digest"] == good
        assert "lictor_bundle_trouble 1.0" in server.get("/metrics").text


@pytest.mark.parametrize(
    "files",
    [{}, {"a.rego": "this is not rego"}, {**BUNDLE, ".manifest": "{"}, {"readme.txt": "no rules here"}],
    ids=["missing", "broken rules", "broken manifest", "nothing in it"],
)
def test_without_any_good_bundle_everything_is_denied_with_a_fault(tmp_path, files):
    bundle = write_bundle(tmp_path / "bundle", files)
    with serving(tmp_path, bundle=bundle) as server:
        answer = server.ask("/v1/data/lictor/admission", {"input": {"want": "allow"}})
        reasons = [(reason["code"], reason["kind"]) for reason in answer.json()["result"]["reasons"]]
        assert (answer.status_code, answer.json()["result"]["outcome"], reasons) == (
            200, "deny", [("bundle_missing", "fault")],
        )  # fmt: skip
        plain = server.ask("/v1/data/test/always", {"input": {}})
        assert (plain.status_code, plain.json()["errors"][0]["code"]) == (500, "bundle_missing")
        assert server.client.get("/health/ready").status_code == 503
        assert server.client.get("/health").status_code == 500
        assert server.client.get("/health/live").status_code == 200


def test_store_that_is_locked_from_outside_is_503_and_recovers(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.store.connection.BUSY_WAIT_MS", 100)
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle")) as server:
        outsider = sqlite3.connect(tmp_path / "state" / "lictor.db", isolation_level=None)
        headers = server.headers()
        assert server.ask("/v1/data/test/always", {"input": {}}).status_code == 200
        outsider.execute("BEGIN IMMEDIATE")
        answer = server.client.post("/v1/data/test/always", json={"input": {}}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert answer.headers["retry-after"] == "1"
        assert "locked" in answer.json()["message"]
        outsider.execute("ROLLBACK")
        outsider.close()
        assert server.ask("/v1/data/test/always", {"input": {}}).status_code == 200
        assert len(server.get("/v1/decisions").json()["decisions"]) == 2


def test_postgresql_that_goes_away_is_503_and_nothing_is_answered(postgres, postgres_template, tmp_path):
    name = postgres.new_database(postgres_template)
    bundle = write_bundle(tmp_path / "bundle")
    with serving(tmp_path, bundle=bundle, database_url=postgres.url(name)) as server:
        assert server.ask("/v1/data/test/always", {"input": {}}).status_code == 200
        postgres.drop_database(name)
        answer = server.ask("/v1/data/test/always", {"input": {}})
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert server.client.get("/health/ready").status_code == 503


def test_replica_that_starts_with_another_file_follows_what_is_active(postgres_url, tmp_path):
    first = write_bundle(tmp_path / "first")
    second = write_bundle(tmp_path / "second", {**BUNDLE, ".manifest": '{"revision": "test-2"}'})
    with serving(tmp_path, bundle=first, database_url=postgres_url) as one:
        with serving(tmp_path, bundle=second, database_url=postgres_url) as other:
            assert (active_bundle(one).revision, active_bundle(other).revision) == ("test-1", "test-1")
            other.runtime.active.activate(second)
            one.runtime.active.follow()
            assert active_bundle(one).revision == "test-2"
        provenance = one.ask("/v1/data/test/always?provenance", {"input": {}}).json()["provenance"]
        assert provenance["bundles"] == {"lictor": {"revision": "test-2"}}


def test_disk_that_cannot_be_written_is_not_ready(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.store.connection.BUSY_WAIT_MS", 50)
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle")) as server:
        headers = server.headers()
        outsider = sqlite3.connect(tmp_path / "state" / "lictor.db", isolation_level=None)
        outsider.execute("BEGIN IMMEDIATE")
        assert server.client.post("/v1/data/test/always", json={}, headers=headers).status_code == 503
        ready = server.client.get("/health/ready")
        assert (ready.status_code, ready.json()["checks"]["journal"]) == (503, "the last records could not be written")
        outsider.execute("ROLLBACK")
        outsider.close()
        assert server.client.post("/v1/data/test/always", json={}, headers=headers).status_code == 200
        assert server.client.get("/health/ready").status_code == 200


def test_key_of_another_database_in_the_same_folder_is_left_alone(tmp_path):
    bundle = write_bundle(tmp_path / "bundle")
    with serving(tmp_path, bundle=bundle) as server:
        key = server.runtime.settings.operator_key_file.read_text()
    with serving(tmp_path, bundle=bundle, database_url=f"sqlite:///{tmp_path / 'other.db'}") as server:
        assert server.runtime.new_operator_key is not None
        assert server.runtime.settings.operator_key_file.read_text() == key


def test_relaxed_journal_says_so_in_the_record_and_erases_durably(tmp_path):
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle"), journal="relaxed") as server:
        decision_id = server.ask("/v1/data/test/echo", {"input": {"a": 1}}).json()["decision_id"]
        erased = server.ask(f"/v1/decisions/{decision_id}/erase", {"reason": "law"})
        assert (erased.json()["durability"], erased.json()["salt"]) == ("relaxed", None)


def test_questions_beyond_what_may_wait_are_shed_and_not_decided(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.decision.desk.MAX_WAITING", 0)
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle"), evaluator="regopy") as server:
        answer = server.ask("/v1/data/test/always", {"input": {}})
        assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "overloaded", "1")
        assert server.get("/v1/decisions").json()["decisions"] == []
