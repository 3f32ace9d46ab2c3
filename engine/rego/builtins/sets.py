"""Sets, two at a time and many at a time."""

from __future__ import annotations

from engine.rego.builtins.operands import operand_set
from engine.rego.builtins.registry import builtin
from engine.rego.values import Frozen, RegoSet, Value


@builtin("and")
def both(one: Value, other: Value) -> RegoSet:
    return RegoSet.of_frozen(operand_set("and", 1, one).frozen & operand_set("and", 2, other).frozen)


@builtin("or")
def either(one: Value, other: Value) -> RegoSet:
    return RegoSet.of_frozen(operand_set("or", 1, one).frozen | operand_set("or", 2, other).frozen)


@builtin("set_diff")
def difference(one: Value, other: Value) -> RegoSet:
    return RegoSet.of_frozen(operand_set("set_diff", 1, one).frozen - operand_set("set_diff", 2, other).frozen)


@builtin("intersection")
def intersection(value: Value) -> RegoSet:
    sets = _sets("intersection", value)
    return RegoSet.of_frozen(frozenset.intersection(*sets)) if sets else RegoSet()


@builtin("union")
def union(value: Value) -> RegoSet:
    return RegoSet.of_frozen(frozenset().union(*_sets("union", value)))


def _sets(name: str, value: Value) -> list[frozenset[Frozen]]:
    return [frozenset(operand_set(name, 1, item).frozen) for item in operand_set(name, 1, value)]
