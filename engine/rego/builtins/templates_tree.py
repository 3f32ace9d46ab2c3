"""The tree of a template: what was written, with its place, and its text as Go shows it in messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from engine.rego.builtins.go_text import quote


@dataclass(frozen=True, slots=True)
class Constant:
    """A boolean, a number, a string, or nil, which is None."""

    value: bool | int | float | complex | str | None
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Dot:
    at: int
    text: str = "."


@dataclass(frozen=True, slots=True)
class Name:
    """A function."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Path:
    """Fields of dot, or of a variable, or of what is in parentheses."""

    base: Dot | Variable | Pipe | Name
    names: tuple[str, ...]
    at: int

    @property
    def text(self) -> str:
        base = "" if isinstance(self.base, Dot) else self.base.text
        base = f"({base})" if isinstance(self.base, Pipe) else base
        return base + "".join(f".{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Variable:
    text: str
    at: int


@dataclass(slots=True)
class Pipe:
    at: int
    declared: list[str] = field(default_factory=list)
    assigns: bool = False
    commands: list[list[Operand]] = field(default_factory=list)

    @property
    def text(self) -> str:
        sign = f"{', '.join(self.declared)} {'=' if self.assigns else ':='} " if self.declared else ""
        return sign + " | ".join(" ".join(map(shown, command)) for command in self.commands)


Operand = Union[Constant, Dot, Name, Path, Variable, Pipe]  # noqa: UP007 (the classes refer to it before it is there)


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Action:
    pipe: Pipe
    at: int


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    kind: str
    at: int


@dataclass(frozen=True, slots=True)
class Control:
    """`if`, `with` or `range`."""

    kind: str
    pipe: Pipe
    body: list[Node]
    otherwise: list[Node] | None
    at: int


@dataclass(frozen=True, slots=True)
class Invocation:
    name: str
    pipe: Pipe | None
    at: int

    @property
    def text(self) -> str:
        return f"{{{{template {quote(self.name)}{' ' + self.pipe.text if self.pipe else ''}}}}}"


Node = Text | Action | Jump | Control | Invocation


def shown(operand: Operand) -> str:
    return f"({operand.text})" if isinstance(operand, Pipe) else operand.text
