from __future__ import annotations

import json

import pytest

from engine.access.roles import Role
from tests.api.conftest import serving, write_bundle


def test_defined_document_is_the_result(served):
    answer = served.ask("/v1/data/test/echo", {"input": {"a": [1, None, "ü"]}})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["result"] == {"a": [1, None, "ü"]}
    assert set(answer.json()) == {"result", "decision_id"}


def test_false_is_a_result_and_undefined_is_none(served):
    assert served.ask("/v1/data/test/never", {"input": {}}).json()["result"] is False
    undefined = served.ask("/v1/data/test/missing", {"input": {}})
    assert (undefined.status_code, set(undefined.json())) == (200, {"decision_id"})


def test_base_document_and_package_are_documents_too(served):
    assert served.ask("/v1/data/test/numbers", {"input": {}}).json()["result"] == {"one": 1, "big": [1, 2, 3]}
    package = served.ask("/v1/data/test", {"input": {}}).json()["result"]
    assert package["always"] is True
    assert package["numbers"]["one"] == 1
    whole = served.ask("/v1/data", {"input": {}}).json()["result"]
    assert whole["test"]["never"] is False


@pytest.mark.parametrize("path", ["/v1/data", "/v1/data/", "/v0/data", "/v0/data/"])
def test_whole_document_is_answered_without_a_redirect(served, path):
    answer = served.client.post(path, json={"input": {}}, headers=served.headers(), follow_redirects=False)
    assert answer.status_code == 200
    assert answer.json().get("result", answer.json())["test"]["never"] is False


def test_missing_input_is_answered_with_opas_warning(served):
    for body in ("{}", ""):
        answer = served.client.post("/v1/data/test/always", content=body, headers=served.headers())
        assert answer.json()["result"] is True
        assert answer.json()["warning"]["code"] == "api_usage_warning"


def test_get_takes_its_input_from_the_query(served):
    answer = served.get("/v1/data/test/echo", params={"input": '{"a":1}'})
    assert answer.json()["result"] == {"a": 1}
    assert "warning" not in served.get("/v1/data/test/always").json()


def test_v0_takes_and_gives_the_bare_value(served):
    assert served.ask("/v0/data/test/echo", {"a": 1}).json() == {"a": 1}
    missing = served.ask("/v0/data/test/missing", {})
    assert missing.status_code == 404
    assert missing.json() == {
        "code": "undefined_document",
        "message": "document missing or undefined: data.test.missing",
    }


def test_evaluation_error_is_coded_and_journaled(served):
    answer = served.ask("/v1/data/test/clash", {"input": {"clash": True}})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (500, "internal_error")
    assert [error["code"] for error in body["errors"]] == ["eval_conflict_error"]
    record = served.get(f"/v1/decisions/{body['decision_id']}").json()
    assert (record["outcome"], record["error"]["code"]) == ("error", "eval_conflict_error")


def test_options_add_metrics_provenance_and_whitespace(served):
    answer = served.ask("/v1/data/test/always?metrics&provenance=true&pretty", {"input": {}})
    body = answer.json()
    assert set(body["metrics"]) == {"timer_rego_query_eval_ns", "timer_server_handler_ns"}
    assert body["provenance"]["bundles"] == {"lictor": {"revision": "test-1"}}
    assert answer.text.startswith('{\n  "')
    assert "metrics" not in served.ask("/v1/data/test/always?metrics=false", {"input": {}}).json()
    assert "\n" not in served.ask("/v1/data/test/always?pretty=false", {"input": {}}).text


def test_explain_without_a_trace_is_refused(served):
    answer = served.ask("/v1/data/test/always?explain=full", {"input": {}})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")


def test_batch_answers_each_input_under_its_id(served):
    body = {"common_input": {"a": {"x": 1, "y": 1}}, "inputs": {"one": {"a": {"y": 2}}, "two": {}, "three": 3}}
    answer = served.ask("/v1/batch/data/test/echo", body)
    assert answer.status_code == 200
    results = {name: response["result"] for name, response in answer.json()["responses"].items()}
    assert results == {"one": {"a": {"x": 1, "y": 2}}, "two": {"a": {"x": 1, "y": 1}}, "three": 3}
    one = answer.json()["responses"]["one"]["decision_id"]
    assert served.get(f"/v1/decisions/{one}").json()["batch_decision_id"] == answer.json()["batch_decision_id"]


def test_batch_that_a_common_input_blows_up_is_refused(served):
    common = {"a": "x" * 19_000}
    fits = {"common_input": common, "inputs": {str(number): {} for number in range(4)}}
    assert served.ask("/v1/batch/data/test/always", fits).status_code == 200
    too_much = {"common_input": common, "inputs": {str(number): {} for number in range(5)}}
    refused = served.ask("/v1/batch/data/test/always", too_much)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_batch_with_mixed_fates_is_207_with_a_status_each(served):
    answer = served.ask("/v1/batch/data/test/clash", {"inputs": {"good": {}, "bad": {"clash": True}}})
    assert answer.status_code == 207
    statuses = {name: response["http_status_code"] for name, response in answer.json()["responses"].items()}
    assert statuses == {"good": "200", "bad": "500"}


