"""The terms of the grammar: scalars, refs, calls, collections, comprehensions, and the operators between them.

No statement is known here; what a comprehension needs of them is in `literals`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import lexer
from engine.rego.syntax.cursor import Cursor, State
from engine.rego.syntax.tree import (
    Array,
    ArrayComprehension,
    Body,
    Call,
    Every,
    Expr,
    Logical,
    Object,
    ObjectComprehension,
    Ref,
    Scalar,
    Set,
    SetComprehension,
    SomeDeclaration,
    SomeIn,
    TemplateString,
    Term,
    Var,
)

MEMBER: Final = ("internal", "member_2")
MEMBER_WITH_KEY: Final = ("internal", "member_3")

_LEVELS: Final = {
    "==": 1, "!=": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "|": 2, "&": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip
_OPERATORS: Final = {
    "==": "equal", "!=": "neq", "<": "lt", ">": "gt", "<=": "lte", ">=": "gte", "|": "or", "&": "and", "+": "plus",
    "-": "minus", "*": "mul", "/": "div", "%": "rem",
}  # fmt: skip
_UNESCAPED_BRACE: Final = re.compile(r"\\(\{|.)", re.DOTALL)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_MAX_DECIMAL_EXPONENT: Final = 30102
"""OPA's limit is 2**100000."""
_LONG: Final = 4000
"""Digits. Python refuses to read longer integers from text, not from a Decimal."""

_Memo: TypeAlias = dict[tuple[int, str], tuple[Term | None, int, str, tuple[RegoProblem, ...]]]


