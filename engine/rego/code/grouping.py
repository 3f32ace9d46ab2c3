"""Rules grouped into documents and functions, by the constant beginning of their heads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.rego.syntax import tree as s


@dataclass(slots=True)
class Group:
    """All rules of one document or function."""

    path: tuple[str, ...]
    rules: list[s.Rule] = field(default_factory=list)
    suffixes: list[tuple[s.Term, ...]] = field(default_factory=list)
    """Of each rule: the part of its head that is only known at run time."""

    @property
    def arity(self) -> int | None:
        args = self.rules[0].head.args
        return len(args) if args is not None else None

    @property
    def is_object(self) -> bool:
        return any(self.suffixes)

    @property
    def is_flat_object(self) -> bool:
        """Its keys are the last part of every head, and their values are not sets that several rules fill."""
        alike = all(len(suffix) == 1 for suffix in self.suffixes)
        return alike and all(rule.head.contains is None for rule in self.rules)

    @property
    def is_set(self) -> bool:
        return not self.is_object and self.rules[0].head.contains is not None


def group_rules(rules: Iterable[s.Rule]) -> list[Group]:
    """What extends a partial object belongs to that object."""
    split = [(*_split(rule.head.ref), rule) for rule in rules]
    partial = {prefix for prefix, suffix, _ in split if suffix}
    groups: dict[tuple[str, ...], Group] = {}
    for prefix, suffix, rule in split:
        owner = next((prefix[:end] for end in range(1, len(prefix)) if prefix[:end] in partial), prefix)
        extra = tuple(s.Scalar(part, rule.location) for part in prefix[len(owner) :])
        group = groups.setdefault(owner, Group(owner))
        group.rules.append(rule)
        group.suffixes.append((*extra, *suffix))
    return list(groups.values())


def _split(ref: tuple[s.Term, ...]) -> tuple[tuple[str, ...], tuple[s.Term, ...]]:
    end = next((n for n, part in enumerate(ref) if not is_name(part)), len(ref))
    return tuple(part.value for part in ref[:end] if isinstance(part, s.Scalar)), ref[end:]


def is_name(part: s.Term) -> bool:
    return isinstance(part, s.Scalar) and type(part.value) is str
