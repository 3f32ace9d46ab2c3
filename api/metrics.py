"""What Prometheus reads. Labels are bounded: whatever comes from outside is counted under a name that we know."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from engine.contracts.actions import Action
from engine.contracts.entrypoints import ENTRYPOINTS
from engine.contracts.reason import ReasonKind
from engine.decision.decide import FAULT_REASONS
from engine.decision.desk import Answer
from engine.evaluator.port import FAULT_CODES, EvaluationError

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_ACTIONS = frozenset(action.value for action in Action)
_FAULTS = frozenset(FAULT_CODES) | frozenset(FAULT_REASONS)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._decisions = Counter(
            "lictor_decisions",
            "Decisions answered, by entrypoint, action and outcome.",
            ["entrypoint", "action", "outcome"],
            registry=self.registry,
        )
        self._durable = Histogram(
            "lictor_decision_seconds",
            "From the question to its record on disk.",
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._evaluation = Histogram(
            "lictor_evaluation_seconds", "Evaluation of the bundle alone.", registry=self.registry, buckets=_BUCKETS
        )
        self._faults = Counter(
            "lictor_evaluator_faults",
            "Decisions that a fault denied, by code.",
            ["code"],
            registry=self.registry,
        )

    def answered(self, answer: Answer) -> None:
        decision = answer.decision
        entrypoint = answer.path if answer.path in ENTRYPOINTS else "data"
        action = answer.action if answer.action in _ACTIONS else ("other" if answer.action else "none")
        self._decisions.labels(entrypoint, action, decision.outcome).inc()
        self._durable.observe(answer.durable_ns / 1e9)
        self._evaluation.observe(answer.evaluation_ns / 1e9)
        if decision.is_fault:
            self._faults.labels(_fault_code(answer)).inc()

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        Gauge(name, help_text, registry=self.registry).set_function(read)


def _fault_code(answer: Answer) -> str:
    evaluation = answer.decision.evaluation
    if isinstance(evaluation, EvaluationError):
        code = evaluation.code
    else:
        code = next(reason.code for reason in answer.decision.reasons if reason.kind is ReasonKind.FAULT)
    return code if code in _FAULTS or code.startswith(("eval_", "rego_")) else "other"