class Terms(Cursor, ABC):
    """Each method takes what it names from the tokens. It answers None if it cannot, with the problem noted."""

    def __init__(self, source: str, file: str) -> None:
        self.term_memo: _Memo = {}
        """What was read at a place: guesses read it again, and would take exponential time without."""
        self.wildcards: dict[int, str] = {}
        super().__init__(source, file)

    @abstractmethod
    def body(self, end: str) -> Body | None: ...

    @abstractmethod
    def literal(self) -> Expr | None: ...

    def infix(self, pairs: bool = True) -> Term | None:
        """Any term with operators. `pairs`: `k, v in xs` is possible, as it is not between the commas of a list."""
        first = self.relation()
        if first is None:
            return None
        if pairs and self.kind == ",":
            state = self.save()
            self.advance()
            second = self.relation()
            if second is not None and self.kind == "in":
                self.advance()
                collection = self.relation()
                if collection is not None:
                    call = Call(MEMBER_WITH_KEY, (first, second, collection), first.location, infix=True)
                    return self.members(call)
            self.restore(state)
        return self.members(first)

    def members(self, left: Term) -> Term:
        while True:
            self.name_before_ref()
            if self.kind != "in":
                return left
            self.advance()
            collection = self.relation()
            if collection is None:
                return left
            left = Call(MEMBER, (left, collection), left.location, infix=True)

    def relation(self, level: int = 1) -> Term | None:
        """Operators of this level and of tighter ones, all of them left-associative."""
        left = self.term()
        if left is None:
            return None
        below = 6
        while True:
            sign = self.kind
            its = _LEVELS.get(sign, 0)
            if not level <= its < below:
                return left
            self.advance()
            right = self.term() if its == 5 else self.relation(its + 1)
            if right is None:
                below = its
            else:
                left = Call((_OPERATORS[sign],), (left, right), left.location, infix=True)

    def term(self) -> Term | None:
        key = (self.index, self.kind)
        known = self.term_memo.get(key)
        if known is not None:
            term, self.index, self.kind, problems = known
            self.problems.extend(problems)
            return term
        count = len(self.problems)
        self.enter()
        term = self.new_term()
        self.depth -= 1
        self.term_memo[key] = (term, self.index, self.kind, tuple(self.problems[count:]))
        return term

    def new_term(self) -> Term | None:
        if self.kind in ("and", "or") and self.peek().kind == "(" and not self.peek().spaced:
            self.kind = lexer.NAME
        kind = self.kind
        location = self.location()
        minus = kind == "-" and self.peek().kind in (lexer.NAME, "contains")
        if minus:
            self.advance()
            kind = self.kind
        term: Term | None
        if kind in (lexer.NAME, "contains"):
            term = self.var()
        elif kind in _CONSTANTS:
            term = Scalar(_CONSTANTS[kind], location)
        elif kind in (lexer.NUMBER, "-", "."):
            term = self.number()
        elif kind in (lexer.STRING, lexer.RAW_STRING):
            term = self.string()
        elif kind in (lexer.PART, lexer.END, lexer.RAW_PART, lexer.RAW_END):
            term = self.template_string()
        elif kind == "[":
            term = self.array()
        elif kind == "{":
            term = self.set_or_object()
        elif kind == "(":
            term = self.in_parentheses()
        else:
            self.illegal()
            return None
        if term is None:
            return None
        self.advance()
        if self.glued and self.kind in ("(", ".", "["):
            term = self.ref(term)
        if minus and term is not None:
            return Call(("minus",), (Scalar(0, location), term), location, infix=True)
        return term

    def var(self) -> Var:
        name = self.token.text
        if name == "_":
            name = self.wildcards.setdefault(self.index, f"${len(self.wildcards)}")
        return Var(name, self.location())

    def in_parentheses(self) -> Term | None:
        self.advance()
        term = self.infix()
        if term is not None and self.kind != ")":
            self.problem(self.location(), "non-terminated expression")
            return None
        return term

    def number(self) -> Term | None:
        location, text = self.location(), ""
        if self.kind == "-":
            text = "-"
            self.advance()
            if self.kind not in (lexer.NUMBER, "."):
                self.illegal("expected number")
                return None
        if self.kind == ".":
            text += "."
            self.advance()
            if self.kind != lexer.NUMBER:
                self.illegal("expected number")
                return None
        digits = self.token.text
        if not text.endswith(".") and len(digits) > 1 and digits[0] == "0" and digits[1] not in ".eE":
            self.illegal("expected number without leading zero")
            return None
        try:
            return Scalar(_number(text + digits), location)
        except (InvalidOperation, OverflowError):
            message = "number too big"
        self.problem(self.location(), message)
        return None

    def string(self) -> Term | None:
        token = self.token
        text = token.text[1:-1]
        if token.kind == lexer.STRING and "\\" in text:
            unescaped = _unescape(text)
            if unescaped is None:
                self.problem(self.location(), f"illegal string literal: {token.text}")
                return None
            text = unescaped
        return Scalar(text, self.location())

    def template_string(self) -> Term | None:
        location = self.location()
        parts: list[str | Expr] = []
        while True:
            text = self.template_text()
            if text is None:
                return None
            if text:
                parts.append(text)
            if self.kind in (lexer.END, lexer.RAW_END):
                return TemplateString(tuple(parts), location)
            self.advance()
            expr = self.literal()
            if expr is None:
                self.problem(self.location(), "invalid template-string expression")
                return None
            if fault := _template_fault(expr):
                self.problem(expr.location, f"unexpected {fault} in template-string expression")
                return None
            parts.append(expr)
            if self.kind != "}":
                self.problem(self.location(), "expected } to end template string expression")
                return None
            self.advance()

    def template_text(self) -> str | None:
        text = self.token.text
        if self.kind in (lexer.RAW_PART, lexer.RAW_END):
            return text.replace("\\{", "{")
        if self.kind not in (lexer.PART, lexer.END):
            self.problem(self.location(), "expected template-string part")
            return None
        if "\\" not in text:
            return text
        unescaped = _unescape(_UNESCAPED_BRACE.sub(lambda found: "{" if found[1] == "{" else found[0], text))
        if unescaped is None:
            self.problem(self.location(), f"illegal template-string part: {self.source[slice(*self.token[4:6])]}")
        return unescaped

    def ref(self, head: Term) -> Term | None:
        """At the `.`, `[` or `(` right after `head`."""
        start = self.index - 1
        if isinstance(head, Scalar | TemplateString | Logical):
            self.problem(head.location, f"illegal ref (head cannot be {value_name(head)})")
        path: list[Term] = []
        while self.glued:
            if self.kind == ".":
                if not self.dotted(path):
                    return None
            elif self.kind == "[":
                if not self.bracketed(path):
                    return None
            elif self.kind == "(":
                operator = head if not path else Ref(head, tuple(path), head.location)
                call = self.call(operator, start)
                if call is not None and self.glued and self.kind in (".", "["):
                    return self.ref(call)
                return call
            else:
                break
        return Ref(head, tuple(path), head.location)

    def dotted(self, path: list[Term]) -> bool:
        self.advance()
        if not self.glued:
            self.kind = lexer.BLANK
        if self.kind != lexer.NAME and not self.is_keyword(self.kind):
            self.illegal("expected identifier")
            return False
        path.append(Scalar(self.token.text, self.location()))
        self.advance()
        return True

    def bracketed(self, path: list[Term]) -> bool:
        self.advance()
        term = self.infix()
        if term is None:
            return False
        if self.kind != "]":
            self.illegal("expected [")
            return False
        path.append(term)
        self.advance()
        return True

    def call(self, operator: Term, start: int) -> Term | None:
        name = _operator_name(operator)
        if name is None:
            written = self.source[self.tokens[start].start : self.token.start]
            self.problem(operator.location, f"undefined function {written}", "rego_type_error")
        args = self.arguments()
        if args is None:
            return None
        if name == ("set",) and not args:
            return Set((), operator.location)
        return Call(name or ("undefined",), args, operator.location)

    def arguments(self) -> tuple[Term, ...] | None:
        self.advance()
        args = self.term_list(")", [])
        if args is not None:
            self.advance()
        return None if args is None else tuple(args)

    def array(self) -> Term | None:
        location = self.location()
        self.advance()
        if self.kind == "]":
            return Array((), location)
        comprehension = self.skip_comma()
        state = self.save()
        head = self.term()
        if head is None:
            return None
        if self.kind == "]":
            return Array((head,), location)
        if self.kind == "|" and comprehension:
            self.advance()
            body = self.body("]")
            if body is not None:
                return ArrayComprehension(head, body, location)
            if self.kind != ",":
                return None
        self.restore(state)
        items = self.term_list("]", [])
        return None if items is None else Array(tuple(items), location)

    def skip_comma(self) -> bool:
        """OPA lets a list begin with a comma; then it is no comprehension."""
        if self.kind == ",":
            self.advance()
            return False
        return True

    def set_or_object(self) -> Term | None:
        location = self.location()
        self.advance()
        if self.kind == "}":
            return Object((), location)
        comprehension = self.skip_comma()
        state = self.save()
        # A single term first: `{a | b}` is a comprehension, not the set of a union.
        head = self.term()
        if head is None:
            return None
        if self.kind in ("}", ",") or (self.kind == "|" and comprehension):
            return self.set(state, head, location)
        if self.kind != ":":
            self.restore(state)
            head = self.infix(pairs=False)
            if head is None:
                return None
            if self.kind in ("}", ","):
                return self.set(state, head, location)
        if self.kind == ":":
            return self.object(head, comprehension, location)
        self.illegal("non-terminated set")
        return None

    def set(self, state: State, head: Term, location: Location) -> Term | None:
        if self.kind == "}":
            return Set((head,), location)
        items: list[Term] | None
        if self.kind == ",":
            self.advance()
            items = self.term_list("}", [head])
        else:
            self.advance()
            body = self.body("}")
            if body is not None:
                return SetComprehension(head, body, location)
            if self.kind != ",":
                return None
            self.restore(state)
            items = self.term_list("}", [])
        return None if items is None else Set(tuple(items), location)

    def object(self, key: Term, comprehension: bool, location: Location) -> Term | None:
        self.advance()
        state = self.save()
        value = self.term()
        if value is None:
            return None
        if comprehension:
            if self.kind in ("}", ","):
                return self.object_items(key, value, location)
            if self.kind == "|":
                self.advance()
                body = self.body("}")
                if body is not None:
                    return ObjectComprehension(key, value, body, location)
        self.restore(state)
        value = self.infix(pairs=False)
        if value is None:
            return None
        if self.kind in ("}", ","):
            return self.object_items(key, value, location)
        self.illegal("non-terminated object")
        return None

    def object_items(self, key: Term, value: Term, location: Location) -> Term | None:
        items = [(key, value)]
        while self.kind == ",":
            self.advance()
            if self.kind == "}":
                break
            item = self.pair()
            if item is None:
                return None
            items.append(item)
        return Object(tuple(items), location)

    def pair(self) -> tuple[Term, Term] | None:
        key = self.infix(pairs=False)
        if key is None:
            return None
        if self.kind != ":":
            self.illegal('expected ":"')
            return None
        self.advance()
        value = self.infix(pairs=False)
        if value is None:
            return None
        if self.kind not in (",", "}"):
            self.illegal('expected "," or "}"')
            return None
        return key, value

    def term_list(self, end: str, items: list[Term]) -> list[Term] | None:
        while self.kind != end:
            term = self.infix(pairs=False)
            if term is None:
                return None
            items.append(term)
            if self.kind == end:
                break
            if self.kind != ",":
                self.illegal(f'expected "," or "{end}"')
                return None
            self.advance()
        return items


