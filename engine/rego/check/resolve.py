"""Names: every variable gets one name of its own within its rule, every global the path below `data` that it means.

After this stage a `Var` is a local variable (or `input` / `data` as the head of a ref), a call's operator is a
builtin's name or a full path, and a rule's head starts with its package. Nested bodies need no scopes any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.rego.check.scopes import Said, Scopes
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import (
    BUILTIN,
    MARK,
    ROOTS,
    all_vars,
    argument_vars,
    declared_names,
    direct_vars,
    dotted,
    expr_vars,
    is_plain_not,
    pattern_vars,
    some_declared,
)

COMPILE_ERROR = "rego_compile_error"
Env = dict[str, str]


class Resolver:
    """Of one module, or of a query (which has no package and no rules)."""

    def __init__(
        self,
        package: tuple[str, ...],
        imports: tuple[s.Import, ...],
        names: Collection[str],
        builtins: Collection[str],
        arities: Mapping[tuple[str, ...], int],
    ) -> None:
        """`arities` are those of builtins, by their names, and of functions, by their paths below `data`."""
        self._package = package
        self._imports = {each.alias or each.path[-1]: each for each in imports if each.path[0] in ROOTS}
        self._names = names
        self._builtins = builtins
        self._arities = arities
        self._count: dict[str, int] = {}
        self._scopes = Scopes()
        self._faults_before = 0
        self.faults: list[RegoProblem] = []
        """Of names alone."""
        self.unused: list[RegoProblem] = []
        """Declarations that serve nothing."""

    def rule(self, rule: s.Rule) -> s.Rule:
        self._count = {}
        return self._rule(rule)

    def query(self, body: s.Body) -> tuple[s.Body, Env]:
        """The body, and which variable each written name became."""
        self._count = {}
        env: Env = {}
        with self._scopes.inside(declared_names(body)):
            return self._body(body, env, set()), env

    # --- rules

    def _rule(self, rule: s.Rule) -> s.Rule:
        self._faults_before = len(self.faults) + len(self.unused)
        env: Env = {}
        args = rule.head.args or ()
        hidden = declared_names(rule.body) | {var.name for arg in args for var in argument_vars(arg)}
        with self._scopes.inside(hidden) as scope:
            for arg in args:
                for var in argument_vars(arg):
                    if var.name not in env:
                        self._declare(var, env)
                        scope.said[var.name] = Said.ARGUMENT
            head = rule.head
            parts = [part for part in (*head.ref[1:], head.contains, head.value) if part is not None]
            self._note_implicit(parts, rule.body, env)
            body = self._body(rule.body, env, set().union(*map(all_vars, parts)))
        self._faults_before = len(self.faults) + len(self.unused)
        with self._scopes.inside(hidden, is_head=True):
            resolved = self._head(head, env)
        otherwise = self._rule(rule.otherwise) if rule.otherwise is not None else None
        return replace(rule, head=resolved, body=body, otherwise=otherwise)

    def _head(self, head: s.Head, env: Env) -> s.Head:
        for arg in head.args or ():
            for call in calls_in_pattern(arg):
                self._fault("rule arguments cannot contain calls", call.location)
        return s.Head(
            ref=(
                *(s.Scalar(part, head.location) for part in self._package),
                *(self._head_part(part, env, first=place == 0) for place, part in enumerate(head.ref)),
            ),
            args=tuple(self._term(arg, env) for arg in head.args) if head.args is not None else None,
            contains=self._term(head.contains, env) if head.contains is not None else None,
            value=self._term(head.value, env) if head.value is not None else None,
            location=head.location,
        )

    def _head_part(self, part: s.Term, env: Env, *, first: bool) -> s.Term:
        if first and isinstance(part, s.Var):
            return s.Scalar(part.name, part.location)
        return self._term(part, env)

    def _note_implicit(self, head: list[s.Term], body: s.Body, env: Env) -> None:
        """Variables of the head that no body declares: they are the body's."""
        declared = declared_names(body)
        for term in head:
            for var in direct_vars(term):
                if var.name not in declared:
                    self._introduce(var, env)

    # --- bodies

    def _body(self, body: s.Body, env: Env, used: set[str], also: Collection[str] = ()) -> s.Body:
        """`env` is filled with what the body declares and introduces.

        `used` is what stands in the head over the body, `also` what is declared for it by other words than its own.
        """
        declared = declared_names(body)
        for expr in body:
            named = {n[0] for each in expr.withs if self._as_builtin(each.value) and (n := dotted(each.value))}
            for var in expr_vars(expr):
                if var.name not in declared and var.name not in named:
                    self._introduce(var, env)
        resolved = tuple(self._expr(expr, env) for expr in body)
        places = some_declared(body) | {name: body[0].location for name in also if body}
        self._report_unused({name: at for name, at in places.items() if name not in used}, resolved, env)
        return resolved

    def _report_unused(self, declared: Mapping[str, Location], body: s.Body, env: Env) -> None:
        """Unless there are other faults, which may be why."""
        if not declared or len(self.faults) + len(self.unused) > self._faults_before:
            return
        needed = set[str]().union(*(all_vars(e) for e in body if not isinstance(e.of, s.SomeDeclaration)))
        needed.update(name for expr in body for each in expr.withs for name in all_vars(each.target))
        for name, location in declared.items():
            if env[name] not in needed and not name.startswith("$"):
                self.unused.append(RegoProblem(COMPILE_ERROR, f"declared var {name} unused", location))

    def _expr(self, expr: s.Expr, env: Env) -> s.Expr:
        of = expr.of
        withs = tuple(
            s.With(self._target(each.target, env), self._replacement(each.value, env), each.location)
            for each in expr.withs
        )
        resolved: s.Term | s.SomeDeclaration | s.SomeIn | s.Every
        if isinstance(of, s.SomeDeclaration):
            resolved = self._some(of, env)
        elif isinstance(of, s.SomeIn):
            resolved = self._some_in(of, env)
        elif isinstance(of, s.Every):
            resolved = self._every(of, env)
        elif isinstance(of, s.Call) and of.operator == ("assign",) and len(of.args) == 2:
            resolved = self._assignment(of, env, expr)
        elif isinstance(of, s.Call):
            resolved = self._with_result(self._call(of, env, statement=True))
        else:
            resolved = self._term(of, env)
        return s.Expr(resolved, expr.negated, withs, expr.location)

    def _some(self, some: s.SomeDeclaration, env: Env) -> s.SomeDeclaration:
        for var in some.names:
            self._declare_own(var, env, Said.DECLARED, some.location)
        return s.SomeDeclaration(tuple(s.Var(env[v.name], v.location) for v in some.names), some.location)

    def _some_in(self, some: s.SomeIn, env: Env) -> s.SomeIn:
        collection = self._term(some.collection, env)
        patterns = [pattern for pattern in (some.key, some.value) if pattern is not None]
        domain = {var.name for var in direct_vars(some.collection) if self._global(var.name) is None}
        bound = {var.name: var for pattern in patterns for var in pattern_vars(pattern)}
        for name, var in sorted(bound.items()):
            if name in domain and not var.is_wildcard:
                self._fault(f"var {name} assigned before", some.location)
            elif name not in all_vars(some.collection) or name not in env:
                self._declare_own(var, env, Said.DECLARED, some.location)
        key = self._term(some.key, env) if some.key is not None else None
        return s.SomeIn(key, self._term(some.value, env), collection, some.location)

    def _assignment(self, call: s.Call, env: Env, expr: s.Expr) -> s.Call:
        value = self._term(call.args[1], env)
        if expr.negated:
            self._fault("cannot assign vars inside negated expression", expr.location)
        else:
            self._assign(call.args[0], env)
        return replace(call, args=(self._term(call.args[0], env), value))

    def _assign(self, target: s.Term, env: Env) -> None:
        match target:
            case s.Var():
                self._declare_own(target, env, Said.ASSIGNED, target.location)
            case s.Array(items):
                for item in items:
                    self._assign(item, env)
            case s.Object(pairs):
                for _, value in pairs:
                    self._assign(value, env)
            case _:
                self._fault(f"cannot assign to {type_name(target)}", target.location)

    def _with_result(self, call: s.Call) -> s.Call:
        """`f(x, y)` with one argument more than f takes says that y is what f gives."""
        if not call.infix and len(call.args) - 1 == self._arities.get(call.operator):
            given = replace(call, args=call.args[:-1])
            return s.Call(("eq",), (call.args[-1], given), call.location, infix=True)
        return call

    def _every(self, every: s.Every, env: Env) -> s.Every:
        collection = self._term(every.collection, env)
        inner = dict(env)
        variables = [var for var in (every.key, every.value) if var is not None]
        with self._scopes.inside(declared_names(every.body) | {var.name for var in variables}):
            for var in variables:
                self._declare_own(var, inner, Said.DECLARED, every.location)
            key = s.Var(inner[every.key.name], every.key.location) if every.key is not None else None
            value = s.Var(inner[every.value.name], every.value.location)
            body = self._body(every.body, inner, set(), [var.name for var in variables])
        return s.Every(key, value, collection, body, every.location)

    # --- terms

    def _target(self, target: s.Ref | s.Var, env: Env) -> s.Ref | s.Var:
        """What `with` replaces: a document, or a function by its name."""
        resolved = self._as_builtin(target) or self._term(target, env)
        return resolved if isinstance(resolved, s.Ref | s.Var) else target

    def _replacement(self, value: s.Term, env: Env) -> s.Term:
        return self._as_builtin(value) or self._term(value, env)

    def _as_builtin(self, term: s.Term) -> s.Ref | None:
        """A builtin that is named and not called, which only `with` can do."""
        name = dotted(term)
        if name is None or ".".join(name) not in self._builtins or self._global(name[0]) is not None:
            return None
        if self._scopes.hides(name[0]):
            return None
        return s.Ref(s.Var(BUILTIN, term.location), (s.Scalar(".".join(name), term.location),), term.location)

    def _term(self, term: s.Term, env: Env) -> s.Term:
        match term:
            case s.Scalar():
                return term
            case s.Var():
                return self._var(term, env)
            case s.Ref(head, path, location):
                resolved = self._term(head, env)
                rest = tuple(self._term(part, env) for part in path)
                if isinstance(resolved, s.Ref):
                    return s.Ref(resolved.head, (*resolved.path, *rest), location)
                return s.Ref(resolved, rest, location)
            case s.Array(items, location):
                return s.Array(tuple(self._term(item, env) for item in items), location)
            case s.Set(items, location):
                return s.Set(tuple(self._term(item, env) for item in items), location)
            case s.Object(pairs, location):
                return s.Object(tuple((self._term(k, env), self._term(v, env)) for k, v in pairs), location)
            case s.Call():
                return self._call(term, env, statement=False)
            case s.TemplateString(parts, location):
                filled = tuple(p if isinstance(p, str) else self._expr(p, env) for p in parts)
                return s.TemplateString(filled, location)
            case s.Logical() if is_plain_not(term):
                return self._plain_not(term, env)
            case s.Logical(operator, operands, location):
                return s.Logical(operator, tuple(self._operand(each, env) for each in operands), location)
            case _:
                return self._comprehension(term, env)

    def _operand(self, body: s.Body, env: Env) -> s.Body:
        with self._scopes.inside(declared_names(body)):
            return self._body(body, dict(env), set())

    def _plain_not(self, term: s.Logical, env: Env) -> s.Logical:
        """`not x` means the same whether the keyword was imported or not."""
        negated = tuple(replace(expr, negated=True) for expr in term.operands[0])
        resolved = self._operand(negated, env)
        return replace(term, operands=(tuple(replace(expr, negated=False) for expr in resolved),))

    def _comprehension(
        self, term: s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension, env: Env
    ) -> s.Term:
        inner = dict(env)
        heads = [term.key, term.value] if isinstance(term, s.ObjectComprehension) else [term.head]
        with self._scopes.inside(declared_names(term.body)):
            self._note_implicit([*heads], term.body, inner)
            body = self._body(term.body, inner, set().union(*map(all_vars, heads)))
            if isinstance(term, s.ObjectComprehension):
                key, value = self._term(term.key, inner), self._term(term.value, inner)
                return s.ObjectComprehension(key, value, body, term.location)
            return replace(term, head=self._term(term.head, inner), body=body)

    def _var(self, var: s.Var, env: Env) -> s.Term:
        meant = self._global(var.name)
        if meant is None or var.name in env:
            self._scopes.see(var.name)
            return s.Var(env.get(var.name, var.name), var.location)
        path = tuple(s.Scalar(part, var.location) for part in meant[1:])
        root = s.Var(meant[0], var.location)
        return s.Ref(root, path, var.location) if path else root

    def _global(self, name: str) -> tuple[str, ...] | None:
        if name in ROOTS:
            return (name,)
        if self._scopes.hides(name):
            return None
        if name in self._imports:
            return self._imports[name].path
        return ("data", *self._package, name) if name in self._names else None

    def _call(self, call: s.Call, env: Env, *, statement: bool) -> s.Call:
        operator = self._operator(call, env, statement=statement)
        return replace(call, operator=operator, args=tuple(self._term(arg, env) for arg in call.args))

    def _operator(self, call: s.Call, env: Env, *, statement: bool) -> tuple[str, ...]:
        first = call.operator[0]
        if call.infix:
            return call.operator
        is_hidden = self._scopes.is_declared(first) or (first in env and first in self._builtins)
        if is_hidden and not statement:
            self._fault(f"called function {'.'.join(call.operator)} shadowed", call.location)
        meant = self._global(first)
        if is_hidden and meant is None:  # whatever builtin has the name, it is not meant
            return (first + MARK, *call.operator[1:])
        return call.operator if meant is None else (*meant, *call.operator[1:])

    # --- names

    def _introduce(self, var: s.Var, env: Env) -> None:
        if var.name not in env and self._global(var.name) is None:
            env[var.name] = self._fresh(var.name)

    def _declare(self, var: s.Var, env: Env) -> None:
        env[var.name] = self._fresh(var.name)

    def _declare_own(self, var: s.Var, env: Env, how: Said, place: Location) -> None:
        fault = None if var.is_wildcard else self._scopes.declare(var.name, how)
        if fault is not None:
            self._fault(fault, place)
        self._declare(var, env)

    def _fresh(self, name: str) -> str:
        base = "_" if name.startswith("$") else name
        number = self._count.get(base, 0) + 1
        self._count[base] = number
        return f"{base}{MARK}{number}" if number > 1 or base == "_" or base in ROOTS else base

    def _fault(self, message: str, location: Location) -> None:
        self.faults.append(RegoProblem(COMPILE_ERROR, message, location))


def calls_in_pattern(term: s.Term) -> list[s.Call]:
    match term:
        case s.Call():
            return [term]
        case s.Array(items):
            return [call for item in items for call in calls_in_pattern(item)]
        case s.Object(pairs):
            return [call for _, value in pairs for call in calls_in_pattern(value)]
        case s.Ref(head, path):
            return [call for part in (head, *path) for call in calls_in_pattern(part)]
        case _:
            return []


def type_name(term: s.Term) -> str:
    """As OPA calls it in messages."""
    if not isinstance(term, s.Scalar):
        return type(term).__name__.lower()
    if term.value is None or isinstance(term.value, bool):
        return "null" if term.value is None else "boolean"
    return "string" if isinstance(term.value, str) else "number"
