"""The steps of a body: every call taken out of the term that it stands in, each step with the place OPA gives it.

    x > count(f(y))    ──▶    f(y) = a; count(a) = b; x > b

Safety is judged on this form, because it decides which variables are found unsafe and where. Nothing is evaluated from
it; bodies of comprehensions become steps only when `steps_of_comprehension` is asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from engine.rego.errors import Location
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import BUILTIN, is_plain_not
from engine.rego.syntax.walking import CLOSURES, within

Comprehension: TypeAlias = s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension
COMPREHENSIONS = (s.ArrayComprehension, s.SetComprehension, s.ObjectComprehension)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Compared by identity: the same words in two places are two steps."""

    location: Location
    terms: tuple[s.Term, ...]
    unifies: bool = False
    """Its two terms with each other; a step that does not needs all its terms but `result`."""
    assigns: bool = False
    """With `:=`, which never binds the right side by the left one."""
    result: s.Var | None = None
    negated: bool = False
    withs: tuple[s.Term, ...] = ()
    bodies: tuple[s.Body, ...] = ()
    """Of `every`, `not`, `and` and `or`."""
    binds: frozenset[str] = frozenset()
    """Within its bodies."""


def is_made(name: str) -> bool:
    """Of a variable that no author wrote."""
    return name.startswith("%")


def needs_evaluation(term: s.Term) -> bool:
    """Whether it holds a ref or a comprehension."""
    return any(isinstance(node, (s.Ref, *COMPREHENSIONS)) for node in within(term))


@dataclass(slots=True)
class Hoister:
    """Of one rule: the variables that it makes are unique within it."""

    steps: list[Step] = field(default_factory=list)
    _numbers: Iterable[int] = field(default_factory=count)

    def steps_of(self, body: s.Body) -> list[Step]:
        before, self.steps = self.steps, []
        for expr in body:
            self._expr(expr)
        made, self.steps = self.steps, before
        return made

    def steps_of_comprehension(self, term: Comprehension) -> tuple[set[str], list[Step]]:
        """The variables of its head that are left over for the body to bind, and the body's steps."""
        made = self.steps_of(term.body)
        before, self.steps = self.steps, made
        heads = (term.key, term.value) if isinstance(term, s.ObjectComprehension) else (term.head,)
        left = [self.outside(self.hoisted(head, ())) for head in heads]
        self.steps = before
        return {v.name for head in left for v in own_vars(head)}, made

    def outside(self, term: s.Term) -> s.Term:
        """A head holds no refs: they are evaluated as the last step of the body."""
        return self.made_equal(term, ()) if needs_evaluation(term) else term

    def hoisted(self, term: s.Term, withs: tuple[s.Term, ...]) -> s.Term:
        """The term with a variable in the place of each call; the calls become steps."""
        match term:
            case s.Call(_, args, location):
                made = tuple(self.hoisted(arg, withs) for arg in args)
                result = self._variable(location)
                self.steps.append(Step(location, made, result=result, withs=withs))
                return result
            case s.TemplateString(parts, location):
                made = tuple(self._template_part(part) for part in parts if not isinstance(part, str))
                result = self._variable(location)
                self.steps.append(Step(location, made, result=result, withs=withs))
                return result
            case s.Ref(head, path, location):
                subject = self.hoisted(head, withs)
                rest = tuple(self.hoisted(part, withs) for part in path)
                if not isinstance(subject, s.Var):
                    subject = self.made_equal(subject, withs)
                return s.Ref(subject, rest, location)
            case s.Array(items, location):
                return s.Array(tuple(self.hoisted(item, withs) for item in items), location)
            case s.Set(items, location):
                return s.Set(tuple(self.hoisted(item, withs) for item in items), location)
            case s.Object(pairs, location):
                return s.Object(tuple((self.hoisted(k, withs), self.hoisted(v, withs)) for k, v in pairs), location)
            case _:
                return term

    def _expr(self, expr: s.Expr) -> None:
        withs = tuple(self._replacement(each.value) for each in expr.withs)
        of, at = expr.of, expr.location
        terms: tuple[s.Term, ...]
        match of:
            case s.SomeDeclaration():
                pass
            case s.SomeIn(key, value, collection):
                element = _element(collection, key or self._variable(at), at)
                terms = (self.hoisted(value, withs), self.hoisted(element, withs))
                self.steps.append(Step(at, terms, unifies=True, withs=withs))
            case s.Every(key, value, collection, body):
                domain = self.made_equal(self.hoisted(collection, withs), withs, collection.location)
                binds = frozenset(var.name for var in (key, value) if var is not None)
                self.steps.append(Step(at, (domain,), withs=withs, bodies=(body,), binds=binds))
            case s.Logical("not", ((inner,),)) if is_plain_not(of):
                self._expr(s.Expr(inner.of, True, expr.withs, at))
            case s.Logical(_, operands):
                self.steps.append(Step(at, (), withs=withs, bodies=operands, negated=expr.negated))
            case s.Call(operator, args):
                terms = tuple(self.hoisted(arg, withs) for arg in args)
                unifies = operator in {("eq",), ("assign",)} and len(args) == 2
                assigns = operator == ("assign",)
                self.steps.append(Step(at, terms, unifies, assigns, None, expr.negated, withs))
            case _:
                terms = (self.hoisted(of, withs),)
                self.steps.append(Step(at, terms, negated=expr.negated, withs=withs))

    def _replacement(self, value: s.Term) -> s.Term:
        """What `with` sets is evaluated before, unless it is the name of a function."""
        if isinstance(value, s.Ref) and isinstance(value.head, s.Var) and value.head.name == BUILTIN:
            return s.Scalar(None, value.location)
        hoisted = self.hoisted(value, ())
        return self.made_equal(hoisted, ()) if needs_evaluation(hoisted) else hoisted

    def _template_part(self, part: s.Expr) -> s.Term:
        """Undefined parts have a text too, so all but plain variables are evaluated in a body of their own."""
        at = part.location
        if isinstance(part.of, s.Var):
            return part.of
        if isinstance(part.of, s.SomeDeclaration | s.SomeIn | s.Every):
            return s.Scalar(True, at)
        found = self._variable(at)
        same = s.Call(("eq",), (found, part.of), at, infix=True)
        return s.SetComprehension(found, (s.Expr(same, False, part.withs, at),), at)

    def made_equal(self, term: s.Term, withs: tuple[s.Term, ...], at: Location | None = None) -> s.Var:
        made = self._variable(at or term.location)
        self.steps.append(Step(made.location, (made, term), unifies=True, withs=withs))
        return made

    def _variable(self, location: Location) -> s.Var:
        return s.Var(f"%{next(iter(self._numbers))}", location)


