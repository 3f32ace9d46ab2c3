"""The judge of conformance, on cases of our own: what passes, what fails, and what a crash costs."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from bench.conformance import run_cases, summary
from bench.opa_cases import (
    Case,
    CasesInvalid,
    Outcome,
    Verdict,
    family_of,
    judge_error,
    judge_rows,
    load_cases,
    wanted_code,
)
from engine.rego.errors import EvalError, Location, RegoProblem, RegoSyntaxError
from engine.rego.values import UNDEFINED, RegoSet

CASES = """
cases:
  - note: sums/one
    query: data.t.p = x
    modules:
      - |
        package t
        p := input.day
    data: {day: 2024-01-02, share: 1.5}
    input: {a: 1}
    want_result:
      - x: [1, 2]
    sort_bindings: true
  - note: sums/two
    query: data.t.p
    want_error_code: eval_type_error
    want_error: operand 1 must be number
    strict_error: true
    input_term: '{"a": {1, 2}}'
    env: {COLOUR: blue}
"""


def a_case(**changes) -> Case:
    plain = Case(
        file="own/a.yaml", index=0, note="own/a", query="x = 1", modules={}, data={}, input=None, input_term=None,
        want_result=None, want_defined=None, want_error_code=None, want_error=None, sort_bindings=False, strict=False,
        env={}, family=None,
    )  # fmt: skip
    return replace(plain, **changes)


def verdict(wanted, came, **changes) -> Verdict:
    return judge_rows(a_case(want_result=wanted, **changes), came).verdict


# --- reading ----------------------------------------------------------------------------------------------------------


def test_cases_are_read_with_their_place_and_in_the_order_of_files(tmp_path):
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "b.yaml").write_text(CASES)
    (tmp_path / "jsonschema").mkdir()
    (tmp_path / "jsonschema" / "a.yaml").write_text("cases: [{note: n, query: q, want_result: []}]")
    first, one, two = load_cases(tmp_path)
    assert (first.file, first.index, first.family, first.want_result) == ("jsonschema/a.yaml", 0, "JSON schema", [])
    assert (one.file, one.index, one.note, one.family) == ("sums/b.yaml", 0, "sums/one", None)
    assert one.modules == {"test-0.rego": "package t\np := input.day\n"}
    assert one.data == {"day": "2024-01-02", "share": 1.5}
    assert (one.input, one.sort_bindings, one.strict) == ({"a": 1}, True, False)
    assert (two.index, two.strict, two.input_term, two.env) == (1, True, '{"a": {1, 2}}', {"COLOUR": "blue"})


def test_a_key_that_nobody_knows_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_text("cases: [{note: n, query: q, want_miracle: true}]")
    with pytest.raises(CasesInvalid, match="want_miracle"):
        load_cases(tmp_path)


@pytest.mark.parametrize("text", ["[1]", "cases: {}", "cases: ["])
def test_a_file_without_cases_is_refused(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(CasesInvalid, match=r"a\.yaml"):
        load_cases(tmp_path)


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(CasesInvalid, match="no YAML"):
        load_cases(tmp_path)


# --- judging ----------------------------------------------------------------------------------------------------------


def test_solutions_are_compared_without_order_and_repetition():
    assert verdict([{"x": 1}, {"x": 2}], [{"x": 2}, {"x": 1}, {"x": 2}]) is Verdict.PASSED
    assert verdict([{"x": 1}], [{"x": 1}, {"x": 2}]) is Verdict.FAILED
    assert verdict([], []) is Verdict.PASSED
    assert verdict([], [{}]) is Verdict.FAILED
    assert verdict([{"x": 1}], [{"y": 1}]) is Verdict.FAILED


def test_numbers_are_compared_exactly_and_never_with_booleans():
    assert verdict([{"x": 1}], [{"x": 1.0}]) is Verdict.PASSED
    assert verdict([{"x": True}], [{"x": 1}]) is Verdict.FAILED
    assert verdict([{"x": [0]}], [{"x": [False]}]) is Verdict.FAILED
    assert verdict([{"x": 2**63 - 1}], [{"x": float(2**63)}]) is Verdict.FAILED
    assert verdict([{"x": "1"}], [{"x": 1}]) is Verdict.FAILED


def test_sets_at_any_depth_are_sorted_arrays():
    deep = {"a": RegoSet(["b", 2, RegoSet([3, 1])])}
    assert verdict([{"x": {"a": [2, "b", [1, 3]]}}], [{"x": deep}]) is Verdict.PASSED


def test_order_of_an_array_counts_unless_bindings_are_sorted():
    assert verdict([{"x": [1, 2]}], [{"x": [2, 1]}]) is Verdict.FAILED
    assert verdict([{"x": [1, 2]}], [{"x": [2, 1]}], sort_bindings=True) is Verdict.PASSED
    assert verdict([{"x": [[1, 2]]}], [{"x": [[2, 1]]}], sort_bindings=True) is Verdict.FAILED


def test_defined_is_asked_only_where_no_result_is_wanted():
    assert judge_rows(a_case(want_defined=True), [{}]).verdict is Verdict.PASSED
    assert judge_rows(a_case(want_defined=True), []).verdict is Verdict.FAILED
    assert judge_rows(a_case(want_defined=False), []).verdict is Verdict.PASSED


def test_an_answer_where_an_error_is_wanted_fails():
    assert judge_rows(a_case(want_error_code="eval_conflict_error"), []).verdict is Verdict.FAILED
    assert judge_rows(a_case(want_error_code="eval_conflict_error", want_result=[]), []).verdict is Verdict.FAILED


def test_the_code_of_an_error_decides_and_its_words_are_told_apart():
    error = EvalError("eval_type_error", "abs: operand 1 must be number", Location("test-0.rego", 4, 2))
    case = a_case(want_error_code="eval_type_error", want_error="operand 1 must be number")
    text = "test-0.rego:4: eval_type_error: abs: operand 1 must be number"
    assert judge_error(case, error) == Outcome(Verdict.PASSED, text, message_matches=True)
    assert judge_error(replace(case, want_error="other words"), error).message_matches is False
    assert judge_error(replace(case, want_error="other words"), error).verdict is Verdict.PASSED
    assert judge_error(replace(case, want_error_code="eval_builtin_error"), error).verdict is Verdict.FAILED
    assert judge_error(a_case(want_result=[]), error).verdict is Verdict.FAILED


def test_a_code_within_the_wanted_words_counts_as_wanted():
    case = a_case(want_error="test-0.rego:4: eval_type_error: strings.any_suffix_match: operand 1")
    assert wanted_code(case) == "eval_type_error"
    assert judge_error(case, EvalError("eval_builtin_error", "")).verdict is Verdict.FAILED


def test_a_module_that_cannot_be_used_fails_where_an_evaluation_error_is_wanted():
    error = RegoSyntaxError([RegoProblem("rego_parse_error", "no", Location("test-0.rego", 1, 1))])
    assert judge_error(a_case(want_error_code="eval_type_error"), error).verdict is Verdict.FAILED


# --- families ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text", "family"),
    [
        ("cryptox509parsekeypair/a.yaml", "", "x509"),
        ("cryptosha1/a.yaml", "", None),
        ("jwtverifyrsa/a.yaml", "-----BEGIN CERTIFICATE-----", "x509"),
        ("jwtverifyrsa/a.yaml", "-----BEGIN PUBLIC KEY-----", None),
        ("graphql/a.yaml", "", "graphql"),
        ("providers-aws/a.yaml", "", "AWS"),
        ("invalidkeyerror/a.yaml", "http.send({})", "http.send"),
        ("withkeyword/a.yaml", "allow with http.send as mock", None),
        ("jsonpatch/a.yaml", "", None),
    ],
)
def test_core_is_what_belongs_to_no_family(file, text, family):
    assert family_of(file, text) == family


# --- running ----------------------------------------------------------------------------------------------------------


def pretending(modules, data, given, query, strict):
    """An engine that does what the query says."""
    if query == "die":
        os._exit(3)
    if query == "sleep":
        time.sleep(60)
    if query == "raise":
        raise KeyError("a fault of ours")
    if query == "env":
        return [{"x": os.environ.get("COLOUR")}]
    return [{"x": {} if given is UNDEFINED else given}]


def test_crashes_and_endless_cases_stop_nothing():
    queries = ["die", "a", "sleep", "raise", "env", "b"]
    cases = [
        a_case(query=query, input=query, want_result=[{"x": query}], env={"COLOUR": "env"} if query == "env" else {})
        for query in queries
    ]
    cases[-1] = replace(cases[-1], family="AWS")
    outcomes = run_cases(cases, pretending, time_limit=0.5)
    assert [(str(outcome.verdict), outcome.came) for outcome in outcomes] == [
        ("crashed", "the process died: exit code 3"),
        ("passed", '[{"x": "a"}]'),
        ("crashed", "no answer within 0.5 s"),
        ("crashed", "KeyError: 'a fault of ours'"),
        ("passed", '[{"x": "env"}]'),
        ("passed", '[{"x": "b"}]'),
    ]
    assert summary(cases, outcomes) == {
        "total": 6, "passed": 3, "failed": 0, "crashed": 3, "core_total": 5, "core_passed": 2,
        "messages_total": 0, "messages_matched": 0,
    }  # fmt: skip


def test_an_input_that_is_written_in_rego_is_evaluated_first():
    def engine(modules, data, given, query, strict):
        return [{"x": RegoSet([2, 1])}] if query == "x = {1, 2}" else [{"x": given}]

    (outcome,) = run_cases([a_case(query="input = x", input_term="{1, 2}", want_result=[{"x": [1, 2]}])], engine)
    assert outcome.verdict is Verdict.PASSED


def test_no_cases_give_no_outcomes():
    assert run_cases([], pretending) == []
