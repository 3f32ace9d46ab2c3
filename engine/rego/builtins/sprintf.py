"""`sprintf`: Go's formatting verbs for what OPA hands to them — text, 64-bit integers, big integers and floats.

Everything but numbers and strings is text to Go: `%t` of true is a wrong verb there, and here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from engine.rego.builtins.bounds import MAX_TEXT, bounded_length
from engine.rego.builtins.go_text import integer_text, quote, quote_rune, value_text
from engine.rego.builtins.operands import operand_array, operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.values import Value

MAX_WIDTH: Final = 1_000_000
"""Go's own bound on a width or a precision."""

Argument = str | int | float

_NUMBER: Final = re.compile(r"[0-9]+")
_INDEX: Final = re.compile(r"\[([0-9]+)\]")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_BASES: Final = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES: Final = {"b": "0b", "x": "0x", "X": "0X"}


@builtin("sprintf")
def sprintf(form: Value, values: Value) -> str:
    text = operand_string("sprintf", 1, form)
    arguments = [_argument(value) for value in operand_array("sprintf", 2, values)]
    return _Printing(text, arguments).run()


def _argument(value: Value) -> Argument:
    if type(value) is str or type(value) is int or type(value) is float:
        return value
    return value_text(value)


@dataclass(slots=True)
class _Flags:
    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    sharp_v: bool = False
    plus_v: bool = False
    width: int | None = None
    precision: int | None = None


_FLAGS: Final = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}


class _Printing:
    """One call: where it is in the format and in the arguments, and what it has written."""

    def __init__(self, form: str, arguments: list[Argument]) -> None:
        self._form = form
        self._arguments = arguments
        self._at = 0
        self._next = 0
        self._reordered = False
        self._good_index = True
        self._made: list[str] = []
        self._length = 0

    def run(self) -> str:
        form = self._form
        while self._at < len(form):
            percent = form.find("%", self._at)
            self._write(form[self._at : percent if percent >= 0 else len(form)])
            if percent < 0:
                break
            self._at = percent + 1
            self._directive()
        self._extra()
        return "".join(self._made)

    def _write(self, text: str) -> None:
        self._length += len(text)
        bounded_length("sprintf", self._length)
        self._made.append(text)

    def _directive(self) -> None:
        self._good_index = True
        flags = self._flags()
        after_index = self._index()
        after_index = self._width(flags, after_index)
        after_index = self._precision(flags, after_index)
        if not after_index:
            self._index()
        if self._at >= len(self._form):
            self._write("%!(NOVERB)")
            return
        verb = self._form[self._at]
        self._at += 1
        if verb == "%":
            self._write("%")
        elif not self._good_index:
            self._write(f"%!{verb}(BADINDEX)")
        elif self._next >= len(self._arguments):
            self._write(f"%!{verb}(MISSING)")
        else:
            if verb == "v":
                flags.sharp_v, flags.sharp = flags.sharp, False
                flags.plus_v, flags.plus = flags.plus, False
            self._write(_formatted(self._arguments[self._next], verb, flags))
            self._next += 1

    def _flags(self) -> _Flags:
        flags = _Flags()
        while self._at < len(self._form) and self._form[self._at] in _FLAGS:
            setattr(flags, _FLAGS[self._form[self._at]], True)
            self._at += 1
        return flags

    def _index(self) -> bool:
        """`[n]`: the argument to go on with."""
        if self._peek() != "[":
            return False
        self._reordered = True
        match = _INDEX.match(self._form, self._at)
        if match is None:
            closing = self._form.find("]", self._at)
            self._good_index = False
            self._at = closing + 1 if closing > 0 and len(self._form) - self._at >= 3 else self._at + 1
            return False
        self._at = match.end()
        index = _parsed(match[1])
        if index is None:
            self._good_index = False
            return False
        if 0 < index <= len(self._arguments):
            self._next = index - 1
        else:
            self._good_index = False
        return True

    def _width(self, flags: _Flags, after_index: bool) -> bool:
        if self._peek() != "*":
            flags.width = self._digits()
            if after_index and flags.width is not None:
                self._good_index = False
            return after_index
        self._at += 1
        flags.width = self._number_argument()
        if flags.width is None:
            self._write("%!(BADWIDTH)")
        elif flags.width < 0:
            flags.width, flags.minus, flags.zero = -flags.width, True, False
        return False

    def _precision(self, flags: _Flags, after_index: bool) -> bool:
        if self._peek() != ".":
            return after_index
        self._at += 1
        if after_index:
            self._good_index = False
        after_index = self._index()
        if self._peek() != "*":
            flags.precision = self._digits() or 0
            return after_index
        self._at += 1
        flags.precision = self._number_argument()
        if flags.precision is None or flags.precision < 0:
            flags.precision = None
            self._write("%!(BADPREC)")
        return False

    def _peek(self) -> str:
        return self._form[self._at : self._at + 1]

    def _digits(self) -> int | None:
        match = _NUMBER.match(self._form, self._at)
        if match is None:
            return None
        number = _parsed(match[0])
        # Go gives up on the whole rest of the format for a number that is too large.
        self._at = match.end() if number is not None else len(self._form)
        return number

    def _number_argument(self) -> int | None:
        if self._next >= len(self._arguments):
            return None
        value = self._arguments[self._next]
        self._next += 1
        return value if type(value) is int and abs(value) <= MAX_WIDTH else None

    def _extra(self) -> None:
        if self._reordered or self._next >= len(self._arguments):
            return
        rest = (f"{_type(value)}={_formatted(value, 'v', _Flags())}" for value in self._arguments[self._next :])
        self._write(f"%!(EXTRA {', '.join(rest)})")


