from __future__ import annotations

from typing import Any

from engine.rego.check.stages import check
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module

ROOT = "# METADATA\n# scope: subpackages\n# title: root\npackage a\n"
INNER = """# METADATA
# scope: package
# title: inner
package a.b

# METADATA
# scope: document
# title: document

# METADATA
# title: rule
# custom:
#   n: 1
p contains VALUE

q := VALUE
"""


def value_of(term: s.Term | None) -> Any:
    match term:
        case s.Scalar(value):
            return value
        case s.Array(items):
            return [value_of(item) for item in items]
        case s.Object(pairs):
            return {value_of(key): value_of(value) for key, value in pairs}
    raise AssertionError(term)


def values(call: str) -> list[Any]:
    texts = {"a.rego": ROOT, "b.rego": INNER.replace("VALUE", call)}
    checked = check([parse_module(text, file) for file, text in texts.items()])
    assert checked.problems == ()
    return [value_of(rule.head.contains or rule.head.value) for rule in checked.rules]


def test_a_rule_is_its_own_annotation_and_an_empty_object_without_one():
    assert values("rego.metadata.rule()") == [{"scope": "rule", "title": "rule", "custom": {"n": 1}}, {}]


def test_a_chain_goes_from_the_rule_outwards():
    package = {"path": ["a", "b"], "annotations": {"scope": "package", "title": "inner"}}
    around = {"path": ["a"], "annotations": {"scope": "subpackages", "title": "root"}}

    assert values("rego.metadata.chain()") == [
        [
            {"path": ["a", "b", "p"], "annotations": {"scope": "rule", "title": "rule", "custom": {"n": 1}}},
            {"path": ["a", "b", "p"], "annotations": {"scope": "document", "title": "document"}},
            package,
            around,
        ],
        [{"path": ["a", "b", "q"]}, package, around],
    ]


def test_calls_in_nested_bodies_and_else_are_written_in_too():
    text = "package a\n# METADATA\n# title: t\np := 1 if input.x else := [x | x := rego.metadata.rule().title]"
    (rule,) = check([parse_module(text, "f")]).rules

    assert rule.otherwise is not None
    assert isinstance(rule.otherwise.head.value, s.ArrayComprehension)
    (expr,) = rule.otherwise.head.value.body
    assert isinstance(expr.of, s.Call)
    assert isinstance(expr.of.args[1], s.Ref)
    assert value_of(expr.of.args[1].head) == {"scope": "rule", "title": "t"}