def value_name(term: Term) -> str:
    """OPA's word for the kind of a term."""
    if isinstance(term, Scalar):
        return _SCALAR_NAMES[type(term.value)]
    if isinstance(term, Var) and term.name in ("input", "data"):
        return "ref"
    return type(term).__name__.lower()


def _number(text: str) -> int | float:
    """Exact, where Python can be: an integer however it is written, unless it is written with a point and is small."""
    if text.lstrip("-").isdigit() and len(text) < _LONG:
        return int(text)
    decimal = Decimal(text)
    if decimal and not -_MAX_DECIMAL_EXPONENT <= decimal.adjusted() <= _MAX_DECIMAL_EXPONENT:
        raise OverflowError
    if "." in text:
        near = float(decimal)
        return near if decimal == Decimal(near) or decimal != decimal.to_integral_value() else int(decimal)
    return int(decimal) if decimal == decimal.to_integral_value() else float(decimal)


def _unescape(text: str) -> str | None:
    try:
        value: str = json.loads(f'"{text}"')
    except ValueError:
        return None
    return _SURROGATES.sub("\ufffd", value)


def _operator_name(operator: Term) -> tuple[str, ...] | None:
    if isinstance(operator, Var):
        return (operator.name,)
    if isinstance(operator, Ref) and isinstance(operator.head, Var):
        names = [part.value for part in operator.path if isinstance(part, Scalar) and isinstance(part.value, str)]
        if len(names) == len(operator.path):
            return (operator.head.name, *names)
    return None


def _template_fault(expr: Expr) -> str | None:
    of = expr.of
    if expr.negated:
        return "negation ('not')"
    if isinstance(of, Every):
        return "'every'"
    if isinstance(of, SomeDeclaration | SomeIn):
        return "'some'"
    if isinstance(of, Call):
        return {"eq": "unification ('=')", "assign": "assignment (':=')"}.get(".".join(of.operator))
    return None


_CONSTANTS: Final = {"null": None, "true": True, "false": False}
_SCALAR_NAMES: Final[dict[type, str]] = {
    type(None): "null", bool: "boolean", int: "number", float: "number", str: "string",
}  # fmt: skip
