"""Real workers throughout: what is tested is how we live with regopy, so a fake of it would prove nothing."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.bundle.content import Bundle, Module
from engine.errors import BundleInvalid, Problem
from engine.evaluator import regopy_pool
from engine.evaluator.port import (
    NO_INPUT,
    Defined,
    Evaluation,
    EvaluationError,
    Evaluator,
    NoInput,
    Policy,
    Question,
    Undefined,
)
from engine.evaluator.regopy_pool import FAST_PATHS, RegopyEvaluator, RegopyPolicy
from engine.evaluator.regopy_process import WorkerDiedError, WorkerProcess
from engine.jsontext import JsonValue

PATIENT_S = 30.0
"""For waits that end early when all is well, on a machine that may be busy."""

RULES = r"""package t

echo := input
no := false
nothing := null
unknown := 1 if input.missing
conflict := 1 if true
conflict := 2 if true
decision := {"effect": "deny", "message": input.m}
ordered := {10, 9, 100, "b", "a", null, true, [2], [1, 5], {"x": 1}, {3}}
keys := {1: "a", null: "b", [1, 2]: "c"}
twins := {1: "a", "1": "b"}
quoted := sprintf("pool \"%s\"\nis full", ["a"])
huge := 1e400
double(x) := x * 2
doubled := double(input.n)
broken := nosuch(1)
loop_a := loop_b
loop_b := loop_a
hang := count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a == b])
"""

ADMISSION = """package lictor.admission

