"""A template of Go's `text/template` as a tree. Its text, in Go's form, is what messages show of a node."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.builtins.templates_lexer import Token, tokens
from engine.rego.builtins.templates_tree import (
    Action,
    Constant,
    Control,
    Dot,
    Invocation,
    Jump,
    Name,
    Node,
    Operand,
    Path,
    Pipe,
    Text,
    Variable,
)

FUNCTIONS: Final = frozenset(
    (
        "and", "call", "html", "index", "slice", "js", "len", "not", "or", "print", "printf", "println", "urlquery",
        "eq", "ge", "gt", "le", "lt", "ne",
    )
)  # fmt: skip
MAIN: Final = "template"
MAX_DEPTH: Final = 100
"""Of parentheses and of blocks, within each other."""
_OPERANDS: Final = frozenset(
    ("bool", "char", "complex", "dot", "field", "identifier", "number", "nil", "raw", "string", "variable", "open")
)
_ESCAPES: Final = re.compile(r"\\(?:[abfnrtv\\'\"]|x[0-9a-fA-F]{2}|[0-7]{3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(.?))")
_CONTROLS: Final = dict(zip("abfnrtv\\'\"", "\a\b\f\n\r\t\v\\'\"", strict=True))
_UNDERSCORES: Final = re.compile(r"[+-]?(?:0[xXoObB]_?)?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")


class TemplateFault(ValueError):
    """With Go's words."""


