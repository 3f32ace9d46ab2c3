"""Names: every variable gets one name of its own within its rule, every global the path below `data` that it means.

After this stage a `Var` is a local variable (or `input` / `data` as the head of a ref), a call's operator is a
builtin's name or a full path, and a rule's head starts with its package. Nested bodies need no scopes any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.rego import syntax as s
from engine.rego.errors import Location, RegoProblem

ROOTS = frozenset({"input", "data"})

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
        self.problems: list[RegoProblem] = []

    def rule(self, rule: s.Rule) -> s.Rule:
        self._count = {}
        return self._rule(rule, {})

    def query(self, body: s.Body) -> tuple[s.Body, Env]:
        """The body, and which variable each written name became."""
        env: Env = {}
        return self._body(body, env), env

    def _rule(self, rule: s.Rule, outer: Env) -> s.Rule:
        env = dict(outer)
        head = rule.head
        args = None
        if head.args is not None:
            for arg in head.args:
                for var in pattern_vars(arg):
                    self._declare(var, env)
            args = tuple(self._term(arg, env) for arg in head.args)
        arguments = dict(env)
        self._note_implicit([*head.ref[1:], head.contains, head.value], rule.body, env)
        body = self._body(rule.body, env, arguments)
        resolved = s.Head(
            ref=(
                *(s.Scalar(part, head.location) for part in self._package),
                *(self._head_part(part, env, first=place == 0) for place, part in enumerate(head.ref)),
            ),
            args=args,
            contains=self._term(head.contains, env) if head.contains is not None else None,
            value=self._term(head.value, env) if head.value is not None else None,
            location=head.location,
        )
        otherwise = self._rule(rule.otherwise, {}) if rule.otherwise is not None else None
        return replace(rule, head=resolved, body=body, otherwise=otherwise)

    def _head_part(self, part: s.Term, env: Env, *, first: bool) -> s.Term:
        if first and isinstance(part, s.Var):
            return s.Scalar(part.name, part.location)
        return self._term(part, env)

    def _note_implicit(self, head: list[s.Term | None], body: s.Body, env: Env) -> None:
        """Variables of the head that no body declares: they are the body's."""
        declared = declared_names(body)
        for term in head:
            if term is not None:
                for var in direct_vars(term):
                    if var.name not in declared:
                        self._introduce(var, env)

    def _body(self, body: s.Body, env: Env, forbidden: Mapping[str, str] | None = None) -> s.Body:
        """`env` is filled with what the body declares and introduces."""
        declared = declared_names(body)
        for expr in body:
            named = {n[0] for each in expr.withs if self._as_builtin(each.value) and (n := dotted(each.value))}
            for var in expr_vars(expr):
                if var.name not in declared and var.name not in named:
                    self._introduce(var, env)
        own: dict[str, Location] = {}
        return tuple(self._expr(expr, env, own, forbidden or {}) for expr in body)

    def _expr(self, expr: s.Expr, env: Env, own: dict[str, Location], arguments: Mapping[str, str]) -> s.Expr:
        of = expr.of
        withs = tuple(
            s.With(self._target(each.target, env), self._replacement(each.value, env), each.location)
            for each in expr.withs
        )
        resolved: s.Term | s.SomeDeclaration | s.SomeIn | s.Every
        if isinstance(of, s.SomeDeclaration):
            for var in of.names:
                self._declare_own(var, env, own, arguments)
            resolved = s.SomeDeclaration(tuple(s.Var(env[v.name], v.location) for v in of.names), of.location)
        elif isinstance(of, s.SomeIn):
            collection = self._term(of.collection, env)
            for pattern in (of.key, of.value):
                for var in pattern_vars(pattern) if pattern is not None else ():
                    self._declare_own(var, env, own, arguments)
            key = self._term(of.key, env) if of.key is not None else None
            resolved = s.SomeIn(key, self._term(of.value, env), collection, of.location)
        elif isinstance(of, s.Every):
            resolved = self._every(of, env)
        elif isinstance(of, s.Call) and of.operator == ("assign",):
            value = self._term(of.args[1], env)
            for var in pattern_vars(of.args[0]):
                self._declare_own(var, env, own, arguments)
            resolved = replace(of, args=(self._term(of.args[0], env), value))
        else:
            resolved = self._with_result(self._term(of, env))
        return s.Expr(resolved, expr.negated, withs, expr.location)

    def _with_result(self, term: s.Term) -> s.Term:
        """`f(x, y)` with one argument more than f takes says that y is what f gives."""
        if isinstance(term, s.Call) and not term.infix and len(term.args) - 1 == self._arities.get(term.operator):
            call = replace(term, args=term.args[:-1])
            return s.Call(("eq",), (term.args[-1], call), term.location, infix=True)
        return term

    def _every(self, every: s.Every, env: Env) -> s.Every:
        collection = self._term(every.collection, env)
        inner = dict(env)
        for var in (every.key, every.value):
            if var is not None:
                self._declare(var, inner)
        key = s.Var(inner[every.key.name], every.key.location) if every.key is not None else None
        value = s.Var(inner[every.value.name], every.value.location)
        return s.Every(key, value, collection, self._body(every.body, inner), every.location)

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
        return s.Ref(s.Var("$builtin", term.location), (s.Scalar(".".join(name), term.location),), term.location)

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
                args = tuple(self._term(arg, env) for arg in term.args)
                return replace(term, operator=self._operator(term, env), args=args)
            case s.TemplateString(parts, location):
                own: dict[str, Location] = {}
                filled = tuple(p if isinstance(p, str) else self._expr(p, env, own, {}) for p in parts)
                return s.TemplateString(filled, location)
            case s.Logical(operator, operands, location):
                return s.Logical(operator, tuple(self._body(each, dict(env)) for each in operands), location)
            case _:
                return self._comprehension(term, env)

    def _comprehension(
        self, term: s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension, env: Env
    ) -> s.Term:
        inner = dict(env)
        heads = [term.key, term.value] if isinstance(term, s.ObjectComprehension) else [term.head]
        self._note_implicit([*heads], term.body, inner)
        body = self._body(term.body, inner)
        if isinstance(term, s.ObjectComprehension):
            key, value = self._term(term.key, inner), self._term(term.value, inner)
            return s.ObjectComprehension(key, value, body, term.location)
        return replace(term, head=self._term(term.head, inner), body=body)

    def _var(self, var: s.Var, env: Env) -> s.Term:
        if var.name in env:
            return s.Var(env[var.name], var.location)
        meant = self._global(var.name)
        if meant is None:
            return var
        path = tuple(s.Scalar(part, var.location) for part in meant[1:])
        root = s.Var(meant[0], var.location)
        return s.Ref(root, path, var.location) if path else root

    def _global(self, name: str) -> tuple[str, ...] | None:
        if name in self._names:
            return ("data", *self._package, name)
        if name in self._imports:
            return self._imports[name].path
        return (name,) if name in ROOTS else None

    def _operator(self, call: s.Call, env: Env) -> tuple[str, ...]:
        first = call.operator[0]
        if call.infix or first in env:
            return call.operator
        meant = self._global(first)
        if meant is not None and meant != ("input",):
            return (*meant, *call.operator[1:])
        name = ".".join(call.operator)
        if name not in self._builtins:
            self._problem("rego_type_error", f"undefined function {name}", call.location)
        return call.operator

    def _introduce(self, var: s.Var, env: Env) -> None:
        if var.name not in env and self._global(var.name) is None:
            env[var.name] = self._fresh(var.name)

    def _declare(self, var: s.Var, env: Env) -> None:
        env[var.name] = self._fresh(var.name)

    def _declare_own(self, var: s.Var, env: Env, own: dict[str, Location], arguments: Mapping[str, str]) -> None:
        if not var.is_wildcard:
            if var.name in own:
                self._problem("rego_compile_error", f"var {var.name} assigned above", var.location)
            elif var.name in arguments:
                self._problem("rego_compile_error", f"arg {var.name} redeclared", var.location)
            own[var.name] = var.location
        self._declare(var, env)

    def _fresh(self, name: str) -> str:
        base = "w" if name.startswith("$") else name
        number = self._count.get(base, 0) + 1
        self._count[base] = number
        return f"{base}{number}" if base == "w" or number > 1 else base

    def _problem(self, code: str, message: str, location: Location) -> None:
        self.problems.append(RegoProblem(code, message, location))


