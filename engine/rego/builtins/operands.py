"""What a builtin may take: each check gives the operand back, or OPA's own type error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from engine.rego.errors import BuiltinError
from engine.rego.values import Frozen, RegoSet, Value, kind_of

TYPE_ERROR = "eval_type_error"


def operand_string(name: str, position: int, value: Value) -> str:
    if type(value) is str:
        return value
    raise _wrong_kind(name, position, value, ("string",))


def operand_number(name: str, position: int, value: Value) -> int | float:
    if type(value) is int or type(value) is float:
        return value
    raise _wrong_kind(name, position, value, ("number",))


def operand_int(name: str, position: int, value: Value) -> int:
    """An integral float is an integer: our arithmetic may have made it so."""
    number = operand_number(name, position, value)
    if type(number) is float and not number.is_integer():
        raise operand_error(name, position, "must be integer number but got floating-point number")
    return int(number)


def operand_boolean(name: str, position: int, value: Value) -> bool:
    if type(value) is bool:
        return value
    raise _wrong_kind(name, position, value, ("boolean",))


def operand_array(name: str, position: int, value: Value) -> list[Value]:
    if type(value) is list:
        return value
    raise _wrong_kind(name, position, value, ("array",))


def operand_object(name: str, position: int, value: Value) -> dict[Frozen, Value]:
    if type(value) is dict:
        return value
    raise _wrong_kind(name, position, value, ("object",))


def operand_set(name: str, position: int, value: Value) -> RegoSet:
    if type(value) is RegoSet:
        return value
    raise _wrong_kind(name, position, value, ("set",))


def operand_collection(name: str, position: int, value: Value) -> Iterable[Value]:
    """An array, or a set in OPA's order."""
    if type(value) is list or type(value) is RegoSet:
        return cast("Iterable[Value]", value)
    raise _wrong_kind(name, position, value, ("set", "array"))


def operand_strings(name: str, position: int, value: Value) -> list[str]:
    """An array or a set that holds strings only."""
    strings = list(operand_collection(name, position, value))
    for item in strings:
        if type(item) is not str:
            raise operand_element_error(name, position, value, item, ("string",))
    return strings


def operand_one_of(name: str, position: int, value: Value, kinds: tuple[str, ...]) -> Value:
    if kind_of(value) in kinds:
        return value
    raise _wrong_kind(name, position, value, kinds)


def operand_error(name: str, position: int, message: str) -> BuiltinError:
    return BuiltinError(f"{name}: operand {position} {message}", TYPE_ERROR)


def operand_element_error(
    name: str, position: int, collection: Value, element: Value, kinds: tuple[str, ...]
) -> BuiltinError:
    wanted = _one_of(kinds, " of {}s")
    return operand_error(
        name,
        position,
        f"must be {kind_of(collection)}{wanted} but got {kind_of(collection)} containing {kind_of(element)}",
    )


def _wrong_kind(name: str, position: int, value: Value, kinds: tuple[str, ...]) -> BuiltinError:
    return operand_error(name, position, f"must be{_one_of(kinds, ' {}')} but got {kind_of(value)}")


def _one_of(kinds: tuple[str, ...], single: str) -> str:
    many = " one of {" if single == " {}" else " of (any of) {"
    return single.format(kinds[0]) if len(kinds) == 1 else many + ", ".join(kinds) + "}"
