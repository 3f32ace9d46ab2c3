"""`print`: checked like any other call, and then taken out. A decision prints nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.rego.check.hoisting import own_vars
from engine.rego.check.unsafe import bound_by
from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS, declared_names, written_name
from engine.rego.syntax.walking import CLOSURES, Node, branches, children, head_terms, mapped, mapped_rule, within

_PRINT = ("print",)


def print_problems(rule: s.Rule) -> Iterator[RegoProblem]:
    """`print` binds nothing and waits for nothing: its arguments are bound by what is written before it."""
    for branch in branches(rule):
        nodes = within(*head_terms(branch.head), *branch.body)
        if not any(isinstance(node, s.Call) and node.operator == _PRINT for node in nodes):
            continue
        args = frozenset(var.name for arg in branch.head.args or () for var in own_vars(arg))
        yield from _in_body(branch.body, ROOTS | args)
        for term in head_terms(branch.head):
            yield from _in_nested(term, ROOTS | args)


def without_prints(rule: s.Rule) -> s.Rule:
    """With `true` in the place of each."""
    return mapped_rule(rule, _erased)


def _erased(node: Any) -> Any:  # noqa: ANN401  a node of the same kind
    if isinstance(node, s.Expr) and isinstance(node.of, s.Call) and node.of.operator == _PRINT:
        return s.Expr(s.Scalar(True, node.location), False, (), node.location)
    return mapped(node, _erased)


def _in_body(body: s.Body, safe: frozenset[str]) -> Iterator[RegoProblem]:
    for place, expr in enumerate(body):
        known = bound_by(body[:place], safe) | declared_names(body[:place])
        if isinstance(expr.of, s.Call) and expr.of.operator == _PRINT:
            for arg in expr.of.args:
                for name in sorted({var.name for var in own_vars(arg)} - known):
                    message = f"var {written_name(name)} is undeclared"
                    yield RegoProblem("rego_compile_error", message, arg.location)
        yield from _in_nested(expr, known)


def _in_nested(node: Node, safe: frozenset[str]) -> Iterator[RegoProblem]:
    if isinstance(node, s.Every):
        yield from _in_body(node.body, safe | {var.name for var in (node.key, node.value) if var is not None})
    elif isinstance(node, s.Logical):
        for body in node.operands:
            yield from _in_body(body, safe)
    elif isinstance(node, CLOSURES):
        yield from _in_body(node.body, safe)
    else:
        for child in children(node):
            yield from _in_nested(child, safe)
