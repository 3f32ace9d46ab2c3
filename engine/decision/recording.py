"""What a decision leaves in the journal: OPA's decision-log event, masked, and the words to find it by. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from engine.bundle.content import Bundle
from engine.clock import rfc3339
from engine.contracts.actions import Action
from engine.decision.decide import Decision
from engine.evaluator.port import Defined, EvaluationError, NoInput, Question
from engine.journal.mask import Masked
from engine.journal.record import Draft, Kind
from engine.journal.words import words_of
from engine.jsontext import JsonValue, canonical

INDEXED_LENGTH = 256
FACTS_OF_CALLER = "caller"

_ACTIONS = frozenset(Action)
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asked: a key's id, the tenant that the key is bound to (or none), and the address it came from."""

    identity: str
    tenant: str
    address: str


@dataclass(frozen=True, slots=True)
class Occasion:
    """All that belongs to one answer, beside what was decided."""

    decision_id: str
    question: Question
    asker: Asker
    bundle: Bundle | None
    labels: dict[str, JsonValue]
    batch_id: str = ""


def event_of(occasion: Occasion, decision: Decision) -> dict[str, JsonValue]:
    """The event that a mask sees as its input, with OPA's field names."""
    event: dict[str, JsonValue] = {
        "decision_id": occasion.decision_id,
        "path": occasion.question.path,
        "labels": occasion.labels,
        "requested_by": occasion.asker.address,
        "timestamp": rfc3339(occasion.question.time_ns),
    }
    if occasion.bundle is not None:
        event["bundles"] = {"lictor": {"revision": occasion.bundle.revision, "digest": occasion.bundle.digest}}
    if not isinstance(occasion.question.input, NoInput):
        event["input"] = occasion.question.input
    if isinstance(decision.evaluation, Defined):
        event["result"] = decision.evaluation.value
    return event


def draft_of(occasion: Occasion, decision: Decision, masked: Masked, metrics: dict[str, JsonValue]) -> Draft:
    given = masked.event.get("input")
    subject = _indexed(_within(given, "subject", "id"))
    payload: dict[str, JsonValue] = {
        "labels": occasion.labels,
        "requested_by": occasion.asker.address,
        "identity": occasion.asker.identity,
        "subject": subject,
        "facts": FACTS_OF_CALLER,
        "seed": occasion.question.seed,
        "metrics": metrics,
    }
    for name in ("input", "result"):
        if name in masked.event:
            payload[name] = masked.event[name]
    if "input" in payload:
        payload["input_digest"] = "sha256:" + hashlib.sha256(canonical(payload["input"])).hexdigest()
    if isinstance(decision.evaluation, EvaluationError):
        payload["error"] = _error(decision.evaluation, masked)
    if occasion.batch_id:
        payload["batch_decision_id"] = occasion.batch_id
    if not masked.replayable:
        payload["erased"], payload["masked"] = list(masked.erased), list(masked.masked)
    bundle = occasion.bundle
    action, tenant = _filed_under(occasion, masked)
    return Draft(
        kind=Kind.DECISION,
        decision_id=occasion.decision_id,
        time_ns=occasion.question.time_ns,
        payload=canonical(payload),
        path=_indexed(occasion.question.path),
        action=action,
        tenant=_indexed(occasion.asker.tenant) or tenant,
        outcome=decision.outcome,
        reasons=tuple((reason.code, reason.kind.value) for reason in decision.reasons),
        revision=_indexed(bundle.revision) if bundle else "",
        bundle_digest=bundle.digest if bundle else "",
        subject=subject,
        text=words_of(given, masked.event.get("result")),
    )


def _error(error: EvaluationError, masked: Masked) -> JsonValue:
    """A message may quote the input: where anything of that was masked, only the code is kept."""
    return {"code": error.code, "message": error.message} if masked.replayable else {"code": error.code}


def _filed_under(occasion: Occasion, masked: Masked) -> tuple[str, str]:
    """Action and tenant. Where the mask failed, a decision must still be found, but only by words that hide nothing: an
    action that we know, and a tenant that is written as an id."""
    if not masked.failed:
        given = masked.event.get("input")
        return _indexed(_within(given, "action")), _indexed(_within(given, "tenant", "id"))
    asked = None if isinstance(occasion.question.input, NoInput) else occasion.question.input
    action, tenant = _indexed(_within(asked, "action")), _indexed(_within(asked, "tenant", "id"))
    return action if action in _ACTIONS else "", tenant if _ID.fullmatch(tenant) else ""


def _within(value: JsonValue, *keys: str) -> JsonValue:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _indexed(value: JsonValue) -> str:
    """Text that every database can hold and index: NUL is no character in PostgreSQL."""
    return value.replace("\x00", "")[:INDEXED_LENGTH] if isinstance(value, str) else ""
