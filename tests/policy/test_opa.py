"""The same files in real OPA: accepted, their tests green, and the same answer to every question."""

from __future__ import annotations

import json
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from engine.jsontext import JsonValue
from tests.policy.case_tables import Case
from tests.policy.conftest import Ask
from tests.policy.starter import POLICY, all_cases

PATHS = sorted({case.path for case in all_cases()})

# One question each, asked of every document in one run.
ASKING = "package asking\n" + "".join(
    f"""
answers[number] := answer if {{
	some number, question in input
	question.path == "{path}"
	answer := data.{path.replace("/", ".")} with input as question.input
}}
"""
    for path in PATHS
)


def _run(*arguments: str) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_opa_accepts_the_bundle_strictly(opa: str) -> None:
    assert _run(opa, "check", "--strict", "--bundle", str(POLICY)) == ""


def test_bundle_is_formatted_as_opa_formats(opa: str) -> None:
    assert _run(opa, "fmt", "--list", str(POLICY)) == ""


def test_tests_beside_the_rules_pass_in_opa(opa: str) -> None:
    report = json.loads(_run(opa, "test", "--format", "json", "--bundle", str(POLICY)))
    written = [
        line.split(" ")[0]
        for file in POLICY.rglob("*_test.rego")
        for line in file.read_text().splitlines()
        if line.startswith("test_")
    ]
    assert sorted(result["name"] for result in report) == sorted(written)
    assert [result["name"] for result in report if result.get("fail") or result.get("error")] == []


def test_every_case_has_the_same_answer_in_opa(opa: str, ask: Ask, tmp_path: Path) -> None:
    _compare(opa, ask, tmp_path, [(case.path, case.input) for case in all_cases()])


def test_every_damaged_input_has_the_same_answer_in_opa(opa: str, ask: Ask, tmp_path: Path) -> None:
    """Undefined values are where evaluators part: every field of the first case of each table, spoilt in four ways."""
    first = {case.path: case for case in reversed(all_cases())}
    damaged = [question for case in first.values() for question in _damaged(case)]
    assert len(damaged) > 300
    _compare(opa, ask, tmp_path, damaged)


def _compare(opa: str, ask: Ask, tmp_path: Path, questions: list[tuple[str, JsonValue]]) -> None:
    module, asked = tmp_path / "asking.rego", tmp_path / "questions.json"
    module.write_text(ASKING)
    numbered = {str(number): {"path": path, "input": value} for number, (path, value) in enumerate(questions)}
    asked.write_text(json.dumps(numbered))
    command = [opa, "eval", "--format", "raw", "--strict-builtin-errors", "--bundle", str(POLICY)]
    answers = json.loads(_run(*command, "--data", str(module), "--input", str(asked), "data.asking.answers"))
    for number, (path, value) in enumerate(questions):
        assert ask(path, value) == answers.get(str(number)), f"{path} of {json.dumps(value)}"


def _damaged(case: Case) -> list[tuple[str, JsonValue]]:
    spoilt: list[JsonValue] = [None, [], "text", {}]
    made = [(case.path, value) for value in spoilt]
    for steps in _steps_of(case.input):
        for replacement in ("missing", None, "some text", -1):
            whole: Any = deepcopy(case.input)
            holder = whole
            for step in steps[:-1]:
                holder = holder[step]
            if replacement == "missing":
                del holder[steps[-1]]
            else:
                holder[steps[-1]] = replacement
            made.append((case.path, whole))
    return made


def _steps_of(value: object) -> list[tuple[Any, ...]]:
    children: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        children = list(value.items())
    if isinstance(value, list):
        children = list(enumerate(value))
    return [steps for key, child in children for steps in [(key,), *((key, *rest) for rest in _steps_of(child))]]


@pytest.mark.parametrize("path", PATHS)
def test_opa_answers_the_document_itself(path: str, opa: str, ask: Ask, tmp_path: Path) -> None:
    """Without our asking module in between: the query that a user would type."""
    case = next(case for case in all_cases() if case.path == path)
    asked = tmp_path / "input.json"
    asked.write_text(json.dumps(case.input))
    query = "data." + path.replace("/", ".")
    answer = _run(opa, "eval", "--format", "raw", "--bundle", str(POLICY), "--input", str(asked), query)
    assert json.loads(answer) == ask(case.path, case.input)
