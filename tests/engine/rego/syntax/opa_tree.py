"""Our tree and the one of OPA's `rego.parse_module` in one common form, to be compared. Places are left out."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

from engine.rego.syntax.tree import (
    Array,
    Call,
    Every,
    Expr,
    Logical,
    Module,
    Object,
    Ref,
    Rule,
    Scalar,
    Set,
    SomeDeclaration,
    SomeIn,
    TemplateString,
    Var,
)


def of_ours(module: Module) -> list[Any]:
    return [list(module.package), [_rule(rule) for rule in module.rules]]


def of_opa(module: dict[str, Any]) -> list[Any]:
    return [
        [part["value"] for part in module["package"]["path"][1:]],
        [_opa_rule(r) for r in module.get("rules") or []],
    ]


def exact_number(text: str) -> float:
    """OPA writes a number as it was written, as 2e308, which no float holds."""
    decimal = Decimal(text)
    return int(decimal) if decimal == decimal.to_integral_value() else float(text)


def _rule(rule: Rule) -> dict[str, Any]:
    head = rule.head
    value = _node(head.value) if head.value is not None else None if head.contains is not None else ["boolean", True]
    return {
        "ref": [_node(part) for part in head.ref],
        "args": [_node(arg) for arg in head.args or ()],
        "contains": None if head.contains is None else _node(head.contains),
        "value": value,
        "body": [_node(expr) for expr in rule.body] or [[False, ["boolean", True], []]],
        "default": rule.default,
        "else": None if rule.otherwise is None else _rule(rule.otherwise),
    }


def _opa_rule(rule: dict[str, Any]) -> dict[str, Any]:
    head = rule["head"]
    first, *rest = head["ref"]
    return {
        "ref": [["string", first["value"]], *map(_opa, rest)],
        "args": [_opa(arg) for arg in head.get("args", [])],
        "contains": _opa(head["key"]) if "key" in head and "value" not in head else None,
        "value": _opa(head["value"]) if "value" in head else None,
        "body": [_opa_expr(expr) for expr in rule["body"] or []],
        "default": rule.get("default", False),
        "else": _opa_rule(rule["else"]) if "else" in rule else None,
    }


def _node(node: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 — one branch for each kind
    if isinstance(node, Expr):
        return [
            node.negated,
            _node(node.of),
            [[_node(with_.target), _node(with_.value)] for with_ in node.withs],
        ]
    if isinstance(node, Scalar):
        kind = _SCALARS[type(node.value)]
        return [kind, _number(node.value) if kind == "number" else node.value]
    if isinstance(node, Var):
        name = "_" if node.is_wildcard else node.name
        return ["ref", [["var", name]]] if name in ("input", "data") else ["var", name]
    if isinstance(node, Ref):
        head = ["var", node.head.name] if isinstance(node.head, Var) else _node(node.head)
        return ["ref", [head, *map(_node, node.path)]]
    if isinstance(node, Array):
        return ["array", [_node(item) for item in node.items]]
    if isinstance(node, Set):
        return ["set", _unique(_node(item) for item in node.items)]
    if isinstance(node, Object):
        return ["object", _unique([_node(key), _node(value)] for key, value in node.items)]
    if isinstance(node, Call):
        first, *rest = node.operator
        return ["call", ["ref", [["var", first], *(["string", part] for part in rest)]], *map(_node, node.args)]
    if isinstance(node, TemplateString):
        return ["templatestring", [["string", part] if isinstance(part, str) else _part(part) for part in node.parts]]
    if isinstance(node, SomeDeclaration):
        return ["some", [_node(name) for name in node.names]]
    if isinstance(node, SomeIn):
        members = [] if node.key is None else [_node(node.key)]
        operator = ["ref", [["var", "internal"], ["string", "member_3" if members else "member_2"]]]
        return ["some", [["call", operator, *members, _node(node.value), _node(node.collection)]]]
    if isinstance(node, Every):
        key = None if node.key is None else _node(node.key)
        return ["every", key, _node(node.value), _node(node.collection), [_node(expr) for expr in node.body]]
    if isinstance(node, Logical):
        left: Any = [_node(expr) for expr in node.operands[0]]
        if node.operator == "not":
            return ["not", left]
        for operand in node.operands[1:]:
            left = [[False, [node.operator, left, [_node(expr) for expr in operand]], []]]
        return left[0][1]
    assert is_dataclass(node)
    parts = {each.name: getattr(node, each.name) for each in fields(node) if each.name != "location"}
    body = [_node(expr) for expr in parts.pop("body")]
    return [type(node).__name__.lower(), *(_node(part) for part in parts.values()), body]


def _part(expr: Expr) -> Any:
    """OPA keeps a bare scalar without its expression."""
    return _node(expr.of) if isinstance(expr.of, Scalar) and not expr.withs else _node(expr)


def _opa(term: dict[str, Any]) -> Any:  # noqa: PLR0911 — one branch for each kind
    kind: str = term["type"]
    value: Any = term.get("value")
    if kind == "null":
        return ["null", None]
    if kind == "var":
        return ["var", "_" if value.startswith("$") else value]
    if kind in ("ref", "array"):
        return [kind, [_opa(item) for item in value]]
    if kind == "set":
        return [kind, _unique(_opa(item) for item in value)]
    if kind == "object":
        return [kind, _unique([_opa(key), _opa(item)] for key, item in value)]
    if kind == "call":
        return ["call", *(_opa(item) for item in value)]
    if kind == "templatestring":
        return [kind, [_opa_expr(part) if "terms" in part else _opa(part) for part in value["parts"] or []]]
    if kind.endswith("comprehension"):
        heads = [_opa(value[name]) for name in ("key", "term", "value") if name in value]
        return [kind, *heads, [_opa_expr(expr) for expr in value["body"]]]
    return [kind, _number(value) if kind == "number" else value]


def _number(value: float) -> float:
    """One form for 1 and 1.0; what no float holds stays exact."""
    return float(value) if abs(value) < 1e300 else value


def _opa_expr(expr: dict[str, Any]) -> Any:
    terms = expr["terms"]
    withs = [[_opa(each["target"]), _opa(each["value"])] for each in expr.get("with", [])]
    return [expr.get("negated", False), _opa_terms(terms), withs]


def _opa_terms(terms: Any) -> Any:
    if isinstance(terms, list):
        return ["call", *map(_opa, terms)]
    if "symbols" in terms:
        return ["some", [_opa(symbol) for symbol in terms["symbols"]]]
    if "domain" in terms:
        key = _opa(terms["key"]) if terms.get("key") else None
        return ["every", key, _opa(terms["value"]), _opa(terms["domain"]), [_opa_expr(e) for e in terms["body"]]]
    if terms["type"] in ("and", "or"):
        return [terms["type"], [_opa_expr(e) for e in terms["lhs"]], [_opa_expr(e) for e in terms["rhs"]]]
    if terms["type"] == "not":
        return ["not", [_opa_expr(e) for e in terms["body"]]]
    return _opa(terms)


def _unique(items: Any) -> list[Any]:
    return [json.loads(text) for text in sorted({json.dumps(item) for item in items})]


_SCALARS: dict[type, str] = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string"}