def _parsed(digits: str) -> int | None:
    number = int(digits[:8])
    return number if len(digits) <= 8 and number <= MAX_WIDTH else None


def _formatted(value: Argument, verb: str, flags: _Flags) -> str:
    if verb == "T":
        return _string(_type(value), "s", flags)
    made: str | None
    if type(value) is str:
        made = _string(value, verb, flags) if verb in "vsxXq" else None
    elif type(value) is float:
        made = _float(value, verb, flags) if verb in "vbgGxXfFeE" else None
    elif isinstance(value, int) and _SMALLEST <= value <= _LARGEST:
        made = _integer(value, verb, flags)
    else:
        return _big(int(value), verb, flags)
    return made if made is not None else f"%!{verb}({_type(value)}={_formatted(value, 'v', flags)})"


def _type(value: Argument) -> str:
    if type(value) is str:
        return "string"
    if type(value) is float:
        return "float64"
    return "int64" if _SMALLEST <= value <= _LARGEST else "*big.Int"  # type: ignore[operator]


def _padded(text: str, flags: _Flags, *, zeros: bool = True) -> str:
    missing = (flags.width or 0) - len(text)
    if missing <= 0:
        return text
    if flags.minus:
        return text + " " * missing
    return ("0" if flags.zero and zeros else " ") * missing + text


def _string(text: str, verb: str, flags: _Flags) -> str:
    if verb in "xX":
        return _hexadecimal(text.encode("utf-8", "surrogatepass"), verb, flags)
    cut = text if flags.precision is None else text[: flags.precision]
    if verb == "q" or (verb == "v" and flags.sharp_v):
        if flags.sharp and _can_backquote(cut):
            return _padded(f"`{cut}`", flags)
        return _padded(quote(cut, ascii_only=flags.plus), flags)
    return _padded(cut, flags)


def _hexadecimal(data: bytes, verb: str, flags: _Flags) -> str:
    data = data if flags.precision is None else data[: flags.precision]
    bounded_length("sprintf", 5 * len(data))
    prefix = "0" + verb if flags.sharp and data else ""
    digits = data.hex() if verb == "x" else data.hex().upper()
    if flags.space:
        joint = " " + prefix
        digits = joint.join(digits[at : at + 2] for at in range(0, len(digits), 2))
    return _padded(prefix + digits, flags)


def _can_backquote(text: str) -> bool:
    return not any(char in "`\x7f\ufeff" or (char < " " and char != "\t") for char in text)


def _integer(number: int, verb: str, flags: _Flags) -> str | None:
    if verb in "cqU":
        return _character(number, verb, flags)
    if verb not in _BASES:
        return None
    digits = format(abs(number), _BASES[verb])
    signed = number < 0 or flags.plus or flags.space
    least = 0
    if flags.precision is not None:
        if flags.precision == 0 and number == 0:
            return _padded("", flags, zeros=False)
        least = flags.precision
    elif flags.zero and not flags.minus and flags.width is not None:
        least = flags.width - signed
    digits = digits.rjust(least, "0")
    if flags.sharp:
        digits = "0" + digits if verb in "oO" and digits[0] != "0" else _PREFIXES.get(verb, "") + digits
    if verb == "O":
        digits = "0o" + digits
    return _padded(_sign(number, flags.plus, flags.space) + digits, flags, zeros=False)


def _character(number: int, verb: str, flags: _Flags) -> str:
    if verb == "U":
        code = number % 2**64
        shown = f" '{chr(code)}'" if flags.sharp and code <= 0x10FFFF and chr(code).isprintable() else ""
        return _padded("U+" + format(code, "X").rjust(max(flags.precision or 0, 4), "0") + shown, flags, zeros=False)
    valid = 0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    char = chr(number) if valid else "\ufffd"
    return _padded(char if verb == "c" else quote_rune(char, ascii_only=flags.plus), flags)


def _sign(number: float, plus: bool, space: bool) -> str:
    if number < 0:
        return "-"
    return "+" if plus else " " if space else ""


