"""DER, read as strictly as Go's parser of certificates does; and the PEM and base64 around it."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.rego.builtins.encoding import base64_decode
from engine.rego.errors import BuiltinError

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID, SEQUENCE, SET = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x30, 0x31
UTC_TIME, GENERALIZED_TIME = 0x17, 0x18
MAX_INPUT: Final = 1024 * 1024
"""Bytes of certificates or keys that one call reads."""
MAX_OID_PART: Final = 2**31

_END: Final = b"\n-----END "
_BEGIN: Final = b"-----BEGIN "
_DASHES: Final = b"-----"


class X509Fault(ValueError):
    """With Go's words, where they are known."""


class Block(NamedTuple):
    kind: str
    data: bytes


def context(number: int, *, constructed: bool = False) -> int:
    """The tag `[number]`."""
    return 0xA0 + number if constructed else 0x80 + number


@dataclass(slots=True)
class Der:
    """A reader: each method takes one element, or raises an X509Fault with the given words."""

    data: bytes
    at: int = 0

    @property
    def empty(self) -> bool:
        return self.at >= len(self.data)

    def peek(self, tag: int) -> bool:
        return not self.empty and self.data[self.at] == tag

    def element(self, tag: int | None, fault: str) -> tuple[int, bytes, bytes]:
        """Its tag, all of it, and what is in it."""
        header = self._header()
        if header is None or (tag is not None and header[0] != tag):
            raise X509Fault(fault)
        found, start, end = header
        whole, inside = self.data[self.at : end], self.data[start:end]
        self.at = end
        return found, whole, inside

    def inside(self, tag: int, fault: str) -> Der:
        return Der(self.element(tag, fault)[2])

    def octets(self, tag: int, fault: str) -> bytes:
        return self.element(tag, fault)[2]

    def optional(self, tag: int, fault: str) -> Der | None:
        return self.inside(tag, fault) if self.peek(tag) else None

    def integer(self, fault: str, tag: int = INTEGER) -> int:
        data = self.octets(tag, fault)
        padded = len(data) > 1 and (data[0], data[1] >> 7) in ((0, 0), (0xFF, 1))
        if not data or padded:
            raise X509Fault(fault)
        return int.from_bytes(data, signed=True)

    def boolean(self, fault: str) -> bool:
        data = self.octets(BOOLEAN, fault)
        if data not in (b"\x00", b"\xff"):
            raise X509Fault(fault)
        return data == b"\xff"

    def oid(self, fault: str) -> tuple[int, ...]:
        return oid_of(self.octets(OID, fault), fault)

    def bits(self, fault: str) -> tuple[bytes, int]:
        """The bytes, and how many bits of the last are unused."""
        data = self.octets(BIT_STRING, fault)
        if not data or data[0] > 7 or (len(data) == 1 and data[0]) or (data[0] and data[-1] & ((1 << data[0]) - 1)):
            raise X509Fault(fault)
        return data[1:], data[0]

    def _header(self) -> tuple[int, int, int] | None:
        data, at = self.data, self.at
        if len(data) < at + 2 or data[at] & 0x1F == 0x1F:
            return None
        size, start = data[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            start += count
            size = int.from_bytes(data[at + 2 : start])
            if not 1 <= count <= 4 or len(data) < start or size < 0x80 or size >> (8 * (count - 1)) == 0:
                return None
        return (data[at], start, start + size) if len(data) >= start + size else None


def oid_of(data: bytes, fault: str) -> tuple[int, ...]:
    parts: list[int] = []
    value = 0
    fresh = True
    for byte in data:
        if fresh and byte == 0x80:
            raise X509Fault(fault)
        value = value << 7 | byte & 0x7F
        fresh = not byte & 0x80
        if value >= MAX_OID_PART:
            raise X509Fault(fault)
        if fresh:
            parts.append(value)
            value = 0
    if not parts or not fresh:
        raise X509Fault(fault)
    first = min(parts[0] // 40, 2)
    return (first, parts[0] - 40 * first, *parts[1:])


def right_aligned(data: bytes, unused: int) -> bytes:
    return (int.from_bytes(data) >> unused).to_bytes(len(data)) if unused else data


def base64_bytes(text: str) -> bytes:
    try:
        base64_decode(text)
    except BuiltinError as error:
        raise X509Fault(error.message.removeprefix("base64.decode: ")) from error
    return base64.b64decode(text)


def input_bytes(text: str) -> bytes:
    if len(text) > MAX_INPUT:
        raise X509Fault(f"the input has more than {MAX_INPUT} characters")
    return text.encode("utf-8", "replace")


def pem_blocks(data: bytes) -> list[Block]:
    """As many as can be read one after the other."""
    blocks: list[Block] = []
    while (found := _pem_block(data)) is not None:
        blocks.append(found[0])
        data = found[1]
    return blocks


def _pem_block(data: bytes) -> tuple[Block, bytes] | None:
    """The first block, and what follows it."""
    start = 0
    while (end := data.find(_END, start)) >= 0:
        trailer = end + len(_END)
        begin = data.rfind(_BEGIN, start, end)
        if begin == start or (begin > 0 and data[begin - 1 : begin] == b"\n"):
            found = _block_between(data, begin + len(_BEGIN), end, trailer)
            if found is not None:
                return found
        start = trailer
    return None


def _block_between(data: bytes, begin: int, end: int, trailer: int) -> tuple[Block, bytes] | None:
    line, at = _line(data, begin)
    if not line.endswith(_DASHES):
        return None
    kind = line.removesuffix(_DASHES)
    headers = False
    while at < len(data):
        line, following = _line(data, at)
        if b":" not in line:
            break
        headers, at = True, following
    closing = data[trailer : trailer + len(kind) + len(_DASHES)]
    rest, after = _line(data, trailer + len(kind) + len(_DASHES))
    if (headers and at > end) or closing != kind + _DASHES or rest:
        return None
    body = re.sub(rb"[ \t\r\n]", b"", data[at:end]) if end > at else b""
    try:
        decoded = base64_bytes(body.decode("ascii"))
    except (X509Fault, UnicodeDecodeError):
        return None
    return Block(kind.decode("utf-8", "replace"), decoded), data[after:]


def _line(data: bytes, start: int) -> tuple[bytes, int]:
    """Without blanks at its end; and where the next one begins."""
    newline = data.find(b"\n", start)
    end = newline if newline >= 0 else len(data)
    return data[start:end].rstrip(b" \t\r\n"), min(end + 1, len(data))