@pytest.mark.parametrize(
    ("path", "content", "status", "code", "words"),
    [
        ("/v1/data/test/echo", b'{"input": ', 400, "malformed_json", "body: not JSON"),
        ("/v1/data/test/echo", b'{"input": NaN}', 400, "malformed_json", "body: not JSON"),
        ("/v1/data/test/echo", b'\xff\xfe{"input": 1}', 400, "malformed_json", "body: not JSON"),
        ("/v1/data/test/echo", b"[1]", 400, "invalid_parameter", 'expected an object {"input": …}, got an array'),
        ("/v1/data/test/echo", b'"text"', 400, "invalid_parameter", "got a string"),
        ("/v1/data/test/echo", b'{"input": "' + b"x" * 20_000 + b'"}', 413, "too_large", "the limit is 20000"),
        ("/v1/data/test/echo", b'{"input": ' + b"[" * 70 + b"]" * 70 + b"}", 413, "too_large", "deeper than 64"),
        ("/v1/data/test/echo", b'{"input": ' + b"[" * 5000 + b"]" * 5000 + b"}", 413, "too_large", "deeper than 64"),
        ("/v1/data/test//echo", b"{}", 400, "invalid_parameter", "path: an empty or unprintable part"),
        ("/v1/data/" + "a" * 1100, b"{}", 413, "too_large", "path: 1100 characters"),
        ("/v0/data/test/echo", b"{", 400, "malformed_json", "body: not JSON"),
        ("/v1/batch/data/test/echo", b"{}", 400, "invalid_parameter", 'expected {"inputs"'),
        ("/v1/batch/data/test/echo", b'{"inputs": [1]}', 400, "invalid_parameter", 'expected {"inputs"'),
        (
            "/v1/batch/data/test/echo",
            b'{"inputs": {"1":1,"2":1,"3":1,"4":1,"5":1,"6":1}}',
            413,
            "too_large",
            "6 are more than the 5",
        ),
    ],
)
def test_bad_input_is_a_coded_error_that_says_what_is_expected(served, path, content, status, code, words):
    before = len(served.get("/v1/decisions?limit=500").json()["decisions"])
    answer = served.client.post(path, content=content, headers=served.headers())
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert words in answer.json()["message"]
    assert len(served.get("/v1/decisions?limit=500").json()["decisions"]) == before


