"""Safety: in which order the expressions of a body can be evaluated, and which variables nothing ever binds.

An expression is ready when all that it needs is bound; then it binds what it gives. The first ready one is taken next,
so that what the author wrote first happens first unless it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.rego import syntax as s
from engine.rego.resolve import ROOTS, all_vars, expr_vars


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


def order_body(body: s.Body, bound: frozenset[str]) -> Ordered:
    """`bound` is what the surroundings have bound already."""
    visible = bound | {var.name for expr in body for var in expr_vars(expr)}
    known, waiting = set(bound), list(body)
    done: list[s.Expr] = []
    while waiting:
        ready = next((e for e in waiting if flow_of(e, frozenset(known), visible).needs <= known), None)
        if ready is None:
            missing = [(v, e) for e in waiting for v in sorted(flow_of(e, frozenset(known), visible).needs - known)]
            return Ordered((*done, *waiting), tuple(missing))
        known |= flow_of(ready, frozenset(known), visible).gives
        waiting.remove(ready)
        done.append(ready)
    return Ordered(tuple(done), ())


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


def matching_values(one: s.Object, other: s.Object) -> list[tuple[s.Term, s.Term]] | None:
    """The values of equal constant keys; None if the keys are not constants, or not the same."""
    keys = {key.value: value for key, value in one.items if isinstance(key, s.Scalar) and isinstance(key.value, str)}
    if len(keys) != len(one.items):
        return None
    pairs = [
        (keys[key.value], value)
        for key, value in other.items
        if isinstance(key, s.Scalar) and isinstance(key.value, str) and key.value in keys
    ]
    return pairs if len(pairs) == len(other.items) else None


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