def dotted(term: s.Term) -> tuple[str, ...] | None:
    """`a.b.c` as written; None for anything else."""
    if isinstance(term, s.Var):
        return (term.name,)
    if isinstance(term, s.Ref) and isinstance(term.head, s.Var):
        parts = [part.value for part in term.path if isinstance(part, s.Scalar) and isinstance(part.value, str)]
        return (term.head.name, *parts) if len(parts) == len(term.path) else None
    return None


def pattern_vars(term: s.Term) -> list[s.Var]:
    """The variables that a pattern binds: not those that a ref or a call inside it only uses."""
    match term:
        case s.Var(name) if name not in ROOTS:
            return [term]
        case s.Array(items):
            return [var for item in items for var in pattern_vars(item)]
        case s.Object(pairs):
            return [var for _, value in pairs for var in pattern_vars(value)]
        case _:
            return []


def declared_names(body: s.Body) -> set[str]:
    names: set[str] = set()
    for expr in body:
        match expr.of:
            case s.SomeDeclaration(variables):
                names.update(var.name for var in variables)
            case s.SomeIn(key, value):
                names.update(v.name for part in (key, value) if part is not None for v in pattern_vars(part))
            case s.Call(("assign",), args):
                names.update(var.name for var in pattern_vars(args[0]))
            case _:
                pass
    return names


