from __future__ import annotations

import pytest

from engine.rego.check.stages import check
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module
from engine.rego.syntax.variables import all_vars, written_name


def rules_of(text: str) -> tuple[s.Rule, ...]:
    checked = check([parse_module(text, "f")])
    assert checked.problems == ()
    return checked.rules


def test_each_variable_has_a_name_of_its_own_even_if_one_ends_in_a_number():
    (rule,) = rules_of("package a\np if { x := 1; y := [x | x := 2]; x2 := 3; y[0] > x + x2; _ = y; _ = x }")
    names = set().union(*map(all_vars, rule.body))

    assert len(names) == 6
    assert sorted(map(written_name, names)) == ["_", "_", "x", "x", "x2", "y"]


def test_an_import_comes_before_a_rule_of_the_same_name():
    _, rule = rules_of("package a\nimport data.b.p\np := 1\nq := p")

    assert isinstance(rule.head.value, s.Ref)
    assert [part.value for part in rule.head.value.path if isinstance(part, s.Scalar)] == ["b", "p"]


def test_a_rule_comes_before_nothing_at_all():
    _, rule = rules_of("package a\np := 1\nq := p")

    assert isinstance(rule.head.value, s.Ref)
    assert [part.value for part in rule.head.value.path if isinstance(part, s.Scalar)] == ["a", "p"]


def test_one_argument_more_than_a_function_takes_is_its_result():
    rule, *_ = rules_of("package a\np if { f(1, x); x > 0 }\nf(a) := a")
    call = rule.body[0].of

    assert isinstance(call, s.Call)
    assert call.operator == ("eq",)
    assert isinstance(call.args[1], s.Call)
    assert call.args[1].operator == ("data", "a", "f")


@pytest.mark.parametrize("name", ["count", "time.now_ns"])
def test_a_builtin_that_is_replaced_is_named_and_not_called(name: str):
    rule, _ = rules_of(f"package a\np if {{ q with {name} as 1 }}\nq := count([])")
    target = rule.body[0].withs[0].target

    assert isinstance(target, s.Ref)
    assert target.path == (s.Scalar(name, target.location),)
