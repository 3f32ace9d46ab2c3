"""Safety: in which order the expressions of a body can be evaluated, and which variables nothing ever binds.

An expression is ready when all that it needs is bound; then it binds what it gives. The first ready one is taken next,
so that what the author wrote first happens first unless it cannot. `ordered_rule` does so for a rule and every body
inside of it: what comes after has no need to look for an order any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from engine.rego.check.hoisting import COMPREHENSIONS, Comprehension, needs_evaluation
from engine.rego.check.readiness import taken_in_order
from engine.rego.check.suggestions import Suggest, no_suggestion
from engine.rego.check.unsafe import UNSAFE, unsafe_bodies, unsafe_of_query
from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import MARK, ROOTS, all_vars, expr_vars, matching_values, written_name
from engine.rego.syntax.walking import branches, mapped

__all__ = [
    "Flow",
    "Ordered",
    "evaluated",
    "flow_of",
    "matching_values",
    "order_body",
    "ordered_query",
    "ordered_rule",
    "unified",
]


@dataclass(frozen=True, slots=True)
class Flow:
    """What a term or an expression must find bound, and what it binds."""

    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()

    def then(self, other: Flow) -> Flow:
        return Flow(self.needs | (other.needs - self.gives), self.gives | other.gives)


NOTHING = Flow()


@dataclass(frozen=True, slots=True)
class Ordered:
    body: s.Body
    unsafe: tuple[tuple[str, s.Expr], ...]


def ordered_rule(rule: s.Rule, suggest: Suggest = no_suggestion) -> tuple[s.Rule, list[RegoProblem]]:
    """The rule with every body in an order in which it can run, and the variables for which there is none."""
    unsafe = [problem for branch in branches(rule) for problem in unsafe_bodies(branch, suggest)]
    ordering = _Ordering()
    made = ordering.rule(rule)
    if ordering.problems and not unsafe:
        ordering = _Ordering()
        made = ordering.rule(_evaluated_in_body(rule))
    return made, unsafe or ordering.problems


def ordered_query(body: s.Body, suggest: Suggest = no_suggestion) -> tuple[s.Body, list[RegoProblem]]:
    ordering = _Ordering()
    made = ordering.body(body, frozenset(), frozenset())
    return made, unsafe_of_query(body, suggest) or ordering.problems


def _evaluated_in_body(rule: s.Rule) -> s.Rule:
    """Its refs may bind what the body needs, as in `p := q[i] if not i`: then the head's value is the body's affair."""
    head, body = rule.head, rule.body
    for part in ("contains", "value"):
        term = getattr(head, part)
        if term is not None and needs_evaluation(term):
            made = s.Var(f"{part}{MARK}1", term.location)
            same = s.Call(("eq",), (made, term), term.location, infix=True)
            body = (*body, s.Expr(same, False, (), term.location))
            head = replace(head, contains=made) if part == "contains" else replace(head, value=made)
    otherwise = _evaluated_in_body(rule.otherwise) if rule.otherwise is not None else None
    return replace(rule, head=head, body=body, otherwise=otherwise)


class _Ordering:
    def __init__(self) -> None:
        self.problems: list[RegoProblem] = []

    def rule(self, rule: s.Rule) -> s.Rule:
        head = rule.head
        bound = frozenset[str]().union(*map(all_vars, head.args or ()))
        body = self.body(rule.body, bound, bound)
        visible = bound.union(var.name for expr in body for var in expr_vars(expr))
        changed = s.Head(
            ref=tuple(self._nested(part, visible, visible) for part in head.ref),
            args=head.args,
            contains=self._nested(head.contains, visible, visible) if head.contains is not None else None,
            value=self._nested(head.value, visible, visible) if head.value is not None else None,
            location=head.location,
        )
        otherwise = self.rule(rule.otherwise) if rule.otherwise is not None else None
        return replace(rule, head=changed, body=body, otherwise=otherwise)

    def body(self, body: s.Body, bound: frozenset[str], around: frozenset[str]) -> s.Body:
        """`bound` is what can be relied on, `around` all variables of the bodies outside."""
        ordered = order_body(body, bound)
        for name, expr in ordered.unsafe:
            self.problems.append(RegoProblem(UNSAFE, f"var {written_name(name)} is unsafe", expr.location))
        visible = around | bound.union(var.name for expr in body for var in expr_vars(expr))
        return tuple(self._nested(expr, bound, visible) for expr in ordered.body)

    def _nested(self, node: Any, bound: frozenset[str], visible: frozenset[str]) -> Any:  # noqa: ANN401  its own kind
        """Nested bodies wait until all that they share with the outside is bound there."""
        if isinstance(node, s.Every):
            return self._every(node, bound, visible)
        if isinstance(node, s.Logical):
            inner = bound | (all_vars(node) & visible)
            return replace(node, operands=tuple(self.body(each, inner, visible) for each in node.operands))
        if isinstance(node, COMPREHENSIONS):
            return self._comprehension(node, bound | (all_vars(node) & visible), visible)
        return mapped(node, lambda child: self._nested(child, bound, visible))

    def _every(self, every: s.Every, bound: frozenset[str], visible: frozenset[str]) -> s.Every:
        shared = frozenset[str]().union(*map(all_vars, every.body)) & visible
        own = frozenset(var.name for var in (every.key, every.value) if var is not None)
        body = self.body(every.body, bound | shared | own, visible | own)
        return replace(every, collection=self._nested(every.collection, bound, visible), body=body)

    def _comprehension(self, term: Comprehension, bound: frozenset[str], visible: frozenset[str]) -> Comprehension:
        body = self.body(term.body, bound, visible)
        known = visible | bound.union(var.name for expr in body for var in expr_vars(expr))
        if isinstance(term, s.ObjectComprehension):
            key, value = self._nested(term.key, known, known), self._nested(term.value, known, known)
            return replace(term, key=key, value=value, body=body)
        return replace(term, head=self._nested(term.head, known, known), body=body)


def order_body(body: s.Body, bound: frozenset[str]) -> Ordered:
    """`bound` is what the surroundings have bound already."""
    visible = bound | {var.name for expr in body for var in expr_vars(expr)}
    names = [all_vars(expr) & visible for expr in body]
    known = set(bound)

    def take(number: int) -> frozenset[str] | None:
        flow = flow_of(body[number], frozenset(known & names[number]), visible)
        if not flow.needs <= known:
            return None
        known.update(flow.gives)
        return flow.gives

    taken = taken_in_order(names, take)
    if len(taken) == len(body):
        return Ordered(tuple(body[number] for number in taken), ())
    waiting = [expr for number, expr in enumerate(body) if number not in set(taken)]
    missing = [(v, e) for e in waiting for v in sorted(flow_of(e, frozenset(known), visible).needs - known)]
    return Ordered((*(body[number] for number in taken), *waiting), tuple(missing))


def flow_of(expr: s.Expr, bound: frozenset[str], visible: frozenset[str]) -> Flow:
    """`visible` are the variables of this body and those around it: the rest belongs to nested bodies."""
    flow = _flow_of(expr.of, bound, visible)
    if expr.negated:
        flow = Flow(flow.needs | (flow.gives - bound))
    for each in expr.withs:
        if not names_builtin(each.value):
            flow = evaluated(each.value, bound, visible).then(flow)
    return flow


def names_builtin(term: s.Term) -> bool:
    return isinstance(term, s.Ref) and isinstance(term.head, s.Var) and term.head.name == "$builtin"


def _flow_of(
    of: s.Term | s.SomeDeclaration | s.SomeIn | s.Every, bound: frozenset[str], visible: frozenset[str]
) -> Flow:
    match of:
        case s.SomeDeclaration():
            return NOTHING
        case s.SomeIn(key, value, collection):
            flow = evaluated(collection, bound, visible)
            for pattern in (key, value):
                if pattern is not None:
                    flow = flow.then(_matched(pattern, bound | flow.gives, visible))
            return flow
        case s.Every(_, _, collection, body):
            inner = frozenset[str]().union(*(all_vars(expr) for expr in body)) & visible
            return evaluated(collection, bound, visible).then(Flow(inner))
        case s.Call(("eq",) | ("assign",), args):
            return unified(args[0], args[1], bound, visible)
        case s.Logical(_, operands):
            return Flow(frozenset[str]().union(*(all_vars(expr) for body in operands for expr in body)) & visible)
        case _:
            return evaluated(of, bound, visible)


def unified(one: s.Term, other: s.Term, bound: frozenset[str], visible: frozenset[str]) -> Flow:
    """`one = other`: whichever side is known is matched against the other."""
    if isinstance(one, s.Array) and isinstance(other, s.Array) and len(one.items) == len(other.items):
        return _pairwise(list(zip(one.items, other.items, strict=True)), bound, visible)
    if isinstance(one, s.Object) and isinstance(other, s.Object) and len(one.items) == len(other.items):
        pairs = matching_values(one, other)
        if pairs is not None:
            return _pairwise(pairs, bound, visible)
    forward = evaluated(other, bound, visible)
    forward = forward.then(_matched(one, bound | forward.gives, visible))
    backward = evaluated(one, bound, visible)
    backward = backward.then(_matched(other, bound | backward.gives, visible))
    return forward if len(forward.needs - bound) <= len(backward.needs - bound) else backward


def _pairwise(pairs: list[tuple[s.Term, s.Term]], bound: frozenset[str], visible: frozenset[str]) -> Flow:
    flow, waiting = NOTHING, list(pairs)
    while waiting:
        known = bound | flow.gives
        flows = [unified(one, other, known, visible) for one, other in waiting]
        place = next((n for n, each in enumerate(flows) if each.needs <= known), 0)
        flow = flow.then(flows[place])
        del waiting[place]
    return flow


def _matched(pattern: s.Term, bound: frozenset[str], visible: frozenset[str]) -> Flow:
    """A value is there to be matched: unbound variables of the pattern are bound by it."""
    match pattern:
        case s.Var(name) if name not in ROOTS:
            return Flow(gives=frozenset({name}) - bound)
        case s.Array(items):
            flow = NOTHING
            for item in items:
                flow = flow.then(_matched(item, bound | flow.gives, visible))
            return flow
        case s.Object(pairs):
            flow = NOTHING
            for key, value in pairs:
                flow = flow.then(evaluated(key, bound | flow.gives, visible))
                flow = flow.then(_matched(value, bound | flow.gives, visible))
            return flow
        case _:
            return evaluated(pattern, bound, visible)


def evaluated(term: s.Term, bound: frozenset[str], visible: frozenset[str]) -> Flow:
    match term:
        case s.Scalar():
            return NOTHING
        case s.Var(name):
            return NOTHING if name in ROOTS or name in bound else Flow(frozenset({name}))
        case s.Ref(head, path):
            flow = evaluated(head, bound, visible)
            for part in path:
                known = bound | flow.gives
                is_pattern = isinstance(part, s.Var | s.Array | s.Object)
                flow = flow.then(_matched(part, known, visible) if is_pattern else evaluated(part, known, visible))
            return flow
        case s.Array(items) | s.Set(items) | s.Call(_, items):
            return _in_turn(items, bound, visible)
        case s.Object(pairs):
            return _in_turn(tuple(part for pair in pairs for part in pair), bound, visible)
        case _:
            return Flow(frozenset(all_vars(term) & visible) - bound)


def _in_turn(terms: tuple[s.Term, ...], bound: frozenset[str], visible: frozenset[str]) -> Flow:
    """A later argument may bind what an earlier one needs: `f(x, xs[x])`."""
    flow, waiting = NOTHING, list(terms)
    while waiting:
        known = bound | flow.gives
        flows = [evaluated(each, known, visible) for each in waiting]
        place = next((n for n, each in enumerate(flows) if each.needs <= known), 0)
        flow = flow.then(flows[place])
        del waiting[place]
    return flow
