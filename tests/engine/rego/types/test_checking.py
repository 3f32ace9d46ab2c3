"""Types and arities: what a real `opa check` refuses, with its words and its places, and nothing that it takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.opa_cases import load_cases
from engine.rego.check.resolve import Resolver
from engine.rego.check.safety import ordered_rule
from engine.rego.check.stages import builtin_arities, function_arities
from engine.rego.errors import Location, RegoProblem, RegoSyntaxError
from engine.rego.syntax.parser import parse_module
from engine.rego.syntax.tree import Rule, Scalar, Var
from engine.rego.types.checking import check_arities, check_types
from engine.rego.types.signatures import signatures

ROOT = Path(__file__).parents[4]
CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent.parent / "check" / "compile_errors" / "types.yaml").read_text("utf-8")
)
OPA_CASES = "LICTOR_OPA_CASES"
TOKEN = re.compile(r"\w+|\"[^\"]*\"|\s+|[^\w\s]")


def sources(case: Mapping[str, Any]) -> dict[str, str]:
    return dict(case["modules"]) if "modules" in case else {"a.rego": case["module"]}


def wanted(case: Mapping[str, Any]) -> list[list[Any]]:
    """With the file in every place."""
    several = "modules" in case
    return [each if several else [each[0], "a.rego", *each[1:]] for each in case["problems"]]


def rules_of(modules: Mapping[str, str]) -> list[Rule]:
    """Resolved and ordered, without the checks of other stages."""
    parsed = [parse_module(text, file) for file, text in modules.items()]
    arities = {**builtin_arities(), **function_arities(parsed)}
    names: dict[tuple[str, ...], set[str]] = {}
    for module in parsed:
        firsts = (rule.head.ref[0] for rule in module.rules)
        found = (
            first.name if isinstance(first, Var) else first.value for first in firsts if isinstance(first, Var | Scalar)
        )
        names.setdefault(module.package, set()).update(found)
    made: list[Rule] = []
    for module in parsed:
        resolver = Resolver(module.package, module.imports, names[module.package], signatures().keys(), arities)
        made.extend(ordered_rule(resolver.rule(rule))[0] for rule in module.rules)
    return made


def problems(modules: Mapping[str, str]) -> list[RegoProblem]:
    return check_types(rules_of(modules))


def shown(found: list[RegoProblem]) -> list[list[Any]]:
    return [[each.code, each.location.row, each.location.col, each.message] for each in found]


def opa_problems(opa: str, folder: Path) -> list[list[Any]]:
    """The places are in its JSON, the whole messages only in its text. What it says twice is here once."""
    command = [opa, "check", "--max-errors", "0", "."]
    answer = subprocess.run([*command, "--format", "json"], cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        return []
    errors = json.loads(answer.stderr)["errors"]
    text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    messages = re.split(r"(?:^|\n|occurred: )[\w.]+:\d+: \w+: ", text.rstrip("\n"))[1:]
    found = zip(errors, messages, strict=True)
    places = ((e["code"], *map(e["location"].get, ("file", "row", "col")), message) for e, message in found)
    return [list(each) for each in dict.fromkeys(places)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_module_has_the_problems_of_its_case(case: dict[str, Any]):
    found = [[p.code, p.location.file, p.location.row, p.location.col, p.message] for p in problems(sources(case))]

    assert found == wanted(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_says_what_opa_says(case: dict[str, Any], opa: str, tmp_path: Path):
    for file, text in sources(case).items():
        (tmp_path / file).write_text(text, "utf-8")

    assert opa_problems(opa, tmp_path) == wanted(case)


def test_the_order_in_which_rules_are_given_changes_nothing():
    rules = rules_of({"a.rego": 'package a\np if q == "a"\nq := r\nr := 1\nf(x) := x\ns := f(q) + t\nt := "a"\n'})

    assert check_types(rules[::-1]) == check_types(rules)
    assert shown(check_types(rules)) == [
        ["rego_type_error", 2, 6, "match error\n\tleft  : number\n\tright : string"],
        [
            "rego_type_error", 6, 6,
            "plus: invalid argument(s)\n\thave: (any, string, ???)\n\twant: (x: number, y: number, z: number)",
        ],
    ]  # fmt: skip


def test_arities_alone_are_checked_without_types():
    rules = rules_of({"a.rego": 'package a\np := lower()\nq if 1 == "a"\n'})

    message = "lower: arity mismatch\n\thave: (???)\n\twant: (x: string)"
    assert check_arities(rules) == [RegoProblem("rego_type_error", message, Location("a.rego", 2, 6))]


def test_what_is_printed_is_checked():
    found = problems({"a.rego": "package a\np if { print(lower(1), input.x); true }\n"})

    message = "lower: invalid argument(s)\n\thave: (number, ???)\n\twant: (x: string, y: string)"
    assert shown(found) == [["rego_type_error", 2, 14, message]]


def test_a_call_in_a_template_string_is_checked_at_its_place():
    found = problems({"a.rego": 'package a\np := $"a{lower(1)}b"\n'})

    message = "lower: invalid argument(s)\n\thave: (number, ???)\n\twant: (x: string, y: string)"
    assert shown(found) == [["rego_type_error", 2, 10, message]]


def test_each_ref_to_a_rule_is_reported_where_it_is():
    """OPA has one place for all refs of a module to its own package: the last one."""
    found = problems({"a.rego": 'package a\nq := {"a": 1}\np := q.b\nr := q.c\n'})

    assert [(each.location.row, each.message.splitlines()[0]) for each in found] == [
        (3, "undefined ref: data.a.q.b"),
        (4, "undefined ref: data.a.q.c"),
    ]


def test_a_rule_that_needs_itself_is_anything_to_those_that_need_it():
    text = 'package a\np := 1 if q == 3\np := 2\nq := 3 if p == "a"\nq := 4\nr if p == "a"\n'

    assert problems({"a.rego": text}) == []


def test_a_set_of_a_thousand_types_of_objects_has_them_all():
    definitions = "".join(f'deny contains {{"code": "c", "n{n}": {n}}} if input.x == {n}\n' for n in range(1000))
    uses = "codes contains each.code if some each in deny\nwrong if { some each in deny; each.n == 1 }\n"
    found = problems({"a.rego": f"package a\n{definitions}{uses}"})

    keys = " ".join(sorted(json.dumps(name) for name in ["code", *(f"n{n}" for n in range(1000))]))
    assert [(each.location.row, each.message.splitlines()[-1].strip()) for each in found] == [
        (1003, f"want (one of): [{keys}]")
    ]


@pytest.mark.parametrize("folder", ["policy", "examples", "bench"])
def test_the_policies_of_the_project_have_no_problem(folder: str):
    modules = {str(path): path.read_text("utf-8") for path in sorted((ROOT / folder).rglob("*.rego"))}

    assert problems(modules) == []


@pytest.mark.skipif(not os.environ.get(OPA_CASES), reason=f"set {OPA_CASES} to the folder v1 of OPA's cases")
def test_the_modules_of_opas_cases_have_no_problem():
    cases = load_cases(Path(os.environ[OPA_CASES]))
    found = {(case.file, case.index): problems(case.modules) for case in cases}

    assert {place: each for place, each in found.items() if each} == {}


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(st.sampled_from(CASES), min_size=1, max_size=3),
    changes=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), st.booleans()), max_size=4),
)
def test_no_module_makes_the_check_fail(parts: list[dict[str, Any]], changes: list[tuple[int, int, bool]]):
    lines = [sources(part)["a.rego"].partition("\n")[2] for part in parts]
    tokens = TOKEN.findall("\n".join(lines))
    for place, other, removes in changes:
        tokens[place % len(tokens)] = "" if removes else tokens[other % len(tokens)]
    try:
        rules = rules_of({"a.rego": "package a\n" + "".join(tokens)})
    except RegoSyntaxError:
        return
    assert all(each.code == "rego_type_error" for each in check_types(rules))