def _big(number: int, verb: str, flags: _Flags) -> str:
    """Go's big.Int formats itself: it knows `%s`, and no characters."""
    if verb not in _BASES and verb != "s":
        return f"%!{verb}(big.Int={integer_text(number)})"
    base = _BASES.get(verb, "d")
    digits = integer_text(abs(number)) if base == "d" else format(abs(number), base)
    prefix = "0o" if verb == "O" else ""
    if flags.sharp or flags.sharp_v:
        prefix = prefix or {"b": "0b", "o": "0", "x": "0x", "X": "0X"}.get(verb, "")
    sign = _sign(number, flags.plus or flags.plus_v, flags.space)
    digits = digits.rjust(flags.precision or 0, "0")
    missing = (flags.width or 0) - len(sign + prefix + digits)
    if missing > 0 and flags.zero and not flags.minus and flags.precision is None:
        digits = "0" * missing + digits
    return _padded(sign + prefix + digits, flags, zeros=False)


def _float(number: float, verb: str, flags: _Flags) -> str:
    form = {"v": "g", "F": "f"}.get(verb, verb)
    precision = flags.precision
    if precision is None and form in "feE":
        precision = 6
    text = _float_digits(abs(number), form, precision)
    if flags.sharp and form != "b":
        text = _with_point(text, form, precision)
    negative = str(number).startswith("-")
    sign = "-" if negative else _sign(0, flags.plus, flags.space)
    # Without a plus, Go writes the zeros in front of a space or a minus after it, and treats a bare number as text.
    if sign and flags.zero and not flags.minus and flags.width is not None:
        return sign + text.rjust(flags.width - 1, "0")
    return _padded(sign + text, flags)


def _float_digits(number: float, form: str, precision: int | None) -> str:
    if form == "b":
        return _binary_float(number)
    if form in "xX":
        made = _hexadecimal_float(number, precision)
        return made.upper() if form == "X" else made
    if precision is None:
        return _shortest(number, form)
    # More digits than this a float does not have: all further ones are zeros.
    exact = min(precision, 1100)
    text = f"%.{exact}{form}" % number
    return text if form in "gG" else _more_zeros(text, precision - exact)


def _binary_float(number: float) -> str:
    """`%b`: the 53 bits as they are stored, and their power of two."""
    numerator, denominator = number.as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    shift = min(53 - numerator.bit_length(), exponent + 1074) if numerator else exponent + 1074
    return f"{_shifted(numerator, shift)}p{exponent - shift:+d}"


def _shifted(number: int, shift: int) -> int:
    return number << shift if shift >= 0 else number >> -shift


def _more_zeros(text: str, count: int) -> str:
    if count <= 0:
        return text
    bounded_length("sprintf", min(count, MAX_TEXT) + len(text))
    mantissa, mark, exponent = re.fullmatch(r"([0-9.]+)([eE]?)(.*)", text).groups()  # type: ignore[union-attr]
    return f"{mantissa}{'0' * count}{mark}{exponent}"


def _shortest(number: float, form: str) -> str:
    """The fewest digits that are this number, with an exponent from a million on and below a ten-thousandth."""
    exact = Decimal(repr(number)).normalize()
    if not exact:
        return "0"
    exponent = exact.adjusted()
    if -4 <= exponent < 6:
        return format(exact, "f")
    digits = "".join(map(str, exact.as_tuple().digits))
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}{'E' if form == 'G' else 'e'}{exponent:+03d}"


def _hexadecimal_float(number: float, precision: int | None) -> str:
    if not number:
        return "0x0" + ("." + "0" * precision if precision else "") + "p+00"
    numerator, denominator = number.as_integer_ratio()
    exponent = numerator.bit_length() - denominator.bit_length()
    mantissa = _shifted(numerator, 53 - numerator.bit_length())
    kept = 13 if precision is None else min(precision, 13)
    dropped = 4 * (13 - kept)
    half, rest = 1 << dropped >> 1, mantissa & ((1 << dropped) - 1)
    mantissa >>= dropped
    if dropped and (rest > half or (rest == half and mantissa & 1)):
        mantissa += 1
    if mantissa >> (4 * kept) > 1:
        mantissa, exponent = mantissa >> 1, exponent + 1
    digits = format(mantissa & ((1 << 4 * kept) - 1), f"0{kept}x") if kept else ""
    digits = digits.rstrip("0") if precision is None else digits.ljust(precision, "0")
    return f"0x1{'.' + digits if digits else ''}p{exponent:+03d}"


def _with_point(text: str, form: str, precision: int | None) -> str:
    """`#`: a decimal point always, and the zeros that `%g` leaves out."""
    mark = re.search(r"[pP].*\Z" if form in "xX" else r"[eE].*\Z", text)
    head, tail = (text[: mark.start()], mark.group()) if mark else (text, "")
    wanted = (6 if precision is None else precision) if form in "gGx" else 0
    counted = re.sub(r"^[0.]*", "", head).replace(".", "")
    missing = wanted - len(counted)
    if "." not in head:
        missing -= head == "0"
        head += "."
    return head + "0" * max(0, missing) + tail
