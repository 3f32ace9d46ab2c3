"""Generated modules: nothing but values and coded errors, the same however they are written, and the same as OPA's."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.opa_cases import Case, load_cases
from engine.rego.errors import EvalError, RegoSyntaxError
from engine.rego.program import UNLIMITED, Compiled, Limits, compile_modules
from engine.rego.run.plain import plain
from engine.rego.run.query import OverBudget
from engine.rego.values import UNDEFINED, Value, equal
from tests.engine.rego.generated import NOTHING, Module, written
from tests.engine.rego.rearranged import mutated, renamed, reordered, reordered_text

CASES: Final = "LICTOR_OPA_CASES"
SEEDS: Final = st.integers(0, 2**48)
"""Of modules: a failing one is told by its seed."""
CONFLICT: Final = "eval_conflict_error"
READY_S: Final = 30.0

Answer: TypeAlias = tuple[str, Value]
"""`value` and it, `undefined` and nothing, or `error` and its code."""

slow = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
with_cases = pytest.mark.skipif(not os.environ.get(CASES), reason=f"{CASES} names no folder with OPA's YAML cases")


# --- ours


@slow
@given(SEEDS)
def test_generated_modules_end_in_values_or_coded_errors(seed):
    answers(written(Random(seed)))


@slow
@given(SEEDS)
def test_mutated_modules_end_in_values_or_coded_errors(seed):
    random = Random(seed)
    module = written(random)
    changed = {file: mutated(source, random) for file, source in module.sources.items()}
    program = compiled(changed, module.data)
    if program is not None:
        answers_of(program, module)


@slow
@given(SEEDS)
def test_order_of_rules_and_of_expressions_does_not_matter(seed):
    random = Random(seed)
    module = written(random)
    assert_same_values(answers(module), answers(reordered(module, random)))


@slow
@given(SEEDS)
def test_names_of_packages_and_variables_do_not_matter(seed):
    module = written(Random(seed))
    assert_same_values(answers(module), answers(renamed(module)))


@slow
@given(SEEDS)
def test_keeping_origins_and_asking_again_change_nothing(seed):
    module = written(Random(seed))
    program = compiled(module.sources, module.data)
    if program is not None:
        first = answers_of(program, module)
        assert_same(first, answers_of(program, module))
        traced = compile_modules(module.sources, module.data, with_origins=True)
        assert_same(first, answers_of(traced, module))


@slow
@given(SEEDS, st.integers(0, 50))
def test_a_small_budget_stops_an_evaluation_or_changes_nothing(seed, steps):
    module = written(Random(seed))
    program = compiled(module.sources, module.data)
    if program is None:
        return
    for name, whole in answers_of(program, module).items():
        found = ended(program, [module.package, name], input_of(module), Limits(steps=steps))
        if found != ("error", OverBudget("").code):
            assert_same({name: whole}, {name: found})


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Of OPA, those of the core that have modules."""
    return [case for case in load_cases(Path(os.environ[CASES])) if case.modules and case.family is None]


@with_cases
@settings(slow, max_examples=400, print_blob=False)
@given(place=st.integers(0, 10_000), seed=SEEDS)
def test_mutated_cases_of_opa_end_in_values_or_coded_errors(cases, place, seed):
    case, random = cases[place % len(cases)], Random(seed)
    program = compiled({file: mutated(text, random) for file, text in case.modules.items()}, case.data)
    if program is not None:
        ended(program, [], case_input(case))


@with_cases
@settings(slow, max_examples=200)
@given(place=st.integers(0, 10_000), seed=SEEDS)
def test_order_of_rules_in_cases_of_opa_does_not_matter(cases, place, seed):
    case, random = cases[place % len(cases)], Random(seed)
    program = compiled(case.modules, case.data)
    if program is None:
        return
    turned = compile_modules({file: reordered_text(text, random) for file, text in case.modules.items()}, case.data)
    given_input = case_input(case)
    one, other = ({"data": ended(each, [], given_input)} for each in (program, turned))
    assert_same_values(one, other)


# --- against OPA


