from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.builtins.sprintf import sprintf
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet


@pytest.mark.parametrize(
    ("form", "values", "text"),
    [
        ("%d of %s", [1, "x"], "1 of x"),
        ("%d", ["hi"], "%!d(string=hi)"),
        ("%d", [1.5], "%!d(float64=1.5)"),
        ("%t", [True], "%!t(string=true)"),
        ("%d %d", [1], "1 %!d(MISSING)"),
        ("%d", [1, 2], "1%!(EXTRA int64=2)"),
        ("%s", [2**70], "1180591620717411303424"),
        ("%v", [[RegoSet(), {"a": RegoSet([1])}]], '[set(), {"a": {1}}]'),
        ("%v", [1e6 + 0.5], "1.0000005e+06"),
        ("%5.1f|%-5d|%05d", [2.25, 3, -4], "  2.2|3    |-0004"),
        ("%[2]d %[1]d", [1, 2], "2 1"),
        ("%!", [], "%!!(MISSING)"),
    ],
)
def test_a_directive_writes_what_go_writes(form: str, values: list[object], text: str):
    assert sprintf(form, values) == text


def test_widths_together_are_bounded():
    with pytest.raises(BuiltinError, match="more than 16777216 characters"):
        sprintf("%999999d" * 20, [1] * 20)


@given(st.integers(-(2**80), 2**80), st.integers(0, 30))
def test_integers_are_padded_as_python_does(number: int, width: int):
    assert sprintf(f"%{width or ''}d", [number]) == f"{number:{width or ''}d}"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 20))
def test_fixed_floats_are_those_of_python(number: float, precision: int):
    assert sprintf(f"%.{precision}f", [number]) == f"{number:.{precision}f}"
