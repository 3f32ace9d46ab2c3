"""What `with` may replace: `input`, `data`, a whole rule or function, and a builtin that has one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.rego.check.ruletree import RuleNode
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import BUILTIN
from engine.rego.syntax.walking import Node, branches, children, head_terms
from engine.rego.types.signatures import Signature

_FIXED = frozenset({"eq", "rego.metadata.chain", "rego.metadata.rule"})


def replacement_problems(rule: s.Rule, tree: RuleNode, signatures: Mapping[str, Signature]) -> Iterator[RegoProblem]:
    """The first of each body."""
    for branch in branches(rule):
        yield from _in_body(branch.body, tree, signatures)
        for term in head_terms(branch.head):
            yield from _in_nested(term, tree, signatures)


def _in_body(body: s.Body, tree: RuleNode, signatures: Mapping[str, Signature]) -> Iterator[RegoProblem]:
    found = (_fault(each.target, tree, signatures) for expr in body for each in expr.withs)
    first = next((problem for problem in found if problem is not None), None)
    if first is not None:
        yield first
    for expr in body:
        yield from _in_nested(expr, tree, signatures)


def _in_nested(node: Node, tree: RuleNode, signatures: Mapping[str, Signature]) -> Iterator[RegoProblem]:
    match node:
        case s.ArrayComprehension() | s.SetComprehension() | s.ObjectComprehension() | s.Every():
            yield from _in_body(node.body, tree, signatures)
        case s.Logical(_, operands):
            for body in operands:
                yield from _in_body(body, tree, signatures)
        case _:
            for child in children(node):
                yield from _in_nested(child, tree, signatures)


def _fault(target: s.Ref | s.Var, tree: RuleNode, signatures: Mapping[str, Signature]) -> RegoProblem | None:
    head = target.head if isinstance(target, s.Ref) else target
    name = head.name if isinstance(head, s.Var) else ""
    if name == "input" or (name == "data" and not isinstance(target, s.Ref)):
        return None
    if name == BUILTIN and isinstance(target, s.Ref) and isinstance(target.path[0], s.Scalar):
        return _fault_of_builtin(signatures[str(target.path[0].value)], target.location)
    if name == "data" and isinstance(target, s.Ref):
        return _fault_of_document(target, tree)
    message = "with keyword target must reference existing input, data, or a function"
    return RegoProblem("rego_type_error", message, target.location)


def _fault_of_document(target: s.Ref, tree: RuleNode) -> RegoProblem | None:
    node: RuleNode | None = tree
    for part in target.path[:-1]:
        node = node.child(part) if node is not None else None
        if node is not None and node.rules:
            message = "with keyword cannot partially replace virtual document(s)"
            return RegoProblem("rego_compile_error", message, target.location)
    return None


def _fault_of_builtin(signature: Signature, location: Location) -> RegoProblem | None:
    name, fault = signature.name, None
    if name in _FIXED:
        fault = f'replacement of "{name}" invalid'
    elif name.startswith("internal."):
        fault = f'replacement of internal function "{name}" invalid'
    elif signature.relation:
        fault = "target must not be a relation"
    elif signature.type.result is None:
        fault = "target must not be a void function"
    message = f"with keyword replacing built-in function: {fault}"
    return RegoProblem("rego_compile_error", message, location) if fault is not None else None
