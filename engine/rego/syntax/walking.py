"""Walks over the syntax tree: the parts of a node, everything below it, and a copy with other parts.

Knows the shape of every node and nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from engine.rego.syntax import tree as s

Statement: TypeAlias = s.SomeDeclaration | s.SomeIn | s.Every
Node: TypeAlias = s.Term | Statement | s.Expr | s.With
AnyNode = TypeVar("AnyNode", bound=Node)

CLOSURES: Final = (s.ArrayComprehension, s.SetComprehension, s.ObjectComprehension, s.Logical)
"""Terms with a body of their own. `Every` has one too, but is a statement."""


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below it, in the order of the text as far as the tree knows it."""
    return _CHILDREN[type(node)](node)


def within(*nodes: Node | None) -> Iterator[Node]:
    """Each of them and everything below, a node before its parts."""
    waiting = [node for node in reversed(nodes) if node is not None]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(_CHILDREN[type(node)](node)))


def rule_nodes(rule: s.Rule) -> Iterator[Node]:
    """Everything in a rule; `else` branches are rules of their own."""
    return within(*head_terms(rule.head), *rule.body)


def head_terms(head: s.Head) -> tuple[s.Term, ...]:
    return (*head.ref, *(head.args or ()), *(term for term in (head.contains, head.value) if term is not None))


def branches(rule: s.Rule) -> Iterator[s.Rule]:
    """The rule and its `else` branches."""
    each: s.Rule | None = rule
    while each is not None:
        yield each
        each = each.otherwise


def parts_of(rule: s.Rule) -> Iterator[s.Ref | s.Call]:
    """Every ref and call of a rule, wherever it stands."""
    return (node for node in rule_nodes(rule) if isinstance(node, s.Ref | s.Call))


def mapped(node: AnyNode, change: Callable[[Any], Any]) -> AnyNode:
    """A copy with `change` applied to each node right below."""
    made: AnyNode = _MAPPED[type(node)](node, change)
    return made


def mapped_rule(rule: s.Rule, change: Callable[[Any], Any]) -> s.Rule:
    """A copy with `change` applied to each term of the head and each expression, in `else` branches too."""
    head = rule.head
    changed = s.Head(
        ref=tuple(map(change, head.ref)),
        args=tuple(map(change, head.args)) if head.args is not None else None,
        contains=_if_some(change, head.contains),
        value=_if_some(change, head.value),
        location=head.location,
    )
    otherwise = mapped_rule(rule.otherwise, change) if rule.otherwise is not None else None
    return replace(rule, head=changed, body=tuple(map(change, rule.body)), otherwise=otherwise)


def _if_some(change: Callable[[Any], Any], term: s.Term | None) -> s.Term | None:
    changed: s.Term | None = change(term) if term is not None else None
    return changed


def _some(*nodes: Node | None) -> tuple[Node, ...]:
    return tuple(node for node in nodes if node is not None)


_CHILDREN: Final[dict[type, Callable[[Any], tuple[Node, ...]]]] = {
    s.Scalar: lambda _: (),
    s.Var: lambda _: (),
    s.Ref: lambda node: (node.head, *node.path),
    s.Array: lambda node: node.items,
    s.Set: lambda node: node.items,
    s.Object: lambda node: tuple(part for pair in node.items for part in pair),
    s.Call: lambda node: node.args,
    s.ArrayComprehension: lambda node: (node.head, *node.body),
    s.SetComprehension: lambda node: (node.head, *node.body),
    s.ObjectComprehension: lambda node: (node.key, node.value, *node.body),
    s.TemplateString: lambda node: tuple(part for part in node.parts if not isinstance(part, str)),
    s.Logical: lambda node: tuple(expr for body in node.operands for expr in body),
    s.SomeDeclaration: lambda node: node.names,
    s.SomeIn: lambda node: _some(node.key, node.value, node.collection),
    s.Every: lambda node: (*_some(node.key, node.value, node.collection), *node.body),
    s.With: lambda node: (node.target, node.value),
    s.Expr: lambda node: (node.of, *node.withs),
}

_MAPPED: Final[dict[type, Callable[[Any, Callable[[Any], Any]], Any]]] = {
    s.Scalar: lambda node, _: node,
    s.Var: lambda node, _: node,
    s.Ref: lambda node, change: s.Ref(change(node.head), tuple(map(change, node.path)), node.location),
    s.Array: lambda node, change: s.Array(tuple(map(change, node.items)), node.location),
    s.Set: lambda node, change: s.Set(tuple(map(change, node.items)), node.location),
    s.Object: lambda node, change: s.Object(tuple((change(k), change(v)) for k, v in node.items), node.location),
    s.Call: lambda node, change: replace(node, args=tuple(map(change, node.args))),
    s.ArrayComprehension: lambda node, change: replace(
        node, head=change(node.head), body=tuple(map(change, node.body))
    ),
    s.SetComprehension: lambda node, change: replace(node, head=change(node.head), body=tuple(map(change, node.body))),
    s.ObjectComprehension: lambda node, change: replace(
        node, key=change(node.key), value=change(node.value), body=tuple(map(change, node.body))
    ),
    s.TemplateString: lambda node, change: s.TemplateString(
        tuple(part if isinstance(part, str) else change(part) for part in node.parts), node.location
    ),
    s.Logical: lambda node, change: replace(
        node, operands=tuple(tuple(map(change, body)) for body in node.operands)
    ),
    s.SomeDeclaration: lambda node, change: replace(node, names=tuple(map(change, node.names))),
    s.SomeIn: lambda node, change: replace(
        node, key=_if_some(change, node.key), value=change(node.value), collection=change(node.collection)
    ),
    s.Every: lambda node, change: replace(
        node,
        key=_if_some(change, node.key),
        value=change(node.value),
        collection=change(node.collection),
        body=tuple(map(change, node.body)),
    ),
    s.With: lambda node, change: replace(node, target=change(node.target), value=change(node.value)),
    s.Expr: lambda node, change: replace(node, of=change(node.of), withs=tuple(map(change, node.withs))),
}  # fmt: skip
