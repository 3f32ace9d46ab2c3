from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.builtins.units import parse, parse_bytes
from engine.rego.errors import BuiltinError


@pytest.mark.parametrize(
    ("text", "number"), [("10K", 10000), ("10Ki", 10240), ("100m", 0.1), ("10Ei", 11529215046068469760), ("1.1K", 1100)]
)
def test_a_quantity_is_a_number(text: str, number: float):
    assert parse(text) == number


def test_a_number_that_nobody_could_write_is_an_error():
    with pytest.raises(BuiltinError, match="digits"):
        parse("1e999999")
    assert parse("1e-999999") == 0


@given(st.integers(0, 2**50))
def test_whole_kibibytes_are_exact(count: int):
    assert parse_bytes(f"{count}KiB") == parse(f"{count}Ki") == count * 1024