def own_vars(*terms: s.Term) -> list[s.Var]:
    """Those outside of nested bodies, `input` and `data` among them."""
    found: list[s.Var] = []
    waiting: list[s.Term] = [*terms]
    while waiting:
        term = waiting.pop()
        if isinstance(term, s.Var):
            found.append(term)
        elif isinstance(term, s.Ref):
            waiting.extend((term.head, *term.path))
        elif isinstance(term, s.Object):
            waiting.extend(part for pair in term.items for part in pair)
        elif isinstance(term, s.Array | s.Set):
            waiting.extend(term.items)
        elif isinstance(term, s.Call):
            waiting.extend(term.args)
    return found


def closures_in(terms: Iterable[s.Term]) -> list[Comprehension]:
    """The outermost comprehensions of hoisted terms."""
    found: list[Comprehension] = []
    waiting = list(terms)[::-1]
    while waiting:
        term = waiting.pop()
        if isinstance(term, COMPREHENSIONS):
            found.append(term)
        elif not isinstance(term, CLOSURES):
            waiting.extend(part for part in reversed(_parts(term)))
    return found


def _parts(term: s.Term) -> tuple[s.Term, ...]:
    match term:
        case s.Ref(head, path):
            return (head, *path)
        case s.Array(items) | s.Set(items):
            return items
        case s.Object(pairs):
            return tuple(part for pair in pairs for part in pair)
        case _:
            return ()


def _element(collection: s.Term, key: s.Term, location: Location) -> s.Ref:
    if isinstance(collection, s.Ref):
        return s.Ref(collection.head, (*collection.path, key), location)
    return s.Ref(collection, (key,), location)
