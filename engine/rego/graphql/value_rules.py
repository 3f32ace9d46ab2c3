"""Rules of the values that stand in a query: each must be one of the type that is expected of it."""

from __future__ import annotations

import math
import re
from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.graphql.implementing import is_compatible
from engine.rego.graphql.suggestions import did_you_mean, suggested
from engine.rego.graphql.syntax import ENUM, SCALAR, Definition, Type, Value, ValueKind
from engine.rego.graphql.walker import Findings

_NUMBER: Final = re.compile(r"[-+]?[0-9]+\Z")
_REAL: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?\Z")
_BOOLEANS: Final = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
_TAKES: Final = {
    ValueKind.INT: ("Int", "Float", "ID"), ValueKind.FLOAT: ("Float",), ValueKind.STRING: ("String", "ID"),
    ValueKind.BLOCK: ("String", "ID"), ValueKind.BOOLEAN: ("Boolean",),
}  # fmt: skip
"""To a kind of literal, the scalars that can be written so."""
_STANDARD: Final = ("Int", "Float", "String", "Boolean", "ID")


class ValueRules:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._budget = findings.budget

    def variable_is_defined(self, value: Value) -> None:
        operation = self._findings.operation
        if operation is None or value.kind != ValueKind.VARIABLE or value.variable_definition is not None:
            return
        where = f' by operation "{operation.name}"' if operation.name else ""
        self._findings.report(f'Variable "${value.raw}" is not defined{where}.', value.position)

    def has_each_field_once(self, value: Value) -> None:
        if value.kind != ValueKind.OBJECT:
            return
        seen: set[str] = set()
        for child in value.children:
            if child.name in seen:
                self._findings.report(f'There can be only one input field named "{child.name}".', child.position)
            seen.add(child.name)

    def is_of_expected_type(self, value: Value) -> None:
        definition, expected = value.definition, value.expected_type
        if definition is None or expected is None:
            return
        if value.kind == ValueKind.NULL and expected.non_null:
            message = f'Expected value of type "{expected}", found {value_text(value)}.'
            self._findings.report(message, value.position)
        if definition.kind == SCALAR and definition.name not in _STANDARD:
            return
        if self._cannot_be_held(value):
            self._unexpected(value, definition, expected)
        if value.kind == ValueKind.LIST:
            if expected.elem is None:
                self._unexpected(value, definition, expected)
        elif value.kind == ValueKind.OBJECT:
            self._check_object(value, definition)
        elif value.kind == ValueKind.ENUM:
            self._check_enum(value, definition, expected)
        elif value.kind in (ValueKind.STRING, ValueKind.BLOCK) and definition.kind == ENUM:
            message = f'Enum "{expected}" cannot represent non-enum value: {value_text(value)}.'
            self._findings.report(message + self._enum_hint(value, definition), value.position)
        elif value.kind in _TAKES and definition.name not in _TAKES[value.kind]:
            self._unexpected(value, definition, expected)

    def variable_fits(self, value: Value) -> None:
        variable, expected = value.variable_definition, value.expected_type
        no_variable = value.kind != ValueKind.VARIABLE or variable is None
        if no_variable or expected is None or self._findings.operation is None or variable is None:
            return
        has_default = variable.default_value is not None and variable.default_value.kind != ValueKind.NULL
        may_be_null = has_default or value.expected_type_has_default
        wanted = Type(expected.named_type, expected.elem, expected.non_null and not may_be_null)
        if not is_compatible(variable.type, wanted):
            message = f'Variable "${value.raw}" of type "{variable.type}" used in position expecting type "{expected}".'
            self._findings.report(message, value.position)

    def variable_of_one_of_is_not_null(self, value: Value) -> None:
        definition = value.definition
        if value.kind != ValueKind.OBJECT or definition is None or definition.directives.first("oneOf") is None:
            return
        for child in value.children:
            variable = child.value.variable_definition
            if child.value.kind == ValueKind.VARIABLE and variable is not None and not variable.type.non_null:
                kind = f'Variable "${child.value.raw}" is of type "{variable.type}"'
                message = f'{kind} but must be non-nullable to be used for OneOf Input Object "{definition.name}".'
                self._findings.report(message, variable.position or child.value.position)

    def _check_enum(self, value: Value, definition: Definition, expected: Type) -> None:
        if definition.kind != ENUM:
            self._unexpected(value, definition, expected)
        elif definition.enum_values.first(value.raw) is None:
            message = f'Value "{value.raw}" does not exist in "{expected}" enum.'
            self._findings.report(message + self._enum_hint(value, definition), value.position)

    def _enum_hint(self, value: Value, definition: Definition) -> str:
        names = [one.name for one in definition.enum_values]
        return did_you_mean("Did you mean the enum value", suggested(value.raw, names, self._budget))

    def _check_object(self, value: Value, definition: Definition) -> None:
        self._budget.spend(len(definition.fields))
        for field in definition.fields:
            if field.type.non_null and field.default_value is None and value.children.first(field.name) is None:
                message = f'Field "{definition.name}.{field.name}" of required type "{field.type}" was not provided.'
                self._findings.report(message, value.position)
        for directive in definition.directives:
            if directive.name == "oneOf":
                self._check_one_of(value, definition)
        for child in value.children:
            if definition.fields.first(child.name) is None:
                similar = suggested(child.name, [field.name for field in definition.fields], self._budget)
                message = f'Field "{child.name}" is not defined by type "{definition.name}".'
                self._findings.report(message + did_you_mean("Did you mean", similar), child.position)

    def _check_one_of(self, value: Value, definition: Definition) -> None:
        if len(value.children) != 1:
            message = f'OneOf Input Object "{definition.name}" must specify exactly one key.'
            self._findings.report(message, value.position)
        elif value.children[0].value.kind == ValueKind.NULL:
            # gqlparser names the first field of the type, whichever was written.
            field = definition.fields[0].name if definition.fields else ""
            message = f'Field "{definition.name}.{field}" must be non-null.'
            self._findings.report(message, value.children[0].value.position)

    def _unexpected(self, value: Value, definition: Definition, expected: Type) -> None:
        self._findings.report(_unexpected_text(value, definition, expected), value.position)

    def _cannot_be_held(self, value: Value) -> bool:
        """Whether a literal, at any depth, is none in Go: an integer beyond 64 bits, a float beyond its range."""
        self._budget.spend()
        if value.kind == ValueKind.INT:
            return not _NUMBER.match(value.raw) or not _fits(value.raw, 64)
        if value.kind == ValueKind.FLOAT:
            return not _REAL.match(value.raw) or math.isinf(float(value.raw))
        if value.kind == ValueKind.BOOLEAN:
            return value.raw not in _BOOLEANS
        inner = [child.value for child in value.children] if value.kind in (ValueKind.LIST, ValueKind.OBJECT) else []
        if value.kind == ValueKind.VARIABLE and value.variable_definition is not None:
            default = value.variable_definition.default_value
            inner = [default] if default is not None else []
        self._budget.deeper()
        found = any(map(self._cannot_be_held, inner))
        self._budget.back()
        return found


