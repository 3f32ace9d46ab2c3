from __future__ import annotations

import pytest

from engine.rego.check.hoisting import Hoister, Step
from engine.rego.check.unsafe import bound_by, outputs
from engine.rego.syntax.parser import parse_query


def steps(query: str) -> list[Step]:
    return Hoister().steps_of(parse_query(query))


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("x > 1", [1]),
        ("x > count(f(y))", [11, 5, 1]),
        ("x := y + z * 2", [10, 6, 1]),
        ("[1, 2][i]", [1, 1]),
        ("every x in f(y) { x }", [12, 12, 1]),
        ("q with input as f(x)", [17, 1]),
        ("q with input as x.y", [17, 1]),
        ("some x", []),
        ("[f(x) | true]", [1]),
        ('x := $"{y}"', [6, 1]),
    ],
)
def test_a_call_is_a_step_of_its_own_where_it_stands(query: str, columns: list[int]):
    assert [step.location.col for step in steps(query)] == columns


@pytest.mark.parametrize(
    ("query", "safe", "bound"),
    [
        ("x = 1", "", "x"),
        ("x = y", "", ""),
        ("x = y", "y", "x"),
        ("x := y", "x", ""),
        ("[x, y] = [1, z]", "", "x"),
        ("[x, y] = z", "z", "x y"),
        ("z = [x, y]", "x y", "z"),
        ('{"a": x} = {"a": 1}', "", "x"),
        ("{x: 1} = y", "y", ""),
        ("{x} = y", "y", ""),
        ("x = q[i]", "q", "x i"),
        ("x = q[i]", "", ""),
        ("not x = 1", "", ""),
        ("f(q[i])", "q", "i"),
        ("[x] = [[y]]", "y", "x"),
        ("x = [y | true]", "", "x"),
    ],
)
def test_what_a_step_binds(query: str, safe: str, bound: str):
    (step,) = steps(query)

    assert outputs(step, set(safe.split())) == set(bound.split())


def test_a_body_binds_in_the_order_in_which_it_is_written():
    assert bound_by(parse_query("x = 1; y = x; a = b; b = 1"), frozenset()) == {"x", "y", "b"}
