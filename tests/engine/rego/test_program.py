"""A compiled program: documents by path, origins, budgets that hold, and threads that share it."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from engine.rego.errors import RegoSyntaxError
from engine.rego.program import Compiled, Limits, compile_modules
from engine.rego.run.query import OverBudget, OverDeadline
from engine.rego.values import UNDEFINED, RegoSet, Value


def program(rules: str, data: Value = None, *, with_origins: bool = False) -> Compiled:
    return compile_modules({"t.rego": f"package t\n\n{rules}"}, data or {}, with_origins=with_origins)


def value(rules: str, name: str = "p", given: Value = UNDEFINED) -> Value:
    return program(rules).evaluate(["t", name], given).value


# --- documents by path


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ([], {"t": {"p": 1, "q": {"a": [7, 8]}}, "base": {"x": {"y": 2}}}),
        (["t"], {"p": 1, "q": {"a": [7, 8]}}),
        (["t", "p"], 1),
        (["t", "q", "a"], [7, 8]),
        (["t", "q", "a", "1"], 8),
        (["t", "q", "a", "2"], UNDEFINED),
        (["t", "q", "a", "x"], UNDEFINED),
        (["t", "f"], UNDEFINED),
        (["t", "missing"], UNDEFINED),
        (["base", "x", "y"], 2),
        (["base", "x", "z"], UNDEFINED),
        (["nowhere"], UNDEFINED),
    ],
)
def test_document_is_found_by_its_path(path: list[str], wanted: Value):
    made = program('p := 1\nq := {"a": [7, 8]}\nf(x) := x\nr if false', {"base": {"x": {"y": 2}}})
    assert made.evaluate(path).value == wanted


def test_rules_lie_over_data_of_the_same_package():
    made = compile_modules({"a.rego": "package a\n\np := 1"}, {"a": {"q": 2}, "b": 3})
    assert made.evaluate(["a"]).value == {"p": 1, "q": 2}


@pytest.mark.parametrize("data", [{"t": {"p": 1}}, {"t": {"p": {}}}, {"t": 5}])
def test_rule_over_data_of_the_same_path_is_refused(data: Value):
    with pytest.raises(RegoSyntaxError) as refused:
        program("p := 1\nq[x] := 1 if some x in [1]", data)
    problem = refused.value.problems[0]
    assert (problem.code, problem.location.row) == ("rego_compile_error", 3)
    assert problem.message == "conflicting rule for data path t/p found"


# --- iteration and order


def test_objects_and_sets_are_gone_through_in_order_where_that_shows():
    assert value('p := [v | some v in {"b": 1, "a": 2}]') == [2, 1]
    assert value('p := [k | some k, _ in {"z": 0, "y": 0}]') == ["y", "z"]
    assert value("p := [x | some x in {3, 1, 2}]") == [1, 2, 3]


def test_known_key_is_looked_up_and_not_searched_for():
    # Going through the object each time would use up the budget twenty times over.
    rules = "p contains i if { some i in numbers.range(1, 100); some k, v in input.big; k == input.key; v > 0 }"
    big = {f"k{n}": n for n in range(1_000)}
    found = program(rules).evaluate(["t", "p"], {"big": big, "key": "k7"}, limits=Limits(steps=5_000))
    assert found.value == RegoSet(range(1, 101))


@pytest.mark.parametrize("depth", [1, 13, 14, 15, 20, 21, 45, 60])
def test_loops_may_be_nested_deeper_than_python_allows(depth: int):
    body = "; ".join(f"some x{n} in [{n}]" for n in range(depth))
    names = ", ".join(f"x{n}" for n in range(depth))
    wanted = list(range(depth))
    assert value(f"p := [{names}] if {{ {body} }}") == wanted
    assert value(f"p contains [{names}] if {{ {body} }}") == RegoSet([wanted])
    assert value(f"p if {{ {body} }}") is True
    assert value(f"p := [[{names}] | {body}]") == [wanted]
    assert value(f"p if not q\nq if {{ {body}; x0 == 1 }}") is True
    assert value(f"p if {{ not f(1) }}\nf(y) if {{ {body}; x0 == y }}") is True


# --- memo


def test_document_is_evaluated_once_and_anew_under_with():
    rules = """
