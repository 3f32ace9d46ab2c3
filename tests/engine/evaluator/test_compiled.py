"""The port on our own engine: values, undefined and coded errors, never an exception."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.bundle.content import Bundle
from engine.bundle.source import bundle_of
from engine.errors import BundleInvalid, SettingsInvalid
from engine.evaluator.compiled import CompiledEvaluator
from engine.evaluator.port import NO_INPUT, Defined, Evaluation, EvaluationError, Question, Undefined

RULES = """package t

echo := input
set contains x if some x in input
nothing if input.missing
clash := 1 if input.clash
clash := 2 if input.clash
slow := count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i == -j])
chance := [rand.intn("a", 1000000), uuid.rfc4122("b"), time.now_ns()]
env := opa.runtime().env.HOME
deny contains {"code": "a"} if input.a
deny contains {"code": "a"} if input.b
shown := [reason | some reason in deny]
"""


def bundle(rules: str = RULES.replace("env := opa.runtime().env.HOME\n", ""), **files: str) -> Bundle:
    return bundle_of({"t/t.rego": rules.encode(), **{name: text.encode() for name, text in files.items()}})


def ask(path: str, given: object = NO_INPUT, *, seed: str = "s", **options: float) -> Evaluation:
    policy = CompiledEvaluator(**options).load(bundle())  # type: ignore[arg-type]
    return policy.evaluate(Question(path, given, 7, seed))  # type: ignore[arg-type]


def test_value_is_given_as_json_has_it():
    assert ask("t/echo", {"a": ['x","y":"z', 2**70, 0.1]}) == Defined({"a": ['x","y":"z', 2**70, 0.1]})
    assert ask("t/set", ["b", "a", True, 1]) == Defined([True, 1, "a", "b"])
    assert ask("t/echo/a/1", {"a": [1, 2]}) == Defined(2)


def test_undefined_is_told_apart_from_null_and_false():
    assert ask("t/nothing", {}) == Undefined()
    assert ask("t/echo") == Undefined()
    assert ask("t/echo", None) == Defined(None)
    assert ask("t/echo", False) == Defined(False)
    assert ask("nowhere/at/all", {}) == Undefined()


def test_error_has_its_code_and_place():
    wanted = "t/t.rego:7:1: complete rules must not produce multiple outputs"
    assert ask("t/clash", {"clash": True}) == EvaluationError("eval_conflict_error", wanted)


def test_over_its_deadline_or_budget_it_is_stopped():
    stopped = ask("t/slow", {}, deadline_s=0.05)
    assert isinstance(stopped, EvaluationError)
    assert stopped.code == "evaluator_timeout"
    spent = ask("t/slow", {}, steps=10_000)
    assert spent == EvaluationError("evaluator_budget", "the evaluation took more steps than its budget allows")


def test_time_and_chance_are_those_of_the_question():
    assert ask("t/chance", {}) == ask("t/chance", {})
    assert ask("t/chance", {}) != ask("t/chance", {}, seed="other")
    first = ask("t/chance", {})
    assert isinstance(first, Defined)
    assert isinstance(first.value, list)
    assert first.value[2] == 7


def test_answer_knows_which_rules_made_its_parts():
    found = ask("t/shown", {"a": True, "b": True})
    assert isinstance(found, Defined)
    assert found.rules_of({"code": "a"}) == ("t/t.rego:10", "t/t.rego:11")
    assert found.rules_of({"code": "b"}) == ()


def test_all_problems_are_told_at_once_with_the_line_and_a_hint():
    broken = {"a.rego": "package a\n\np := x\n", "b.rego": 'package b\n\nq if stratswith(input.y, "z")\n'}
    with pytest.raises(BundleInvalid) as refused:
        CompiledEvaluator().load(bundle_of({name: text.encode() for name, text in broken.items()}))
    found = [(problem.code, problem.file, problem.row, problem.col) for problem in refused.value.problems]
    assert found == [("rego_unsafe_var_error", "a.rego", 3, 6), ("rego_type_error", "b.rego", 3, 6)]
    assert refused.value.problems[1].excerpt == (
        '    q if stratswith(input.y, "z")\n         ^\nhint: did you mean `startswith`?'
    )


def test_mistake_in_a_test_is_told_and_its_rules_are_no_part_of_the_program():
    good, wrong = b"package t\n\np := 1\n", b"package t_test\n\ntest_p if data.t.p == y\n"
    with pytest.raises(BundleInvalid, match="1 problem in the rules"):
        CompiledEvaluator().load(bundle_of({"t.rego": good, "t_test.rego": wrong}))
    right = b"package t_test\n\ntest_p if data.t.p == 1\n"
    policy = CompiledEvaluator().load(bundle_of({"t.rego": good, "t_test.rego": right}))
    assert policy.evaluate(Question("t_test/test_p", {}, 0, "")) == Undefined()


def test_environment_is_refused_unless_it_is_permitted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "here")
    with pytest.raises(BundleInvalid) as refused:
        CompiledEvaluator().load(bundle(RULES))
    assert "LICTOR_ALLOWED_BUILTINS" in refused.value.problems[0].message
    policy = CompiledEvaluator(allowed_builtins=["opa.runtime"]).load(bundle(RULES))
    assert policy.evaluate(Question("t/env", {}, 0, "")) == Defined("here")


def test_network_cannot_be_permitted():
    with pytest.raises(SettingsInvalid, match=r"http\.send cannot be permitted; expected: opa\.runtime"):
        CompiledEvaluator(allowed_builtins=["http.send"])


def test_defect_of_the_engine_is_a_coded_error(monkeypatch: pytest.MonkeyPatch):
    policy = CompiledEvaluator().load(bundle())
    monkeypatch.setattr("engine.evaluator.compiled.plain", lambda _: 1 // 0)
    found = policy.evaluate(Question("t/echo", {}, 0, ""))
    assert isinstance(found, EvaluationError)
    assert found.code == "evaluator_failed"


def test_threads_ask_one_policy():
    policy = CompiledEvaluator().load(bundle())
    with ThreadPoolExecutor(8) as pool:
        asked = [Question("t/set", [n, n + 1], 0, "") for n in range(200)]
        assert list(pool.map(policy.evaluate, asked)) == [Defined([n, n + 1]) for n in range(200)]
    policy.close()
