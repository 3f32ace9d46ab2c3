"""Every case of `compile_errors/`: what we find is what the case says, and where OPA finds it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.rego.check.stages import check
from engine.rego.errors import RegoProblem, RegoSyntaxError
from engine.rego.syntax.parser import parse_module

FOLDER = Path(__file__).parent / "compile_errors"
CASES: list[dict[str, Any]] = [
    {**case, "id": f"{path.stem}-{case['name']}"}
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
]


def modules_of(case: Mapping[str, Any]) -> dict[str, str]:
    return dict(case["modules"]) if "modules" in case else {"a.rego": case["module"]}


def expected(case: Mapping[str, Any], part: str = "problems") -> set[tuple[str, str, int, int, str]]:
    """Code, file, row, column, message; the file is the first one where a case does not say.

    `problems` are what OPA finds; `more` is what OPA would tell only after those are mended.
    """
    first = next(iter(modules_of(case)))
    return {
        (code, place[0] if len(place) == 3 else first, place[-2], place[-1], message)
        for code, *place, message in case.get(part, ())
    }


def found(modules: Mapping[str, str]) -> tuple[RegoProblem, ...]:
    try:
        return check([parse_module(text, file) for file, text in modules.items()]).problems
    except RegoSyntaxError as error:
        return error.problems


def test_no_two_cases_have_the_same_name():
    names = [case["id"] for case in CASES]

    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_has_these_problems_and_no_others(case: dict[str, Any]):
    problems = found(modules_of(case))

    places = {(p.code, p.location.file, p.location.row, p.location.col, p.message) for p in problems}
    assert places == expected(case) | expected(case, "more")
    assert [p.location for p in problems] == sorted(p.location for p in problems)


def test_the_codes_and_places_are_those_of_the_real_opa(opa: str, tmp_path: Path):
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda n: opa_places(opa, tmp_path / str(n), modules_of(CASES[n])), range(len(CASES))))
    theirs = {case["id"]: answer for case, answer in zip(CASES, answers, strict=True)}
    ours = {case["id"]: _comparable(case, theirs[case["id"]]) for case in CASES}

    assert ours == theirs


Places = set[tuple[str, str, int, int]]


def opa_places(opa: str, folder: Path, modules: Mapping[str, str]) -> Places:
    """A place that OPA does not know is 0:0."""
    folder.mkdir()
    for file, text in modules.items():
        (folder / file).write_text(text, "utf-8")
    command = [opa, "check", "--max-errors", "0", "--format", "json", *modules]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    errors = json.loads(answer.stderr)["errors"] if answer.returncode else []
    return {(each["code"], *_place(each.get("location") or {})) for each in errors}


def _place(location: Mapping[str, Any]) -> tuple[str, int, int]:
    return location.get("file", ""), location.get("row", 0), location.get("col", 0)


def _comparable(case: Mapping[str, Any], theirs: Places) -> Places:
    """Ours, without the place of what OPA does not place."""
    unplaced = {code for code, _, row, _ in theirs if row == 0}
    return {
        (code, "", 0, 0) if code in unplaced else (code, file, row, col) for code, file, row, col, _ in expected(case)
    }