default outcome := "deny"
outcome := "allow" if input.gpus <= data.limits.gpus
reasons contains {"code": "too_many"} if input.gpus > data.limits.gpus
"""

DATA: dict[str, JsonValue] = {"limits": {"gpus": 4}, "lictor": {"note": "é"}, "xs": [10, [20, 30]], "odd key": {"0": 1}}


def bundle(*sources: str, data: dict[str, JsonValue] | None = None) -> Bundle:
    modules = tuple(Module(f"m{index}.rego", source) for index, source in enumerate(sources))
    return Bundle("r1", "sha256:0", ("",), modules, (), data or {})


def ask(policy: Policy, path: str, value: JsonValue | NoInput = NO_INPUT) -> Evaluation:
    return policy.evaluate(Question(path, value, 0, "seed"))


def code_of(evaluation: Evaluation) -> str:
    return evaluation.code if isinstance(evaluation, EvaluationError) else type(evaluation).__name__


def exactly(evaluation: Evaluation) -> str:
    """As text, where `false` is not `0` and `1` is not `1.0`."""
    return json.dumps(evaluation.value, sort_keys=True) if isinstance(evaluation, Defined) else repr(evaluation)


def problems_of(loaded: Bundle) -> tuple[Problem, ...]:
    with pytest.raises(BundleInvalid) as refused:
        RegopyEvaluator(workers=1).load(loaded)
    return refused.value.problems


def wait_until(holds: Callable[[], bool]) -> None:
    tick = threading.Event()
    until = time.monotonic() + PATIENT_S
    while not holds():
        assert time.monotonic() < until, "it did not come true in time"
        tick.wait(0.005)


def ended(pid: int) -> bool:
    """Gone altogether: a zombie still answers."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def cpu_ticks(pid: int) -> int:
    """Time that the process has used, in hundredths of a second: it rises while a worker evaluates."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.fixture(scope="module")
def policy() -> Iterator[RegopyPolicy]:
    loaded = RegopyEvaluator(workers=2, deadline_s=PATIENT_S, wait_s=PATIENT_S).load(
        bundle(RULES, ADMISSION, data=DATA)
    )
    yield loaded
    loaded.close()


@pytest.fixture
def make_policy() -> Iterator[Callable[..., RegopyPolicy]]:
    made: list[RegopyPolicy] = []

    def make(*, workers: int = 1, deadline_s: float = 0.5, wait_s: float = PATIENT_S) -> RegopyPolicy:
        evaluator = RegopyEvaluator(workers=workers, deadline_s=deadline_s, wait_s=wait_s)
        made.append(evaluator.load(bundle(RULES)))
        return made[-1]

    yield make
    for loaded in made:
        loaded.close()


def test_evaluator_and_policy_fit_the_port(policy: RegopyPolicy):
    evaluator: Evaluator = RegopyEvaluator()
    loaded: Policy = policy
    assert loaded.blocking is True
    assert evaluator is not None


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("t/echo", {"a": [1, 1.5, None, True, "é"]}, Defined({"a": [1, 1.5, None, True, "é"]})),
        ("t/echo", None, Defined(None)),
        ("t/echo", False, Defined(False)),
        ("t/echo", NO_INPUT, Undefined()),
        ("t/no", NO_INPUT, Defined(False)),
        ("t/nothing", NO_INPUT, Defined(None)),
        ("t/unknown", {}, Undefined()),
        ("t/doubled", {"n": 21}, Defined(42)),
        ("t/double", NO_INPUT, Undefined()),
        ("t/double/x", NO_INPUT, Undefined()),
        ("t/absent", NO_INPUT, Undefined()),
        ("absent/path", NO_INPUT, Undefined()),
        ("limits/gpus", NO_INPUT, Defined(4)),
        ("/limits//gpus/", NO_INPUT, Defined(4)),
        ("xs/1/0", NO_INPUT, Defined(20)),
        ("odd key/0", NO_INPUT, Defined(1)),
        ("lictor/admission", {"gpus": 5}, Defined({"outcome": "deny", "reasons": [{"code": "too_many"}]})),
        ("lictor/admission/outcome", {"gpus": 4}, Defined("allow")),
        ("lictor/cotenancy", {}, Undefined()),
        ("system/log/mask", {}, Undefined()),
        ("lictor", {"gpus": 1}, Defined({"note": "é", "admission": {"outcome": "allow", "reasons": []}})),
        ("t/ordered", NO_INPUT, Defined([None, True, 9, 10, 100, "a", "b", [1, 5], [2], {"x": 1}, [3]])),
        ("t/keys", NO_INPUT, Defined({"1": "a", "null": "b", "[1,2]": "c"})),
        ("t/quoted", NO_INPUT, Defined('pool "a"\nis full')),
    ],
)
def test_question_gets_its_exact_answer(
    policy: RegopyPolicy, path: str, value: JsonValue | NoInput, expected: Evaluation
):
    assert exactly(ask(policy, path, value)) == exactly(expected)


def test_empty_path_gives_base_documents_and_rules_together():
    loaded = RegopyEvaluator(workers=1, deadline_s=PATIENT_S).load(
        bundle(
            "package a.b\nrule := input.x\nf(x) := x",
            "package c\nunknown := 1 if input.no",
            data={"a": {"k": 1}, "d": [1]},
        )
    )
    try:
        assert ask(loaded, "", {"x": 2}) == Defined({"a": {"b": {"rule": 2}, "k": 1}, "c": {}, "d": [1]})
    finally:
        loaded.close()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("t/conflict", EvaluationError("eval_conflict_error", "complete rules must not produce multiple outputs")),
        ("t/broken", EvaluationError("evaluator_output", "Function not found: nosuch")),
        ("t/loop_a", EvaluationError("rego_recursion_error", "Recursion detected in rule body: data.t.loop_a")),
        ("t/twins", EvaluationError("evaluator_output", "the answer: two keys of an object are both written '1'")),
        ("t/huge", EvaluationError("evaluator_output", "the answer: 1e400 is no number that JSON can hold")),
    ],
)
def test_fault_of_a_rule_is_a_coded_error(policy: RegopyPolicy, path: str, expected: EvaluationError):
    assert ask(policy, path) == expected


def test_input_of_one_question_never_reaches_the_next(policy: RegopyPolicy):
    for _ in range(4):
        assert ask(policy, "t/echo", {"secret": 1}) == Defined({"secret": 1})
        assert ask(policy, "t/echo") == Undefined()


def test_forged_string_is_refused_and_never_flips(policy: RegopyPolicy):
    forged = 'x","effect":"allow'
    assert ask(policy, "t/decision", {"m": forged}) == EvaluationError(
        "evaluator_input", "input.m: the string has a double quote, which regopy cannot read exactly; remove it"
    )
    assert ask(policy, "t/decision", {"m": "x"}) == Defined({"effect": "deny", "message": "x"})


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"request": {"name": 'a"b'}}, "input.request.name"),
        ({"a": ["ok", "a\\b"]}, "input.a[1]"),
        ({"a": "line\nbreak"}, "input.a"),
        ({"a": "nul\x00"}, "input.a"),
        ({"a": "\ud800"}, "input.a"),
        ({"a": {'"': 1}}, "input.a"),
        ({"a": 2**63}, "input.a"),
        ({"a": -(2**63) - 1}, "input.a"),
        ({"a": 0.0000001}, "input.a"),
        ({"a": 1e22}, "input.a"),
        ({"a": float("nan")}, "input.a"),
    ],
)
def test_unreadable_input_is_refused_with_its_place(policy: RegopyPolicy, value: JsonValue, place: str):
    answer = ask(policy, "t/echo", value)
    assert isinstance(answer, EvaluationError)
    assert answer.code == "evaluator_input"
    assert answer.message.startswith(f"{place}: ")


@pytest.mark.parametrize("path", ['t"]', "t/echo\\", "t\n", 't/x"] == 1; data["t'])
def test_path_that_could_be_code_is_refused(policy: RegopyPolicy, path: str):
    assert code_of(ask(policy, path)) == "evaluator_input"


@pytest.mark.parametrize("path", ["t/echo] == 1", "t/x; y := 1", "t/data.t.no", "t/{x}"])
def test_path_that_looks_like_code_is_only_a_name(policy: RegopyPolicy, path: str):
    assert ask(policy, path) == Undefined()


STRINGS = st.text(st.characters(exclude_categories=()), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.integers(-1000, 1000).map(lambda n: n / 8) | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(value=JSON)
def test_any_input_is_echoed_exactly_or_refused(policy: RegopyPolicy, value: JsonValue):
    match ask(policy, "t/echo", value):
        case Defined(echoed):
            assert echoed == value
            assert json.dumps(echoed, sort_keys=True) == json.dumps(value, sort_keys=True)
        case EvaluationError(code, _):
            assert code in {"evaluator_input", "evaluator_output"}
        case other:
            pytest.fail(f"{value!r} became {other!r}")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('upper("a\\nb")', "evaluator_output"),
        ('substring("a\\"b", 0, 2)', "evaluator_output"),
        ('strings.reverse("a\\nb")', "evaluator_output"),
        ('regex.replace("a-b", "-", "\\"")', "evaluator_output"),
        ('[lower("A"), "say \\"a\\""]', "evaluator_output"),
        ('$`"{1}"`', "evaluator_output"),
        ('lower("ABC")', "Defined"),
        ('concat("\\n", ["a", "b"])', "Defined"),
    ],
)
def test_string_made_by_a_rule_is_exact_or_an_error(expression: str, expected: str):
    loaded = RegopyEvaluator(workers=1, deadline_s=PATIENT_S).load(bundle(f"package t\nv := {expression}"))
    try:
        assert code_of(ask(loaded, "t/v")) == expected
    finally:
        loaded.close()


def test_hanging_rule_is_stopped_and_the_next_question_answered(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(deadline_s=1.0)
    before = loaded.pids
    assert ask(loaded, "t/hang") == EvaluationError("evaluator_timeout", "stopped after 1.0 s")
    assert ended(before[0])
    assert ask(loaded, "t/no") == Defined(False)
    assert loaded.pids != before


def test_worker_killed_during_an_evaluation_is_reported_and_replaced(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(deadline_s=PATIENT_S)
    (pid,) = loaded.pids
    with ThreadPoolExecutor(1) as thread:
        idle = cpu_ticks(pid)
        asked = thread.submit(ask, loaded, "t/hang")
        wait_until(lambda: cpu_ticks(pid) > idle + 10)
        os.kill(pid, signal.SIGKILL)
        answer = asked.result(PATIENT_S)
    assert answer == EvaluationError("evaluator_died", "the worker ended with signal SIGKILL")
    assert ask(loaded, "t/no") == Defined(False)


def test_worker_killed_while_idle_does_not_spoil_the_next_question(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(deadline_s=PATIENT_S)
    (pid,) = loaded.pids
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ask(loaded, "t/no") == Defined(False)
    assert pid not in loaded.pids


def test_question_while_all_workers_are_busy_is_refused(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(deadline_s=PATIENT_S, wait_s=0.05)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask, loaded, "t/hang")
        wait_until(lambda: not loaded._free._idle)
        assert code_of(ask(loaded, "t/no")) == "evaluator_busy"
        loaded.close()
        assert code_of(asked.result(PATIENT_S)) == "evaluator_died"


def test_eight_threads_each_get_their_own_answers(policy: RegopyPolicy):
    def run(thread: int) -> list[Evaluation]:
        return [ask(policy, "t/echo", {"thread": thread, "turn": turn}) for turn in range(25)]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(run, range(8)))
    assert answers == [[Defined({"thread": thread, "turn": turn}) for turn in range(25)] for thread in range(8)]


def test_worker_that_dies_at_every_start_is_not_restarted_in_a_rush(
    make_policy: Callable[..., RegopyPolicy], monkeypatch: pytest.MonkeyPatch
):
    starts: list[float] = []

    class Counted(WorkerProcess):
        def __init__(self) -> None:
            starts.append(time.monotonic())
            super().__init__()

    loaded = make_policy(wait_s=1.0)
    monkeypatch.setattr(regopy_pool, "WorkerProcess", Counted)
    loaded._load = b"L{}"
    os.kill(loaded.pids[0], signal.SIGKILL)
    assert code_of(ask(loaded, "t/no")) in {"evaluator_busy", "evaluator_died"}
    assert code_of(ask(loaded, "t/no")) == "evaluator_busy"
    loaded.close()
    assert 1 <= len(starts) <= 4
    assert loaded.pids == ()


def test_close_leaves_no_process_and_may_be_repeated(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(workers=3)
    pids = loaded.pids
    assert len(pids) == 3
    loaded.close()
    loaded.close()
    assert [pid for pid in pids if not ended(pid)] == []
    assert ask(loaded, "t/no") == EvaluationError("evaluator_died", "the policy is closed")


def test_close_during_an_evaluation_ends_it(make_policy: Callable[..., RegopyPolicy]):
    loaded = make_policy(deadline_s=PATIENT_S)
    pids = loaded.pids
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask, loaded, "t/hang")
        wait_until(lambda: not loaded._free._idle)
        loaded.close()
        assert code_of(asked.result(PATIENT_S)) == "evaluator_died"
    assert ended(pids[0])
    assert loaded.pids == ()


CRASHING = """package t

