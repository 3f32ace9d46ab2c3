from __future__ import annotations

import pytest

from engine.rego.check.ruletree import constant_part, is_constant, ref_text, rule_tree
from engine.rego.check.stages import check
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module

TEXT = 'package a["b-c"]\np.q := 1\np[x].r := 2 if x := input.x\np[true] := 3\np[1] := 4\nf(x) := x\np["if"] := 5'


def rules() -> list[s.Rule]:
    checked = check([parse_module(TEXT, "f")])
    assert checked.problems == ()
    return list(checked.rules)


@pytest.mark.parametrize(
    ("number", "text", "constant", "parts"),
    [
        (0, 'data.a["b-c"].p.q', True, 4),
        (1, 'data.a["b-c"].p[x].r', False, 3),
        (2, 'data.a["b-c"].p[true]', True, 4),
        (3, 'data.a["b-c"].p[1]', True, 4),
        (4, 'data.a["b-c"].f', True, 3),
        (5, 'data.a["b-c"].p["if"]', True, 4),
    ],
)
def test_the_path_of_a_rule(number: int, text: str, constant: bool, parts: int):
    ref = rules()[number].head.ref

    assert (ref_text(ref), is_constant(ref), len(list(constant_part(ref)))) == (text, constant, parts)


def test_a_rule_stands_at_the_constant_beginning_of_its_head():
    made = rules()
    tree = rule_tree(made)
    node = tree.named(["a", "b-c", "p"])

    assert node is not None
    assert node.rules == [made[1]]
    assert [each.rules for each in node.below()] == [[made[1]], [made[3]], [made[2]], [made[5]], [made[0]]]
    assert tree.named(["a", "nothing"]) is None


def test_true_and_one_are_two_keys():
    made = rules()
    found = [rule_tree(made).find(rule.head.ref) for rule in made[2:4]]

    assert [node.rules for node in found if node is not None] == [[made[2]], [made[3]]]
