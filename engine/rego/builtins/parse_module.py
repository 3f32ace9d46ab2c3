"""`rego.parse_module`: the syntax tree of a module, in the JSON form that OPA gives it."""

from __future__ import annotations

import base64
from typing import Any, Final

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError, Location, RegoProblem, RegoSyntaxError
from engine.rego.syntax import lexer
from engine.rego.syntax import tree as s
from engine.rego.syntax.parser import parse_module as parse
from engine.rego.values import Value

Json = dict[str, Any]

_NAME: Final = "rego.parse_module"
_TRUE: Final[Json] = {"type": "boolean", "value": True}
_KINDS: Final[dict[type, str]] = {bool: "boolean", int: "number", float: "number", str: "string"}
_EMPTY: Final = "empty module"
_WITHOUT_LINE: Final = ("cannot be used for", "keyword is required", "package expected")
"""OPA shows the line of a fault, but not of those that it finds once the statement is read."""
_RANKS: Final = {
    kind: rank
    for rank, kind in enumerate(
        (
            "null", "boolean", "number", "string", "var", "ref", "array", "object", "set", "arraycomprehension",
            "objectcomprehension", "setcomprehension", "call", "templatestring",
        )
    )
}  # fmt: skip
"""OPA's order of kinds of terms, in which it keeps the elements of sets and objects."""


@builtin(_NAME)
def parse_module(file: Value, source: Value) -> Value:
    name, text = operand_string(_NAME, 1, file), operand_string(_NAME, 1, source)
    try:
        return _Tree(text).module(parse(text, name, annotations=False))
    except RegoSyntaxError as error:
        raise BuiltinError(f"{_NAME}: {_faults(error.problems, text)}") from error
    except RecursionError as error:
        raise BuiltinError(f"{_NAME}: nested too deeply") from error