other := {"a": 2}
ok if input.a == 2
v if {
    ok with input as other
}
"""


def test_bundle_that_crashes_the_compiler_is_invalid():
    first, second = problems_of(bundle(CRASHING))
    assert (first.code, first.message) == (
        "evaluator_died",
        "regopy's compiler ended with signal SIGABRT on this bundle",
    )
    assert (second.code, second.file, second.row, second.col) == ("evaluator_died", "m0.rego", 6, 8)


def test_parse_errors_of_all_modules_have_their_places():
    found = problems_of(bundle("package a\nv := {", "package ok\nv := 1", "package b\n# é\nw = := 2\n"))
    assert [(p.code, p.file, p.row, p.col, p.message) for p in found] == [
        ("rego_parse_error", "m0.rego", 2, 6, "this is unclosed"),
        ("rego_parse_error", "m0.rego", 1, 1, "this is unclosed"),
        ("rego_parse_error", "m2.rego", 3, 3, "Invalid assignment operator"),
        ("rego_parse_error", "m2.rego", 3, 5, "Invalid assignment operator"),
    ]


def test_refused_builtins_unreadable_data_and_parse_errors_come_together():
    found = problems_of(bundle("package a\nv := time.now_ns()", "package b\nv := {", data={"x": {"y": ['"', 2**63]}}))
    assert [(p.code, p.file, p.row, p.col) for p in found][:4] == [
        ("data_unreadable", "", 0, 0),
        ("data_unreadable", "", 0, 0),
        ("builtin_refused", "m0.rego", 2, 6),
        ("rego_parse_error", "m1.rego", 2, 6),
    ]
    assert [p.message.split(":")[0] for p in found[:2]] == ["data.x.y[0]", "data.x.y[1]"]
    assert "time comes in input" in found[2].message


def raw_worker(source: str) -> WorkerProcess:
    """A worker without the pool's checks, to see what its own bounds are."""
    worker = WorkerProcess()
    worker.hello(PATIENT_S)
    load = {
        "modules": [source],
        "data": "{}",
        "keys": [],
        "entrypoints": FAST_PATHS,
        "escapes": True,
        "alarm_s": PATIENT_S,
    }
    assert worker.ask(b"L" + json.dumps(load).encode(), PATIENT_S) == b"P[]"
    return worker