def value_text(value: Value) -> str:
    """As gqlparser's messages show it."""
    if value.kind == ValueKind.VARIABLE:
        return f"${value.raw}"
    if value.kind in (ValueKind.STRING, ValueKind.BLOCK):
        return quote(value.raw)
    if value.kind == ValueKind.LIST:
        return "[" + ",".join(value_text(child.value) for child in value.children) + "]"
    if value.kind == ValueKind.OBJECT:
        return "{" + ",".join(f"{child.name}:{value_text(child.value)}" for child in value.children) + "}"
    return value.raw


def _unexpected_text(value: Value, definition: Definition, expected: Type) -> str:
    text, kind = value_text(value), str(expected)
    match kind.removesuffix("!"):
        case "Int":
            if _NUMBER.match(value.raw) and not _fits(value.raw, 32):
                return f"Int cannot represent non 32-bit signed integer value: {text}"
            return f"Int cannot represent non-integer value: {text}"
        case "String":
            return f"String cannot represent a non string value: {text}"
        case "[String]" if kind == "[String]":
            return f"String cannot represent a non string value: {text}"
        case "Boolean":
            return f"Boolean cannot represent a non boolean value: {text}"
        case "Float":
            return f"Float cannot represent non numeric value: {text}"
        case "ID":
            return f"ID cannot represent a non-string and non-integer value: {text}"
    if definition.kind == ENUM:
        return f'Enum "{kind}" cannot represent non-enum value: {text}.'
    return f'Expected value of type "{kind}", found {text}.'


def _fits(digits: str, bits: int) -> bool:
    """Whether an integer, given as text, is one of so many bits with a sign."""
    significant = digits.lstrip("+-").lstrip("0") or "0"
    if len(significant) > 19:  # more than any integer of 64 bits has, and Python refuses to read thousands
        return False
    number = -int(significant) if digits[0] == "-" else int(significant)
    return -(1 << bits - 1) <= number < 1 << bits - 1
