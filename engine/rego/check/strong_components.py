"""Strongly connected components of a graph, in time linear in its size, without recursion."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def strong_components(edges: Mapping[V, Iterable[V]]) -> Iterator[list[V]]:
    """Tarjan's algorithm: each component after all that it reaches. Every vertex is a key of `edges`."""
    index: dict[V, int] = {}
    low: dict[V, int] = {}
    stack: list[V] = []
    on_stack: set[V] = set()
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            vertex, rest = work[-1]
            after = next(rest, None)
            if after is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[vertex])
                if low[vertex] == index[vertex]:
                    yield _popped(stack, on_stack, vertex)
            elif after not in index:
                index[after] = low[after] = len(index)
                stack.append(after)
                on_stack.add(after)
                work.append((after, iter(edges[after])))
            elif after in on_stack:
                low[vertex] = min(low[vertex], index[after])


def _popped(stack: list[V], on_stack: set[V], last: V) -> list[V]:
    component = []
    while True:
        component.append(stack.pop())
        on_stack.discard(component[-1])
        if component[-1] == last:
            return component
