"""Length-prefixed frames between the pool and its workers: four bytes, big endian, then the payload."""

from __future__ import annotations

import struct
from typing import Final

HEADER_BYTES: Final = 4
MAX_FRAME_BYTES: Final = 64 * 1024 * 1024

_HEADER: Final = struct.Struct(">I")


class FrameError(Exception):
    """The other side sent, or this side was asked to send, what cannot be a frame."""


def frame(payload: bytes) -> bytes:
    if len(payload) > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {len(payload)} bytes is over the limit of {MAX_FRAME_BYTES}")
    return _HEADER.pack(len(payload)) + payload


def payload_length(header: bytes) -> int:
    """What a header announces; checked before anything of that size is reserved."""
    if len(header) != HEADER_BYTES:
        raise FrameError(f"a header of {len(header)} bytes; expected {HEADER_BYTES}")
    length: int = _HEADER.unpack(header)[0]
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length} bytes is announced, over the limit of {MAX_FRAME_BYTES}")
    return length


def missing_bytes(received: bytes | bytearray) -> int:
    """How many bytes the frame at the start of `received` still lacks; 0 when it is whole."""
    if len(received) < HEADER_BYTES:
        return HEADER_BYTES - len(received)
    return max(0, HEADER_BYTES + payload_length(bytes(received[:HEADER_BYTES])) - len(received))
