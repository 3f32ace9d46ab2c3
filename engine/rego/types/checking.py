"""Static types and arities, as OPA checks them: calls with a wrong number or wrong types of arguments, comparisons that
never hold, refs into what is not there.

Rules are resolved and their bodies ordered by safety. `input`, and data that no rule defines, may be anything.
Not here: names that mean nothing, unsafe variables, recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.term_text import operator_text
from engine.rego.syntax.walking import Node, branches, children
from engine.rego.types.bodies import BodyCheck, argument_fault
from engine.rego.types.env import Env, Key
from engine.rego.types.env import Node as Tree
from engine.rego.types.flattening import EQ, FlatRule, Generated, Path, expanded, ground_path, hoisted
from engine.rego.types.rule_graph import RuleGraph, ground_keys
from engine.rego.types.signatures import Signature, signature
from engine.rego.types.types import ANY, Function, Object, Set, Type

UNSETTLED: Final[tuple[str, str]] = ("rule", "")
"""In the path of a rule that could not be typed, in place of what is not constant."""


def check_types(rules: Sequence[s.Rule]) -> list[RegoProblem]:
    """All that is wrong, in the order of places. Like OPA, it looks no further if a number of arguments is wrong."""
    flat = _expanded(rules)
    problems = _arity_problems(flat) or _Check([hoisted(rule) for rule in flat]).run()
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.location, problem.message))


def check_arities(rules: Sequence[s.Rule]) -> list[RegoProblem]:
    """Only the numbers of arguments: OPA has them checked before safety. The rules need not be ordered."""
    problems = _arity_problems(_expanded(rules))
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.location, problem.message))


def _expanded(rules: Sequence[s.Rule]) -> list[FlatRule]:
    functions = {path for rule in rules if rule.head.args and (path := _path(rule.head.ref)) is not None}
    # In the order of places, as in OPA: where a rule does not surely need another, it decides which is looked at first.
    return sorted(
        (expanded(each, functions) for rule in rules for each in branches(rule)), key=lambda flat: flat.location
    )


def _path(ref: tuple[s.Term, ...]) -> Path | None:
    return ground_path(s.Ref(s.Var("data", ref[0].location), ref, ref[0].location)) if ref else None


def _arity_problems(rules: Sequence[FlatRule]) -> list[RegoProblem]:
    arities: dict[Path, int] = {}
    for rule in rules:
        path = _path(rule.path)
        if path is not None:
            arities.setdefault(path, len(rule.args or ()))
    return [
        problem
        for rule in rules
        if any(_arity_problem(expr, arities) for expr in rule.calls)
        for problem in _body_arities(rule.body, arities)
    ]


def _body_arities(body: s.Body, arities: Mapping[Path, int]) -> Iterator[RegoProblem]:
    """What is inside a call with a wrong number of arguments is not looked at."""
    waiting: list[Node] = list(body)
    while waiting:
        node = waiting.pop()
        problem = _arity_problem(node, arities) if isinstance(node, s.Expr) else None
        if problem is not None:
            yield problem
        elif isinstance(node, s.Expr):
            waiting.extend((node.of, *node.withs))
        else:
            waiting.extend(children(node))


def _arity_problem(expr: s.Expr, arities: Mapping[Path, int]) -> RegoProblem | None:
    call = expr.of
    if not isinstance(call, s.Call):
        return None
    found = signature(".".join(call.operator)) if call.operator[0] != "data" else None
    arity = len(found.type.args) if found is not None else arities.get(call.operator)
    if arity is None or call.operator == EQ or (found is not None and found.type.variadic is not None):
        return None
    generated = isinstance(expr, Generated)
    count = len(call.args) - generated
    if count == arity or (count == arity + 1 and not generated):
        return None
    if found is not None:
        return _builtin_arity(expr, call, found)
    words = (
        f"function {operator_text(call.operator)} has arity {arity}, got {count} argument{'' if count == 1 else 's'}"
    )
    return RegoProblem("rego_type_error", words, expr.location)


def _builtin_arity(expr: s.Expr, call: s.Call, found: Signature) -> RegoProblem:
    env = BodyCheck({}, _nothing).scope(Tree())
    names = found.arg_names or ("",) * len(found.type.args)
    want = list(zip(names, found.type.args, strict=False))
    have = [env.of(arg) for arg in call.args]
    return argument_fault(found.name, "arity mismatch", have, (want, found.type.variadic), expr.location).problem


def _nothing(_: s.Ref) -> Tree | None:
    return None


class _Check:
    def __init__(self, rules: Sequence[FlatRule]) -> None:
        self._rules = rules
        self._graph = RuleGraph(rules)
        self._tree = Tree()
        self._relaxed: dict[Path, Tree | None] = {}

    def run(self) -> list[RegoProblem]:
        order, recursive = self._graph.order()
        for number in recursive:
            # Of several definitions some would be known and some not: too little is as wrong as too much.
            self._give_up(self._rules[number])
        return [problem for number in order for problem in self._rule(self._rules[number])]

    def _rule(self, rule: FlatRule) -> list[RegoProblem]:
        check = BodyCheck(rule.subjects, self._relaxed_by)
        env, problems = check.body(check.scope(self._tree), rule.body)
        check.forget()
        if problems:
            self._give_up(rule)
            return problems
        of = _function(env, rule) if rule.args else _document(env, rule)
        if of is not None:
            self._tree.insert(["data", *ground_keys(rule.path)], of)
        return []

    def _give_up(self, rule: FlatRule) -> None:
        """It may be anything: those who use it have nothing to do with what is wrong here."""
        keys: list[Key] = ["data", *ground_keys(rule.path)]
        rest = [UNSETTLED] * (len(rule.path) + 1 - len(keys))
        self._tree.put([*keys, *rest], ANY)

    def _relaxed_by(self, target: s.Ref) -> Tree | None:
        """The rules that depend on what is replaced, each of them being anything."""
        if not isinstance(target.head, s.Var) or target.head.name != "data":
            return None
        path = ground_path(target)
        if path is None:
            return self._relaxing(target, ())
        if path not in self._relaxed:
            self._relaxed[path] = self._relaxing(target, path)
        return self._relaxed[path]

    def _relaxing(self, target: s.Ref, path: Path) -> Tree | None:
        tree = Tree()
        for number in self._graph.dependents(target):
            rule = self._rules[number]
            if not (rule.args and _path(rule.path) == path):
                tree.put(["data", *ground_keys(rule.path)], ANY)
        return tree if tree.children else None


def _function(env: Env, rule: FlatRule) -> Type:
    args = rule.args or ()
    for arg in args:
        for name in _vars(arg):
            if env.of_var(name) is None:
                env.learn(name, ANY)
    return Function(tuple(env.of(arg) or ANY for arg in args), env.of(rule.value))


def _vars(term: s.Term) -> list[str]:
    match term:
        case s.Var(name):
            return [name]
        case s.Array(items) | s.Set(items):
            return [name for item in items for name in _vars(item)]
        case s.Object(pairs):
            return [name for pair in pairs for part in pair for name in _vars(part)]
        case _:
            return []


def _document(env: Env, rule: FlatRule) -> Type | None:
    """Of what the rule gives, below the constant part of its path."""
    of = env.of(rule.value)
    if rule.contains is not None:
        key = env.of(rule.contains)
        of = Set(key) if key is not None else None
    for part in reversed(rule.path[len(ground_keys(rule.path)) :]):
        key = env.of(part)
        if of is None or key is None:
            return None
        of = Object((), (key, of))
    return of
