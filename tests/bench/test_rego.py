"""The measurement of the Rego engine, in small: what is asked, that answers are compared, and what is reported."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import rego
from bench.opa_server import OpaFailed, OpaServer
from bench.rego import Disagreement, compare, require_same
from bench.rego_growth import WrongAnswer, in_turns, rules, scaling, slope
from bench.rego_sides import LictorSide
from bench.rego_workloads import SHAPE, Workload, admission, shape

POLICY_KEYS = {"lictor_us", "regopy_us", "ratio_regopy", "opa_us", "ratio_opa", "opa_handler_us"}


def answers(workload: Workload) -> list[Any]:
    side = LictorSide(workload.modules, workload.data, workload.path)
    return [json.loads(side.answer(given)) for given in workload.inputs]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.rego", *arguments], capture_output=True, text=True, timeout=300, check=False
    )


# --- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [shape, admission])
def test_inputs_are_distinct_and_the_same_in_every_run(make):
    inputs = make(1_000).inputs
    assert len(set(inputs)) == 1_000
    assert make(1_000).inputs == inputs
    assert make(10).inputs == inputs[:10]


def test_the_shape_is_that_of_the_policy_that_figures_are_known_for():
    workload = shape(1_000)
    (source,) = workload.modules.values()
    assert len(source.splitlines()) == 145
    assert 5_000 < len(json.dumps(workload.data)) < 6_000
    assert 1_200 < statistics.fmean(map(len, workload.inputs)) < 1_400


def test_every_reason_and_every_queue_of_the_shape_occurs():
    found = answers(shape(1_000))
    codes = json.loads((SHAPE / "data.json").read_text())["catalog"]["codes"]
    assert {denial["code"] for answer in found for denial in answer["denials"]} == codes.keys()
    assert {answer["queue"] for answer in found} == {"express", "regular", "spot", "none"}
    assert {grant["type"] for answer in found for grant in answer["grants"]} == {"burst", "max_runtime", "mount"}
    assert 400 < sum(answer["allow"] for answer in found) < 600


def test_every_outcome_of_the_bundle_occurs():
    assert {answer["outcome"] for answer in answers(admission(200))} == {"allow", "queue", "deny"}


def test_the_policy_is_strictly_valid(opa):
    subprocess.run([opa, "check", "--strict", SHAPE / "admission.rego"], check=True, timeout=60)
    assert subprocess.run([opa, "fmt", "-l", SHAPE], capture_output=True, check=True, timeout=60).stdout == b""


# --- answers are compared ---------------------------------------------------------------------------------------------


def test_the_order_of_keys_is_no_difference():
    require_same("a and b", b"{}", b'{"a":1,"b":[2]}', b'{"b":[2],"a":1}')


@pytest.mark.parametrize(("one", "other"), [(b"[1]", b"[2]"), (b"[1,2]", b"[2,1]"), (b"null", b""), (b"true", b"1")])
def test_different_answers_are_named_with_the_input(one, other):
    with pytest.raises(Disagreement, match=r'(?s)a and b disagree.*input {"day":1}'):
        require_same("a and b", b'{"day":1}', one, other)


def test_nothing_is_measured_where_evaluators_disagree(monkeypatch):
    monkeypatch.setattr(LictorSide, "answer", lambda *_: b'{"allow":true}')
    with pytest.raises(Disagreement, match="shape 0: lictor and regopy disagree"):
        compare("shape", shape(2), None)


# --- what is reported -------------------------------------------------------------------------------------------------


def test_all_evaluators_are_measured_on_both_policies(opa):
    figures = {name: compare(name, make(10), opa) for name, make in rego.POLICIES.items()}
    assert {name: found.keys() for name, found in figures.items()} == {"shape": POLICY_KEYS, "admission": POLICY_KEYS}
    assert all(value is not None and value > 0 for found in figures.values() for value in found.values())


def test_an_evaluator_that_is_missing_is_null(monkeypatch):
    monkeypatch.setattr(rego, "has_regopy", lambda: False)
    figures = compare("shape", shape(2), None)
    assert {name for name, value in figures.items() if value is None} == POLICY_KEYS - {"lictor_us"}


def test_the_headline_is_the_shape(opa):
    run = bench("--json", "--samples", "4", "--only", "shape", "--profile")
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert figures.keys() == POLICY_KEYS | {"shape"}
    assert {name: figures[name] for name in POLICY_KEYS} == figures["shape"]
    assert "tottime" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "0"], "0 is not a positive number"),
        (["--opa", "/no/such/opa"], "/no/such/opa is no program that can be run"),
        (["--only", "speed"], "invalid choice: 'speed'"),
    ],
)
def test_misuse_is_refused(arguments, message):
    run = bench(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr


# --- growth -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_the_slope_is_the_exponent(exponent):
    sizes = [10, 100, 1_000, 10_000]
    assert slope(sizes, [3 * size**exponent for size in sizes]) == pytest.approx(exponent)


def test_every_call_has_its_turn_in_every_round():
    seen: list[int] = []
    times = in_turns({1: lambda: seen.append(1), 2: lambda: seen.append(2)}, {1: 2, 2: 1}, 2)
    assert seen == [1, 1, 2, 1, 1, 2]
    assert {name: len(taken) for name, taken in times.items()} == {1: 2, 2: 2}


def test_the_worst_growth_is_reported():
    found = scaling(sizes=(10, 50), rounds=1)
    assert found["scaling"].keys() == {
        "partial_set", "partial_set_of_arrays", "partial_object", "set_comprehension", "object_comprehension",
    }  # fmt: skip
    assert found["scaling_exponent"] == max(found["scaling"].values())


def test_the_worst_ratio_of_rules_is_reported():
    found = rules(few=8, many=16, rounds=1)
    assert found["rules"].keys() == {
        "partial_set", "complete", "nested_input", "nested_data", "function_argument", "function_body",
    }  # fmt: skip
    assert found["rules_ratio"] == max(found["rules"].values())


@pytest.mark.parametrize("measure", [scaling, rules])
def test_what_answers_wrongly_is_not_measured(monkeypatch, measure):
    monkeypatch.setattr(LictorSide, "answer", lambda *_: b"[]")
    with pytest.raises(WrongAnswer):
        measure(rounds=1)


# --- OPA --------------------------------------------------------------------------------------------------------------


def test_opa_answers_with_its_own_timers(opa, tmp_path):
    with OpaServer(
        opa, tmp_path, {"a.rego": "package a\n\np contains input.n + data.base"}, {"base": 1}, "a/p"
    ) as server:
        timed = server.ask(b'{"n":1}')
        assert server.ask(b"{}").result == b"[]"
    assert timed.result == b"[2]"
    assert 0 < timed.eval_ns < timed.handler_ns


def test_opa_says_undefined_with_nothing(opa, tmp_path):
    with OpaServer(opa, tmp_path, {"a.rego": "package a\n\np := input.n"}, {}, "a/p") as server:
        assert server.ask(b"{}").result == b""
        assert server.ask(b'{"n":null}').result == b"null"


def test_a_policy_that_opa_refuses_is_told_at_once(opa, tmp_path):
    with pytest.raises(OpaFailed, match="OPA ended with code"), OpaServer(opa, tmp_path, {"a.rego": "no"}, {}, "a/p"):
        pass


def test_a_program_that_cannot_be_run_is_told(tmp_path: Path):
    with pytest.raises(OpaFailed, match="cannot be run"), OpaServer("/no/such/opa", tmp_path, {}, {}, "a/p"):
        pass
