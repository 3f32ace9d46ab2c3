"""A walk over everything in a rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from engine.rego import syntax as s


def parts_of(rule: s.Rule) -> Iterator[s.Ref | s.Call]:
    """Every ref and call of a rule, wherever it stands; `else` branches are rules of their own."""
    yield from _within((rule.head, rule.body))


def _within(thing: object) -> Iterator[s.Ref | s.Call]:
    if isinstance(thing, tuple):
        for item in thing:
            yield from _within(item)
    elif is_dataclass(thing) and not isinstance(thing, type):
        if isinstance(thing, s.Ref | s.Call):
            yield thing
        for each in fields(thing):
            yield from _within(getattr(thing, each.name))
