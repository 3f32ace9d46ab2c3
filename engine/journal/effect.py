"""What became of an allowed action: appended once it is known, because a decision alone does not say who won a race."""

from __future__ import annotations

from enum import StrEnum

from engine.journal.record import Draft, Kind, StoredRecord
from engine.jsontext import JsonValue, canonical


class Effect(StrEnum):
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    """Another change came first; nothing of this one happened."""


def effect_of(decision: StoredRecord, effect: Effect, now_ns: int, why: str = "") -> Draft:
    """The record that follows `decision` under its id, for its tenant; submit it as any other draft."""
    payload: dict[str, JsonValue] = {"effect": effect.value, "why": why}
    return Draft(
        kind=Kind.EFFECT,
        decision_id=decision.decision_id,
        time_ns=now_ns,
        payload=canonical(payload),
        path=decision.path,
        action=decision.action,
        tenant=decision.tenant,
        outcome=effect.value,
    )