def test_body_that_grows_too_large_without_saying_so_is_cut_off(served):
    chunks = (b"x" * 1000 for _ in range(30))
    answer = served.client.post("/v1/data/test/echo", content=chunks, headers=served.headers())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_compressed_body_is_refused_with_what_to_do(served):
    headers = {**served.headers(), "Content-Encoding": "gzip"}
    answer = served.client.post("/v1/data/test/echo", content=b"\x1f\x8b", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    assert "send the body as it is" in answer.json()["message"]


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/v1/data/test"), ("GET", "/v0/data/test"), ("GET", "/v1/batch/data/x")]
)
def test_other_methods_are_refused(served, method, path):
    answer = served.client.request(method, path, headers=served.headers())
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Basic dXNlcjpwYXNz", "Bearer lictor_short", f"Bearer lictor_{'0' * 32}_{'a' * 43}"],
)
def test_without_a_key_that_we_know_nothing_is_answered(served, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = served.client.post("/v1/data/test/always", json={"input": {}}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_right_id_with_a_wrong_secret_is_no_key(served):
    wrong = served.key()[:-4] + ("AAAA" if not served.key().endswith("AAAA") else "BBBB")
    answer = served.client.post("/v1/data/test/always", json={}, headers={"Authorization": f"Bearer {wrong}"})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("role", "tenant", "entrypoint", "data"),
    [
        (Role.OPERATOR, "", 200, 200),
        (Role.POLICY_AUTHOR, "", 200, 200),
        (Role.TENANT_USER, "acme", 200, 403),
        (Role.TENANT_ADMIN, "acme", 200, 403),
        (Role.AUDITOR, "", 403, 403),
        (Role.NODE_AGENT, "", 403, 403),
    ],
)
def test_each_role_may_ask_what_its_grants_say(served, role, tenant, entrypoint, data):
    asked = served.ask("/v1/data/lictor/admission", {"input": {}}, role, tenant)
    assert asked.status_code == entrypoint
    assert served.ask("/v1/data/test/numbers", {"input": {}}, role, tenant).status_code == data


def test_entrypoint_in_its_contract_is_answered_as_it_is(served):
    allowed = served.ask("/v1/data/lictor/admission", {"input": {"want": "allow"}}).json()["result"]
    assert allowed == {"outcome": "allow", "reasons": [], "obligations": []}
    queued = served.ask("/v1/data/lictor/admission", {"input": {"want": "queue"}}).json()["result"]
    assert [reason["code"] for reason in queued["reasons"]] == ["full_house"]


def test_entrypoint_that_breaks_its_contract_denies_and_names_the_field(served):
    result = served.ask("/v1/data/lictor/admission", {"input": {"want": "perhaps"}}).json()["result"]
    assert result["outcome"] == "deny"
    assert [(reason["code"], reason["kind"]) for reason in result["reasons"]] == [("contract_broken", "fault")]
    assert "outcome" in result["reasons"][0]["message"]


def test_entrypoint_that_the_bundle_lacks_denies(served):
    result = served.ask("/v1/data/lictor/entitlement", {"input": {}}).json()["result"]
    assert [(reason["code"], reason["kind"]) for reason in result["reasons"]] == [("result_undefined", "fault")]


def test_caller_brings_its_own_facts_and_the_record_says_so(served):
    asked = {"want": "allow", "tenant": {"id": "acme"}, "subject": {"id": "user:ana"}, "action": "submit_workload"}
    answer = served.ask("/v1/data/lictor/admission", {"input": asked}).json()
    record = served.get(f"/v1/decisions/{answer['decision_id']}").json()
    assert (record["facts"], record["durability"], record["replayable"]) == ("caller", "durable", True)
    assert (record["input"], record["result"]) == (asked, answer["result"])
    assert (record["tenant"], record["subject"], record["action"], record["outcome"]) == (
        "acme", "user:ana", "submit_workload", "allow",
    )  # fmt: skip
    assert record["bundles"]["lictor"]["revision"] == "test-1"


def test_masked_values_reach_neither_record_nor_index(served):
    asked = {"want": "allow", "secret": "hunter2", "card": "4111", "request": {"name": "kept"}}
    answer = served.ask("/v1/data/lictor/admission", {"input": asked}).json()
    record = served.get(f"/v1/decisions/{answer['decision_id']}").json()
    assert record["input"] == {"want": "allow", "card": "****", "request": {"name": "kept"}}
    assert (record["erased"], record["masked"], record["replayable"]) == (["/input/secret"], ["/input/card"], False)
    stored = served.runtime.store.journal.of_decision(answer["decision_id"])[0]
    assert b"hunter2" not in stored.payload
    assert b"4111" not in stored.payload


def test_mask_that_fails_denies_and_lets_nothing_be_remembered(served):
    asked = {"want": "allow", "break_the_mask": True, "secret": "hunter2", "subject": {"id": "user:ana"}}
    answer = served.ask("/v1/data/lictor/admission", {"input": asked}).json()
    assert [reason["code"] for reason in answer["result"]["reasons"]] == ["mask_failed"]
    record = served.get(f"/v1/decisions/{answer['decision_id']}").json()
    assert "input" not in record
    assert "result" not in record
    assert (record["erased"], record["subject"], record["replayable"]) == (["/input", "/result"], "", False)
    assert (record["outcome"], record["reasons"]) == ("deny", [{"code": "mask_failed", "kind": "fault"}])


def test_reason_names_the_rule_that_gave_it(served):
    result = served.ask("/v1/data/lictor/admission", {"input": {}}).json()["result"]
    assert [(reason["code"], reason["rule"]) for reason in result["reasons"]] == [
        ("not_asked_for", "lictor/admission/admission.rego:4")
    ]


def test_string_that_would_flip_a_decision_in_rego_cpp_is_only_a_string(served):
    asked = {"want": 'deny","outcome":"allow'}
    assert served.ask("/v1/data/test/echo", {"input": asked}).json()["result"] == asked


def test_string_that_would_flip_a_decision_in_rego_cpp_does_not_get_there(tmp_path):
    asked = {"want": 'deny","outcome":"allow'}
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle"), evaluator="regopy") as server:
        result = server.ask("/v1/data/lictor/admission", {"input": asked}).json()["result"]
    assert (result["outcome"], result["reasons"][0]["code"]) == ("deny", "evaluator_input")


def test_evaluation_over_its_deadline_denies_and_the_next_is_answered(tmp_path):
    slow = """package lictor.admission
outcome := "allow" if count([1 | some i in numbers.range(1, 4000); some j in numbers.range(1, 4000); i == j]) > 0
reasons := []
obligations := []
"""
    bundle = write_bundle(
        tmp_path / "bundle", {"lictor/admission/a.rego": slow, "test/t.rego": "package test\nok := true\n"}
    )
    with serving(tmp_path, bundle=bundle, evaluator_deadline_ms=200) as server:
        result = server.ask("/v1/data/lictor/admission", {"input": {}}).json()["result"]
        assert [(r["code"], r["kind"]) for r in result["reasons"]] == [("evaluator_timeout", "fault")]
        assert server.ask("/v1/data/test/ok", {"input": {}}).json()["result"] is True
        metrics = server.get("/metrics").text
    assert 'lictor_evaluator_faults_total{code="evaluator_timeout"} 1.0' in metrics


def test_answers_are_json_text_with_every_integer_exact(served):
    big = 2**62
    answer = served.ask("/v1/data/test/echo", {"input": {"n": big}})
    assert json.loads(answer.content)["result"] == {"n": big}
