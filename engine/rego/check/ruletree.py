"""The rules of all packages in one tree, each at the constant beginning of its head: `p[x].q` of `a` at `a.p`."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from engine.rego.syntax import tree as s
from engine.rego.syntax.lexer import KEYWORDS
from engine.rego.syntax.variables import written_name


@dataclass(slots=True, eq=False)
class RuleNode:
    rules: list[s.Rule] = field(default_factory=list)
    children: dict[Hashable, RuleNode] = field(default_factory=dict)

    def child(self, part: s.Term) -> RuleNode | None:
        return self.children.get(key_of(part)) if isinstance(part, s.Scalar) else None

    def find(self, path: Iterable[s.Term]) -> RuleNode | None:
        node: RuleNode | None = self
        for part in path:
            node = node.child(part) if node is not None else None
        return node

    def named(self, path: Iterable[str]) -> RuleNode | None:
        node: RuleNode | None = self
        for part in path:
            node = node.children.get(part) if node is not None else None
        return node

    def below(self) -> Iterator[RuleNode]:
        """Itself and everything under it, in the order of keys."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children[key] for key in sorted(node.children, key=_order, reverse=True))


def rule_tree(rules: Iterable[s.Rule]) -> RuleNode:
    root = RuleNode()
    for rule in rules:
        node = root
        for part in constant_part(rule.head.ref):
            node = node.children.setdefault(key_of(part), RuleNode())
        node.rules.append(rule)
    return root


def constant_part(ref: Iterable[s.Term]) -> Iterator[s.Scalar]:
    for part in ref:
        if not isinstance(part, s.Scalar):
            return
        yield part


def is_constant(ref: Iterable[s.Term]) -> bool:
    return all(isinstance(part, s.Scalar) for part in ref)


def key_of(part: s.Scalar) -> Hashable:
    """Texts are themselves; `true` and `1` are not the same, though Python says so."""
    value = part.value
    return value if isinstance(value, str) else (type(value) is bool, value)


def ref_text(parts: Iterable[s.Term]) -> str:
    """A path below `data`, as OPA writes it."""
    return "data" + "".join(map(_part_text, parts))


def name_text(path: Iterable[str]) -> str:
    head, *rest = path
    return head + "".join(_text(part) for part in rest)


def _part_text(part: s.Term) -> str:
    match part:
        case s.Scalar(str() as text):
            return _text(text)
        case s.Scalar(value):
            return f"[{json.dumps(value, default=str)}]"
        case s.Var(name):
            return f"[{written_name(name)}]"
        case _:
            return "[_]"


def _text(part: str) -> str:
    plain = part.isidentifier() and part.isascii() and part not in KEYWORDS
    return f".{part}" if plain else f"[{json.dumps(part, ensure_ascii=False)}]"


def _order(key: Hashable) -> tuple[bool, str]:
    return isinstance(key, str), str(key)
