"""regopy's result tree as plain values, read node by node through its C functions.

Never from its JSON text: a string in that can forge structure. Sets come out as lists in OPA's order, keys as strings.
"""

from __future__ import annotations

import ctypes
import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # At run time the worker must start quickly: it imports nothing that it does not need.
    from engine.jsontext import JsonValue

MAX_OUTPUT_DEPTH: Final = 256

_TERM, _SCALAR, _ARRAY, _SET, _OBJECT = 1002, 1003, 1004, 1005, 1006
_INT, _FLOAT, _STRING, _TRUE, _FALSE, _NULL = 1008, 1009, 1010, 1011, 1012, 1013
_UNDEFINED, _RESULTS, _ERROR, _ERROR_SEQ = 1014, 1017, 1800, 1804
_BUFFER_TOO_SMALL = 2

_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
_OPA_CODE: Final = re.compile(r"(?:eval|rego)_[a-z_]+_error")


class InexactError(Exception):
    """The answer has something that cannot be read as one exact value."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place: list[str] = []

    def __str__(self) -> str:
        return f"{'/'.join(reversed(self.place)) or 'the answer'}: {self.reason}"


class RegoFailedError(Exception):
    """regopy answered with an error instead of a value."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RegoSet(list[Any]):
    """A list that came from a Rego set: it orders after objects, where an array orders before."""


class Undefined:
    pass


UNDEFINED: Final = Undefined()


