"""Which variables a term, an expression or a body holds, and which of them a pattern binds or a body declares."""

from __future__ import annotations

from engine.rego.errors import Location
from engine.rego.syntax import tree as s

ROOTS = frozenset({"input", "data"})
BUILTIN = "$builtin"
"""The head of a ref that names a builtin instead of calling it."""

MARK = "·"
"""Between a name and its number: no letter of a Rego name, but one of a Python name."""


def written_name(name: str) -> str:
    """What the author called a variable; `_` for a wildcard."""
    return name.partition(MARK)[0]


def is_wildcard(name: str) -> bool:
    """Whether a resolved variable was written as `_`."""
    return written_name(name) == "_"


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


def is_plain_not(term: s.Logical) -> bool:
    """`not x` without braces, which is told by its place: the expression starts where the word stands."""
    return term.operator == "not" and len(term.operands[0]) == 1 and term.operands[0][0].location == term.location


def argument_vars(term: s.Term) -> list[s.Var]:
    """The variables of an argument in a function's head: also those of refs, with which the argument is compared."""
    match term:
        case s.Ref(head, path):
            return [var for part in (head, *path) for var in argument_vars(part)]
        case s.Array(items):
            return [var for item in items for var in argument_vars(item)]
        case s.Object(pairs):
            return [var for _, value in pairs for var in argument_vars(value)]
        case _:
            return pattern_vars(term)


def declared_names(body: s.Body) -> set[str]:
    names: set[str] = set()
    for expr in body:
        match expr.of:
            case s.SomeDeclaration(variables):
                names.update(var.name for var in variables)
            case s.SomeIn(key, value):
                names.update(v.name for part in (key, value) if part is not None for v in pattern_vars(part))
            case s.Call(("assign",), (target, _)):
                names.update(var.name for var in pattern_vars(target))
            case _:
                pass
    return names


def some_declared(body: s.Body) -> dict[str, Location]:
    """What `some x` without `in` declares, and where."""
    return {var.name: expr.location for expr in body if isinstance(expr.of, s.SomeDeclaration) for var in expr.of.names}


def expr_vars(expr: s.Expr) -> list[s.Var]:
    """The variables that stand directly in an expression, not inside a body of their own."""
    found: list[s.Var] = []
    match expr.of:
        case s.SomeDeclaration():
            pass  # it says where a variable belongs, and uses it for nothing
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
            return [] if name in ROOTS or name == BUILTIN else [term]
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
            return set() if name in ROOTS or name == BUILTIN else {name}
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
