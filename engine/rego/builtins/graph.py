"""Graphs as objects from a node to its neighbours, and the walk through a nested value.

`walk` is a relation: it answers many times. Here it returns the list of its answers, each `[path, value]`; whoever
compiles a call of it goes through them. RELATIONS names all that are so.
"""

from __future__ import annotations

from typing import Final

from engine.rego.builtins.operands import operand_error, operand_object
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Frozen, RegoSet, Value, freeze, get, keys_of, kind_of, thaw

RELATIONS: Final = frozenset({"walk"})
MAX_STEPS: Final = 1_000_000


@builtin("graph.reachable")
def reachable(graph: Value, initial: Value) -> RegoSet:
    edges = operand_object("graph.reachable", 1, graph)
    queue = list(map(freeze, _initial("graph.reachable", initial)))
    reached: set[Frozen] = set()
    while queue:
        node = queue.pop()
        if node in edges and node not in reached:
            reached.add(node)
            queue += map(freeze, _neighbours(edges[node]))
    return RegoSet.of_frozen(reached)


@builtin("graph.reachable_paths")
def reachable_paths(graph: Value, initial: Value) -> RegoSet:
    """Each longest path; one ends where there is no way on, or where it would meet itself."""
    edges = operand_object("graph.reachable_paths", 1, graph)
    starts = map(freeze, _initial("graph.reachable_paths", initial))
    paths: set[Frozen] = set()
    unfinished: list[tuple[Frozen, ...]] = [(node,) for node in starts if node in edges]
    size = 0
    while unfinished:
        path = unfinished.pop()
        size += len(path)
        if size > MAX_STEPS:
            raise BuiltinError(f"graph.reachable_paths: the paths are too many: more than {MAX_STEPS} steps")
        onward = list(map(freeze, _neighbours(edges[path[-1]])))
        # OPA lets the first step of a path lead back to its start: {"a": ["a"]} gives ["a", "a"].
        met = path if len(path) > 1 else ()
        if not onward or any(node in met or node not in edges for node in onward):
            paths.add(freeze(list(map(thaw, path))))
        unfinished += [(*path, node) for node in onward if node in edges and node not in met]
    return RegoSet.of_frozen(paths)


@builtin("walk")
def walk(value: Value) -> list[Value]:
    """The value itself comes first, then what it holds, depth first and in OPA's order."""
    found: list[Value] = []
    waiting: list[tuple[list[Value], Value]] = [([], value)]
    size = 0
    while waiting:
        path, item = waiting.pop()
        found.append([path, item])
        size += len(path) + 1
        if size > 10 * MAX_STEPS:
            raise BuiltinError(f"walk: the value is too large: more than {10 * MAX_STEPS} steps")
        waiting += [([*path, key], get(item, key)) for key in reversed(_keys(item))]
    return found


def _initial(name: str, value: Value) -> Value:
    if type(value) not in (list, RegoSet):
        raise operand_error(name, 2, f"must be {{array, set}} but got {kind_of(value)}")
    return value


def _neighbours(value: Value) -> Value:
    return value if type(value) in (list, RegoSet) else ()


def _keys(value: Value) -> list[Value]:
    if type(value) is list:
        return list(range(len(value)))
    if type(value) is dict:
        return keys_of(value)
    return list(value) if type(value) is RegoSet else []
