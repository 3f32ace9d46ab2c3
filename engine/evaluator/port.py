"""The port: load a bundle, evaluate a path, get a value, undefined or a coded error. A policy never raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from engine.bundle.content import Bundle
from engine.jsontext import JsonValue


@dataclass(frozen=True, slots=True)
class NoInput:
    """The caller sent no input, which is not the same as `null`."""


NO_INPUT: Final = NoInput()


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that an answer may depend on, beside the bundle."""

    path: str
    """A document below `data`, as in a URL: `lictor/admission`; empty for all of `data`."""
    input: JsonValue | NoInput
    time_ns: int
    seed: str


def _nobody_knows(_: JsonValue) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Defined:
    value: JsonValue
    rules_of: Callable[[JsonValue], tuple[str, ...]] = field(default=_nobody_knows, compare=False, repr=False)
    """The rules (`file:line`, sorted) that made a value somewhere inside of the answer, if the evaluator knows."""


@dataclass(frozen=True, slots=True)
class Undefined:
    pass


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """`code` is OPA's (`eval_conflict_error`) or, for faults of the evaluator itself, one of FAULT_CODES."""

    code: str
    message: str


Evaluation = Defined | Undefined | EvaluationError

FAULT_CODES: Final = {
    "evaluator_timeout": "the evaluation took longer than its deadline and was stopped",
    "evaluator_budget": "the evaluation took more steps, or went deeper, than its budget allows",
    "evaluator_failed": "the evaluator itself failed, which is a defect: the log has the details",
    "evaluator_died": "the evaluator's process ended during the evaluation and was replaced",
    "evaluator_busy": "no evaluator became free in time",
    "evaluator_input": "the input has a value that this evaluator cannot read exactly",
    "evaluator_output": "the evaluator answered something that is not a value",
}


class Policy(Protocol):
    """A loaded bundle. Safe to use from several threads."""

    @property
    def blocking(self) -> bool:
        """Whether `evaluate` may wait for another process, so that an event loop must call it in a thread."""
        ...

    def evaluate(self, question: Question) -> Evaluation: ...

    def close(self) -> None: ...


class Evaluator(Protocol):
    def load(self, bundle: Bundle) -> Policy:
        """The bundle, ready to evaluate; `BundleInvalid` with every problem found if it cannot be loaded."""
        ...
