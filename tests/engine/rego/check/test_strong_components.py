from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.rego.check.strong_components import strong_components


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4)))
def test_two_vertices_are_in_one_component_if_each_reaches_the_other(drawn: dict[int, list[int]]):
    edges = {vertex: drawn.get(vertex, []) for vertex in range(10)}
    found = [frozenset(component) for component in strong_components(edges)]
    reached = {vertex: _reached(vertex, edges) for vertex in edges}

    assert set(found) == {frozenset(v for v in edges if v in reached[u] and u in reached[v]) for u in edges}
    assert sorted(vertex for component in found for vertex in component) == list(range(10))


def test_a_component_comes_after_those_that_it_reaches():
    assert list(strong_components({"a": ["b"], "b": ["c", "d"], "c": ["b"], "d": []})) == [["d"], ["c", "b"], ["a"]]


def test_a_long_chain_does_not_exhaust_the_stack():
    assert len(list(strong_components({n: [n + 1] if n < 9_999 else [] for n in range(10_000)}))) == 10_000


def _reached(start: int, edges: dict[int, list[int]]) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for after in edges[waiting.pop()]:
            if after not in found:
                found.add(after)
                waiting.append(after)
    return found