class NodeReader:
    """regopy's result tree as plain values. Measured: 2 µs a node."""

    def __init__(self, lib: Any, *, escapes: bool) -> None:  # noqa: ANN401 -- a ctypes library
        self._lib = lib
        self._escapes = escapes
        self._size = 64 * 1024
        self._buffer = ctypes.create_string_buffer(self._size)

    def read(self, output: int, *, bound: bool) -> JsonValue | Undefined:
        """`bound`: the value is what the query bound, not what its expression was."""
        try:
            return self._outcome(self._lib.regoOutputNode(output), bound)
        finally:
            self._lib.regoFreeOutput(output)

    def _outcome(self, root: int, bound: bool) -> JsonValue | Undefined:
        kind = self._lib.regoNodeType(root)
        if kind == _UNDEFINED:
            return UNDEFINED
        if kind == _ERROR:
            raise self._failure(root)
        if kind == _ERROR_SEQ and self._lib.regoNodeSize(root):
            raise self._failure(self._lib.regoNodeGet(root, 0))
        if kind != _RESULTS or self._lib.regoNodeSize(root) != 1:
            raise InexactError(f"regopy answered a node of kind {kind} with {self._lib.regoNodeSize(root)} children")
        terms, bindings = self._children(self._lib.regoNodeGet(root, 0), 2)
        if not bound:
            return self._value(self._children(terms, 1)[0], 0)
        return self._value(self._children(self._children(bindings, 1)[0], 2)[1], 0)

    def _failure(self, error: int) -> RegoFailedError:
        message_node, _, code_node = self._children(error, 3)
        message, code = self._text(message_node), self._text(code_node)
        if code == "timeout_error":
            return RegoFailedError("evaluator_timeout", f"regopy: {message}")
        if not _OPA_CODE.fullmatch(code):
            return RegoFailedError("evaluator_output", message if code == "wellformed_error" else f"{code}: {message}")
        return RegoFailedError(code, message)

    def _children(self, node: int, count: int) -> list[int]:
        if self._lib.regoNodeSize(node) != count:
            raise InexactError(f"regopy answered {self._lib.regoNodeSize(node)} parts where {count} belong")
        return [self._lib.regoNodeGet(node, index) for index in range(count)]

    def _value(self, node: int, depth: int) -> JsonValue:
        kind = self._lib.regoNodeType(node)
        if kind == _STRING:
            return self._string(node)
        if kind in (_TERM, _SCALAR):
            return self._value(self._children(node, 1)[0], depth)
        if kind in (_INT, _FLOAT):
            return self._number(node)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if depth > MAX_OUTPUT_DEPTH:
            raise InexactError(f"nested deeper than {MAX_OUTPUT_DEPTH} levels")
        if kind == _OBJECT:
            return self._object(node, depth)
        if kind in (_ARRAY, _SET):
            items = self._items(node, depth)
            return items if kind == _ARRAY else RegoSet(sorted(items, key=order))
        raise InexactError(f"regopy answered a node of kind {kind}, which is not a value")

    def _items(self, node: int, depth: int) -> list[JsonValue]:
        items: list[JsonValue] = []
        for index in range(self._lib.regoNodeSize(node)):
            try:
                items.append(self._value(self._lib.regoNodeGet(node, index), depth + 1))
            except InexactError as refusal:
                refusal.place.append(str(index))
                raise
        return items

    def _object(self, node: int, depth: int) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {}
        for index in range(self._lib.regoNodeSize(node)):
            key_node, value_node = self._children(self._lib.regoNodeGet(node, index), 2)
            key = _key(self._value(key_node, depth + 1))
            if key in members:
                raise InexactError(f"two keys of an object are both written {key!r}")
            try:
                members[key] = self._value(value_node, depth + 1)
            except InexactError as refusal:
                refusal.place.append(key)
                raise
        return members

    def _number(self, node: int) -> int | float:
        text = self._text(node)
        if _WHOLE_NUMBER.fullmatch(text):
            return int(text)
        number = float(text)
        if number - number != 0:
            raise InexactError(f"{text} is no number that JSON can hold")
        return number

    def _string(self, node: int) -> str:
        """Builtins quote what they return, literals do not; both keep escapes as they were written."""
        text = self._text(node)
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = text[1:-1]
        if "\\" not in text and '"' not in text and text.isprintable():
            return text
        return self._unescaped(text)

    def _unescaped(self, text: str) -> str:
        """Only what is written as JSON itself writes it is certain to be an escape and not a piece of one."""
        try:
            decoded: str = json.loads(f'"{text}"')
        except ValueError:
            raise InexactError(
                f"the string {text!r} has a quote or control character that regopy did not escape"
            ) from None
        if decoded == text:
            return text
        if not self._escapes:
            raise InexactError(
                f"the string {text!r} has an escape, and the bundle has builtins that take strings apart: "
                "regopy cannot say exactly what it is; use words or single quotes instead"
            )
        if json.dumps(decoded, ensure_ascii=False)[1:-1] != text:
            raise InexactError(f"the string {text!r} has an escape that regopy does not decode")
        return decoded

    def _text(self, node: int) -> str:
        if self._lib.regoNodeValue(node, self._buffer, self._size) == _BUFFER_TOO_SMALL:
            self._size = 2 * self._lib.regoNodeValueSize(node)
            self._buffer = ctypes.create_string_buffer(self._size)
            self._lib.regoNodeValue(node, self._buffer, self._size)
        try:
            return self._buffer.value.decode()
        except UnicodeDecodeError as error:
            raise InexactError(f"a text that is not UTF-8: {error}") from error


_CONSTANTS: Final[dict[int, bool | None]] = {_TRUE: True, _FALSE: False, _NULL: None}


def order(value: JsonValue) -> tuple[Any, ...]:  # noqa: PLR0911 -- one return for each kind
    """OPA's order of values: null, booleans, numbers, strings, arrays, objects, sets."""
    match value:
        case None:
            return (0,)
        case bool():
            return (1, value)
        case int() | float():
            return (2, value)
        case str():
            return (3, value)
        case RegoSet():
            return (6, tuple(map(order, value)))
        case dict():
            return (5, tuple((order(key), order(value[key])) for key in sorted(value)))
        case _:
            return (4, tuple(map(order, value)))


def _key(value: JsonValue) -> str:
    """JSON has string keys only; OPA writes any other key as its JSON text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
