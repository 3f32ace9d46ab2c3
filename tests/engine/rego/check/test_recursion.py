from __future__ import annotations

import pytest

from engine.rego.check.stages import check
from engine.rego.syntax.parser import parse_module


def messages(text: str) -> list[str]:
    return [problem.message for problem in check([parse_module("package a\n" + text, "f")]).problems]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p if data.a[input.x]", ["rule data.a.p may be recursive: data.a.p -> data.a.p"]),
        ("p if { x := input.x; data.a[x] }", ["rule data.a.p may be recursive: data.a.p -> data.a.p"]),
        ("p if { x := input.x; data.a[x]; p }", ["rule data.a.p is recursive: data.a.p -> data.a.p"]),
        ("p if data.a[_]", ["rule data.a.p is recursive: data.a.p -> data.a.p"]),
        ('p if { x := {"k": "p"}; data.a[x.k] }', ["rule data.a.p may be recursive: data.a.p -> data.a.p"]),
        ('p if { some x in ["q"]; data.a[x] }\nq := 1', []),
        ('p if { some x in {"k": "q"}; data.a[x] }\nq := 1', []),
        ('p if { xs := ["q", "p"]; x := xs[0]; data.a[x] }\nq := 1', []),
    ],
)
def test_a_cycle_that_a_value_decides_on_is_only_possible(text: str, found: list[str]):
    assert messages(text) == found


def test_the_shortest_way_is_shown():
    text = "p if q\np if r\nq if r\nr if p"

    assert messages(text)[1] == "rule data.a.p is recursive: data.a.p -> data.a.r -> data.a.p"