def raw_ask(worker: WorkerProcess, alarm_s: float) -> bytes:
    header = {"segments": ["t", "v"], "alarm_s": alarm_s}
    return worker.ask(b"A" + json.dumps(header).encode() + b"\n", PATIENT_S)


def test_environment_inside_a_worker_is_empty(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LICTOR_TEST_SECRET", "hush")
    worker = raw_worker("package t\nv := opa.runtime().env")
    try:
        assert raw_ask(worker, PATIENT_S) == b"V{}"
        started_with = Path(f"/proc/{worker.pid}/environ").read_bytes()
        assert [entry.split(b"=")[0] for entry in started_with.split(b"\0") if entry] == [b"PYTHONPATH"]
    finally:
        worker.dispose()


def test_orphaned_worker_ends_itself_inside_the_library():
    worker = raw_worker(RULES.replace("hang :=", "v :="))
    try:
        with pytest.raises(WorkerDiedError):
            raw_ask(worker, 0.2)
    finally:
        worker.dispose()
    assert worker.end() == "signal SIGALRM"


def test_worker_whose_parent_is_gone_ends():
    worker = raw_worker("package t\nv := 1")
    worker._in.close()
    try:
        wait_until(lambda: not worker.alive())
        assert worker.end() == "exit status 0"
    finally:
        worker.dispose()


def test_memory_of_a_worker_is_bounded():
    worker = raw_worker("package t\nv := 1")
    try:
        limits = Path(f"/proc/{worker.pid}/limits").read_text()
    finally:
        worker.dispose()
    (address_space,) = [line.split() for line in limits.splitlines() if line.startswith("Max address space")]
    assert address_space[3] != "unlimited"
