"""Calls: of functions that exist and may be called, for a value if they have one.

Arguments are not looked at here, neither their types nor how many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from engine.rego.check.capabilities import refusal
from engine.rego.check.ruletree import RuleNode, name_text
from engine.rego.check.suggestions import Suggest
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.term_text import TermTexts
from engine.rego.syntax.variables import MARK
from engine.rego.syntax.walking import CLOSURES, Node, branches, children, head_terms, rule_nodes
from engine.rego.types.signatures import Signature


class Functions:
    """What can be called in a set of rules."""

    def __init__(self, tree: RuleNode, signatures: Mapping[str, Signature], allowed: Collection[str]) -> None:
        self._tree = tree
        self._signatures = signatures
        self._allowed = allowed

    @property
    def builtins(self) -> list[str]:
        """Those that may be called."""
        return [name for name in self._signatures if refusal(name, self._allowed) is None]

    def undefined(self, rule: s.Rule, suggest: Suggest) -> Iterator[RegoProblem]:
        """Also builtins that are refused, and rules that are no functions but given arguments."""
        for branch in branches(rule):
            for node in (*head_terms(branch.head), *branch.body):
                yield from self._within(node, suggest)

    def called_rules(self, rule: s.Rule) -> Iterator[RegoProblem]:
        """Rules that are called as if they took arguments; OPA finds them together with types."""
        for call in _calls(rule):
            found = self._tree.named(call.of.operator[1:]) if call.of.operator[0] == "data" else None
            if found is not None and found.rules and not found.rules[0].head.args:
                yield _problem(f"undefined function {name_text(call.of.operator)}", call.location)

    def void_values(self, rule: s.Rule) -> Iterator[RegoProblem]:
        """`print` where a value is needed."""
        for call in _calls(rule):
            signature = self._signatures.get(".".join(call.of.operator))
            if signature is not None and signature.type.result is None and not call.is_statement:
                yield _problem(f"{TermTexts({}).term(call.of)} used as value", call.location)

    def deprecated(self, rule: s.Rule) -> Iterator[RegoProblem]:
        for call in _calls(rule):
            signature = self._signatures.get(".".join(call.of.operator))
            if signature is not None and signature.deprecated and not call.of.infix:
                message = f"deprecated built-in function calls in expression: {signature.name}"
                yield _problem(message, call.location)

    def _within(
        self, node: Node, suggest: Suggest, statement: s.Expr | None = None, *, nested: bool = True
    ) -> Iterator[RegoProblem]:
        """A call with a fault is not searched for bodies with more of them; its arguments are."""
        if isinstance(node, CLOSURES) and not nested:
            return
        if isinstance(node, s.Call):
            fault = self._fault(_CallSite(node, statement), suggest)
            if fault is not None:
                yield fault
                nested = False
        for child in children(node):
            yield from self._within(child, suggest, node if isinstance(node, s.Expr) else None, nested=nested)

    def _fault(self, site: _CallSite, suggest: Suggest) -> RegoProblem | None:
        call, name = site.of, ".".join(site.of.operator)
        signature = self._signatures.get(name)
        if call.operator[0] not in {"data", "input"} and signature is not None:
            refused = refusal(name, self._allowed)
            return _problem(refused, site.location) if refused is not None else None
        node = self._tree.named(call.operator[1:]) if call.operator[0] == "data" else None
        if node is None or not node.rules:
            written = tuple(part.removesuffix(MARK) for part in call.operator)
            return _problem(f"undefined function {name_text(written)}", site.location, suggest(name, called=True))
        given = len(call.args)
        if node.rules[0].head.args or given == 0 or (site.is_statement and given == 1):
            return None
        noun = "argument" if given == 1 else "arguments"
        return _problem(f"function {name_text(call.operator)} has arity 0, got {given} {noun}", site.location)


@dataclass(frozen=True, slots=True)
class _CallSite:
    of: s.Call
    statement: s.Expr | None
    """The expression that the call is all of, with or without a `not`."""

    @property
    def is_statement(self) -> bool:
        return self.statement is not None

    @property
    def location(self) -> Location:
        return self.statement.location if self.statement is not None else self.of.location


def _calls(rule: s.Rule) -> Iterator[_CallSite]:
    for branch in branches(rule):
        statements = {id(node.of): node for node in rule_nodes(branch) if isinstance(node, s.Expr)}
        for node in rule_nodes(branch):
            if isinstance(node, s.Call):
                yield _CallSite(node, statements.get(id(node)))


def _problem(message: str, location: Location, hint: str | None = None) -> RegoProblem:
    return RegoProblem("rego_type_error", message, location, hint)