class Opa:
    """A real `opa run --server`, whose policies and data change from question to question."""

    def __init__(self, program: str, folder: Path) -> None:
        port = _free_port()
        command = [program, "run", "--server", "--addr", f"127.0.0.1:{port}", "--log-level", "error"]
        self._process = subprocess.Popen(
            [*command, "--disable-telemetry"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_S)
        self._wait()

    def close(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait(READY_S)

    def takes(self, module: Module) -> bool:
        """Whether OPA compiles it; if so, it can be asked for."""
        self._exchange("DELETE", "/v1/policies/t.rego", "")
        self._exchange("PUT", "/v1/data", json.dumps(module.data))
        sent = [self._exchange("PUT", f"/v1/policies/{file}", text) for file, text in module.sources.items()]
        return all(status == http.client.OK for status, _ in sent)

    def answer(self, path: str, module: Module) -> Answer:
        body = {} if module.input is NOTHING else {"input": module.input}
        status, told = self._exchange("POST", f"/v1/data/{path}", json.dumps(body))
        if status != http.client.OK:
            return "error", told["errors"][0]["code"]
        return ("value", told["result"]) if "result" in told else ("undefined", None)

    def _exchange(self, method: str, path: str, body: str) -> tuple[int, Any]:
        self._connection.request(method, path, body.encode())
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else {}

    def _wait(self) -> None:
        until = time.monotonic() + READY_S
        while True:
            try:
                self._exchange("GET", "/health", "")
            except (OSError, http.client.HTTPException):
                self._connection.close()
                if self._process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return


@pytest.fixture(scope="module")
def server(opa: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opa]:
    running = Opa(opa, tmp_path_factory.mktemp("opa"))
    yield running
    running.close()


@settings(slow, max_examples=150)
@given(seed=SEEDS)
def test_opa_gives_the_same_answers(server, seed):
    """Of what both take. Where an evaluation has a conflict, OPA may not get that far, and may get further."""
    module = written(Random(seed))
    program = compiled(module.sources, module.data)
    if not server.takes(module) or program is None:
        return
    ours = answers_of(program, module)
    theirs = {name: server.answer(f"{module.package}/{name}", module) for name in module.names}
    judged = [name for name in ours if ("error", CONFLICT) not in (ours[name], theirs[name])]
    assert_same({name: theirs[name] for name in judged}, {name: as_json(ours[name]) for name in judged})


# --- asking and comparing


def compiled(sources: Mapping[str, str], data: Value) -> Compiled | None:
    """None if the modules are refused."""
    try:
        return compile_modules(sources, data)
    except RegoSyntaxError as error:
        codes = {problem.code for problem in error.problems}
    assert all(code.startswith("rego_") for code in codes)
    return None


def answers(module: Module) -> dict[str, Answer]:
    program = compiled(module.sources, module.data)
    return answers_of(program, module) if program is not None else {}


def answers_of(program: Compiled, module: Module) -> dict[str, Answer]:
    return {name: ended(program, [module.package, name], input_of(module)) for name in module.names}


def ended(program: Compiled, path: Sequence[str], given_input: Value, limits: Limits = UNLIMITED) -> Answer:
    try:
        value = program.evaluate(path, given_input, limits=limits).value
    except EvalError as error:
        code = error.code
    else:
        return ("undefined", None) if value is UNDEFINED else ("value", value)
    assert code.startswith("eval_")
    return "error", code


def as_json(found: Answer) -> Answer:
    return ("value", plain(found[1])) if found[0] == "value" else found


def case_input(case: Case) -> Value:
    return UNDEFINED if case.input is None else case.input


def input_of(module: Module) -> Value:
    return UNDEFINED if module.input is NOTHING else module.input


def assert_same(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> None:
    """To the last value, with true told from 1."""
    assert one.keys() == other.keys()
    for name, wanted in one.items():
        assert equal(list(wanted), list(other[name])), f"{name}: {wanted} is not {other[name]}"


def assert_same_values(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> None:
    """Except for those that end in an error: which one comes first, and whether any does, is a question of order."""
    names = [name for name in one if "error" not in (one[name][0], other[name][0])]
    assert_same({name: one[name] for name in names}, {name: other[name] for name in names})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
