from __future__ import annotations

import pytest

from engine.rego.syntax import tree as s
from engine.rego.syntax.known_values import MOST, Known, add_known
from engine.rego.syntax.parser import parse_query


def known(query: str) -> dict[str, list[object]]:
    found: Known = {}
    for expr in parse_query(query):
        add_known(expr, found)
    return {name: [v.value for v in values if isinstance(v, s.Scalar)] for name, values in found.items()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('x := "a"', {"x": ["a"]}),
        ('"a" = x', {"x": ["a"]}),
        ('x := "a"; y := x', {"x": ["a"], "y": ["a"]}),
        ('some x in ["a", "b"]', {"x": ["a", "b"]}),
        ('some x in {"a", "b"}', {"x": ["a", "b"]}),
        ('some k, x in {"a": 1, "b": 2}', {"x": [1, 2]}),
        ('x := {"a": 1, "b": 2}["b"]', {"x": [2]}),
        ("x := [1, 2][1]", {"x": [2]}),
        ("x := [[1, 2], [3]][_][0]", {"x": [1, 3]}),
        ("x := 1; x = 2", {"x": [1]}),
        ("not x = 1", {}),
        ("x := 1 with input as 2", {}),
        ("x := input.y", {}),
        ("some x in input.xs", {}),
        ("x := [1][input.n]", {"x": [1]}),
        (f"some x in {list(range(MOST + 1))}", {}),
        (f"some x in {list(range(MOST))}", {"x": list(range(MOST))}),
    ],
)
def test_values_that_are_written_down_are_known(query: str, found: dict[str, list[object]]):
    assert known(query) == found
