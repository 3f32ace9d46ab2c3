"""The language as it runs: small modules, exact answers, and ends within their budget."""

from __future__ import annotations

import pytest

from engine.rego.errors import EvalError, RegoSyntaxError
from engine.rego.program import run_query
from engine.rego.values import UNDEFINED, RegoSet, Value


def answer(rules: str, name: str = "p", given: Value = UNDEFINED, data: Value = None) -> Value:
    """The value of `data.t.<name>`; UNDEFINED if there is none."""
    found = run_query({"t.rego": f"package t\n\n{rules}"}, data or {}, given, f"x = data.t.{name}")
    return found[0]["x"] if found else UNDEFINED


def codes(rules: str) -> list[tuple[str, int, int]]:
    with pytest.raises(RegoSyntaxError) as caught:
        answer(rules)
    return [(problem.code, problem.location.row, problem.location.col) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("p := 1 + 2", 3),
        ("p if 1 == 1.0", True),
        ("p := x if { some x in [1, 2, 3]; x > 2 }", 3),
        ("p contains x if some x in [3, 1, 3]", RegoSet([1, 3])),
        ("p[k] := v * 2 if some k, v in {\"a\": 1, \"b\": 2}", {"a": 2, "b": 4}),
        ("p.q[x].r := x if some x in [1, 2]", {"q": {1: {"r": 1}, 2: {"r": 2}}}),
        ("p[x] contains y if { some x in [\"a\"]; some y in [1, 2] }", {"a": RegoSet([1, 2])}),
        ("p := [x | some x in [3, 1]; x != 1]", [3]),
        ("p := {k: v | some k, v in [7, 8]}", {0: 7, 1: 8}),
        ("p if every x in [1, 2] { x > 0 }", True),
        ("p if every x in [1, 2] { x > 1 }", UNDEFINED),
        ("p if not input.missing", True),
        ("default p := false\np if input.x", False),
        ("p := 1 if false\nelse := 2 if true\nelse := 3", 2),
        ("p := y if [1, y] = [1, 2]", 2),
        ("p := y if {\"a\": {\"b\": y}} = {\"a\": {\"b\": 4}}", 4),
        ("p := y if { y = x + 1; x = 2 }", 3),
        ("f(x) := x * 2\np := f(f(3))", 12),
        ("f([a, _]) := a\np := f([7, 8])", 7),
        ("p := x if x := q with input.x as 5\nq := input.x", 5),
        ("p := x if x := count([1]) with count as 9", 9),
        ("f(x) := x\ng(_) := 3\np if f(1) == 3 with f as g", True),
        ("p := $\"a {1 + 1} {input.no}\"", "a 2 <undefined>"),
        ("p := {1, 2} | {3} - {1}", RegoSet([1, 2, 3])),
        ("p := 2 in {1, 2}", True),
        ("p := [i | walk({\"a\": [1]}, [_, i]); is_number(i)]", [1]),
        ("p := 123456789012345678901234567890 + 1", 123456789012345678901234567891),
    ],
)  # fmt: skip
def test_rule_has_the_value_that_opa_gives_it(rules: str, wanted: Value):
    assert answer(rules) == wanted if wanted is not UNDEFINED else answer(rules) is UNDEFINED


def test_base_documents_and_rules_are_one_document():
    assert answer("q := 1", "q", data={"t": {"base": 2}}) == 1
    found = run_query({"t.rego": "package t\n\nq := 1"}, {"t": {"base": 2}}, UNDEFINED, "x = data.t")
    assert found == [{"x": {"q": 1, "base": 2}}]


def test_query_has_one_answer_for_each_binding():
    found = run_query({}, {"xs": [1, 2]}, UNDEFINED, "data.xs[i] = v")
    assert found == [{"i": 0, "v": 1}, {"i": 1, "v": 2}]


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("p := 1\np := 2", "eval_conflict_error"),
        ("p := x if some x in [1, 2]", "eval_conflict_error"),
        ('p["a"] := x if some x in [1, 2]', "eval_conflict_error"),
        ("f(x) := x\nf(_) := 2\np := f(1)", "eval_conflict_error"),
    ],
)
def test_rules_that_contradict_each_other_are_an_error(rules: str, code: str):
    with pytest.raises(EvalError) as caught:
        answer(rules)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("p if x > 1", [("rego_unsafe_var_error", 3, 6)]),
        ("p if not [1][i] == 1", [("rego_unsafe_var_error", 3, 6)]),
        ("p := q\nq := p", [("rego_recursion_error", 3, 1), ("rego_recursion_error", 4, 1)]),
        ("p := nothing.here(1)", [("rego_type_error", 3, 6)]),
        ("p if { x := 1; x := 2 }", [("rego_compile_error", 3, 16)]),
    ],
)
def test_module_that_cannot_be_right_is_refused_at_its_place(rules: str, wanted: list[tuple[str, int, int]]):
    assert codes(rules) == wanted


def test_iteration_without_end_is_cancelled():
    query = "count([1 | some i in numbers.range(1, 5000); some j in numbers.range(1, 5000)]) = x"
    with pytest.raises(EvalError) as caught:
        run_query({}, {}, UNDEFINED, query)
    assert caught.value.code == "eval_cancel_error"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("numbers.range(1, 1000000000) = x", []),
        (
            'regex.match("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") = x',
            [{"x": False}],
        ),
        ('count(concat("", [s | s := "x"; some i in numbers.range(1, 900000)])) = x', [{"x": 900000}]),
    ],
)
def test_builtin_is_bounded_by_itself(query: str, wanted: list[dict[str, Value]]):
    assert run_query({}, {}, UNDEFINED, query) == wanted