class _Tree:
    """Our tree in OPA's form. What ours does not keep is looked up among the tokens of the source."""

    def __init__(self, source: str) -> None:
        self._tokens, _ = lexer.tokenize(source)
        self._places = {(token.row, token.col): index for index, token in enumerate(self._tokens)}

    def module(self, module: s.Module) -> Json:
        made: Json = {"package": {"path": [_var("data"), *map(_text, module.package)]}}
        if module.imports:
            made["imports"] = [_import(each) for each in module.imports]
        if module.rules:
            made["rules"] = [self._rule(rule, rule.head.location) for rule in module.rules]
        if module.comments:
            made["comments"] = [_comment(place, text) for place, text in module.comments]
        return made

    def _rule(self, rule: s.Rule, start: Location, *, assigned: bool = False) -> Json:
        """`start`: from where the sign before the value is looked for. `assigned`: the rule of this `else` has `:=`."""
        assigned = assigned or self._is_assigned(rule.head, start)
        made: Json = {"head": self._head(rule, assigned), "body": self._body(rule.body)}
        if not rule.body:
            made["body"] = [{"index": 0, "generated": True, "terms": _TRUE}]
        if rule.default:
            made["default"] = True
        if rule.otherwise is not None:
            made["else"] = self._rule(rule.otherwise, rule.otherwise.location, assigned=assigned)
        return made

    def _is_assigned(self, head: s.Head, start: Location) -> bool:
        if head.value is None:
            return False
        depth = 0
        for token in self._tokens[self._places[start.row, start.col] :]:
            depth += (token.kind in ("(", "[", "{")) - (token.kind in (")", "]", "}"))
            if not depth and token.kind in (":=", "="):
                return token.kind == ":="
        return False

    def _head(self, rule: s.Rule, assigned: bool) -> Json:
        head = rule.head
        first, *rest = head.ref
        ref = [_var(_word(first)), *map(self._term, rest)]
        made: Json = {"ref": ref}
        if len(ref) == 1:
            made["name"] = _word(first)
        if head.args:
            made["args"] = [self._term(arg) for arg in head.args]
        if assigned:
            made["assign"] = True
        if head.contains is not None:
            return made | {"key": self._term(head.contains)}
        if len(ref) == 2 and not rule.default:
            made |= self._key_of_pair(rule, ref)
        return made | {"value": _TRUE if head.value is None else self._term(head.value)}

    def _key_of_pair(self, rule: s.Rule, ref: list[Json]) -> Json:
        """Of `p[x]`: OPA keeps the key apart for such rules, as it did before rules had refs."""
        named = {"name": ref[0]["value"]} if rule.head.value is not None or rule.head.args else {}
        if rule.body:
            open_key = not rule.head.args and not _is_ground(ref[1])
            return named | ({"key": ref[1]} if open_key else {})
        return named | {"key": ref[1]} if not rule.head.args else {}

    def _body(self, body: s.Body) -> list[Json]:
        return [self._expr(expr, index) for index, expr in enumerate(body)]

    def _expr(self, expr: s.Expr, index: int) -> Json:
        made: Json = {"index": index, "terms": self._terms(expr.of)}
        if expr.negated:
            made["negated"] = True
        if expr.withs:
            made["with"] = [{"target": self._term(one.target), "value": self._term(one.value)} for one in expr.withs]
        return made

    def _terms(self, of: s.Term | s.SomeDeclaration | s.SomeIn | s.Every) -> Any:  # noqa: ANN401 (a list or an object)
        if isinstance(of, s.SomeDeclaration):
            return {"symbols": [self._term(name) for name in of.names]}
        if isinstance(of, s.SomeIn):
            operands = [of.value, of.collection] if of.key is None else [of.key, of.value, of.collection]
            operator = ("internal", f"member_{len(operands)}")
            return {"symbols": [self._term(s.Call(operator, tuple(operands), of.location))]}
        if isinstance(of, s.Every):
            key = None if of.key is None else self._term(of.key)
            return {
                "key": key,
                "value": self._term(of.value),
                "domain": self._term(of.collection),
                "body": self._body(of.body),
            }
        if isinstance(of, s.Call):
            return self._call(of)
        return self._logical(of) if isinstance(of, s.Logical) else self._term(of)

    def _logical(self, of: s.Logical) -> Json:
        left = self._body(of.operands[0])
        if of.operator == "not":
            place = self._places.get((of.location.row, of.location.col))
            braces = place is not None and self._tokens[place + 1].kind == "{"
            return {"type": "not", "body": left} | ({"explicit_body": True} if braces else {})
        made: Json = {}
        for operand in of.operands[1:]:
            made = {"type": of.operator, "lhs": left, "rhs": self._body(operand)}
            left = [{"index": 0, "terms": made}]
        return made

    def _call(self, call: s.Call) -> list[Json]:
        first, *rest = call.operator
        return [{"type": "ref", "value": [_var(first), *map(_text, rest)]}, *map(self._term, call.args)]

    def _term(self, term: s.Term) -> Json:
        if isinstance(term, s.Scalar):
            if term.value is None:
                return {"type": "null", "value": {}}
            return {"type": _KINDS[type(term.value)], "value": term.value}
        if isinstance(term, s.Var):
            root = term.name in ("input", "data")
            return {"type": "ref", "value": [_var(term.name)]} if root else _var(term.name)
        if isinstance(term, s.Ref):
            head = _var(term.head.name) if isinstance(term.head, s.Var) else self._term(term.head)
            return {"type": "ref", "value": [head, *map(self._term, term.path)]}
        if isinstance(term, s.Array):
            return {"type": "array", "value": [self._term(item) for item in term.items]}
        if isinstance(term, s.Set):
            return {"type": "set", "value": _in_order([self._term(item)] for item in term.items)}
        if isinstance(term, s.Object):
            pairs = _pairs([self._term(key), self._term(value)] for key, value in term.items)
            return {"type": "object", "value": pairs}
        if isinstance(term, s.Call):
            return {"type": "call", "value": self._call(term)}
        if isinstance(term, s.TemplateString):
            return self._template(term)
        return self._comprehension(term)

    def _comprehension(self, term: s.Term) -> Json:
        if isinstance(term, s.ObjectComprehension):
            heads = {"key": self._term(term.key), "value": self._term(term.value)}
            return {"type": "objectcomprehension", "value": heads | {"body": self._body(term.body)}}
        if isinstance(term, s.ArrayComprehension | s.SetComprehension):
            kind = "arraycomprehension" if isinstance(term, s.ArrayComprehension) else "setcomprehension"
            return {"type": kind, "value": {"term": self._term(term.head), "body": self._body(term.body)}}
        raise BuiltinError(f"{_NAME}: {type(term).__name__} has no form of its own")

    def _template(self, term: s.TemplateString) -> Json:
        place = self._places.get((term.location.row, term.location.col))
        raw = place is not None and self._tokens[place].kind in (lexer.RAW_PART, lexer.RAW_END)
        parts = [_text(part) if isinstance(part, str) else self._part(part) for part in term.parts]
        return {"type": "templatestring", "value": {"multi_line": raw, "parts": parts or None}}

    def _part(self, expr: s.Expr) -> Json:
        """OPA keeps a bare scalar without its expression."""
        return self._term(expr.of) if isinstance(expr.of, s.Scalar) and not expr.withs else self._expr(expr, 0)


