"""Template strings: what stands between their braces must have one value and only use what is bound around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.rego.check.hoisting import COMPREHENSIONS, own_vars
from engine.rego.check.unsafe import bound_by
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS, written_name
from engine.rego.syntax.walking import Node, branches, children, head_terms, within
from engine.rego.types.signatures import Signature


def template_problems(
    rule: s.Rule, signatures: Mapping[str, Signature], is_defined: Callable[[s.Ref], bool]
) -> Iterator[RegoProblem]:
    """`is_defined`: whether a ref names a rule that always has a value."""
    for branch in branches(rule):
        if not any(isinstance(node, s.TemplateString) for node in within(*head_terms(branch.head), *branch.body)):
            continue
        args = {var.name for arg in branch.head.args or () for var in own_vars(arg)}
        safe = bound_by(branch.body, ROOTS | args)
        for node in (*branch.body, *head_terms(branch.head)):
            yield from _within(node, safe, signatures, is_defined)


def _within(
    node: Node, safe: frozenset[str], signatures: Mapping[str, Signature], is_defined: Callable[[s.Ref], bool]
) -> Iterator[RegoProblem]:
    if isinstance(node, s.TemplateString):
        for part in node.parts:
            if isinstance(part, s.Expr):
                yield from _part(part, safe, signatures, is_defined)
    if isinstance(node, COMPREHENSIONS):
        safe = bound_by(node.body, safe)
    elif isinstance(node, s.Every):
        safe = bound_by(node.body, safe | {var.name for var in (node.key, node.value) if var is not None})
    for child in children(node):
        yield from _within(child, safe, signatures, is_defined)


def _part(
    part: s.Expr, safe: frozenset[str], signatures: Mapping[str, Signature], is_defined: Callable[[s.Ref], bool]
) -> Iterator[RegoProblem]:
    of = part.of
    if isinstance(of, s.SomeDeclaration | s.SomeIn | s.Every):
        yield _problem(f"unexpected template-string expression type: {type(of).__name__}", part.location)
        return
    if isinstance(of, s.Call):
        signature = signatures.get(".".join(of.operator))
        if signature is not None and signature.relation:
            name = signature.name
            message = f"illegal call to relation built-in '{name}' that may cause multiple outputs"
            yield _problem(message, part.location)
            return
    if isinstance(of, s.Var) or (isinstance(of, s.Ref) and is_defined(of)):
        return
    for name in sorted({var.name for var in own_vars(of)} - safe):
        yield _problem(f"var {written_name(name)} is undeclared", of.location)


def _problem(message: str, location: Location) -> RegoProblem:
    return RegoProblem("rego_compile_error", message, location)
