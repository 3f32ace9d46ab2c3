"""The desk: decide, mask, journal, and only then answer."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from engine.clock import Clock
from engine.decision.active import ActiveBundle, LoadedBundle
from engine.decision.decide import Decision, decide, without_evidence
from engine.decision.recording import Asker, Occasion, draft_of, event_of
from engine.errors import Overloaded
from engine.evaluator.port import Defined, EvaluationError, NoInput, Question, Undefined
from engine.ids import new_decision_id
from engine.journal.mask import MASK_PATH, Masked, apply_mask, mask_everything, parse_mask
from engine.journal.record import Draft
from engine.journal.writer import Journal
from engine.jsontext import JsonValue

log = logging.getLogger("lictor.decision")

MAX_WAITING = 256
"""Questions that wait for an evaluator."""

_PASSING = frozenset({"evaluator_busy", "evaluator_died", "evaluator_timeout"})
"""Faults that may be gone a moment later: worth a second try before a record loses its content."""


@dataclass(frozen=True, slots=True)
class Answer:
    decision_id: str
    path: str
    decision: Decision
    action: str
    revision: str
    evaluation_ns: int
    durable_ns: int
    """From the question to the record on disk."""


class Desk:
    def __init__(
        self,
        active: ActiveBundle,
        journal: Journal[asyncio.Future[None]],
        clock: Clock,
        labels: dict[str, JsonValue],
        on_answer: Callable[[Answer], None],
        executor: Executor,
    ) -> None:
        """`executor` is where policies that block are evaluated; as many threads as there are evaluators, so that
        questions wait here in the order of asking."""
        self._active = active
        self._journal = journal
        self._clock = clock
        self._labels = labels
        self._on_answer = on_answer
        self._executor = executor
        self._waiting = 0

    async def answer(self, path: str, given: JsonValue | NoInput, asker: Asker, batch_id: str = "") -> Answer:
        """Raises `StoreError` if the record could not be made durable: then there is no decision at all."""
        began = time.perf_counter_ns()
        loaded = self._active.current
        question = Question(path, given, self._clock.now_ns(), os.urandom(16).hex())
        occasion = Occasion(
            decision_id=new_decision_id(),
            question=question,
            asker=asker,
            bundle=loaded.bundle if loaded else None,
            labels=self._labels,
            batch_id=batch_id,
        )
        if loaded is not None and loaded.policy.blocking:
            decision, draft, evaluated = await self._in_turn(loaded, occasion)
        else:
            decision, draft, evaluated = _work(loaded, occasion)
        await self._journal.submit(draft)
        answer = Answer(
            decision_id=occasion.decision_id,
            path=path,
            decision=decision,
            action=draft.action,
            revision=draft.revision,
            evaluation_ns=evaluated,
            durable_ns=time.perf_counter_ns() - began,
        )
        self._on_answer(answer)
        if decision.is_fault:
            log.warning("fault", extra={"decision_id": answer.decision_id, "tenant": draft.tenant, "path": path})
        return answer

    async def _in_turn(self, loaded: LoadedBundle, occasion: Occasion) -> tuple[Decision, Draft, int]:
        """Evaluated by a thread, after those who asked before; refused if they are too many."""
        if self._waiting >= MAX_WAITING:
            raise Overloaded("too many questions wait for an evaluator; try again in a second")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _work, loaded, occasion)
        finally:
            self._waiting -= 1


def _work(loaded: LoadedBundle | None, occasion: Occasion) -> tuple[Decision, Draft, int]:
    began = time.perf_counter_ns()
    decision = decide(loaded.policy if loaded else None, occasion.question)
    evaluated = time.perf_counter_ns() - began
    masked = _mask(loaded, occasion, event_of(occasion, decision))
    if masked.failed:
        decision = without_evidence(occasion.question.path, decision)
    return decision, draft_of(occasion, decision, masked, {"timer_rego_query_eval_ns": evaluated}), evaluated


def _mask(loaded: LoadedBundle | None, occasion: Occasion, event: dict[str, JsonValue]) -> Masked:
    if loaded is None or not loaded.masks:
        return Masked(event)
    question = Question(MASK_PATH, event, occasion.question.time_ns, occasion.question.seed)
    try:
        evaluation = loaded.policy.evaluate(question)
        if isinstance(evaluation, EvaluationError) and evaluation.code in _PASSING:
            evaluation = loaded.policy.evaluate(question)
        match evaluation:
            case Defined(value):
                return apply_mask(event, parse_mask(value))
            case Undefined():
                return Masked(event)
            case error:
                trouble = error.code
    except ValueError:
        trouble = "mask_invalid"  # its words could quote what must not be remembered
    log.error(
        "mask failed, so nothing of the decision is remembered",
        extra={
            "decision_id": occasion.decision_id,
            "error": trouble,
        },
    )
    return mask_everything(event)