def _import(each: s.Import) -> Json:
    first, *rest = each.path
    made: Json = {"path": {"type": "ref", "value": [_var(first), *map(_text, rest)]}}
    return made | {"alias": each.alias} if each.alias else made


def _comment(place: Location, text: str) -> Json:
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return {"Text": encoded, "Location": {"file": place.file, "row": place.row, "col": place.col}}


def _var(name: str) -> Json:
    return {"type": "var", "value": name}


def _text(text: str) -> Json:
    return {"type": "string", "value": text}


def _word(term: s.Term) -> str:
    return term.name if isinstance(term, s.Var) else str(term.value) if isinstance(term, s.Scalar) else ""


def _is_ground(term: Json) -> bool:
    """Without variables, and without refs, which hold some."""
    if term["type"] in ("array", "set"):
        return all(map(_is_ground, term["value"]))
    if term["type"] == "object":
        return all(_is_ground(part) for pair in term["value"] for part in pair)
    return term["type"] in ("null", "boolean", "number", "string")


def _in_order(elements: Any) -> list[Json]:  # noqa: ANN401 (an iterable of lists of one)
    return [pair[0] for pair in _pairs(elements)]


def _pairs(pairs: Any) -> list[list[Json]]:  # noqa: ANN401 (an iterable of lists)
    """By their first term, of equal ones the last."""
    by_key = {_order(pair[0]): pair for pair in pairs}
    return [by_key[key] for key in sorted(by_key)]


def _order(part: Any) -> tuple[Any, ...]:  # noqa: ANN401 (any part of the tree)
    if isinstance(part, dict):
        kind = part.get("type")
        if kind in _RANKS:
            return (1, _RANKS[kind], _order(part["value"]))
        return (2, *((name, _order(part[name])) for name in sorted(part)))
    if isinstance(part, list):
        return (3, *map(_order, part))
    return (0, "" if part is None else part)


def _faults(problems: tuple[RegoProblem, ...], source: str) -> str:
    if [problem.message for problem in problems] == [_EMPTY]:
        return f"{problems[0].location.file}:0: {problems[0].code}: {_EMPTY}"
    lines = source.split("\n")
    shown = [_fault(problem, lines) for problem in problems]
    return f"1 error occurred: {shown[0]}" if len(shown) == 1 else f"{len(shown)} errors occurred:\n" + "\n".join(shown)


def _fault(problem: RegoProblem, lines: list[str]) -> str:
    place = problem.location
    where = f"{place.file}:{place.row}" if place.file else f"{place.row}:{place.col}"
    text = f"{where}: {problem.code}: {problem.message}"
    line = lines[place.row - 1] if 0 < place.row <= len(lines) else ""
    if not line.strip() or any(words in problem.message for words in _WITHOUT_LINE):
        return text
    tabs = len(line) - len(line.lstrip("\t"))
    return f"{text}\n\t{line.lstrip(chr(9))}\n\t{' ' * max(0, place.col - 1 - tabs)}^"
