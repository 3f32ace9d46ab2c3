"""Bodies: the types of their variables, and which of their expressions can never hold or never be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.term_text import operator_text
from engine.rego.syntax.variables import BUILTIN
from engine.rego.types.env import Env, Key, Node, constant, head_name, key_of
from engine.rego.types.flattening import Comprehension, called
from engine.rego.types.refs import RefCheck
from engine.rego.types.signatures import signature
from engine.rego.types.text import Named, argument_lines, match_lines
from engine.rego.types.types import (
    ANY,
    Any,
    Array,
    Function,
    Object,
    Set,
    Type,
    is_unknown,
    keys_type,
    unifies,
    union,
    values_type,
)
from engine.rego.types.unification import unify, unify_terms
from engine.rego.values import UNDEFINED

MOST_CLOSURES = 1_000
"""Of one rule: beyond, one inside another is looked at with the one around it only, since both double the work."""

Relaxed = Callable[[s.Ref], Node | None]
"""What depends on a document that `with` replaces: all of it is of type any then."""


@dataclass(frozen=True, slots=True)
class Fault:
    problem: RegoProblem
    unknown: bool
    """A type was not known, most likely because of another fault."""


class BodyCheck:
    """Of the bodies of one rule."""

    def __init__(self, subjects: Mapping[str, s.Term], relaxed: Relaxed) -> None:
        self._refs = RefCheck(subjects)
        self._relaxed = relaxed
        self._closures: dict[tuple[int, ...], tuple[Type | None, list[RegoProblem], Env]] = {}

    def forget(self) -> None:
        """What was remembered of comprehensions keeps every scope alive."""
        self._closures.clear()

    def scope(self, tree: Node) -> Env:
        return Env(None, self._closure_type, tree)

    def body(self, outer: Env, body: s.Body) -> tuple[Env, list[RegoProblem]]:
        env = outer.inner()
        problems: list[RegoProblem] = []
        for expr in body:
            problems.extend(self._expr(self._replaced(env, expr) if expr.withs else env, expr))
        return env, problems

    def _expr(self, env: Env, expr: s.Expr) -> list[RegoProblem]:
        terms = _evaluated(expr)
        problems = self._closure_problems(env, terms)
        for term in terms:
            problem = self._refs.check(env, term) if isinstance(term, s.Ref) else None
            if problem is not None:
                problems.append(problem)
        fault = self._with_fault(env, expr) or (
            _call_fault(env, expr, expr.of) if isinstance(expr.of, s.Call) else None
        )
        if fault is not None and not (problems and fault.unknown):
            problems.append(fault.problem)
        return problems

    def _closure_problems(self, env: Env, terms: Sequence[s.Term]) -> list[RegoProblem]:
        """Of the last comprehension that has any, as in OPA; one inside another is looked at by itself, too."""
        found: list[RegoProblem] = []
        waiting = [term for term in terms if isinstance(term, Comprehension)]
        while waiting:
            closure = waiting.pop(0)
            problems = self._closure(env, closure)[1]
            if problems:
                found = list(problems)
            elif len(self._closures) < MOST_CLOSURES:
                inner = [term for each in closure.body for term in _evaluated(each)]
                waiting[:0] = [term for term in inner if isinstance(term, Comprehension)]
        return found

    def _closure_type(self, env: Env, term: Comprehension) -> Type | None:
        return self._closure(env, term)[0]

    def _closure(self, env: Env, term: Comprehension) -> tuple[Type | None, list[RegoProblem], Env]:
        """Remembered, with the scope that it is true in, until more is known of the variables around it."""
        state = (id(term), *env.state())
        if state not in self._closures:
            inner, problems = self.body(env, term.body)
            self._closures[state] = (None if problems else _comprehension_type(inner, term), problems, env)
        return self._closures[state]

    def _replaced(self, env: Env, expr: s.Expr) -> Env:
        """With the documents that `with` replaces being what they are replaced with, or what they were."""
        scope, own = env, Node()
        for each in expr.withs:
            target = each.target
            if not isinstance(target, s.Ref) or head_name(target) == BUILTIN:
                continue
            relaxed = self._relaxed(target)
            if relaxed is not None:
                scope = scope.replacing(relaxed)
            found = env.of_ref(target)
            if not isinstance(found, Function):
                own.put(_ground_keys(target), _replaced_type(env, target, found, each.value))
        return scope.replacing(own) if own.children else scope

    def _with_fault(self, env: Env, expr: s.Expr) -> Fault | None:
        for each in expr.withs:
            target, value = env.of(each.target), env.of(each.value)
            if isinstance(target, Function) and isinstance(value, Function) and not unifies(target, value):
                name = _name(each.target)
                return argument_fault(name, "arity mismatch", value.args, _parameters(name, target), each.location)
        return None


def argument_fault(
    name: str,
    words: str,
    have: Sequence[Type | None],
    want: tuple[Sequence[Named], Type | None],
    location: Location,
) -> Fault:
    lines = [f"{name}: {words}", *argument_lines(have, *want)]
    return Fault(RegoProblem("rego_type_error", "\n\t".join(lines), location), any(map(is_unknown, have)))


def _parameters(name: str, of: Function, *, result: bool = False) -> tuple[list[Named], Type | None]:
    """What is wanted, with the names that a builtin gives its parameters; the variadic one apart."""
    found = signature(name)
    names = (found.arg_names if found is not None else ()) or [""] * len(of.args)
    want: list[Named] = list(zip(names, of.args, strict=False))
    if result and of.result is not None:
        want.append((found.result_name if found is not None else "", of.result))
    return want, of.variadic


def _call_fault(env: Env, expr: s.Expr, call: s.Call) -> Fault | None:
    name = operator_text(call.operator)
    if name == "eq":
        return _unification_fault(env, expr, call)
    if name in ("internal.member_2", "internal.member_3"):
        fault = _member_fault(env, expr, call, 2 if name == "internal.member_2" else 3)
        if fault is not None:
            return fault
    of = _operator_type(env, call)
    if isinstance(of, Function):
        return _arguments_fault(env, expr, call, name, of)
    if isinstance(of, Any):
        return None
    return Fault(RegoProblem("rego_type_error", f"undefined function {name}", expr.location), False)


def _operator_type(env: Env, call: s.Call) -> Type | None:
    if call.operator[0] == "data":
        return env.of_ref(called(call.operator, call.location))
    found = signature(".".join(call.operator))
    return found.type if found is not None else ANY


def _unification_fault(env: Env, expr: s.Expr, call: s.Call) -> Fault | None:
    if len(call.args) != 2:
        words = "too few arguments" if len(call.args) < 2 else "too many arguments"
        have = [env.of(arg) for arg in call.args]
        return argument_fault("eq", words, have, ([("", ANY), ("", ANY)], None), expr.location)
    one, other = call.args
    left, right = env.of(one), env.of(other)
    return None if unify_terms(env, one, left, other, right) else _mismatch(left, right, expr.location)


def _mismatch(left: Type | None, right: Type | None, location: Location) -> Fault:
    text = "\n\t".join(["match error", *match_lines(left, right)])
    return Fault(RegoProblem("rego_type_error", text, location), is_unknown(left) or is_unknown(right))


def _member_fault(env: Env, expr: s.Expr, call: s.Call, arity: int) -> Fault | None:
    """`x in xs`: what may be in a collection depends on its own type."""
    if len(call.args) < arity:
        return None
    collection = env.of(call.args[arity - 1])
    values = values_type(collection)
    if values is None:
        return None
    wanted: list[tuple[s.Term, Type | None]] = [(call.args[arity - 2], values)]
    if arity == 3:
        wanted.insert(0, (call.args[0], keys_type(collection)))
    return next((fault for term, of in wanted if (fault := _operand_fault(env, expr, term, of)) is not None), None)


def _operand_fault(env: Env, expr: s.Expr, term: s.Term, of: Type | None) -> Fault | None:
    if is_unknown(of):
        return None
    have = env.of(term)
    fits = is_unknown(have) or unifies(have, of)
    return None if fits and unify(env, term, of) else _mismatch(have, of, expr.location)


def _arguments_fault(env: Env, expr: s.Expr, call: s.Call, name: str, of: Function) -> Fault | None:
    want = (*of.args, of.result) if of.result is not None else of.args
    have = [env.of(arg) for arg in call.args]
    named = _parameters(name, of, result=True)
    if len(have) > len(want) and of.variadic is None:
        return argument_fault(name, "too many arguments", have, named, expr.location)
    if len(have) < len(of.args):
        return argument_fault(name, "too few arguments", have, named, expr.location)
    for place, arg in enumerate(call.args):
        wanted = want[place] if place < len(want) else of.variadic
        if not is_unknown(have[place]) and not unifies(have[place], wanted):
            return argument_fault(name, "invalid argument(s)", have, named, expr.location)
        if not unify(env, arg, wanted):
            have = [env.of(each) for each in call.args]
            return argument_fault(name, "invalid argument(s)", have, named, expr.location)
    return None


def _replaced_type(env: Env, target: s.Ref, found: Type | None, value: s.Term) -> Type:
    if found is None or any(constant(part) is UNDEFINED for part in target.path):
        return ANY
    given = env.of(value)
    return (union(found, given) if given is not None else None) or ANY


def _ground_keys(ref: s.Ref) -> list[Key]:
    keys: list[Key] = [head_name(ref)]
    for part in ref.path:
        if constant(part) is UNDEFINED:
            break
        keys.append(key_of(part))
    return keys


def _comprehension_type(env: Env, term: Comprehension) -> Type:
    if isinstance(term, s.ObjectComprehension):
        return Object((), (env.of(term.key), env.of(term.value)))
    return Array((), env.of(term.head)) if isinstance(term, s.ArrayComprehension) else Set(env.of(term.head))


def _name(target: s.Term) -> str:
    """Of a function that `with` replaces."""
    if not isinstance(target, s.Ref):
        return ""
    parts = [str(part.value) for part in target.path if isinstance(part, s.Scalar)]
    return ".".join(parts) if head_name(target) == BUILTIN else operator_text([head_name(target), *parts])


def _evaluated(expr: s.Expr) -> list[s.Term]:
    """The terms of an expression and of bodies inside it. Being hoisted, a ref or a comprehension is one of them."""
    match expr.of:
        case s.Call(_, args):
            return list(args)
        case s.Every(_, _, collection, body):
            return [collection, *(term for inner in body for term in _evaluated(inner))]
        case s.Logical(_, operands):
            return [term for operand in operands for inner in operand for term in _evaluated(inner)]
        case s.SomeDeclaration() | s.SomeIn():
            return []
        case of:
            return [of]
