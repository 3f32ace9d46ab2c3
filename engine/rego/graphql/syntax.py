"""The nodes of GraphQL documents, with the fields that gqlparser gives them.

A field's name in OPA's objects is its name here in camel case: `selection_set` is SelectionSet. What validation finds
out about a node (`definition`, `expected_type`, …) is kept on it, as in gqlparser.

Not here: how a node is read (parsers), or written as a value (shapes).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Protocol, TypeAlias, TypeVar

from engine.rego.graphql.faults import Position

SCALAR: Final = "SCALAR"
OBJECT: Final = "OBJECT"
INTERFACE: Final = "INTERFACE"
UNION: Final = "UNION"
ENUM: Final = "ENUM"
INPUT_OBJECT: Final = "INPUT_OBJECT"


class Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


class Names(list[N]):
    """A list of named things. Names may be given twice: the first one counts."""

    def __init__(self, items: Iterable[N] = ()) -> None:
        super().__init__(items)
        self._index: dict[str, N] = {}
        self._indexed = 0

    def first(self, name: str) -> N | None:
        if self._indexed != len(self):
            self._index = {item.name: item for item in reversed(self)}
            self._indexed = len(self)
        return self._index.get(name)


class ValueKind(IntEnum):
    """The numbers are part of OPA's objects."""

    VARIABLE = 0
    INT = 1
    FLOAT = 2
    STRING = 3
    BLOCK = 4
    BOOLEAN = 5
    NULL = 6
    ENUM = 7
    LIST = 8
    OBJECT = 9


@dataclass(slots=True, eq=False)
class Comment:
    value: str = ""


@dataclass(slots=True, eq=False)
class CommentGroup:
    comments: list[Comment] = field(default_factory=list, metadata={"name": "List"})


@dataclass(slots=True, eq=False)
class Type:
    """Either `named_type`, or a list of `elem`."""

    named_type: str = ""
    elem: Type | None = None
    non_null: bool = False
    position: Position | None = None

    @property
    def name(self) -> str:
        innermost = self
        while innermost.elem is not None and not innermost.named_type:
            innermost = innermost.elem
        return innermost.named_type

    def __str__(self) -> str:
        inner = self.named_type or f"[{self.elem}]"
        return inner + ("!" if self.non_null else "")


@dataclass(slots=True, eq=False)
class ChildValue:
    """An element of a list, without a name, or a field of an object."""

    name: str = ""
    value: Value = field(default_factory=lambda: Value())  # noqa: PLW0108 (it comes below)
    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class Value:
    raw: str = ""
    children: Names[ChildValue] = field(default_factory=Names)
    kind: ValueKind = ValueKind.VARIABLE
    position: Position | None = None
    comment: CommentGroup | None = None

    definition: Definition | None = None
    variable_definition: VariableDefinition | None = None
    expected_type: Type | None = None
    expected_type_has_default: bool = False


@dataclass(slots=True, eq=False)
class Argument:
    name: str = ""
    value: Value = field(default_factory=Value)
    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class Directive:
    name: str = ""
    arguments: Names[Argument] = field(default_factory=Names)
    position: Position | None = None

    parent_definition: Definition | None = None
    definition: DirectiveDefinition | None = None
    location: str = ""


@dataclass(slots=True, eq=False)
class VariableDefinition:
    variable: str = ""
    type: Type = field(default_factory=Type)
    default_value: Value | None = None
    directives: Names[Directive] = field(default_factory=Names)
    position: Position | None = None
    comment: CommentGroup | None = None

    definition: Definition | None = None
    used: bool = False

    @property
    def name(self) -> str:
        return self.variable


@dataclass(slots=True, eq=False)
class Field:
    alias: str = ""
    name: str = ""
    arguments: Names[Argument] = field(default_factory=Names)
    directives: Names[Directive] = field(default_factory=Names)
    selection_set: list[Selection] = field(default_factory=list)
    position: Position | None = None
    comment: CommentGroup | None = None

    definition: FieldDefinition | None = None
    object_definition: Definition | None = None


