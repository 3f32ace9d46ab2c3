"""An index over the clauses of a rule: what each of them demands of a path, and a tree of choices made of that.

A clause demands `input.action == "submit"` if it cannot hold otherwise. Only what can be looked up without evaluating
anything counts: paths into the input, into data that no rule defines, and arguments of a function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.rego.run.choices import Choice, Choices, Clause
from engine.rego.syntax import tree as s
from engine.rego.syntax.terms import MEMBER
from engine.rego.values import Frozen, freeze

FEWEST: Final = 4
"""Clauses below which trying them all is quicker than choosing."""

Path: TypeAlias = tuple["str | int", tuple[str, ...]]
"""The root and what follows: `("input", ("request", "sku"))`; `(0, ())` is the first argument."""
Demands: TypeAlias = dict[Path, frozenset[Frozen]]
IsBase: TypeAlias = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True, slots=True)
class Indexed:
    clause: Clause
    demands: Demands


def demands_of(rule: s.Rule, is_base: IsBase) -> Demands:
    """`is_base` says whether no rule defines anything at or below a path of data."""
    # An `else` may match where its rule fails.
    if rule.otherwise is not None:
        return {}
    found: Demands = {}
    for path, values in _demanded(rule, is_base):
        found[path] = found.get(path, values) & values
    return found


def choices_of(clauses: Sequence[Indexed]) -> Choices:
    """Each clause behind the path by which the most clauses are told apart; the rest are always tried."""
    choices: list[Choice] = []
    rest = list(clauses)
    while (path := _best_path(rest)) is not None:
        choices.append(Choice(*path, _branches(path, [each for each in rest if path in each.demands])))
        rest = [each for each in rest if path not in each.demands]
    return Choices(tuple(each.clause for each in rest), tuple(choices))


def _branches(path: Path, clauses: Sequence[Indexed]) -> dict[Frozen, Choices]:
    by_value: dict[Frozen, list[Indexed]] = {}
    for each in clauses:
        others = {other: values for other, values in each.demands.items() if other != path}
        for value in each.demands[path]:
            by_value.setdefault(value, []).append(Indexed(each.clause, others))
    return {value: choices_of(members) for value, members in by_value.items()}


def _best_path(clauses: Sequence[Indexed]) -> Path | None:
    """The one that saves the most trials on average; None if trying all is as quick."""
    if len(clauses) < FEWEST:
        return None
    testing: dict[Path, int] = Counter(path for each in clauses for path in each.demands)
    values: dict[Path, set[Frozen]] = {}
    for each in clauses:
        for path, wanted in each.demands.items():
            values.setdefault(path, set()).update(wanted)
    saved = {path: count - count / max(len(values[path]), 1) for path, count in testing.items()}
    best = max(saved, key=lambda path: (saved[path], str(path)), default=None)
    return best if best is not None and testing[best] >= FEWEST and saved[best] > 1 else None


def _demanded(rule: s.Rule, is_base: IsBase) -> Iterator[tuple[Path, frozenset[Frozen]]]:
    arguments = {arg.name: n for n, arg in enumerate(rule.head.args or ()) if isinstance(arg, s.Var)}
    for number, arg in enumerate(rule.head.args or ()):
        if isinstance(arg, s.Scalar):
            yield (number, ()), frozenset({freeze(arg.value)})
    meant: dict[str, Path] = {name: (number, ()) for name, number in arguments.items()}
    for expr in rule.body:
        if expr.negated or expr.withs or not isinstance(expr.of, s.Call) or len(expr.of.args) != 2:
            continue
        one, other = expr.of.args
        if expr.of.operator == ("assign",) and isinstance(one, s.Var) and (path := _path(other, meant, is_base)):
            meant[one.name] = path
        elif expr.of.operator in _EQUALITIES:
            for side, constant in ((one, other), (other, one)):
                if isinstance(constant, s.Scalar) and (path := _path(side, meant, is_base)):
                    yield path, frozenset({freeze(constant.value)})
        elif expr.of.operator == MEMBER and (path := _path(one, meant, is_base)):
            yield from ((path, members) for members in _scalars(other))


def _scalars(term: s.Term) -> Iterator[frozenset[Frozen]]:
    """The elements of a collection, if all of them are written out."""
    if isinstance(term, s.Set | s.Array):
        found = [freeze(item.value) for item in term.items if isinstance(item, s.Scalar)]
        if len(found) == len(term.items):
            yield frozenset(found)


_EQUALITIES: Final = {("eq",), ("equal",)}


def _path(term: s.Term, meant: dict[str, Path], is_base: IsBase) -> Path | None:
    if isinstance(term, s.Var):
        return meant.get(term.name)
    if not isinstance(term, s.Ref) or not isinstance(term.head, s.Var):
        return None
    keys = tuple(part.value for part in term.path if isinstance(part, s.Scalar) and type(part.value) is str)
    if len(keys) != len(term.path):
        return None
    if term.head.name == "input" or (term.head.name == "data" and is_base(keys)):
        return term.head.name, keys
    if term.head.name in meant:
        root, before = meant[term.head.name]
        return root, (*before, *keys)
    return None
