"""What holds for any seed, and for any integers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.rego.builtins import arithmetic, random
from engine.rego.builtins.registry import Circumstances


@given(st.text(), st.integers(1, 10**6))
def test_equal_circumstances_give_equal_chance(seed: str, below: int):
    drawn = random.intn(Circumstances(seed=seed), "a", below)
    assert drawn == random.intn(Circumstances(seed=seed), "a", below)
    assert 0 <= drawn < below


@given(st.integers(), st.integers())
def test_integers_are_exact_whichever_way_they_are_held(one: int, other: int):
    assert arithmetic.minus(arithmetic.plus(one, other), other) == one
    if abs(one) < 2**50:
        assert arithmetic.plus(float(one), other) == one + other
