"""Text in other forms: base64, hexadecimal, URL queries and JSON. YAML has a module of its own.

A string is Unicode here: bytes that are not UTF-8 become U+FFFD, one for each byte, as OPA shows them in JSON.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Final, NoReturn
from urllib.parse import quote_plus, unquote_to_bytes

from engine.rego.builtins.bounds import bounded_length
from engine.rego.builtins.go_text import json_string, number_text, quote, without_surrogates
from engine.rego.builtins.operands import operand_error, operand_object, operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value, freeze, keys_of, kind_of, thaw

MAX_QUERY_PARAMETERS: Final = 10_000
"""Go's own bound."""

_NOT_UTF8: Final = re.compile("[\udc80-\udcff]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_STANDARD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_URL: Final = _STANDARD - {"+", "/"} | {"-", "_"}


@builtin("base64.encode")
def base64_encode(value: Value) -> str:
    return base64.b64encode(_bytes("base64.encode", value)).decode()


@builtin("base64.decode")
def base64_decode(value: Value) -> str:
    text = operand_string("base64.decode", 1, value)
    return _text(base64.b64decode(_checked_base64("base64.decode", text, _STANDARD)))


@builtin("base64.is_valid")
def base64_is_valid(value: Value) -> bool:
    try:
        _checked_base64("base64.is_valid", operand_string("base64.is_valid", 1, value), _STANDARD)
    except BuiltinError:
        return False
    return True


@builtin("base64url.encode")
def base64url_encode(value: Value) -> str:
    return base64.urlsafe_b64encode(_bytes("base64url.encode", value)).decode()


@builtin("base64url.encode_no_pad")
def base64url_encode_no_pad(value: Value) -> str:
    return base64.urlsafe_b64encode(_bytes("base64url.encode_no_pad", value)).decode().rstrip("=")


@builtin("base64url.decode")
def base64url_decode(value: Value) -> str:
    text = operand_string("base64url.decode", 1, value)
    size = len(text.encode("utf-8", "replace"))
    if not text.endswith("="):
        if size % 4 == 1:
            raise BuiltinError(f"base64url.decode: illegal base64url string: {text}")
        text += "=" * (-size % 4)
    return _text(base64.urlsafe_b64decode(_checked_base64("base64url.decode", text, _URL)))


@builtin("hex.encode")
def hex_encode(value: Value) -> str:
    return _bytes("hex.encode", value).hex()


@builtin("hex.decode")
def hex_decode(value: Value) -> str:
    text = operand_string("hex.decode", 1, value)
    for char in text:
        if char not in _HEX:
            first = chr(char.encode("utf-8", "replace")[0])
            shown = f" '{first}'" if first.isprintable() else ""
            raise BuiltinError(f"hex.decode: encoding/hex: invalid byte: U+{ord(first):04X}{shown}")
    if len(text) % 2:
        raise BuiltinError("hex.decode: encoding/hex: odd length hex string")
    return _text(bytes.fromhex(text))


@builtin("urlquery.encode")
def urlquery_encode(value: Value) -> str:
    return quote_plus(_bytes("urlquery.encode", value), safe="~")


@builtin("urlquery.decode")
def urlquery_decode(value: Value) -> str:
    return _unescaped("urlquery.decode", operand_string("urlquery.decode", 1, value))


@builtin("urlquery.encode_object")
def urlquery_encode_object(value: Value) -> str:
    name = "urlquery.encode_object"
    texts = {_key_text(thaw(key)): item for key, item in operand_object(name, 1, value).items()}
    pairs = []
    for key in sorted(texts):
        item = texts[key]
        values: list[Value] = list(item) if type(item) in (list, RegoSet) else [item]
        if any(type(one) is not str for one in values):
            raise operand_error(name, 1, "values must be string, array[string], or set[string]")
        pairs += [f"{urlquery_encode(key)}={urlquery_encode(one)}" for one in values]
    return "&".join(pairs)


@builtin("urlquery.decode_object")
def urlquery_decode_object(value: Value) -> dict[str, list[str]]:
    name = "urlquery.decode_object"
    parts = operand_string(name, 1, value).split("&")
    if len(parts) > MAX_QUERY_PARAMETERS:
        raise BuiltinError(f"{name}: more than {MAX_QUERY_PARAMETERS} parameters")
    made: dict[str, list[str]] = {}
    for part in filter(None, parts):
        if ";" in part:
            raise BuiltinError(f"{name}: invalid semicolon separator in query")
        key, _, item = part.partition("=")
        made.setdefault(_unescaped(name, key), []).append(_unescaped(name, item))
    return made


@builtin("json.marshal")
def json_marshal(value: Value) -> str:
    return _Writing("json.marshal").run(value)


@builtin("json.marshal_with_options")
def json_marshal_with_options(value: Value, options: Value) -> str:
    name = "json.marshal_with_options"
    indent, prefix, pretty = "\t", "", None
    given = operand_object(name, 2, options)
    for key in keys_of(given):
        option = given[freeze(key)]
        if key not in ("prefix", "indent", "pretty"):
            shown = quote(key) if type(key) is str else _key_text(key)
            raise operand_error(name, 2, f"object contained unknown key {shown}")
        if key == "pretty":
            if type(option) is not bool:
                raise operand_error(name, 2, f"key {quote(key)} failed cast to bool")
            pretty = option
            continue
        if type(option) is not str:
            fault = f"must be string but got {kind_of(option)}"
            raise operand_error(name, 2, f"key {quote(key)} failed cast to string: {fault}")
        indent, prefix = (option, prefix) if key == "indent" else (indent, option)
    if pretty is None:
        pretty = "prefix" in given or "indent" in given
    return prefix + _Writing(name, indent, prefix).run(value) if pretty else _Writing(name).run(value)


@builtin("json.unmarshal")
def json_unmarshal(value: Value) -> Value:
    text = operand_string("json.unmarshal", 1, value)
    try:
        return without_half_characters(json.loads(text, parse_constant=_no_constant, parse_float=_finite))
    except json.JSONDecodeError as error:
        raise BuiltinError(f"json.unmarshal: {_json_fault(text, error)}") from error
    except ValueError as error:
        raise BuiltinError(f"json.unmarshal: {error}") from error
    except RecursionError as error:
        raise BuiltinError("json.unmarshal: exceeded max depth") from error


@builtin("json.is_valid")
def json_is_valid(value: Value) -> bool:
    if type(value) is not str:
        return False
    try:
        json.loads(value, parse_constant=_no_constant, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def without_half_characters(value: Value) -> Value:
    """A value that was just read, with U+FFFD for every half of a surrogate pair, as Go reads it."""
    if type(value) is str:
        return without_surrogates(value)
    if type(value) is list:
        return [without_half_characters(item) for item in value]
    if type(value) is dict:
        return {without_surrogates(key): without_half_characters(item) for key, item in value.items()}
    return value


class _Writing:
    """JSON as Go writes it: keys sorted, sets as arrays, and as text what is no text but a key."""

    def __init__(self, name: str, indent: str | None = None, prefix: str = "") -> None:
        self._name = name
        self._indent = indent
        self._prefix = prefix
        self._made: list[str] = []
        self._length = 0

    def run(self, value: Value) -> str:
        try:
            self._value(value, 1)
        except RecursionError as error:
            raise BuiltinError(f"{self._name}: nested too deeply") from error
        return "".join(self._made)

    def _write(self, text: str) -> None:
        self._length += len(text)
        bounded_length(self._name, self._length)
        self._made.append(text)

    def _value(self, value: Value, depth: int) -> None:
        if type(value) is dict:
            pairs = {_key_text(thaw(key)): item for key, item in value.items()}
            self._items("{}", [(json_string(key), pairs[key]) for key in sorted(pairs)], depth)
        elif type(value) is list or type(value) is RegoSet:
            self._items("[]", [("", item) for item in value], depth)
        else:
            self._write(_scalar(value))

    def _items(self, brackets: str, items: list[tuple[str, Value]], depth: int) -> None:
        if not items:
            self._write(brackets)
            return
        self._write(brackets[0])
        for position, (key, item) in enumerate(items):
            if position:
                self._write(",")
            self._line(depth)
            if key:
                self._write(key + (":" if self._indent is None else ": "))
            self._value(item, depth + 1)
        self._line(depth - 1)
        self._write(brackets[1])

    def _line(self, depth: int) -> None:
        if self._indent is not None:
            bounded_length(self._name, len(self._indent) * depth)
            self._write("\n" + self._prefix + self._indent * depth)


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    return json_string(value) if type(value) is str else number_text(value)


def _key_text(key: Value) -> str:
    return key if type(key) is str else _Writing("json.marshal").run(key)


def _bytes(name: str, value: Value) -> bytes:
    return operand_string(name, 1, value).encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return _NOT_UTF8.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


def _checked_base64(name: str, text: str, alphabet: frozenset[str]) -> bytes:
    """Line ends do not count; else Go's place of the first wrong byte."""
    digits = padding = 0
    for at, char in enumerate(text):
        if char in "\r\n":
            continue
        if char in alphabet and not padding:
            digits += 1
        elif char == "=" and ((digits % 4 == 2 and padding < 2) or (digits % 4 == 3 and padding < 1)):
            padding += 1
        else:
            raise BuiltinError(f"{name}: illegal base64 data at input byte {len(text[:at].encode())}")
    if (digits + padding) % 4:
        at = len(text) if padding else len(text) - digits % 4
        raise BuiltinError(f"{name}: illegal base64 data at input byte {at}")
    return text.encode()


def _unescaped(name: str, text: str) -> str:
    if bad := _BAD_ESCAPE.search(text):
        raise BuiltinError(f"{name}: invalid URL escape {quote(text[bad.start() : bad.start() + 3])}")
    return _text(unquote_to_bytes(text.replace("+", " ")))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"invalid character {name[0]!r} looking for beginning of value")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits} is out of range")
    return number


def _json_fault(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "EOF"
    if error.pos >= len(text):
        return "unexpected EOF"
    if error.msg == "Extra data":
        return f"error: invalid character {text[error.pos]!r} after top-level value"
    return f"invalid character {text[error.pos]!r} at position {error.pos}: {error.msg}"
