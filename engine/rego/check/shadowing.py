"""Names that hide what must stay visible: `input`, `data`, and an import by another one."""

from __future__ import annotations

from collections.abc import Iterator

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.lexer import KEYWORDS
from engine.rego.syntax.walking import branches, rule_nodes

RESERVED = frozenset({"input", "data"})


def shadowed_by_arguments(rule: s.Rule) -> list[RegoProblem]:
    """OPA looks at these before anything else, and at nothing else if there are any."""
    return [
        _problem(f"args must not shadow {name} (use a different variable name)", branch.location)
        for branch in branches(rule)
        for name in _first_reserved(branch)
    ]


def shadowed_roots(rule: s.Rule) -> Iterator[RegoProblem]:
    """By the rule's own name or by what its bodies assign."""
    first = rule.head.ref[0]
    name = first.name if isinstance(first, s.Var) else first.value if isinstance(first, s.Scalar) else None
    if name in RESERVED:
        yield _problem(f"rules must not shadow {name} (use a different rule name)", rule.location)
    for branch in branches(rule):
        for node in rule_nodes(branch):
            match node:
                case s.Expr(s.Call(("assign",), (s.Var(name), _)), _, _, location) if name in RESERVED:
                    yield _problem(f"variables must not shadow {name} (use a different variable name)", location)


def shadowed_imports(module: s.Module) -> Iterator[RegoProblem]:
    first: dict[str, s.Import] = {}
    for each in module.imports:
        other = first.setdefault(each.alias or each.path[-1], each)
        if other is not each:
            yield _problem(f"import must not shadow {import_text(other)}", each.location)


def import_text(each: s.Import) -> str:
    """As it would be written."""
    head, *rest = each.path
    path = head + "".join(f".{part}" if _is_plain(part) else f'["{part}"]' for part in rest)
    return f"import {path} as {each.alias}" if each.alias else f"import {path}"


def _is_plain(part: str) -> bool:
    return part.isidentifier() and part.isascii() and part not in KEYWORDS


def _first_reserved(rule: s.Rule) -> list[str]:
    """`input` as an argument or in a pattern; a ref that starts there, as `input.x`, is compared and hides nothing."""
    return next(([var.name] for arg in rule.head.args or () for var in _pattern(arg) if var.name in RESERVED), [])


def _pattern(term: s.Term) -> Iterator[s.Var]:
    match term:
        case s.Var():
            yield term
        case s.Array(items) | s.Ref(_, items):
            for item in items:
                yield from _pattern(item)
        case s.Object(pairs):
            for _, value in pairs:
                yield from _pattern(value)


def _problem(message: str, location: Location) -> RegoProblem:
    return RegoProblem("rego_compile_error", message, location)
