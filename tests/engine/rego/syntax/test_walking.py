from __future__ import annotations

from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module
from engine.rego.syntax.walking import branches, children, mapped, mapped_rule, parts_of, rule_nodes, within

TEXT = """package a
import future.keywords.or
p[x].q contains {"k": [x, {y}], z: f(1)} if {
    some x, y in input.a
    some z
    every k, v in [u | u := x[_]; not u] { k != v with input.b as {w: 1 | w := {1 | true}} }
    x or {y; z}
    t := $"a{x + 1}b"
}
f(x, [y]) := 1 if x else := {i | i := 2}
"""


def rules() -> tuple[s.Rule, ...]:
    return parse_module(TEXT, "f").rules


def test_a_copy_with_the_same_parts_is_the_same():
    for rule in rules():
        assert mapped_rule(rule, lambda node: node) == rule
        for node in rule_nodes(rule):
            assert mapped(node, lambda child: child) == node


def test_every_kind_of_node_is_walked():
    kinds = {type(node) for rule in rules() for branch in branches(rule) for node in rule_nodes(branch)}

    assert kinds == {
        s.Scalar, s.Var, s.Ref, s.Array, s.Object, s.Set, s.ArrayComprehension, s.SetComprehension,
        s.ObjectComprehension, s.Call, s.TemplateString, s.Logical, s.SomeDeclaration, s.SomeIn, s.Every,
        s.With, s.Expr,
    }  # fmt: skip


def test_a_node_comes_before_its_parts_and_they_come_in_the_order_of_the_text():
    (rule,) = parse_module("package a\np if f(x, [y]).z", "f").rules
    (expr,) = rule.body
    nodes = list(within(expr))

    assert [type(node) for node in nodes] == [s.Expr, s.Ref, s.Call, s.Var, s.Array, s.Var, s.Scalar]
    assert children(nodes[2]) == (nodes[3], nodes[4])


def test_refs_and_calls_are_found_wherever_they_stand():
    (rule,) = parse_module("package a\np := [x | f(x.y)] if input.z", "f").rules

    assert [type(part) for part in parts_of(rule)] == [s.Call, s.Ref, s.Ref]


def test_branches_are_the_rule_and_its_elses():
    *_, rule = rules()

    assert list(branches(rule)) == [rule, rule.otherwise]