def parsed(text: str) -> dict[str, list[Node]]:
    """Every template that is defined in the text; the text itself is MAIN. Raises TemplateFault or RecursionError."""
    return _Parser(tokens(text)).run()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._templates: dict[str, list[Node]] = {}
        self._variables = ["$"]
        self._ranges = 0
        self._depth = 0
        self._action_line = 0

    def run(self) -> dict[str, list[Node]]:
        root: list[Node] = []
        while self._peek().kind != "EOF":
            if self._peek().kind == "left" and self._word_after_delimiter() == "define":
                self._define()
                continue
            node = self._node()
            if isinstance(node, str):
                raise self._fault(f"unexpected {{{{{node}}}}}")
            root.append(node)
        self._add(MAIN, root)
        return self._templates

    def _word_after_delimiter(self) -> str:
        following = self._tokens[self._at + 1]
        return (self._tokens[self._at + 2] if following.kind == "space" else following).kind

    def _define(self) -> None:
        self._next()
        self._next_word()
        name = self._name("define clause")
        self._expect("right", "define clause")
        held = self._variables, self._ranges
        self._variables, self._ranges = ["$"], 0
        body, ending = self._list()
        self._variables, self._ranges = held
        if ending != "end":
            raise self._fault(f"unexpected {{{{{ending}}}}} in define clause")
        self._add(name, body)

    def _add(self, name: str, body: list[Node]) -> None:
        known = self._templates.get(name)
        if known is None or _is_empty(known):
            self._templates[name] = body
        elif not _is_empty(body):
            raise self._fault(f"template: multiple definition of template {quote(name)}")

    def _list(self) -> tuple[list[Node], str]:
        """Up to `end` or `else`, and which of them it was."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fault("max expression depth exceeded")
        made: list[Node] = []
        while self._peek_word().kind != "EOF":
            node = self._node()
            if isinstance(node, str):
                self._depth -= 1
                return made, node
            made.append(node)
        raise self._fault("unexpected EOF")

    def _node(self) -> Node | str:
        token = self._next_word()
        if token.kind == "text":
            return Text(token.text, token.at)
        if token.kind != "left":
            raise self._unexpected(token, "input")
        self._action_line = token.line
        node = self._action()
        self._action_line = 0
        return node

    def _action(self) -> Node | str:
        token = self._peek_word()
        if token.kind in ("if", "with", "range"):
            self._next_word()
            return self._control(token.kind)
        if token.kind in ("break", "continue"):
            self._next_word()
            return self._jump(token)
        if token.kind in ("template", "block"):
            self._next_word()
            return self._invocation(token)
        if token.kind == "end":
            self._next_word()
            self._expect("right", "end")
            return "end"
        if token.kind == "else":
            self._next_word()
            if self._peek_word().kind not in ("if", "with"):
                self._expect("right", "else")
            return "else"
        return Action(self._pipe("command", "right"), token.at)

    def _jump(self, token: Token) -> Jump:
        self._expect("right", f"{{{{{token.kind}}}}}")
        if not self._ranges:
            raise self._fault(f"{{{{{token.kind}}}}} outside {{{{range}}}}")
        return Jump(token.kind, token.at)

    def _control(self, kind: str) -> Control:
        known = len(self._variables)
        pipe = self._pipe(kind, "right")
        self._ranges += kind == "range"
        body, ending = self._list()
        self._ranges -= kind == "range"
        otherwise: list[Node] | None = None
        if ending == "else":
            if kind in ("if", "with") and self._peek_word().kind == kind:
                self._next_word()
                otherwise = [self._control(kind)]
            else:
                otherwise, ending = self._list()
                if ending != "end":
                    raise self._fault(f"expected end; found {{{{{ending}}}}}")
        del self._variables[known:]
        return Control(kind, pipe, body, otherwise, pipe.at)

    def _invocation(self, token: Token) -> Invocation:
        context = f"{token.kind} clause"
        at = self._peek_word().at
        name = self._name(context)
        if token.kind == "template" and self._peek_word().kind == "right":
            self._next_word()
            return Invocation(name, None, at)
        pipe = self._pipe(context, "right")
        if token.kind == "block":
            held = self._variables, self._ranges
            self._variables, self._ranges = ["$"], 0
            body, ending = self._list()
            self._variables, self._ranges = held
            if ending != "end":
                raise self._fault(f"unexpected {{{{{ending}}}}} in {context}")
            self._add(name, body)
        return Invocation(name, pipe, at)

    def _name(self, context: str) -> str:
        token = self._next_word()
        if token.kind not in ("string", "raw"):
            raise self._unexpected(token, context)
        return self._unquoted(token.text)

    def _pipe(self, context: str, end: str) -> Pipe:
        pipe = Pipe(self._peek_word().at)
        self._declarations(pipe, context)
        while True:
            token = self._peek_word()
            if token.kind == end:
                self._next_word()
                break
            if token.kind not in _OPERANDS:
                self._next_word()
                raise self._unexpected(token, context)
            pipe.commands.append(self._command())
        if not pipe.commands:
            raise self._fault(f"missing value for {context}")
        for stage, command in enumerate(pipe.commands[1:], 2):
            if isinstance(command[0], Constant | Dot):
                raise self._fault(f"non executable command in pipeline stage {stage}")
        return pipe

    def _declarations(self, pipe: Pipe, context: str) -> None:
        while self._peek_word().kind == "variable":
            start = self._at
            variable, sign = self._next_word(), self._next_word()
            if sign.kind in ("assign", "declare"):
                pipe.assigns = sign.kind == "assign"
                pipe.declared.append(variable.text)
                self._variables.append(variable.text)
                return
            if sign.text != ",":
                self._at = start
                return
            pipe.declared.append(variable.text)
            self._variables.append(variable.text)
            if context != "range" or len(pipe.declared) > 1:
                raise self._fault(f"too many declarations in {context}")
            if self._peek_word().kind not in ("variable", "right", "close"):
                raise self._fault("range can only initialize variables")

    def _command(self) -> list[Operand]:
        made: list[Operand] = []
        while True:
            self._peek_word()
            operand = self._operand()
            if operand is not None:
                made.append(operand)
            token = self._peek()
            if token.kind in ("right", "close"):
                break
            self._next()
            if token.kind == "pipe":
                break
            if token.kind != "space":
                raise self._unexpected(token, "operand")
        if not made:
            raise self._fault("empty command")
        return made

    def _operand(self) -> Operand | None:
        term = self._term()
        if term is None or self._peek().kind != "field":
            return term
        at, names = self._peek().at, []
        while self._peek().kind == "field":
            names.append(self._next().text[1:])
        if isinstance(term, Constant | Dot):
            raise self._fault(f"unexpected . after term {quote(term.text)}")
        if isinstance(term, Path):
            return Path(term.base, (*term.names, *names), at)
        return Path(term, tuple(names), at)

    def _term(self) -> Operand | None:
        token = self._peek_word()
        if token.kind not in _OPERANDS:
            return None
        self._next_word()
        if token.kind == "identifier":
            if token.text not in FUNCTIONS:
                raise self._fault(f"function {quote(token.text)} not defined")
            return Name(token.text, token.at)
        if token.kind == "dot":
            return Dot(token.at)
        if token.kind == "field":
            return Path(Dot(token.at), (token.text[1:],), token.at)
        if token.kind == "variable":
            if token.text not in self._variables:
                raise self._fault(f"undefined variable {quote(token.text)}")
            return Variable(token.text, token.at)
        if token.kind == "open":
            return self._parenthesized()
        return Constant(self._constant(token), token.text, token.at)

    def _parenthesized(self) -> Pipe:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fault("max expression depth exceeded")
        pipe = self._pipe("parenthesized pipeline", "close")
        self._depth -= 1
        return pipe

    def _constant(self, token: Token) -> bool | float | complex | str | None:
        if token.kind in ("string", "raw"):
            return self._unquoted(token.text)
        if token.kind == "bool":
            return token.text == "true"
        if token.kind == "nil":
            return None
        if token.kind == "char":
            text = self._unquoted(token.text)
            if re.fullmatch(r"'\\(?:x[89a-fA-F].|[23][0-7]{2})'", token.text):
                return int(token.text[3:5], 16) if token.text[2] == "x" else int(token.text[2:5], 8)
            if len(text) != 1:
                raise self._fault(f"malformed character constant: {token.text}" if text else "invalid syntax")
            return ord(text)
        try:
            return _number(token.text)
        except ValueError as error:
            raise self._fault(str(error) or f"illegal number syntax: {quote(token.text)}") from error

    def _unquoted(self, text: str) -> str:
        if text[0] == "`":
            return text[1:-1].replace("\r", "")
        if any(
            escape[1] is not None or (escape[0][1] in "'\"" and escape[0][1] != text[0]) for escape in _escapes(text)
        ):
            raise self._fault("invalid syntax")
        try:
            plain = _ESCAPES.sub(_unescaped, text[1:-1]).encode("utf-8", "surrogateescape")
        except (ValueError, OverflowError) as error:  # no character has this number
            raise self._fault("invalid syntax") from error
        return plain.decode("utf-8", "replace")

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != "EOF":
            self._at += 1
        return token

    def _peek_word(self) -> Token:
        while self._tokens[self._at].kind == "space":
            self._at += 1
        return self._tokens[self._at]

    def _next_word(self) -> Token:
        self._peek_word()
        return self._next()

    def _expect(self, kind: str, context: str) -> None:
        token = self._next_word()
        if token.kind != kind:
            raise self._unexpected(token, context)

    def _unexpected(self, token: Token, context: str) -> TemplateFault:
        if token.kind != "error":
            return self._fault(f"unexpected {token} in {context}")
        extra = ""
        if self._action_line not in (0, token.line):
            extra = f" in action started at {MAIN}:{self._action_line}"
            extra = extra.removeprefix(" in action") if token.text.endswith(" action") else extra
        return self._fault(f"{token}{extra}")

    def _fault(self, message: str) -> TemplateFault:
        line = self._tokens[max(0, self._at - 1)].line
        return TemplateFault(f"template: {MAIN}:{line}: {message}")


def _number(text: str) -> int | float | complex:
    """Raises ValueError, with words if they are Go's."""
    plain = text.replace("_", "")
    if plain.endswith("i"):
        return complex(plain.removesuffix("i") + "j")
    octal = re.sub(r"^([+-]?)0([0-9_]+)$", r"\g<1>0o\2", text)
    if _UNDERSCORES.fullmatch(text) or "_" not in text:
        try:
            value_int = int(octal.replace("_", ""), 0)
        except ValueError:
            pass
        else:
            if not -(2**63) <= value_int < 2**64:
                raise ValueError(f"integer overflow: {quote(text)}")
            return value_int
    if "_" in text:
        raise ValueError
    if plain.lower().lstrip("+-").startswith("0x"):
        if "p" not in plain.lower():
            raise ValueError
        return float.fromhex(plain)
    value = float(plain)
    if math.isinf(value):
        raise ValueError
    if not set(".eE") & set(plain):
        raise ValueError(f"integer overflow: {quote(text)}")
    return value


def _escapes(text: str) -> Iterator[re.Match[str]]:
    return _ESCAPES.finditer(text, 1, len(text) - 1)


def _unescaped(escape: re.Match[str]) -> str:
    kind, digits = escape[0][1], escape[0][2:]
    if kind in "uU":
        return chr(int(digits, 16))
    if kind in _CONTROLS:
        return _CONTROLS[kind]
    byte = int(digits, 16) if kind == "x" else int(escape[0][1:], 8)
    return bytes([byte]).decode("utf-8", "surrogateescape")


def _is_empty(nodes: list[Node]) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)
