"""How the cost of our engine grows: with the elements that a rule collects, and with rules that cannot match.

Ratios within one run, of medians over rounds that visit every size in turn.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.rego_sides import UNDEFINED_TEXT, LictorSide
from engine.jsontext import JsonValue, canonical, parse

SIZES: Final = (10, 100, 1_000, 10_000)
FEW: Final = 10
MANY: Final = 1_000
ROUNDS: Final = 9

_COLLECTING: Final[Mapping[str, str]] = {
    "partial_set": "found contains item.id if some item in input.items",
    "partial_set_of_arrays": "found contains [item.id, item.gpus] if some item in input.items",
    "partial_object": "found[item.id] := item.gpus if some item in input.items",
    "set_comprehension": "found := {item.id | some item in input.items}",
    "object_comprehension": "found := {item.id: item.gpus | some item in input.items}",
}


class WrongAnswer(Exception):
    """What was measured does not do what it should."""


# --- elements ---------------------------------------------------------------------------------------------------------


def scaling(sizes: Sequence[int] = SIZES, rounds: int = ROUNDS) -> dict[str, Any]:
    """`scaling_exponent` is the worst slope of log time over log n; 1 is linear, 2 quadratic. Fixed costs flatten the
    small sizes, so `scaling_last_step` is the worst slope between the two largest."""
    times = {name: _times(rule, sizes, rounds) for name, rule in _COLLECTING.items()}
    slopes = {name: round(slope(sizes, taken), 3) for name, taken in times.items()}
    last = max(slope(sizes[-2:], taken[-2:]) for taken in times.values())
    return {"scaling_exponent": max(slopes.values()), "scaling_last_step": round(last, 3), "scaling": slopes}


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Of the straight line through the logarithms."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(took) for took in times]).slope


def _times(rule: str, sizes: Sequence[int], rounds: int) -> list[float]:
    side = LictorSide({"growth.rego": f"package growth\n\n{rule}\n"}, {}, "growth/found")
    given = {size: canonical({"items": [{"id": f"w-{n}", "gpus": n % 8} for n in range(size)]}) for size in sizes}
    for size, text in given.items():
        collected = parse(side.answer(text))
        if not isinstance(collected, list | dict) or len(collected) != size:
            raise WrongAnswer(f"{rule}: not {size} elements were collected")
    calls = {size: _calling(side.answer, text) for size, text in given.items()}
    times = in_turns(calls, {size: max(1, 500 // size) for size in sizes}, rounds)
    return [statistics.median(times[size]) for size in sizes]


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Variant:
    """Rules of which at most one can match; `{n}` is the number of each."""

    path: str
    rule: str
    given: dict[str, JsonValue]
    """An input that rule 7 matches."""
    wanted: bytes
    """The answer to it."""
    otherwise: bytes
    """The answer where no rule matches."""
    first: str = ""
    """What stands before the rules."""
    data: JsonValue = None
    """Data that rule 7 matches, if it asks for data."""


_NO_INPUT: Final[dict[str, JsonValue]] = {"action": "none", "kind": "none", "request": {"labels": {"team": "none"}}}
_NO_DATA: Final[JsonValue] = {"settings": {"mode": {"name": "none"}}}

_VARIANTS: Final[Mapping[str, _Variant]] = {
    "partial_set": _Variant(
        "many/deny",
        'deny contains msg if {{\n\tinput.action == "a{n}"\n\tmsg := sprintf("rule {n}: %s", [input.action])\n}}',
        {"action": "a7"}, b'["rule 7: a7"]', b"[]",
    ),
    "complete": _Variant(
        "many/allow", 'allow if input.kind == "k{n}"', {"kind": "k7"}, b"true", b"false", "default allow := false"
    ),
    "nested_input": _Variant(
        "many/deny", 'deny contains "rule {n}" if input.request.labels.team == "t{n}"',
        {"request": {"labels": {"team": "t7"}}}, b'["rule 7"]', b"[]",
    ),
    "nested_data": _Variant(
        "many/deny", 'deny contains "rule {n}" if data.settings.mode.name == "m{n}"', {}, b'["rule 7"]', b"[]",
        data={"settings": {"mode": {"name": "m7"}}},
    ),
    "function_argument": _Variant(
        "many/found", 'limit("k{n}") := {n}', {"kind": "k7"}, b"7", UNDEFINED_TEXT, "found := limit(input.kind)"
    ),
    "function_body": _Variant(
        "many/found", 'limit(kind) := {n} if kind == "k{n}"', {"kind": "k7"}, b"7", UNDEFINED_TEXT,
        "found := limit(input.kind)",
    ),
}  # fmt: skip


def rules(few: int = FEW, many: int = MANY, rounds: int = ROUNDS) -> dict[str, Any]:
    """`rules_ratio` is the worst: the time of an evaluation, without JSON, among many rules over that among few."""
    ratios = {name: round(_ratio(variant, few, many, rounds), 2) for name, variant in _VARIANTS.items()}
    return {"rules_ratio": max(ratios.values()), "rules": ratios}


def _ratio(variant: _Variant, few: int, many: int, rounds: int) -> float:
    calls = {count: _calling(_checked(variant, count).evaluate, _NO_INPUT) for count in (few, many)}
    times = in_turns(calls, {few: 50, many: 50}, rounds)
    return statistics.median(slow / fast for slow, fast in zip(times[many], times[few], strict=True))


def _checked(variant: _Variant, count: int) -> LictorSide:
    """The rules with nothing that matches, once they are known to find what does: a ratio of wrong answers is none."""
    source = "\n\n".join(["package many", variant.first, *(variant.rule.format(n=n) for n in range(count))])
    matching = LictorSide({"many.rego": source}, variant.data or _NO_DATA, variant.path)
    side = LictorSide({"many.rego": source}, _NO_DATA, variant.path)
    found = (matching.answer(canonical(variant.given)), side.answer(canonical(_NO_INPUT)))
    if found != (variant.wanted, variant.otherwise):
        raise WrongAnswer(f"{variant.rule} among {count}: {found}, wanted {(variant.wanted, variant.otherwise)}")
    return side


# --- time -------------------------------------------------------------------------------------------------------------


def in_turns(
    calls: Mapping[int, Callable[[], object]], repeats: Mapping[int, int], rounds: int
) -> dict[int, list[float]]:
    """Seconds per call, one figure for each round; every call has its turn in each of them."""
    found: dict[int, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            found[name].append((time.perf_counter() - began) / repeats[name])
    return found


def _calling(function: Callable[[Any], object], argument: object) -> Callable[[], object]:
    return lambda: function(argument)
