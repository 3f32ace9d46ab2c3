"""What kind of value it is, and numbers made of other kinds."""

from __future__ import annotations

import math
import re
from typing import Final

from engine.rego.builtins.bigfloat import Number
from engine.rego.builtins.operands import operand_error, operand_one_of
from engine.rego.builtins.registry import Function, builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value, kind_of

builtin("type_name")(kind_of)

_KINDS: Final = ("array", "boolean", "null", "number", "object", "set", "string")
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_MAX_DIGITS: Final = 4300


@builtin("to_number")
def to_number(value: Value) -> Number:
    if value is None or type(value) is bool:
        return int(value or 0)
    return _parsed(value) if type(value) is str else _as_number(value)


@builtin("cast_array")
def cast_array(value: Value) -> list[Value]:
    return list(operand_one_of("cast_array", 1, value, ("array", "set")))


@builtin("cast_set")
def cast_set(value: Value) -> RegoSet:
    collection = operand_one_of("cast_set", 1, value, ("array", "set"))
    return collection if type(collection) is RegoSet else RegoSet(collection)


def _is_kind(kind: str) -> Function:
    return lambda value: kind_of(value) == kind


def _cast(kind: str) -> Function:
    return lambda value: operand_one_of(f"cast_{kind}", 1, value, (kind,))


for _kind in _KINDS:
    builtin(f"is_{_kind}")(_is_kind(_kind))
for _kind in ("boolean", "null", "object", "string"):
    builtin(f"cast_{_kind}")(_cast(_kind))


def _as_number(value: Value) -> Number:
    number: Number = operand_one_of("to_number", 1, value, ("null", "boolean", "number", "string"))
    return number


def _parsed(text: str) -> Number:
    if text.lstrip("+-").lower() in ("inf", "infinity", "nan"):
        raise operand_error("to_number", 1, "must be valid number string but got string")
    if not _NUMBER.fullmatch(text):
        raise BuiltinError(f'to_number: strconv.ParseFloat: parsing "{text}": invalid syntax')
    if len(text) > _MAX_DIGITS or math.isinf(float(text)):
        raise BuiltinError(f'to_number: strconv.ParseFloat: parsing "{text}": value out of range')
    return int(text) if _INTEGER.fullmatch(text) else float(text)
