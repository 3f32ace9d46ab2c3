from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluator.frames import (
    HEADER_BYTES,
    MAX_FRAME_BYTES,
    FrameError,
    frame,
    missing_bytes,
    payload_length,
)


def test_payload_is_framed_with_its_length():
    assert frame(b"abc") == b"\x00\x00\x00\x03abc"


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_part_of_a_frame_says_what_is_missing(payload: bytes, cut: int):
    whole = frame(payload)
    part = whole[:cut]
    expected = HEADER_BYTES - len(part) if len(part) < HEADER_BYTES else len(whole) - len(part)
    assert missing_bytes(part) == expected


def test_announced_length_over_the_limit_is_refused():
    with pytest.raises(FrameError, match="over the limit"):
        payload_length((MAX_FRAME_BYTES + 1).to_bytes(4, "big"))


def test_payload_over_the_limit_is_refused():
    with pytest.raises(FrameError, match="over the limit"):
        frame(bytes(MAX_FRAME_BYTES + 1))


def test_short_header_is_refused():
    with pytest.raises(FrameError, match="a header of 2 bytes"):
        payload_length(b"\x00\x01")
