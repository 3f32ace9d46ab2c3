"""What OPA takes out of an expression before it negates it.

`not f(input.x)` is itself undefined where `input.x` is: only the call is negated, what it is given is evaluated before.
Taken out is every call inside of another, every ref or comprehension that is an argument, and refs inside of composites
and brackets. What stays is the outermost call, or a ref by itself; so do the two sides of `=` and `==`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS

_COMPREHENSIONS: Final = (s.ArrayComprehension, s.SetComprehension, s.ObjectComprehension)
_EQUALITIES: Final = {("eq",), ("equal",), ("assign",)}

Statement = s.Term | s.SomeDeclaration | s.SomeIn | s.Every


class TakenOut:
    """The terms to evaluate first, and the expression with variables in their places."""

    def __init__(self, of: Statement, fresh: Callable[[], str]) -> None:
        self._fresh = fresh
        self.terms: list[tuple[s.Var, s.Term]] = []
        self.rest = self._statement(of)

    def _statement(self, of: Statement) -> Statement:
        if isinstance(of, s.Call):
            return self._call(of)
        return self._side(of) if isinstance(of, s.Ref | s.Array | s.Set | s.Object) else of

    def _call(self, call: s.Call) -> s.Call:
        if call.operator not in _EQUALITIES:
            return replace(call, args=tuple(map(self._inner, call.args)))
        left, right = call.args
        if isinstance(right, s.Call) and right.location == call.location:
            # Written as `f(x, y)`, which says that y is what f gives: the call is the outermost one.
            return replace(call, args=(self._side(left), self._call(right)))
        return replace(call, args=(self._side(left), self._side(right)))

    def _side(self, term: s.Term) -> s.Term:
        if isinstance(term, s.Ref):
            head = self._inner(term.head) if isinstance(term.head, s.Call) else term.head
            return replace(term, head=head, path=tuple(map(self._inner, term.path)))
        return term if isinstance(term, _COMPREHENSIONS) else self._inner(term)

    def _inner(self, term: s.Term) -> s.Term:
        match term:
            case s.Array(items) | s.Set(items):
                return replace(term, items=tuple(map(self._inner, items)))
            case s.Object(pairs):
                return replace(term, items=tuple((self._inner(key), self._inner(value)) for key, value in pairs))
            case s.Ref() | s.Call() | s.ArrayComprehension() | s.SetComprehension() | s.ObjectComprehension():
                return self._taken(term)
            case s.Var(name) if name in ROOTS:
                return self._taken(term)
            case _:
                return term

    def _taken(self, term: s.Term) -> s.Var:
        var = s.Var(self._fresh(), term.location)
        self.terms.append((var, term))
        return var