p := [a, b, c] if {
    a := q
    b := q with input.x as 5
    c := q
}
q := input.x
"""
    assert value(rules, given={"x": 1}) == [1, 5, 1]


def test_function_that_is_called_twice_by_another_does_not_double_with_every_link():
    links = "\n".join(f"f{n}(x) := f{n + 1}(x) + f{n + 1}(x + 0)" for n in range(40))
    made = program(f"p := f0(1)\n{links}\nf40(x) := x")
    assert made.evaluate(["t", "p"], limits=Limits(steps=1_000)).value == 2**40


def test_function_remembers_true_apart_from_one():
    rules = "p := [g(true), g(1), g(1.5)]\ng(x) := [f(x), f(x)]\nf(x) := type_name(x)\nh(x) := f(x)"
    assert value(rules) == [["boolean"] * 2, ["number"] * 2, ["number"] * 2]


# --- what Python and Rego disagree about


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("1 == true", False),
        ("0 == false", False),
        ("[1] == [true]", False),
        ("{1: 2} == {true: 2}", False),
        ("1 == 1.0", True),
        ("count({1, true, 1.0})", 2),
        ("{x | some x in [1, true]} == {1}", False),
        ("true in json.unmarshal(`[1]`)", False),
        ("1 in json.unmarshal(`[true]`)", False),
        ("null == false", False),
        ('"a" in ["a"]', True),
        ("[y | some x in [1, true, 1.0]; y := 1 == x]", [True, False, True]),
        ("[y | some x in [1, true]; y := true == x]", [False, True]),
        ("[y | some x in [null, false]; y := null == x]", [True, False]),
        ("[y | some x in [false, 0]; y := 0 == x]", [False, True]),
        ('[y | some x in [true, 2, "a"]; y := 1 < x]', [False, True, True]),
    ],
)
def test_true_is_not_one(expression: str, wanted: Value):
    assert value(f"p := {expression}") == wanted


@pytest.mark.parametrize(
    "given", [UNDEFINED, None, 1, "text", [], {}, {"a": None}, {"a": "text"}, {"a": [1]}, RegoSet(["a"])]
)
def test_path_that_leads_nowhere_is_undefined(given: Value):
    assert value("p := input.a.b", given=given) is UNDEFINED
    assert value("p if not input.a.b", given=given) is True


def test_path_into_a_set_finds_its_elements():
    assert value('p := q.a\nq := {"a", "b"}') == "a"
    assert value('p := q.c\nq := {"a", "b"}') is UNDEFINED


# --- what must not change a rule


def test_names_that_look_alike_are_not_the_same():
    assert value("p := [x1, x１] if { x1 := 1; x１ := 2 }") == [1, 2]
    assert value('p if { some x1 in ["a"]; some x１ in ["b"]; x1 == x１ }') is UNDEFINED


@pytest.mark.parametrize(
    "name", ["given0", "t_1", "t_2", "h_1", "n_1", "c_1", "e_1", "found", "out", "q", "key", "value"]
)
def test_variable_may_have_any_name_that_generated_code_uses(name: str):
    body = f"{name} := 3; some i; y := input.a[i].b; not input.c[y] == {name}; every k in [1] {{ k < {name} }}"
    rules = f"f({{1, 2}}) := [{name}, y, z] if {{ {body}; z := [w | some w in [1, 2]; w < {name}] }}\np := f({{1, 2}})"
    assert value(rules, given={"a": [{"b": 1}], "c": {}}) == [3, 1, [1, 2]]


def test_name_of_a_file_is_no_code():
    made = compile_modules({"x\n    return 'forged'\n#": "package t\n\np := 1 if input.x\n"}, {})
    assert made.evaluate(["t", "p"], {"x": True}).value == 1


@pytest.mark.parametrize(
    ("rules", "given", "wanted"),
    [
        ("p if not input.missing in [1]", {}, UNDEFINED),
        ("p if not input.missing <= 1", {}, UNDEFINED),
        ('p if not startswith(input.missing, "a")', {}, UNDEFINED),
        ("p if not input.a[input.missing]", {"a": {}}, UNDEFINED),
        ("p if not [input.missing] == [1]", {}, UNDEFINED),
        ("p if not f(1) > 0\nf(x) := x if x > 100", {}, UNDEFINED),
        ("p if not f(1, 2)\nf(x) := x + 2", {}, True),
        ("p if not f(1)\nf(x) if x > 100", {}, True),
        ("p if not input.missing", {}, True),
        ("p if not input.missing == 1", {}, True),
        ("p if not input.a == input.missing", {"a": 1}, True),
    ],
)
def test_what_a_negated_call_is_given_must_be_there(rules: str, given: Value, wanted: Value):
    assert value(rules, given=given) is wanted


# --- indexes


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        ("a3", {3, 103, 105}),
        ("a17", {17, 103, 201}),
        ("none", {201}),
        (3, {100, 104, 201}),
        (True, {101, 201}),
        (1, {201}),
        (None, {102, 201}),
        (["a3"], {201}),
        (UNDEFINED, {201}),
    ],
)
def test_index_finds_what_trying_every_rule_would(action: Value, wanted: set[int]):
    rules = [f'p contains {n} if input.action == "a{n}"' for n in range(30)]
    rules += ["p contains 100 if input.action == 3", "p contains 101 if input.action == true"]
    rules += ["p contains 102 if input.action == null", 'p contains 103 if input.action in {"a3", "a17"}']
    rules += ["p contains 104 if input.action == 3.0", 'p contains 105 if { x := input.action; x == "a3" }']
    rules += ["p contains 200 if input.other", 'p contains 201 if not input.action == "a3"']
    assert value("\n".join(rules), given={} if action is UNDEFINED else {"action": action}) == RegoSet(wanted)


def test_index_of_a_function_chooses_by_its_arguments():
    clauses = "\n".join(f'f("k{n}", x) := x + {n}' for n in range(20))
    assert value(f'{clauses}\nf(k, _) := 0 if not startswith(k, "k")\np := [f("k7", 1), f("other", 1)]') == [8, 0]


def test_rule_with_else_is_tried_even_where_its_own_body_cannot_hold():
    rules = "\n".join(f'p := {n} if input.a == "x{n}"' for n in range(8))
    assert value(f'{rules}\np := 50 if input.a == "y"\nelse := 60 if input.a == "z"', given={"a": "z"}) == 60


# --- origins


ORIGINS = """
deny contains {"code": "a"} if input.a
deny contains {"code": "a"} if input.b
deny contains {"code": "c"} if input.c
passed_on contains reason if some reason in deny
level := count(deny) if input.a
level := count(deny) if input.b
default allow := false
allow if count(passed_on) == 0
by_key[key] := 1 if some key in ["x", "y"]
"""


def test_value_knows_the_rules_that_made_it():
    made = program(ORIGINS, with_origins=True)
    found = made.evaluate(["t"], {"a": True, "b": True, "c": True}).origins
    assert found.of_value({"code": "a"}) == ("t.rego:4", "t.rego:5")
    assert found.of_value({"code": "c"}) == ("t.rego:6",)
    assert found.of_value({"code": "z"}) == ()
    assert found.of_key(("t", "passed_on"), {"code": "c"}) == ("t.rego:7",)
    assert found.of_document(("t", "level")) == ("t.rego:8", "t.rego:9")
    assert found.of_document(("t", "allow")) == ("t.rego:10",)
    assert found.of_key(("t", "by_key"), "y") == ("t.rego:12",)
    assert found.of_document(("t", "by_key")) == ("t.rego:12",)
    assert found.of_document(("t", "nothing")) == ()


def test_origin_is_that_of_this_evaluation_alone():
    made = program(ORIGINS, with_origins=True)
    assert made.evaluate(["t"], {"b": True}).origins.of_value({"code": "a"}) == ("t.rego:5",)
    assert made.evaluate(["t"], {"a": True}).origins.of_value({"code": "a"}) == ("t.rego:4",)
    assert made.evaluate(["t", "allow"], {}).origins.of_document(("t", "allow")) == ("t.rego:11",)


def test_program_without_origins_has_no_code_for_them():
    assert "where" not in program(ORIGINS).source
    assert program(ORIGINS).evaluate(["t"], {"a": True}).origins.of_value({"code": "a"}) == ()


# --- bounds


MANY = "\nmany := numbers.range(1, 1000)"
LONG = '\nlong := concat("", [c | some i in numbers.range(1, 100000); c := "x"])'
ENDLESS = {
    "a product of loops": "p contains [a, b, c] if { some a in many; some b in many; some c in many }" + MANY,
    "a product in a comprehension": f"p := count([1 | some a in many; some b in many; some c in many]){MANY}",
    "a product under not": f"p if not q\nq if {{ some a in many; some b in many; some c in many; a + b == -c }}{MANY}",
    "a product under every": f"p if every a in many {{ every b in many {{ every c in many {{ a + b > -c }} }} }}{MANY}",
    "calls of functions": "p := [x | some a in many; some b in many; some c in many; x := f(a, b, c)]"
    f"\nf(a, b, c) := a + b + c{MANY}",
    "patterns": f'p := [m | some a in many; some b in many; m := regex.match("(x+x+)+y", long)]{MANY}{LONG}',
    "formats": f'p := [m | some a in many; some b in many; some c in many; m := sprintf("%1000d", [a + b])]{MANY}',
    "with in a loop": f"p := [m | some a in many; some b in many; m := q with input as [a, b]]\nq := input[0]{MANY}",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may come in a callback of gc
@pytest.mark.parametrize("rules", ENDLESS.values(), ids=ENDLESS)
def test_evaluation_ends_within_twice_its_deadline(rules: str):
    made, deadline = program(rules), 0.5
    began = time.monotonic()
    with pytest.raises(OverDeadline) as caught:
        made.evaluate(["t", "p"], {}, limits=Limits(steps=10**12, seconds=deadline))
    assert time.monotonic() - began < 2 * deadline
    assert caught.value.code == "eval_cancel_error"


HEAVY = {
    "sets of large values": "p contains [m, input.big] if some m in numbers.range(1, 1000)",
    "equality of large values": "p := count([1 | some m in numbers.range(1, 100000); input.big == input.same])",
    "keys of large objects": "p := [k | some m in numbers.range(1, 100000); k := object.keys(input.big)]",
    "sums": "p := [s | some m in numbers.range(1, 999); s := sum([y | some x in numbers.range(1, 9999); y := x / 3])]",
    "colliding numbers": "p := object.subset(input.ids, {x | some x in input.ids; x > 5})",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may come in a callback of gc
@pytest.mark.parametrize("rules", HEAVY.values(), ids=HEAVY)
def test_work_that_takes_no_steps_ends_too(rules: str):
    big = {f"key{n}": [n, {"x": n}] for n in range(20_000)}
    same = {f"key{n}": [n, {"x": n}] for n in range(20_000)}
    given = {"big": big, "same": same, "ids": [n * (2**61 - 1) for n in range(40_000)]}
    made, deadline = program(rules), 0.5
    began = time.monotonic()
    with suppress(OverBudget):
        made.evaluate(["t", "p"], given, limits=Limits(steps=10**12, seconds=deadline))
    assert time.monotonic() - began < 3 * deadline


def test_large_values_are_bounded_together():
    rules = 'p := [t | some i in numbers.range(1, 100000); t := sprintf("%900000d", [i])]'
    with pytest.raises(OverBudget, match="characters and elements in large values"):
        program(rules).evaluate(["t", "p"])


@pytest.mark.parametrize("name", ["a product of loops", "a product under every", "calls of functions"])
def test_evaluation_ends_when_its_steps_are_used_up(name: str):
    with pytest.raises(OverBudget, match="more steps than its budget"):
        program(ENDLESS[name]).evaluate(["t", "p"], {}, limits=Limits(steps=100_000))


def test_doubling_a_text_ends_where_it_gets_too_long():
    links = "\n".join(f'p{n} := concat("", [p{n - 1}, p{n - 1}])' for n in range(1, 64))
    assert value(f'p0 := "xxxxxxxx"\n{links}', "p63") is UNDEFINED


def test_squaring_a_number_ends_where_it_gets_too_large():
    links = "\n".join(f"p{n} := p{n - 1} * p{n - 1}" for n in range(1, 64))
    assert value(f"p0 := 10\n{links}", "p63") is UNDEFINED
    assert value(f"p0 := 10\n{links}", "p5") == 10**32


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("numbers.range(1, 1000000000)", UNDEFINED),
        ('sprintf("%999999999d", [1])', "%!(NOVERB)%!(EXTRA int64=1)"),
        (f'sprintf("{"%900000d" * 19}", numbers.range(1, 19))', UNDEFINED),
        ('regex.match("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")', False),
    ],
)
def test_builtin_that_would_take_all_memory_has_no_answer(expression: str, wanted: Value):
    found = value(f"p := {expression}")
    assert found is UNDEFINED if wanted is UNDEFINED else found == wanted


def test_rules_that_lean_on_each_other_too_deeply_are_over_budget():
    links = "\n".join(f"p{n} := p{n + 1} + 1" for n in range(1_500))
    with pytest.raises(OverBudget, match="nested more deeply"):
        value(f"{links}\np1500 := 0", "p0")


@pytest.mark.parametrize("rules", ["p contains input", "p := {input: 1}", "p if [input] == [input[0]]"])
def test_values_that_are_too_deep_are_over_budget_and_nothing_worse(rules: str):
    deep: Value = [1]
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(OverBudget, match="nested more deeply"):
        program(rules).evaluate(["t", "p"], deep)


def test_comprehensions_inside_of_each_other_compile_in_time():
    assert value(f"p := {'[x | x := ' * 25}1{']' * 25}", "p") == _nested_in_arrays(25)


def _nested_in_arrays(depth: int) -> Value:
    made: Value = 1
    for _ in range(depth):
        made = [made]
    return made


def test_rule_that_python_cannot_take_is_refused():
    body = "; ".join(f"some x{n} in [{n}]" for n in range(110))
    with pytest.raises(RegoSyntaxError, match="too large to be compiled"):
        program(f"p if {{ {body} }}")


def test_limits_default_to_none_but_steps():
    assert Limits().seconds == math.inf


def test_threads_share_a_program():
    made = program("p := [x, y] if { some x in input.xs; x > 2; y := q }\nq := sum(input.xs)", with_origins=True)

    def ask(number: int) -> Value:
        return [made.evaluate(["t", "p"], {"xs": [number % 3, 3 + number]}).value for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(40)))
    assert answers == [[[3 + n, 3 + n + n % 3]] * 50 for n in range(40)]
