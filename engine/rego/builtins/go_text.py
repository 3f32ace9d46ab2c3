"""How Go and OPA write a value as text: quoted strings, numbers, whole terms."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Final

from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value, freeze, keys_of

_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*\Z")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def quote(text: str, *, ascii_only: bool = False) -> str:
    """Go's `strconv.Quote`."""
    if _PLAIN.match(text):
        return f'"{text}"'
    return '"' + "".join(_quoted(char, '"', ascii_only) for char in text) + '"'


def quote_rune(char: str, *, ascii_only: bool = False) -> str:
    """Go's `strconv.QuoteRune`."""
    return "'" + _quoted(char, "'", ascii_only) + "'"


def number_text(number: float) -> str:
    """As Go's JSON encoder would write it; an integral float is written as the integer that it equals."""
    if type(number) is int or (number.is_integer() and abs(number) < 1e21):
        return integer_text(int(number))
    text = repr(number)
    if "e" not in text:
        return text
    if abs(number) >= 1e-6 and abs(number) < 1e21:
        return format(Decimal(text), "f")
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{exponent[0] if exponent[0] in '+-' else '+'}{exponent.lstrip('+-').lstrip('0')}"


def integer_text(number: int) -> str:
    try:
        return str(number)
    except ValueError as error:  # Python's own bound on digits
        raise BuiltinError(f"a number of {number.bit_length()} bits is too long to be written") from error


def value_text(value: Value) -> str:
    """OPA's text of a term, as `%v` and error messages show it."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is str:
        return quote(value)
    if type(value) is list:
        return "[" + ", ".join(map(value_text, value)) + "]"
    if type(value) is dict:
        pairs = (f"{value_text(key)}: {value_text(value[freeze(key)])}" for key in keys_of(value))
        return "{" + ", ".join(pairs) + "}"
    if type(value) is RegoSet:
        return "{" + ", ".join(map(value_text, value)) + "}" if len(value) else "set()"
    return number_text(value)


def json_string(text: str) -> str:
    """Go's JSON: `<`, `>` and `&` are escaped too."""
    return json.dumps(without_surrogates(text), ensure_ascii=False).translate(_HTML)


def without_surrogates(text: str) -> str:
    """Half a character, which only an escape in JSON can make, is U+FFFD to Go."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _quoted(char: str, mark: str, ascii_only: bool) -> str:
    if char in "\"'":
        return "\\" + char if char == mark else char
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable() and not (ascii_only and char > "~"):
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