def expr_vars(expr: s.Expr) -> list[s.Var]:
    """The variables that stand directly in an expression, not inside a body of their own."""
    found: list[s.Var] = []
    match expr.of:
        case s.SomeDeclaration(names):
            found.extend(names)
        case s.SomeIn(key, value, collection):
            for part in (key, value, collection):
                if part is not None:
                    found.extend(direct_vars(part))
        case s.Every(_, _, collection):
            found.extend(direct_vars(collection))
        case of:
            found.extend(direct_vars(of))
    for each in expr.withs:
        found.extend(direct_vars(each.value))
    return found


def direct_vars(term: s.Term) -> list[s.Var]:
    match term:
        case s.Var(name):
            return [] if name in ROOTS else [term]
        case s.Ref(head, path):
            return [var for part in (head, *path) for var in direct_vars(part)]
        case s.Array(items) | s.Set(items):
            return [var for item in items for var in direct_vars(item)]
        case s.Object(pairs):
            return [var for pair in pairs for part in pair for var in direct_vars(part)]
        case s.Call(_, args):
            return [var for arg in args for var in direct_vars(arg)]
        case s.TemplateString(parts):
            return [var for part in parts if isinstance(part, s.Expr) for var in expr_vars(part)]
        case _:
            return []


def all_vars(term: s.Term | s.Expr | s.SomeDeclaration | s.SomeIn | s.Every) -> set[str]:
    """Every variable anywhere inside, also in nested bodies."""
    match term:
        case s.Expr(of, _, withs):
            found = all_vars(of)
            for each in withs:
                found |= all_vars(each.value)
            return found
        case s.Var(name):
            return set() if name in ROOTS else {name}
        case s.Ref(head, path):
            return set().union(all_vars(head), *map(all_vars, path))
        case s.Array(items) | s.Set(items):
            return set().union(*map(all_vars, items))
        case s.Object(pairs):
            return set().union(*(all_vars(part) for pair in pairs for part in pair))
        case s.Call(_, args):
            return set().union(*map(all_vars, args))
        case s.ArrayComprehension(head, body) | s.SetComprehension(head, body):
            return set().union(all_vars(head), *map(all_vars, body))
        case s.ObjectComprehension(key, value, body):
            return set().union(all_vars(key), all_vars(value), *map(all_vars, body))
        case s.TemplateString(parts):
            return set().union(*(all_vars(part) for part in parts if isinstance(part, s.Expr)))
        case s.Logical(_, operands):
            return set().union(*(all_vars(expr) for body in operands for expr in body))
        case s.SomeDeclaration(names):
            return {var.name for var in names}
        case s.SomeIn(key, value, collection):
            return set().union(*(all_vars(part) for part in (key, value, collection) if part is not None))
        case s.Every(key, value, collection, body):
            bound = {var.name for var in (key, value) if var is not None}
            return set().union(bound, all_vars(collection), *map(all_vars, body))
        case _:
            return set()
