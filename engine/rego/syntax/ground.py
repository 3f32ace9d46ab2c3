"""Ground terms: what has its value before anything is evaluated."""

from __future__ import annotations

from engine.rego.syntax import tree as s
from engine.rego.values import RegoSet, Value, make_object


def is_ground(term: s.Term) -> bool:
    match term:
        case s.Scalar():
            return True
        case s.Array(items) | s.Set(items):
            return all(map(is_ground, items))
        case s.Object(pairs):
            return all(is_ground(part) for pair in pairs for part in pair)
        case _:
            return False


def ground_value(term: s.Term) -> Value:
    match term:
        case s.Scalar(value):
            return value
        case s.Array(items):
            return [ground_value(item) for item in items]
        case s.Set(items):
            return RegoSet(map(ground_value, items))
        case s.Object(pairs):
            return make_object((ground_value(key), ground_value(value)) for key, value in pairs)
        case _:
            raise TypeError(f"{term} is not ground")
