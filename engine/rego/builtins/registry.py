"""How a builtin is declared, and the one table of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.rego.values import Frozen, Value

Function = Callable[..., Value]


@dataclass(slots=True)
class Circumstances:
    """What an evaluation may not decide for itself: the same circumstances give the same answers."""

    time_ns: int = 0
    seed: str = ""
    strict: bool = False
    runtime: dict[Frozen, Value] = field(default_factory=dict)
    """What `opa.runtime` answers, where a policy may ask that."""
    cache: dict[object, Value] = field(default_factory=dict)
    """For builtins that must answer alike within one evaluation (`uuid.rfc4122`, `rand.intn`)."""


@dataclass(frozen=True, slots=True)
class Builtin:
    name: str
    call: Function
    """Takes the arguments; with `circumstances`, those first. Raises BuiltinError where it has no answer."""
    circumstances: bool = False


BUILTINS: Final[dict[str, Builtin]] = {}


def builtin(name: str, *, circumstances: bool = False) -> Callable[[Function], Function]:
    """Declares a function as the builtin `name`. Arguments are Rego values, never UNDEFINED and never changed."""

    def declare(function: Function) -> Function:
        if name in BUILTINS:
            raise ValueError(f"builtin {name} is declared twice")
        BUILTINS[name] = Builtin(name, function, circumstances)
        return function

    return declare
