"""The syntax tree of a module: what was written, with its place on every node. No meaning yet.

Operators are calls by OPA's names: `a == b` is `Call(("equal",), (a, b))`, `a = b` is `eq`, `a := b` is `assign`,
`a in b` is `internal.member_2`, `k, v in b` is `internal.member_3`, `|` is `or`, `&` is `and` (on sets).
A wildcard `_` is a variable with a name of its own that starts with `$`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from engine.rego.errors import Location
from engine.rego.values import Value


@dataclass(frozen=True, slots=True)
class Scalar:
    value: Value
    location: Location


@dataclass(frozen=True, slots=True)
class Var:
    name: str
    location: Location

    @property
    def is_wildcard(self) -> bool:
        return self.name.startswith("$")


@dataclass(frozen=True, slots=True)
class Ref:
    """`head.a["b"][i]`: `path` holds `Scalar("a")`, `Scalar("b")`, `Var("i")`. `head` is a Var, or any other term."""

    head: Term
    path: tuple[Term, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple[Term, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Object:
    items: tuple[tuple[Term, Term], ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Set:
    items: tuple[Term, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class ArrayComprehension:
    head: Term
    body: Body
    location: Location


@dataclass(frozen=True, slots=True)
class SetComprehension:
    head: Term
    body: Body
    location: Location


@dataclass(frozen=True, slots=True)
class ObjectComprehension:
    key: Term
    value: Term
    body: Body
    location: Location


@dataclass(frozen=True, slots=True)
class Call:
    """`operator` as it was written, split at dots: `("io", "jwt", "decode")`, or a rule of the package `("f",)`."""

    operator: tuple[str, ...]
    args: tuple[Term, ...]
    location: Location
    infix: bool = False
    """Written as an operator between or before its arguments."""


@dataclass(frozen=True, slots=True)
class TemplateString:
    """`$"a {x}"`: text and, in between, bodies of one expression."""

    parts: tuple[str | Expr, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Logical:
    """`future.keywords.and`, `or`: each operand is a body of its own. So is the one of `not`, if that is imported."""

    operator: str
    operands: tuple[Body, ...]
    location: Location


Term: TypeAlias = (
    Scalar | Var | Ref | Array | Object | Set | ArrayComprehension | SetComprehension | ObjectComprehension | Call
    | TemplateString | Logical
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SomeDeclaration:
    """`some a, b`"""

    names: tuple[Var, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class SomeIn:
    """`some x in xs`, `some k, v in xs`"""

    key: Term | None
    value: Term
    collection: Term
    location: Location


@dataclass(frozen=True, slots=True)
class Every:
    """`every v in xs { … }`, `every k, v in xs { … }`"""

    key: Var | None
    value: Var
    collection: Term
    body: Body
    location: Location


@dataclass(frozen=True, slots=True)
class With:
    target: Ref | Var
    value: Term
    location: Location


@dataclass(frozen=True, slots=True)
class Expr:
    of: Term | SomeDeclaration | SomeIn | Every
    negated: bool
    withs: tuple[With, ...]
    location: Location


Body: TypeAlias = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """`ref` is what the rule defines, relative to its package: `(Scalar("p"), Scalar("q"), Var("x"))` for `p.q[x]`.

    `contains` makes it a multi-value rule (`p contains key`). A function has `args`, which may be empty terms patterns.
    `value` is None where none is written, which means true.
    """

    ref: tuple[Term, ...]
    args: tuple[Term, ...] | None
    contains: Term | None
    value: Term | None
    location: Location


@dataclass(frozen=True, slots=True)
class Rule:
    head: Head
    body: Body
    """Empty for `p := 1`, which is always so."""
    default: bool
    otherwise: Rule | None
    """`else`: its head has the same ref and args and may have another value."""
    annotations: tuple[dict[str, Any], ...]
    """The METADATA blocks right above it, parsed; with `scope` filled in."""
    location: Location


@dataclass(frozen=True, slots=True)
class Import:
    path: tuple[str, ...]
    """`("data", "lictor", "facts")`, `("input", "request")`, `("rego", "v1")`, `("future", "keywords", "in")`."""
    alias: str | None
    location: Location


@dataclass(frozen=True, slots=True)
class Module:
    file: str
    package: tuple[str, ...]
    package_location: Location
    imports: tuple[Import, ...]
    rules: tuple[Rule, ...]
    annotations: tuple[dict[str, Any], ...]
    """Of scope `package` and `subpackages`."""
    comments: tuple[tuple[Location, str], ...] = field(default=())
