"""The flat form that OPA checks types on: every call is an expression of its own, with its result as the last argument.

    p := count(f(x)) if …    ──▶    f(x, $0); count($0, $1); p := $1

`expanded` takes calls out of terms; `hoisted` then takes refs and comprehensions out of arguments. Both keep the places
that OPA reports. Nothing is evaluated from this form: it exists so that an error is found where OPA finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import islice, product
from operator import is_

from engine.rego.errors import Location
from engine.rego.syntax import tree as s
from engine.rego.syntax.known_values import MOST, Known, add_known, values_of
from engine.rego.syntax.variables import BUILTIN, ROOTS

Comprehension = s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension
Path = tuple[str, ...]

EQ = ("eq",)
TEMPLATE = ("internal", "template_string")


@dataclass(frozen=True, slots=True)
class Generated(s.Expr):
    """An expression that nobody wrote: what it calls has one argument more than was written."""


@dataclass(slots=True)
class FlatRule:
    """One definition; each `else` is one of its own."""

    path: tuple[s.Term, ...]
    """Below `data`: strings first, then perhaps variables and other scalars."""
    args: tuple[s.Term, ...] | None
    contains: s.Term | None
    value: s.Term
    body: s.Body
    location: Location
    subjects: dict[str, s.Term] = field(default_factory=dict)
    """What a generated variable stands for, where a message should show that instead."""
    uses: list[s.Ref] = field(default_factory=list)
    """Every document below `data` that is read or called."""
    calls: list[s.Expr] = field(default_factory=list)
    """Every expression that is one, in nested bodies, too."""


def expanded(rule: s.Rule, functions: Collection[Path]) -> FlatRule:
    """`functions` are the paths of those rules that take arguments: `with` may name them without calling them."""
    head = rule.head
    value = head.value if head.value is not None else s.Scalar(True, head.location)
    flat = FlatRule(head.ref, head.args, head.contains, value, (), head.location)
    _Expanding(flat, functions).rule(rule)
    return flat


def hoisted(flat: FlatRule) -> FlatRule:
    flat.body = _Hoisting(flat).body(flat.body)
    return flat


def called(operator: tuple[str, ...], location: Location) -> s.Ref:
    """The path of a function, as a ref to it."""
    path = tuple(s.Scalar(part, location) for part in operator[1:])
    return s.Ref(s.Var(operator[0], location), path, location)


def ground_path(ref: s.Ref) -> Path | None:
    """`data.a.b` as strings; None if a part of it is anything else."""
    parts = [part.value for part in ref.path if isinstance(part, s.Scalar) and isinstance(part.value, str)]
    return (ref.head.name, *parts) if isinstance(ref.head, s.Var) and len(parts) == len(ref.path) else None


def requires_evaluation(term: s.Term | None) -> bool:
    match term:
        case s.Array(items) | s.Set(items):
            return any(map(requires_evaluation, items))
        case s.Object(pairs):
            return any(requires_evaluation(part) for pair in pairs for part in pair)
        case _:
            return isinstance(term, s.Ref | Comprehension)


class _Locals:
    """Fresh variables, numbered across the rule."""

    def __init__(self, flat: FlatRule, prefix: str) -> None:
        self.flat = flat
        self._prefix = prefix
        self._count = 0

    def fresh(self, location: Location) -> s.Var:
        self._count += 1
        return s.Var(f"{self._prefix}{self._count - 1}", location)

    def bound(self, term: s.Term, out: list[s.Expr], withs: tuple[s.With, ...] = ()) -> s.Var:
        """A fresh variable that is `term`."""
        var = self.fresh(term.location)
        out.append(equality(var, term, term.location, withs))
        return var


def equality(one: s.Term, other: s.Term, location: Location, withs: tuple[s.With, ...] = ()) -> s.Expr:
    return Generated(s.Call(EQ, (one, other), location, infix=True), False, withs, location)


class _Expanding(_Locals):
    def __init__(self, flat: FlatRule, functions: Collection[Path]) -> None:
        super().__init__(flat, "$local")
        self._functions = functions
        self._known: Known = {}

    def rule(self, rule: s.Rule) -> None:
        flat = self.flat
        body: list[s.Expr] = []
        for expr in rule.body:
            self._expr(expr, body)
            add_known(expr, self._known)
        flat.path = tuple(self._head_part(part, body) for part in flat.path)
        flat.args = tuple(self._plain(arg, body) for arg in flat.args) if flat.args is not None else None
        flat.contains = self._plain(flat.contains, body) if flat.contains is not None else None
        flat.value = self._plain(flat.value, body)
        flat.body = tuple(body)

    def _head_part(self, part: s.Term, out: list[s.Expr]) -> s.Term:
        term = self.term(part, out)
        return term if isinstance(term, s.Scalar | s.Var) else self.bound(term, out)

    def _plain(self, term: s.Term, out: list[s.Expr]) -> s.Term:
        """A term without refs and comprehensions."""
        term = self.term(term, out)
        return self.bound(term, out) if requires_evaluation(term) else term

    def body(self, body: s.Body) -> s.Body:
        out: list[s.Expr] = []
        for expr in body:
            self._expr(expr, out)
        return tuple(out)

    def _expr(self, expr: s.Expr, out: list[s.Expr]) -> None:
        withs = tuple(self._with(each, out) for each in expr.withs)
        made: list[s.Expr] = []
        match expr.of:
            case s.SomeDeclaration():
                return
            case s.SomeIn():
                of: s.Term | s.Every = self._member(expr.of, expr.location, made)
            case s.Every(key, value, collection, body):
                domain = self.fresh(collection.location)
                term = self.term(collection, made)
                made.append(equality(domain, term, collection.location))
                of = s.Every(key, value, domain, self.body(body), expr.of.location)
            case s.Logical(operator, operands):
                of = s.Logical(operator, tuple(map(self.body, operands)), expr.of.location)
            case s.Call():
                of = self._statement(expr.of, made)
            case _:
                of = self.term(expr.of, made)
        out.extend(replace(each, withs=withs) if withs else each for each in made)
        out.append(s.Expr(of, expr.negated, withs, expr.location))
        if isinstance(of, s.Call):
            self.flat.calls.append(out[-1])

    def _member(self, some: s.SomeIn, location: Location, out: list[s.Expr]) -> s.Term:
        """`some k, v in xs` is `v = xs[k]`."""
        key = some.key if some.key is not None else self.fresh(location)
        if isinstance(some.collection, s.Ref):
            ref = replace(some.collection, path=(*some.collection.path, key))
        else:
            ref = s.Ref(some.collection, (key,), some.collection.location)
        value = self.term(some.value, out)
        return s.Call(EQ, (value, self.term(ref, out)), location, infix=True)

    def _statement(self, call: s.Call, out: list[s.Expr]) -> s.Term:
        call = _with_result(call)
        if call.operator == ("print",):
            items = tuple(self._captured(arg, ()) for arg in call.args)
            return s.Array(items, call.location)
        self._note(call)
        args = tuple(self.term(arg, out) for arg in call.args)
        return replace(call, operator=EQ if call.operator == ("assign",) else call.operator, args=args)

    def _note(self, call: s.Call) -> None:
        if call.operator[0] == "data":
            self.flat.uses.append(called(call.operator, call.location))

    def _with(self, each: s.With, out: list[s.Expr]) -> s.With:
        target = each.target if isinstance(each.target, s.Ref) else s.Ref(each.target, (), each.target.location)
        self._note_ref(target)
        if isinstance(each.value, s.Ref) and self._names_function(each.value):
            self._note_ref(each.value)
            return s.With(target, each.value, each.location)
        return s.With(target, self._plain(each.value, out), each.location)

    def _names_function(self, ref: s.Ref) -> bool:
        if isinstance(ref.head, s.Var) and ref.head.name == BUILTIN:
            return True
        return ground_path(ref) in self._functions

    def _note_ref(self, ref: s.Ref) -> None:
        """A variable that can only be one of few constants reads no more than those."""
        if not isinstance(ref.head, s.Var) or ref.head.name != "data":
            return
        if self._known and any(isinstance(part, s.Var) for part in ref.path):
            paths = list(islice(product(*map(self._values, ref.path)), MOST + 1))
            self.flat.uses.extend([replace(ref, path=path) for path in paths] if len(paths) <= MOST else [ref])
        else:
            self.flat.uses.append(ref)

    def _values(self, part: s.Term) -> tuple[s.Term, ...]:
        return (values_of(part, self._known) if isinstance(part, s.Var) else None) or (part,)

    def term(self, term: s.Term, out: list[s.Expr]) -> s.Term:
        match term:
            case s.Scalar():
                return term
            case s.Var(name):
                return self._ref(s.Ref(term, (), term.location), out) if name in ROOTS else term
            case s.Ref():
                return self._ref(term, out)
            case s.Array(items) | s.Set(items):
                found = tuple([self.term(item, out) for item in items])
                return term if all(map(is_, found, items)) else replace(term, items=found)
            case s.Object(pairs):
                return s.Object(tuple([(self.term(k, out), self.term(v, out)) for k, v in pairs]), term.location)
            case s.Call():
                return self._call(term, out)
            case s.TemplateString():
                return self._template(term, out)
            case s.Logical(operator, operands):
                return s.Logical(operator, tuple(map(self.body, operands)), term.location)
            case _:
                return self._comprehension(term)

    def _call(self, call: s.Call, out: list[s.Expr]) -> s.Var:
        self._note(call)
        args = tuple(self.term(arg, out) for arg in call.args)
        result = self.fresh(call.location)
        given = s.Call(call.operator, (*args, result), call.location, call.infix)
        out.append(Generated(given, False, (), call.location))
        self.flat.calls.append(out[-1])
        return result

    def _ref(self, ref: s.Ref, out: list[s.Expr]) -> s.Ref:
        head: s.Term = ref.head
        if not isinstance(head, s.Var):
            head = self.term(ref.head, out)
            if not isinstance(head, s.Var | s.Ref | s.Scalar):
                head, subject = self.bound(head, out), head
                self.flat.subjects[head.name] = subject
            elif isinstance(head, s.Var) and isinstance(ref.head, s.Call):
                self.flat.subjects[head.name] = ref.head
        path = tuple([self.term(part, out) for part in ref.path])
        if isinstance(head, s.Ref):
            made = s.Ref(head.head, (*head.path, *path), ref.location)
        else:
            made = s.Ref(head, path, ref.location)
        self._note_ref(made)
        return made

    def _comprehension(self, term: Comprehension) -> s.Term:
        body = list(self.body(term.body))
        if isinstance(term, s.ObjectComprehension):
            key = self._plain(term.key, body)
            value = self._plain(term.value, body)
            return s.ObjectComprehension(key, value, tuple(body), term.location)
        head = self._plain(term.head, body)
        return replace(term, head=head, body=tuple(body))

    def _template(self, term: s.TemplateString, out: list[s.Expr]) -> s.Term:
        parts: list[s.Term] = []
        for part in term.parts:
            if isinstance(part, str):
                parts.append(s.Scalar(part, term.location))
            elif isinstance(part.of, s.SomeDeclaration | s.SomeIn | s.Every):
                continue
            elif isinstance(part.of, s.Var) and part.of.name not in ROOTS:
                parts.append(s.Set((part.of,), part.location))
            else:
                parts.append(self._captured(part.of, part.withs))
        return self._call(s.Call(TEMPLATE, (s.Array(tuple(parts), term.location),), term.location), out)

    def _captured(self, term: s.Term, withs: tuple[s.With, ...]) -> s.Term:
        """`{x | x = term}`: the term may be undefined without harm to what surrounds it."""
        var = self.fresh(term.location)
        unification = s.Call(EQ, (var, term), term.location, infix=True)
        body = self.body((s.Expr(unification, False, withs, term.location),))
        return s.SetComprehension(var, body, term.location)


def _with_result(call: s.Call) -> s.Call:
    """`f(x, y)`, which the resolver turned into `y = f(x)`, as it was written: the two begin at one place."""
    if call.operator == EQ and len(call.args) == 2:
        result, inner = call.args
        if isinstance(inner, s.Call) and not inner.infix and inner.location == call.location:
            return replace(inner, args=(*inner.args, result))
    return call


class _Hoisting(_Locals):
    def __init__(self, flat: FlatRule) -> None:
        super().__init__(flat, "$hoisted")

    def body(self, body: s.Body) -> s.Body:
        out: list[s.Expr] = []
        for expr in body:
            of = expr.of
            match of:
                case s.Call(operator, args):
                    unification = operator in (EQ, ("equal",)) and len(args) == 2
                    terms = self._each(args, self._in_term if unification else self._one, expr, out)
                    name = EQ if unification else operator
                    found: s.Term | s.Every = s.Call(name, terms, of.location, of.infix)
                case s.Every():
                    found = replace(of, collection=self._one(of.collection, expr, out), body=self.body(of.body))
                case s.Logical(operator, operands):
                    found = s.Logical(operator, tuple(map(self.body, operands)), of.location)
                case s.SomeDeclaration() | s.SomeIn():
                    continue
                case _:
                    found = self._in_term(of, expr, out)
            out.append(type(expr)(found, expr.negated, expr.withs, expr.location))
        return tuple(out)

    def _each(
        self,
        terms: tuple[s.Term, ...],
        hoist: Callable[[s.Term, s.Expr, list[s.Expr]], s.Term],
        expr: s.Expr,
        out: list[s.Expr],
    ) -> tuple[s.Term, ...]:
        return tuple([hoist(term, expr, out) for term in terms])

    def _in_term(self, term: s.Term, expr: s.Expr, out: list[s.Expr]) -> s.Term:
        if isinstance(term, s.Ref):
            path = self._each(term.path, self._one, expr, out)
            return term if all(map(is_, path, term.path)) else s.Ref(term.head, path, term.location)
        if isinstance(term, Comprehension):
            return replace(term, body=self.body(term.body))
        return self._one(term, expr, out)

    def _one(self, term: s.Term, expr: s.Expr, out: list[s.Expr]) -> s.Term:
        match term:
            case s.Scalar() | s.Var():
                return term
            case s.Array(items) | s.Set(items):
                found = self._each(items, self._one, expr, out)
                return term if all(map(is_, found, items)) else replace(term, items=found)
            case s.Object(pairs):
                entries = [(self._one(k, expr, out), self._one(v, expr, out)) for k, v in pairs]
                return s.Object(tuple(entries), term.location)
            case s.Ref() | s.ArrayComprehension() | s.SetComprehension() | s.ObjectComprehension():
                hoisted_term = self._in_term(term, expr, out)
                var = self.bound(hoisted_term, out, expr.withs)
                self.flat.subjects[var.name] = hoisted_term
                return var
            case _:
                return term
