from __future__ import annotations

import pytest

from engine.rego.check.safety import ordered_query, ordered_rule
from engine.rego.check.stages import check
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module
from engine.rego.syntax.walking import within

Q = "q := [1]\nf(a) := a\n"


def rule_of(text: str) -> s.Rule:
    checked = check([parse_module("package a\n" + text + "\n" + Q, "f")])
    assert checked.problems == ()
    return checked.rules[0]


def columns(body: s.Body) -> list[int]:
    return [expr.location.col for expr in body]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("p if { x := 1; x > 0 }", [8, 16]),
        ("p if { x > 0; x = 1 }", [15, 8]),
        ("p if { x > y; y = 1; x = y }", [15, 22, 8]),
        ("p if { not q[i]; i = 0 }", [18, 8]),
        ("p if { y = [z | z := x]; x = 1; y }", [26, 8, 33]),
        ("p if { every v in [1] { v < x }; x = 2 }", [34, 8]),
        ("p if { q with input as x; x = 1 }", [27, 8]),
        ("p if { x = f(y); y = f(z); z = 1 }", [28, 18, 8]),
        ("p if { some i; not q[i]; q[i] }", [8, 26, 16]),
        ("p if { true; x > 1; input.y; x = 2; true }", [8, 21, 30, 14, 37]),
    ],
)
def test_what_is_written_first_comes_first_unless_it_has_to_wait(text: str, order: list[int]):
    assert columns(rule_of(text).body) == order


@pytest.mark.parametrize(
    ("text", "kind", "order"),
    [
        ("p := [x | x > 1; x = 2]", s.ArrayComprehension, [18, 11]),
        ("p := {x | x > 1; x = 2}", s.SetComprehension, [18, 11]),
        ("p := {x: 1 | x > 1; x = 2}", s.ObjectComprehension, [21, 14]),
        ("p if { y := [x | x > 1; x = 2]; y }", s.ArrayComprehension, [25, 18]),
        ("p if { not f([x | x > 1; x = 2]) }", s.ArrayComprehension, [26, 19]),
        ("p if { every v in [1] { x > v; x = 2 } }", s.Every, [32, 25]),
        ("p if { q with input as [x | x > 1; x = 2] }", s.ArrayComprehension, [36, 29]),
        ("p contains [x | x > 1; x = 2]", s.ArrayComprehension, [24, 17]),
        ("p := 1 if { false } else := [x | x > 1; x = 2]", s.ArrayComprehension, [41, 34]),
        ('p := $"{[x | x > 1; x = 2]}"', s.ArrayComprehension, [21, 14]),
        ("p if { y := 3; z := [x | x > y; x = 4]; z }", s.ArrayComprehension, [33, 26]),
    ],
)
def test_every_nested_body_is_ordered(text: str, kind: type, order: list[int]):
    rule = rule_of(text)
    last = rule.otherwise or rule
    found = [n for n in within(last.head.contains, last.head.value, *last.body) if isinstance(n, kind)]

    assert [columns(node.body) for node in found] == [order]  # type: ignore[union-attr]


def test_a_nested_body_relies_on_what_is_around_it():
    rule = rule_of("p if { x := 1; y := [z | z > x; z = q[_]]; y }")
    (closure,) = [node for node in within(*rule.body) if isinstance(node, s.ArrayComprehension)]

    assert columns(closure.body) == [33, 26]


def test_a_head_that_binds_what_the_body_needs_is_evaluated_in_the_body():
    rule = rule_of("p := q[i] if { not i }")

    assert isinstance(rule.head.value, s.Var)
    assert columns(rule.body) == [6, 16]


def test_a_rule_that_is_not_safe_says_so_and_is_still_there():
    (rule,) = parse_module("package a\np if { x > 1; y }", "f").rules
    made, problems = ordered_rule(rule)

    assert made == rule
    assert [(each.message, each.location.col) for each in problems] == [("var x is unsafe", 8), ("var y is unsafe", 15)]


def test_a_query_is_ordered_too():
    (rule,) = parse_module("package a\np if { x > 1; x = 2 }", "f").rules
    body, problems = ordered_query(rule.body)

    assert (columns(body), problems) == ([15, 8], [])
