"""The statements of a body: expressions, `some`, `every`, `not`, `with`; and the operators `and`, `or` between bodies.

A `{` where an operand may stand is a body or a value, a `(` a group or a term: guessed, and taken back if wrong.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, cast

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import lexer
from engine.rego.syntax.terms import MEMBER, MEMBER_WITH_KEY, Terms, value_name
from engine.rego.syntax.tree import (
    Body,
    Call,
    Every,
    Expr,
    Logical,
    Object,
    Ref,
    SomeDeclaration,
    SomeIn,
    Term,
    Var,
    With,
)

_Memo: TypeAlias = dict[tuple[int, str], tuple[Expr | None, int, str, tuple[RegoProblem, ...]]]
_BODY_MESSAGE = "`{...}` in an operand position must contain expression(s), got: "
_UNION_MESSAGE = (
    "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension"
)


class _Operand(NamedTuple):
    body: Body
    explicit: bool
    """Written in braces."""
    location: Location


class Literals(Terms):
    def __init__(self, source: str, file: str) -> None:
        self.literal_memo: _Memo = {}
        super().__init__(source, file)

    def forget(self) -> None:
        """Between two rules: the memory of guesses is of no use there, and imports change what it says."""
        self.term_memo.clear()
        self.literal_memo.clear()
        self.depth = 0

    def body(self, end: str) -> Body | None:
        self.enter()
        body = self.query(end)
        self.depth -= 1
        return body

    def query(self, end: str, one_line: bool = False) -> Body | None:
        """Expressions up to `end`; `one_line`: only those that a `;` joins."""
        if self.kind == end:
            self.problem(self.location(), "found empty body")
            return None
        exprs = []
        while True:
            expr = self.literal()
            if expr is None:
                return None
            exprs.append(expr)
            if self.kind == ";":
                self.advance()
            elif self.kind == end or one_line:
                return tuple(exprs)
            elif not self.token.starts_line:
                if not self.problems:
                    self.hint_missing_keyword()
                    self.illegal(f"expected \\n or ; or {end}")
                return None

    def hint_missing_keyword(self) -> None:
        word = self.token.text
        if self.kind == lexer.NAME and word in ("and", "or"):
            self.hints.append(f"`import future.keywords.{word}` for `x {word} y` expressions")

    def literal(self) -> Expr | None:
        key = (self.index, self.kind)
        known = self.literal_memo.get(key)
        if known is not None:
            expr, self.index, self.kind, problems = known
            self.problems.extend(problems)
            return expr
        count = len(self.problems)
        expr = self.new_literal()
        self.literal_memo[key] = (expr, self.index, self.kind, tuple(self.problems[count:]))
        return expr

    def new_literal(self) -> Expr | None:
        location = self.location()
        if self.kind in ("{", "(") and not self.logical.isdisjoint(("and", "or")):
            taken, expr = self.braced_operand(location) if self.kind == "{" else self.grouped_operand(location)
            if taken:
                return expr
        self.name_before_ref()
        negated = self.kind == "not"
        if negated:
            self.advance()
            if self.kind == "{" and "not" in self.logical:
                found = self.not_body(location)
                return None if found is None else self.tail(_Operand((found,), False, location))
        if self.kind in ("some", "every"):
            if negated:
                self.illegal(f"illegal negation of '{self.kind}'")
                return None
            return self.some(location) if self.kind == "some" else self.every(location)
        return self.expression(negated, location)

    def expression(self, negated: bool, location: Location) -> Expr | None:
        start = self.index
        if negated and "not" in self.logical and self.kind == "(":
            committed, group = self.group(True, "not ")
            if committed:
                return None if group is None else self.tail(_Operand((_not(group.body, location),), False, location))
        of = self.plain()
        if of is None:
            return None
        with_location = self.location()
        withs = self.withs()
        if withs is None:
            return None
        if negated and "not" in self.logical:
            expr = Expr(Logical("not", ((Expr(of, False, (), location),),), location), False, withs, location)
        else:
            expr = Expr(of, negated, withs, location)
        if self.kind not in ("and", "or"):
            return expr
        if withs:
            self.with_on_operand(with_location)
            return None
        if not negated and self.tokens[start].kind == "{":
            if isinstance(of, Object) and not of.items:
                self.problem(location, "found empty body")
            else:
                self.brace_led(location, self.text_from(start), self.kind)
            return None
        return self.tail(_Operand((expr,), False, location))

    def plain(self) -> Term | None:
        left = self.infix()
        if left is None or self.kind not in (":=", "="):
            return left
        operator = "assign" if self.kind == ":=" else "eq"
        self.advance()
        right = self.infix()
        return None if right is None else Call((operator,), (left, right), left.location, infix=True)

    def withs(self) -> tuple[With, ...] | None:
        withs: list[With] = []
        while self.kind == "with":
            location = self.location()
            self.advance()
            if self.kind != lexer.NAME:
                self.illegal("expected ident")
                return None
            target = self.term()
            if target is None:
                return None
            if not isinstance(target, Ref | Var):
                self.illegal("expected with target path")
            if self.kind != "as":
                self.illegal("expected as keyword")
                return None
            self.advance()
            value = self.infix()
            if value is None:
                return None
            withs.append(With(cast("Ref | Var", target), value, location))
        return tuple(withs)

    def with_withs(self, expr: Expr) -> Expr | None:
        if self.kind != "with":
            return expr
        withs = self.withs()
        return None if withs is None else Expr(expr.of, expr.negated, withs, expr.location)

    def some(self, location: Location) -> Expr | None:
        state = self.save()
        self.advance()
        term = self.infix()
        if isinstance(term, Call):
            if term.operator not in (MEMBER, MEMBER_WITH_KEY):
                self.illegal("expected `x in xs` or `x, y in xs` expression")
                return None
            members = self.members_of(term)
            if members is None:
                return None
            return self.with_withs(Expr(SomeIn(*members, location), False, (), location))
        self.restore(state)
        names = []
        while True:
            self.advance()
            if self.kind != lexer.NAME:
                self.illegal("expected var")
                return None
            names.append(self.var())
            self.advance()
            if self.kind != ",":
                return Expr(SomeDeclaration(tuple(names), location), False, (), location)

    def members_of(self, call: Call) -> tuple[Term | None, Term, Term] | None:
        args = call.args
        if len(args) != (2 if call.operator == MEMBER else 3):
            self.illegal("illegal domain")
            return None
        return (None, args[0], args[1]) if len(args) == 2 else (args[0], args[1], args[2])

    def every(self, location: Location) -> Expr | None:
        self.advance()
        term = self.infix()
        if term is None:
            return None
        if not isinstance(term, Call) or term.operator not in (MEMBER, MEMBER_WITH_KEY):
            self.illegal("expected `x[, y] in xs { ... }` expression")
            return None
        members = self.members_of(term)
        if members is None:
            return None
        key, value, collection = members
        if key is not None and not _is_variable(key):
            self.illegal("expected key to be a variable")
            return None
        if not _is_variable(value):
            self.illegal("expected value to be a variable")
            return None
        if self.kind != "{":
            self.illegal("missing body")
            return None
        body = self.braces()
        if body is None:
            return None
        every = Every(cast("Var | None", key), cast("Var", value), collection, body, location)
        return self.with_withs(Expr(every, False, (), location))

    def braces(self) -> Body | None:
        """A body with its braces."""
        self.advance()
        body = self.body("}")
        if body is not None:
            self.advance()
        return body

    # What follows needs `import future.keywords.and`, `or` or `not`.

    def braced_operand(self, location: Location) -> tuple[bool, Expr | None]:
        """`{ … } and …`. Whether it was that, and what."""
        state, start = self.save(), self.index
        body = self.braces()
        if body is not None and self.kind in ("and", "or"):
            if self.is_ambiguous_union(start, body):
                self.ambiguous_union(location, start, "")
                return True, None
            return True, self.tail(_Operand(body, True, location))
        self.restore(state)
        return False, None

    def grouped_operand(self, location: Location) -> tuple[bool, Expr | None]:
        committed, group = self.group(False, "")
        if not committed or group is None:
            return committed, None
        return True, self.tail(group._replace(location=location))

    def not_body(self, location: Location) -> Expr | None:
        start, brace, state = self.index, self.location(), self.save()
        body = self.braces()
        if body is None:
            if self.tokens[start + 1].kind == "}":
                return None
            failed, problems = self.save(), list(self.problems)
            self.restore(state)
            term = self.infix()
            if term is not None:
                text = self.text_from(start)
                self.hints.append(
                    f"write `not ({text})` to negate the value, or `not {{{text}}}` for a body holding it"
                )
                self.problem(brace, _BODY_MESSAGE + value_name(_brace_led_value(term)))
                return None
            self.problems[:] = problems
            self.index, self.kind, _ = failed
            return None
        if self.is_ambiguous_union(start, body):
            self.ambiguous_union(brace, start, "not ")
            return None
        return _not(body, location)

    def tail(self, first: _Operand) -> Expr | None:
        """The rest of `first and … or …`, and the `with` of all of it."""
        if self.kind in ("and", "or"):
            expr = self.chain(first)
            return None if expr is None else self.with_withs(expr)
        return self.with_withs(first.body[0])

    def chain(self, first: _Operand) -> Expr | None:
        self.enter()
        found = self.and_chain(first)
        operands = [] if found is None else [found]
        while found is not None and self.kind == "or":
            self.advance()
            found = self.operand("or")
            if found is not None:
                found = self.and_chain(found)
            if found is not None:
                operands.append(found)
        self.depth -= 1
        return None if found is None else self.joined("or", operands)

    def and_chain(self, first: _Operand) -> _Operand | None:
        operands = [first]
        while self.kind == "and":
            self.advance()
            found = self.operand("and")
            if found is None:
                return None
            operands.append(found)
        if len(operands) == 1:
            return first
        return _Operand((self.joined("and", operands),), False, first.location)

    def joined(self, operator: str, operands: list[_Operand]) -> Expr:
        location = operands[0].location
        if len(operands) == 1:
            return operands[0].body[0]
        for operand in operands:
            self.check_void(operand, operator)
        return Expr(Logical(operator, tuple(each.body for each in operands), location), False, (), location)

    def check_void(self, operand: _Operand, operator: str) -> None:
        for expr in operand.body:
            if expr.negated or not isinstance(expr.of, Call) or expr.of.operator != ("print",):
                return
        self.hints.append(
            "`print` produces no value and always succeeds, so the operand can never fail; "
            "move it out of the operand, or add an expression that can fail"
        )
        message = f"operand of `{operator}` cannot consist only of calls to `print`"
        self.problem(operand.body[0].location, message)

    def operand(self, operator: str) -> _Operand | None:
        """One side of an operator; no operator yet is `""`, a guess whose problems nobody will see."""
        location, start = self.location(), self.index
        if self.kind == "{":
            return self.braced(operator, location)
        negated = self.kind == "not" and not self.before_ref()
        if negated:
            self.advance()
        if negated and "not" in self.logical and self.kind == "{":
            found = self.not_body(location)
            return None if found is None else _Operand((found,), False, location)
        if self.kind == "(" and (not negated or "not" in self.logical):
            committed, group = self.group(True, "not " if negated else "")
            if committed:
                if group is None or not negated:
                    return group
                return _Operand((_not(group.body, location),), False, location)
        if self.index == start:
            self.name_before_ref()
        of = self.plain()
        if of is None:
            return None
        if negated and "not" in self.logical:
            return _Operand((_not((Expr(of, False, (), location),), location),), False, location)
        return _Operand((Expr(of, negated, (), location),), False, location)

    def braced(self, operator: str, location: Location) -> _Operand | None:
        start, state = self.index, self.save()
        body = self.braces()
        if body is not None:
            if self.is_ambiguous_union(start, body):
                self.ambiguous_union(location, start, "")
            return _Operand(body, True, location)
        if self.tokens[start + 1].kind == "}" or not operator:
            return None
        failed, problems = self.save(), list(self.problems)
        self.restore(state)
        if self.infix() is not None:
            self.brace_led(location, self.text_from(start), operator)
            return None
        self.problems[:] = problems
        self.index, self.kind, _ = failed
        return None

    def group(self, is_operand: bool, prefix: str) -> tuple[bool, _Operand | None]:
        """`(a or b)`: whether the parentheses are a group, and the group unless it is faulty."""
        state, location = self.save(), self.location()
        self.enter()
        committed, operand = self.new_group(is_operand, prefix, location)
        self.depth -= 1
        if not committed:
            self.restore(state)
        return committed, None if operand is None else operand._replace(location=location)

    def new_group(self, is_operand: bool, prefix: str, location: Location) -> tuple[bool, _Operand | None]:
        self.advance()
        if self.kind == ")":
            if is_operand:
                self.problem(location, "empty parenthesized group")
            return is_operand, None
        start = self.index
        first = self.operand("")
        if first is None:
            return False, None
        if self.kind in ("and", "or"):
            expr = self.chain(first)
            expr = None if expr is None else self.with_withs(expr)
            return True, None if expr is None or not self.close() else _Operand((expr,), False, location)
        if self.kind == "with" and not first.explicit:
            return self.group_with(first, is_operand)
        if first.explicit:
            return self.group_of_braces(start, prefix, location)
        expr = first.body[0]
        if expr.negated or isinstance(expr.of, Logical):
            return True, first if self.close() else None
        return False, None

    def group_with(self, first: _Operand, is_operand: bool) -> tuple[bool, _Operand | None]:
        place = self.location()
        expr = self.with_withs(first.body[0])
        if expr is None:
            return True, None
        if self.kind in ("and", "or"):
            self.with_on_operand(place)
            return True, None
        if not self.close():
            return True, None
        return is_operand or self.kind in ("and", "or"), first._replace(body=(expr,))

    def group_of_braces(self, start: int, prefix: str, location: Location) -> tuple[bool, _Operand | None]:
        text = self.text_from(start)
        state = (start, self.tokens[start].kind, len(self.problems))
        self.restore(state)
        if self.term() is not None:
            return False, None
        self.restore(state)
        self.hints.append(f"drop the parens to keep the body: `{prefix}{text}`")
        self.problem(location, "`(...)` in an operand position cannot contain a body")
        return True, None

    def close(self) -> bool:
        if self.kind != ")":
            self.problem(self.location(), "expected ) to close parenthesized group")
            return False
        self.advance()
        return True

    def with_on_operand(self, location: Location) -> None:
        keyword = self.kind
        self.hints.append(
            "Wrap the operand in `(...)` or `{...}` to scope, or move `with` "
            f"after the `{keyword}` expression to apply it to the whole expression"
        )
        self.problem(location, f"`with` modifier is not allowed on operand of `{keyword}`")

    def brace_led(self, location: Location, text: str, operator: str) -> None:
        self.hints.append(f"wrap the operand to keep the value: `({text}) {operator} ...`")
        self.problem(location, f"operand of `{operator}` cannot begin with `{{` unless the braces hold a body")

    def is_ambiguous_union(self, start: int, body: Body) -> bool:
        of = body[0].of
        is_union = isinstance(of, Call) and of.infix and of.operator == ("or",)
        return is_union and self.tokens[start + 1].kind != "("

    def ambiguous_union(self, location: Location, start: int, prefix: str) -> None:
        text = self.text_from(start)
        self.hints.append(f"write `{prefix}({text})` for the comprehension, or put the union in parentheses")
        self.problem(location, _UNION_MESSAGE)


def _not(body: Body, location: Location) -> Expr:
    return Expr(Logical("not", (body,), location), False, (), location)


def _is_variable(term: Term) -> bool:
    return isinstance(term, Var) and term.name not in ("input", "data")


def _brace_led_value(term: Term) -> Term:
    while isinstance(term, Call) and term.infix:
        term = term.args[0]
    return term
