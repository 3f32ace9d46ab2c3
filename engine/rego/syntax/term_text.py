"""Terms as OPA writes them in messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.rego.syntax import tree as s
from engine.rego.syntax.lexer import KEYWORDS
from engine.rego.syntax.variables import written_name
from engine.rego.values import RegoSet, Value, thaw

NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")


class TermTexts:
    """`subjects` are the terms that generated variables stand for."""

    def __init__(self, subjects: Mapping[str, s.Term]) -> None:
        self._subjects = subjects

    def ref(self, ref: s.Ref, parts: int) -> str:
        return self.term(ref.head) + "".join(map(self._part, ref.path[:parts]))

    def _part(self, part: s.Term) -> str:
        if isinstance(part, s.Scalar) and isinstance(part.value, str):
            return _name_text(part.value)
        return f"[{self.term(part)}]"

    def term(self, term: s.Term) -> str:
        match term:
            case s.Scalar(value):
                return value_text(value)
            case s.Var(name):
                subject = self._subjects.get(name)
                return _var_text(name) if subject is None else self.term(subject)
            case s.Ref(_, path):
                return self.ref(term, len(path))
            case s.Array(items):
                return f"[{self._terms(items)}]"
            case s.Set(items):
                return f"{{{self._terms(items)}}}" if items else "set()"
            case s.Object(pairs):
                return "{" + ", ".join(f"{self.term(k)}: {self.term(v)}" for k, v in pairs) + "}"
            case s.Call(operator, args):
                return f"{operator_text(operator)}({self._terms(args)})"
            case s.ArrayComprehension(head, body):
                return f"[{self.term(head)} | {self._body(body)}]"
            case s.SetComprehension(head, body):
                return f"{{{self.term(head)} | {self._body(body)}}}"
            case s.ObjectComprehension(key, value, body):
                return f"{{{self.term(key)}: {self.term(value)} | {self._body(body)}}}"
            case _:
                return "true"

    def _terms(self, terms: Sequence[s.Term]) -> str:
        return ", ".join(map(self.term, terms))

    def _body(self, body: s.Body) -> str:
        return "; ".join(map(self._expr, body))

    def _expr(self, expr: s.Expr) -> str:
        withs = "".join(f" with {self.term(each.target)} as {self.term(each.value)}" for each in expr.withs)
        return ("not " if expr.negated else "") + self._statement(expr.of) + withs

    def _statement(self, of: s.Term | s.SomeDeclaration | s.SomeIn | s.Every) -> str:
        match of:
            case s.SomeDeclaration(names):
                return f"some {self._terms(names)}"
            case s.SomeIn(key, value, collection):
                return f"{self.term(value)} = {self.term(collection)}[{self._key(key)}]"
            case s.Every(key, value, collection, body):
                variables = f"{self._key(key)}, {self.term(value)}"
                return f"every {variables} in {self.term(collection)} {{ {self._body(body)} }}"
            case s.Call(("eq",) | ("assign",), (one, other)):
                return f"{self.term(one)} = {self.term(other)}"
            case _:
                return self.term(of)

    def _key(self, key: s.Term | None) -> str:
        return self.term(key) if key is not None else "__local0__"


def operator_text(operator: Sequence[str]) -> str:
    """Of a function: `count`, `data.a["b-c"].f`."""
    return operator[0] + "".join(map(_name_text, operator[1:]))


def _name_text(name: str) -> str:
    return f".{name}" if NAME.match(name) and name not in KEYWORDS else f"[{value_text(name)}]"


def _var_text(name: str) -> str:
    """A variable that nobody wrote has a number in OPA's messages, too, but not the same."""
    return f"__{name[1:]}__" if name.startswith("$") else written_name(name)


def value_text(value: Value) -> str:
    """As OPA writes a value in a message."""
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    if isinstance(value, RegoSet):
        return "{" + ", ".join(map(value_text, value)) + "}" if len(value) else "set()"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{value_text(thaw(key))}: {value_text(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
