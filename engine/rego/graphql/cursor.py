"""The place in the tokens where a parser stands, and what documents of both kinds have in common: names, values, types,
directives.

Comments are no part of the grammar, but of the answer: those before the token that was looked at last are `comment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.rego.graphql.faults import Budget, Fault, Position
from engine.rego.graphql.lexer import (
    BLOCK_STRING,
    COMMENT,
    EOF,
    FLOAT,
    INT,
    INVALID,
    NAME,
    STRING,
    Token,
    tokens,
)
from engine.rego.graphql.syntax import (
    Argument,
    ChildValue,
    Comment,
    CommentGroup,
    Directive,
    Names,
    Type,
    Value,
    ValueKind,
)

_LITERALS: Final = {
    INT: ValueKind.INT, FLOAT: ValueKind.FLOAT, STRING: ValueKind.STRING, BLOCK_STRING: ValueKind.BLOCK,
}  # fmt: skip
_WORDS: Final = {"true": ValueKind.BOOLEAN, "false": ValueKind.BOOLEAN, "null": ValueKind.NULL}


class Cursor:
    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._place = 0
        self.budget = Budget()
        self.comment: CommentGroup | None = None
        """Before the token that `peek` gave; none once that is taken."""
        self.closing_comment: CommentGroup | None = None
        """Before the end of the group that `some` read last."""
        self.taken: Token = self._tokens[0]
        """The last token that was taken, or a comment that was passed since."""

    def peek(self) -> Token:
        token = self._tokens[self._place]
        if token.kind == COMMENT:
            self.comment = CommentGroup()
            while token.kind == COMMENT:
                self.comment.comments.append(Comment(token.value))
                self.taken = token
                self._place += 1
                token = self._tokens[self._place]
        return token

    def take(self) -> Token:
        token = self.peek()
        if token.kind == INVALID:
            raise Fault(token.fault, token.position)
        if token.kind != EOF:
            self._place += 1
        self.comment = None
        self.taken = token
        return token

    def place(self) -> Position:
        return self.peek().position

    def skip(self, kind: str) -> bool:
        found = self.peek().kind == kind
        if found:
            self.take()
        return found

    def expect(self, kind: str) -> Token:
        token = self.peek()
        if token.kind != kind:
            raise Fault(f"Expected {kind}, found {token.kind}", token.position)
        return self.take()

    def keyword(self, word: str) -> CommentGroup | None:
        """Takes the word; gives what was commented before it."""
        token = self.peek()
        comment = self.comment
        if token.kind != NAME or token.value != word:
            raise Fault(f'Expected "{word}", found {token}', token.position)
        self.take()
        return comment

    def unexpected(self, token: Token | None = None) -> Fault:
        token = token or self.peek()
        return Fault(f"Unexpected {token}", token.position)

    def many(self, start: str, end: str) -> Iterator[None]:
        """Yields while there is one more to read between the two; not at all where the group does not begin."""
        if not self.skip(start):
            return
        self.budget.deeper()
        while self.peek().kind != end:
            yield
        self.closing_comment = self.comment
        self.take()
        self.budget.back()

    def some(self, start: str, end: str) -> Iterator[None]:
        """As `many`, but an empty group is a fault."""
        begins = self.peek().kind == start
        self.closing_comment = None
        called = False
        for _ in self.many(start, end):
            called = True
            yield
        if begins and not called:
            raise Fault(f"expected at least one definition, found {end}", self.taken.position)

    def name(self) -> str:
        return self.expect(NAME).value

    def variable(self) -> str:
        self.expect("$")
        return self.name()

    def type_reference(self) -> Type:
        self.budget.deeper()
        if self.skip("["):
            place = self.place()
            found = Type(elem=self.type_reference(), position=place)
            self.expect("]")
        else:
            place = self.place()
            found = Type(named_type=self.name(), position=place)
        found.non_null = self.skip("!")
        self.budget.back()
        return found

    def directives(self, *, constant: bool) -> Names[Directive]:
        found: Names[Directive] = Names()
        while self.skip("@"):
            place = self.place()
            found.append(Directive(name=self.name(), arguments=self.arguments(constant=constant), position=place))
        return found

    def arguments(self, *, constant: bool) -> Names[Argument]:
        return Names([self._argument(constant) for _ in self.some("(", ")")])

    def value(self, *, constant: bool) -> Value:
        token = self.peek()
        if token.kind == "[":
            return self._list(constant)
        if token.kind == "{":
            return self._object(constant)
        if token.kind == "$" and not constant:
            return Value(raw=self.variable(), kind=ValueKind.VARIABLE, position=token.position)
        if token.kind == NAME:
            kind = _WORDS.get(token.value, ValueKind.ENUM)
        elif token.kind in _LITERALS:
            kind = _LITERALS[token.kind]
        else:
            raise self.unexpected()
        self.take()
        return Value(raw=token.value, kind=kind, position=token.position)

    def _argument(self, constant: bool) -> Argument:
        place, comment = self.place(), self.comment
        name = self.name()
        self.expect(":")
        return Argument(name, self.value(constant=constant), place, comment)

    def _list(self, constant: bool) -> Value:
        place, comment = self.place(), self.comment
        children = Names([ChildValue(value=self.value(constant=constant)) for _ in self.many("[", "]")])
        return Value(children=children, kind=ValueKind.LIST, position=place, comment=comment)

    def _object(self, constant: bool) -> Value:
        place, comment = self.place(), self.comment
        children = Names([self._object_field(constant) for _ in self.many("{", "}")])
        return Value(children=children, kind=ValueKind.OBJECT, position=place, comment=comment)

    def _object_field(self, constant: bool) -> ChildValue:
        place, comment = self.place(), self.comment
        name = self.name()
        self.expect(":")
        return ChildValue(name, self.value(constant=constant), place, comment)
