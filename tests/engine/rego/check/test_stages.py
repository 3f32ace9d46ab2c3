from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.check.stages import check, check_query
from engine.rego.errors import Location, RegoProblem, RegoSyntaxError
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module, parse_query
from engine.rego.types.signatures import signatures

ROOT = Path(__file__).parents[4]
CASES = "LICTOR_OPA_CASES"
FOLDER = Path(__file__).parent / "compile_errors"


def problems(*texts: str, allowed: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    modules = [parse_module(text, f"{name}.rego") for name, text in zip("abc", texts, strict=False)]
    return [(each.code, str(each.location), each.message) for each in check(modules, allowed).problems]


def test_checked_rules_are_resolved_and_ordered():
    (rule,) = check([parse_module("package a\n\nimport data.b\n\np if { x > 1; x = b.y }", "f")]).rules

    assert [part.value for part in rule.head.ref if isinstance(part, s.Scalar)] == ["a", "p"]
    first = rule.body[0].of
    assert isinstance(first, s.Call)
    assert first.operator == ("eq",)
    assert isinstance(first.args[1], s.Ref)
    assert first.args[1].head == s.Var("data", Location("f", 5, 19))


def test_there_are_no_rules_where_there_are_problems():
    checked = check([parse_module("package a\np := 1\nq := x", "f")])

    assert checked.rules == ()
    assert checked.problems == (RegoProblem("rego_unsafe_var_error", "var x is unsafe", Location("f", 3, 6)),)


def test_the_order_of_modules_does_not_matter():
    one, other = parse_module("package a\np := x", "a.rego"), parse_module("package b\nq := y", "b.rego")

    assert check([one, other]).problems == check([other, one]).problems


def test_a_print_is_taken_out():
    (rule,) = check([parse_module("package a\np if { x := 1; print(x); x > 0 }", "f")]).rules

    assert [type(expr.of) for expr in rule.body] == [s.Call, s.Scalar, s.Call]


def test_a_query_is_checked_against_the_rules():
    rules = check([parse_module("package a\nf(x) := x\nq := 1", "f")]).rules
    checked = check_query(parse_query("y > data.a.q; y = data.a.f(2)"), rules)

    assert checked.problems == ()
    assert checked.variables == {"y": "y"}
    assert [expr.location.col for expr in checked.body] == [15, 1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("x > 1", ["var x is unsafe"]),
        ("data.a.f(1, 2, 3)", ["function data.a.f has arity 1, got 3 arguments"]),
        ("data.a.g(1)", ["undefined function data.a.g"]),
        ("x := 1; x := 2", ["var x assigned above"]),
        ("input := 1", ["variables must not shadow input (use a different variable name)"]),
        ("data.a.q with y as 1", ["with keyword target must reference existing input, data, or a function"]),
        ("any([true])", ["deprecated built-in function calls in expression: any"]),
        ("x := data.a.q", []),
        ("x = data.a.f(1); x > 0", []),
    ],
)
def test_a_query_has_the_problems_of_a_body(query: str, found: list[str]):
    rules = check([parse_module("package a\nf(x) := x\nq := 1", "f")]).rules

    assert [problem.message for problem in check_query(parse_query(query), rules).problems] == found


def test_a_cycle_of_thousands_of_rules_is_found_and_shown_in_part():
    text = "".join(f"p{n} if p{(n + 1) % 2000}\n" for n in range(2000))
    found = check([parse_module("package a\n" + text, "f")]).problems

    assert [problem.location.row for problem in found] == list(range(2, 12))
    assert found[0].message.count(" -> ") == 2000


def test_a_body_that_is_written_backwards_can_be_ordered():
    text = "\n".join(f"x{n} = x{n + 1}" for n in range(1000))
    (rule,) = check([parse_module(f"package a\np if {{\n{text}\nx1000 = 1\n}}", "f")]).rules

    assert [expr.location.row for expr in rule.body] == list(range(1003, 2, -1))


@pytest.mark.parametrize(
    "text",
    ["p := " + "1 + " * 500 + "1", "p := 1 if input.x" + " else := 2 if input.y" * 500],
    ids=["operators", "else"],
)
def test_what_is_nested_too_deeply_is_a_problem_and_no_crash(text: str):
    (problem,) = check([parse_module("package a\n" + text, "f")]).problems

    assert problem.code == "rego_compile_error"
    assert "120" in problem.message


def test_our_own_policy_has_no_problems():
    files = sorted((ROOT / "policy").rglob("*.rego"))

    assert files
    assert check([parse_module(file.read_text("utf-8"), file.name) for file in files]).problems == ()


@pytest.mark.skipif(not os.environ.get(CASES), reason=f"set {CASES} to the folder v1/test/cases/testdata/v1 of OPA")
def test_the_modules_of_opas_cases_have_no_problems_but_those_that_are_wanted():
    refused, accepted = set(), set()
    for case in _opa_cases():
        try:
            parsed = [parse_module(text, f"{n}.rego") for n, text in enumerate(case["modules"])]
        except RegoSyntaxError:
            continue
        found = check(parsed, signatures().keys()).problems
        is_wanted = str(case.get("want_error_code", "")).startswith("rego_")
        if found and not is_wanted:
            refused.add(case["note"])
        if is_wanted and not found:
            accepted.add(case["note"])

    assert refused == {"time/time caching"}, "it calls test.sleep, which only OPA's own tests have"
    assert accepted == set()


def _opa_cases() -> list[dict[str, Any]]:
    paths = sorted(Path(os.environ[CASES]).rglob("*.yaml"))
    files = [yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader) or {} for path in paths]
    return [case for file in files for case in file.get("cases") or [] if case.get("modules")]


SEEDS = [
    case["module"]
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    if "module" in case
]
WORDS = ["x", "y", "p", "q", "_", "input", "data", "1", '"a"', "[x]", "{x}", "f(x)", "x[y]", ":=", "=", "==", "some x;",
         "not ", " with input as x", "every x in [1] { x }", "[x | x]", "{x: y | y}", '$"{x}"', ".a", "contains",
         " if ", " else := x", "print(x)", "rego.metadata.rule()", "walk(x, y)", "assign(x)", "eq(x)", ";",
         "\n"]  # fmt: skip


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(10, 200), st.sampled_from(WORDS)), max_size=6))
def test_nothing_is_raised_whatever_a_module_says(text: str, changes: list[tuple[int, str]]):
    for place, word in changes:
        text = text[:place] + word + text[place + len(word) :]
    try:
        module = parse_module(text, "f")
    except RegoSyntaxError:
        return
    found = check([module])

    assert bool(found.problems) != bool(found.rules) or not module.rules
