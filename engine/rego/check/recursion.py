"""Rules that need themselves, directly or through others.

A ref to a package needs all that is below it. So that a few of those among thousands of rules stay cheap, the nodes of
the rule tree are part of the graph, and paths are looked for only where there is a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Final, TypeAlias

from engine.rego.check.ruletree import RuleNode, key_of, ref_text
from engine.rego.check.strong_components import strong_components
from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.known_values import MOST, Known, add_known, values_of
from engine.rego.syntax.variables import all_vars
from engine.rego.syntax.walking import Node, branches, children, head_terms

MOST_REPORTED: Final = 10
"""As many errors as OPA shows; each of them names the whole cycle."""


@dataclass(frozen=True, slots=True, eq=False)
class _Clause:
    """A rule or one of its `else` branches; the branches have the head of their rule."""

    rule: s.Rule
    owner: s.Rule


_Vertex: TypeAlias = _Clause | RuleNode
_Edges: TypeAlias = dict[_Vertex, bool]
"""What a vertex needs, and whether it surely does: not only if a variable has a certain value."""


def recursion_problems(rules: Sequence[s.Rule], tree: RuleNode) -> list[RegoProblem]:
    graph = _Graph(rules, tree)
    found = [clause for clause in graph.clauses if clause in graph.cyclic]
    return [graph.problem(clause) for clause in islice(found, MOST_REPORTED)]


@dataclass(slots=True)
class _Graph:
    rules: Sequence[s.Rule]
    tree: RuleNode
    clauses: list[_Clause] = field(default_factory=list)
    cyclic: dict[_Vertex, int] = field(default_factory=dict)
    """Those on a cycle, and the number of their component."""
    _edges: dict[_Vertex, _Edges] = field(default_factory=dict)
    _of_rule: dict[int, list[_Clause]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rule in self.rules:
            made = [_Clause(branch, rule) for branch in branches(rule)]
            self._of_rule[id(rule)] = made
            self.clauses.extend(made)
        for node in self.tree.below():
            self._edges[node] = dict.fromkeys([*self._clauses_of(node.rules), *node.children.values()], True)
        for clause in self.clauses:
            self._edges[clause] = self._needs(clause)
        for number, component in enumerate(strong_components(self._edges)):
            if len(component) > 1 or component[0] in self._edges[component[0]]:
                self.cyclic.update(dict.fromkeys(component, number))

    def problem(self, clause: _Clause) -> RegoProblem:
        sure = self._way(clause, surely=True)
        way = sure or self._way(clause, surely=False)
        shown = " -> ".join(ref_text(each.owner.head.ref) for each in way)
        word = "is" if sure else "may be"
        message = f"rule {ref_text(clause.owner.head.ref)} {word} recursive: {shown}"
        return RegoProblem("rego_recursion_error", message, clause.rule.location)

    def _way(self, start: _Clause, *, surely: bool) -> list[_Clause]:
        """The shortest one from `start` back to itself."""
        came: dict[_Vertex, _Vertex] = {}
        layer: list[_Vertex] = [start]
        while layer and start not in came:
            layer = [
                after for here in layer for after in self._after(here, start, surely)
                if after not in came and came.setdefault(after, here) is here
            ]  # fmt: skip
        if start not in came:
            return []
        way: list[_Vertex] = [start, came[start]]
        while way[-1] is not start:
            way.append(came[way[-1]])
        return [vertex for vertex in reversed(way) if isinstance(vertex, _Clause)]

    def _after(self, here: _Vertex, start: _Clause, surely: bool) -> list[_Vertex]:
        component = self.cyclic[start]
        edges = self._edges[here].items()
        return [to for to, sure in edges if self.cyclic.get(to) == component and (sure or not surely)]

    def _needs(self, clause: _Clause) -> _Edges:
        found: _Edges = {}
        before: set[str] = set().union(*map(all_vars, clause.rule.head.args or ()))
        known: Known = {}
        for expr in clause.rule.body:
            self._add_needs(_uses(expr), known, before, found)
            before |= all_vars(expr) if not isinstance(expr.of, s.SomeDeclaration) else set()
            add_known(expr, known)
        self._add_needs(_uses(*head_terms(clause.rule.head)), known, before, found)
        return found

    def _add_needs(self, nodes: Iterable[object], known: Known, bound: set[str], found: _Edges) -> None:
        for node in nodes:
            for vertex, sure in self._needed_by(node, known, bound):
                found[vertex] = sure or found.get(vertex, False)

    def _needed_by(self, node: object, known: Known, bound: set[str]) -> Iterator[tuple[_Vertex, bool]]:
        match node:
            case s.Call(("data", *path), _, location):
                yield from self._selected(self.tree, tuple(s.Scalar(part, location) for part in path), 0, bound, True)
            case s.Ref(s.Var("data"), path):
                narrowed = list(islice(_narrowed(path, known), MOST + 1))
                surely = len(narrowed) == 1
                for each in narrowed if len(narrowed) <= MOST else (path,):
                    yield from self._selected(self.tree, each, 0, bound, surely)
            case s.Var("data"):
                yield self.tree, True

    def _selected(
        self, node: RuleNode, path: tuple[s.Term, ...], at: int, bound: set[str], surely: bool
    ) -> Iterator[tuple[_Vertex, bool]]:
        if at == len(path):
            yield node, surely
            return
        part = path[at]
        if isinstance(part, s.Scalar):
            child = node.child(part)
            children = [child] if child is not None else []
        else:
            children = list(node.children.values())
            surely = surely and isinstance(part, s.Var) and part.name not in bound and _once(part.name, path)
        for each in children:
            for clause in self._clauses_of(rule for rule in each.rules if _may_meet(rule.head.ref, path, at + 1)):
                yield clause, surely
            yield from self._selected(each, path, at + 1, bound, surely)

    def _clauses_of(self, rules: Iterable[s.Rule]) -> list[_Clause]:
        return [clause for rule in rules for clause in self._of_rule[id(rule)]]


def _uses(*nodes: Node) -> Iterator[Node]:
    """Everything below them but the heads of refs, which mean nothing alone."""
    waiting: list[Node] = [*nodes]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, s.Ref) and isinstance(node.head, s.Var):
            waiting.extend(node.path)
        else:
            waiting.extend(children(node))


def _once(name: str, path: tuple[s.Term, ...]) -> bool:
    return sum(isinstance(part, s.Var) and part.name == name for part in path) == 1


def _may_meet(ref: tuple[s.Term, ...], path: tuple[s.Term, ...], start: int) -> bool:
    """Whether nothing constant tells them apart after `start`."""
    return all(
        key_of(one) == key_of(other)
        for one, other in zip(ref[start:], path[start:], strict=False)
        if isinstance(one, s.Scalar) and isinstance(other, s.Scalar)
    )


def _narrowed(path: tuple[s.Term, ...], known: Mapping[str, tuple[s.Term, ...]]) -> Iterator[tuple[s.Term, ...]]:
    """The path with the values of variables that are known, one for each combination of them."""
    if not known or not any(isinstance(part, s.Var) for part in path):
        return iter((path,))
    choices = [(values_of(part, dict(known)) or (part,)) if isinstance(part, s.Var) else (part,) for part in path]
    return product(*choices)