@dataclass(slots=True, eq=False)
class FragmentSpread:
    name: str = ""
    directives: Names[Directive] = field(default_factory=Names)

    object_definition: Definition | None = None
    definition: FragmentDefinition | None = None

    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class InlineFragment:
    type_condition: str = ""
    directives: Names[Directive] = field(default_factory=Names)
    selection_set: list[Selection] = field(default_factory=list)

    object_definition: Definition | None = None

    position: Position | None = None
    comment: CommentGroup | None = None


Selection: TypeAlias = Field | FragmentSpread | InlineFragment


@dataclass(slots=True, eq=False)
class FragmentDefinition:
    name: str = ""
    variable_definition: Names[VariableDefinition] = field(default_factory=Names)
    type_condition: str = ""
    directives: Names[Directive] = field(default_factory=Names)
    selection_set: list[Selection] = field(default_factory=list)

    definition: Definition | None = None

    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class OperationDefinition:
    operation: str = ""
    name: str = ""
    variable_definitions: Names[VariableDefinition] = field(default_factory=Names)
    directives: Names[Directive] = field(default_factory=Names)
    selection_set: list[Selection] = field(default_factory=list)
    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class QueryDocument:
    operations: Names[OperationDefinition] = field(default_factory=Names)
    fragments: Names[FragmentDefinition] = field(default_factory=Names)
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class ArgumentDefinition:
    description: str = ""
    name: str = ""
    default_value: Value | None = None
    type: Type = field(default_factory=Type)
    directives: Names[Directive] = field(default_factory=Names)
    position: Position | None = None
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class FieldDefinition:
    """Of an object or an interface, then with arguments; or of an input object, then with a default value."""

    description: str = ""
    name: str = ""
    arguments: Names[ArgumentDefinition] = field(default_factory=Names)
    default_value: Value | None = None
    type: Type = field(default_factory=Type)
    directives: Names[Directive] = field(default_factory=Names)
    position: Position | None = None
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class EnumValueDefinition:
    description: str = ""
    name: str = ""
    directives: Names[Directive] = field(default_factory=Names)
    position: Position | None = None
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class Definition:
    """Any type that a schema can define, and the extension of one."""

    kind: str = ""
    description: str = ""
    name: str = ""
    directives: Names[Directive] = field(default_factory=Names)
    interfaces: list[str] = field(default_factory=list)
    fields: Names[FieldDefinition] = field(default_factory=Names)
    types: list[str] = field(default_factory=list)
    enum_values: Names[EnumValueDefinition] = field(default_factory=Names)
    position: Position | None = None
    type_positions: list[Position] = field(default_factory=list)
    built_in: bool = False
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None
    end_of_definition_comment: CommentGroup | None = None

    @property
    def is_leaf(self) -> bool:
        return self.kind in (ENUM, SCALAR)

    @property
    def is_abstract(self) -> bool:
        return self.kind in (INTERFACE, UNION)

    @property
    def is_composite(self) -> bool:
        return self.kind in (OBJECT, INTERFACE, UNION)

    @property
    def is_input(self) -> bool:
        return self.kind in (SCALAR, ENUM, INPUT_OBJECT)


@dataclass(slots=True, eq=False)
class DirectiveDefinition:
    description: str = ""
    name: str = ""
    arguments: Names[ArgumentDefinition] = field(default_factory=Names)
    locations: list[str] = field(default_factory=list)
    is_repeatable: bool = False
    position: Position | None = None
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class OperationTypeDefinition:
    operation: str = ""
    type: str = ""
    position: Position | None = None
    comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class SchemaDefinition:
    description: str = ""
    directives: Names[Directive] = field(default_factory=Names)
    operation_types: list[OperationTypeDefinition] = field(default_factory=list)
    position: Position | None = None
    before_description_comment: CommentGroup | None = None
    after_description_comment: CommentGroup | None = None
    end_of_definition_comment: CommentGroup | None = None


@dataclass(slots=True, eq=False)
class SchemaDocument:
    schema: list[SchemaDefinition] = field(default_factory=list)
    schema_extension: list[SchemaDefinition] = field(default_factory=list)
    directives: Names[DirectiveDefinition] = field(default_factory=Names)
    definitions: Names[Definition] = field(default_factory=Names)
    extensions: Names[Definition] = field(default_factory=Names)
    comment: CommentGroup | None = None
