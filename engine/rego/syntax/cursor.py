"""Where a parser stands: the current token, the problems found so far, and the way back from a wrong guess.

No grammar here.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import lexer

PARSE_ERROR: Final = "rego_parse_error"
MAX_DEPTH: Final = 100
"""Of brackets in brackets: what still fits Python's stack, in the passes over the tree as well."""

State: TypeAlias = tuple[int, str, int]


class TooDeep(Exception):
    pass


class Cursor:
    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.file = file
        self.tokens, self.comments = lexer.tokenize(source)
        self.index = -1
        self.kind = lexer.EOF
        self.problems: list[RegoProblem] = []
        self.hints: list[str] = []
        self.depth = 0
        self.logical: set[str] = set()
        """Which of `and`, `or`, `not` were imported."""
        self.furthest = 0
        self.advance()

    @property
    def token(self) -> lexer.Token:
        return self.tokens[self.index]

    @property
    def glued(self) -> bool:
        """Nothing lies between this token and the one before."""
        return not self.tokens[self.index].spaced

    def advance(self) -> None:
        if self.index < len(self.tokens) - 1:
            self.index += 1
        self.furthest = max(self.furthest, self.index)
        token = self.tokens[self.index]
        self.kind = token.kind
        for fault in token.faults:
            self.problem(self.location(), fault)

    def peek(self) -> lexer.Token:
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def save(self) -> State:
        return self.index, self.kind, len(self.problems)

    def restore(self, state: State) -> None:
        self.index, self.kind, count = state
        del self.problems[count:]
        self.hints.clear()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep

    def location(self) -> Location:
        token = self.tokens[self.index]
        if self.kind == lexer.BLANK:
            before = self.tokens[self.index - 1]
            if self.source[before.end] == "\n":
                return Location(self.file, before.row + 1, 0)
            return Location(self.file, before.row, before.col + before.end - before.start)
        return Location(self.file, token.row, token.col)

    def text_from(self, index: int) -> str:
        """The source from that token up to the last one that was taken."""
        return self.source[self.tokens[index].start : self.tokens[self.index - 1].end]

    def problem(self, location: Location, message: str, code: str = PARSE_ERROR) -> None:
        if self.hints:
            word = "hint" if len(self.hints) == 1 else "hints"
            message += f" ({word}: {', '.join(self.hints)})"
            self.hints.clear()
        self.problems.append(RegoProblem(code, message, location))

    def illegal(self, note: str = "") -> None:
        if self.kind == lexer.ILLEGAL:
            self.problem(self.location(), "illegal token")
            return
        word = "keyword" if self.is_keyword(self.kind) else "token"
        self.problem(self.location(), f"unexpected {_NAMES.get(self.kind, self.kind)} {word}" + (note and f": {note}"))

    def is_keyword(self, kind: str) -> bool:
        return kind in lexer.KEYWORDS or kind in self.logical

    def name_before_ref(self) -> bool:
        """A keyword that a `.` or `[` follows is a name: `input.if`, but `if.x` as well."""
        if self.is_keyword(self.kind) and self.before_ref():
            self.kind = lexer.NAME
            return True
        return False

    def before_ref(self) -> bool:
        following = self.peek()
        return not following.spaced and following.kind in (".", "[")

    def add_keyword(self, keyword: str) -> None:
        """From here on, `and` and `or` are operators."""
        if keyword in self.logical or keyword not in ("and", "or", "not"):
            return
        self.logical.add(keyword)
        if keyword != "not":
            for index in range(self.index, len(self.tokens)):
                token = self.tokens[index]
                if token.kind == lexer.NAME and token.text == keyword:
                    self.tokens[index] = token._replace(kind=keyword)
        self.kind = self.tokens[self.index].kind


_NAMES: Final = {
    "+": "plus", "-": "minus", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "=": "eq", "==": "equal",
    ":=": "assign", "!=": "neq", ">": "gt", "<": "lt", ">=": "gte", "<=": "lte", lexer.RAW_STRING: "string",
}  # fmt: skip
