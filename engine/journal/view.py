"""A record as the world sees it, with OPA's decision-log names, and back again: an export can be verified anywhere."""

from __future__ import annotations

import base64
import binascii

from engine.clock import parse_rfc3339, rfc3339
from engine.errors import InvalidParameter, StoreDamaged
from engine.journal.record import Citation, Durability, Kind, StoredRecord, Unreadable
from engine.jsontext import JsonValue, canonical, parse

_HEADER = frozenset(
    {
        "kind", "decision_id", "timestamp", "path", "action", "tenant", "outcome", "reasons", "bundles", "cites",
        "chain", "seq", "prev", "hash", "durability", "payload_digest", "salt", "replayable",
    }
)  # fmt: skip
"""Fields of the header, and the two that are neither: all others are the payload's."""

_ANY_DEPTH = 1_000
"""What the journal took must be shown, whatever the limit was."""

_NOT_A_RECORD = "not a record that `lictor decisions export` wrote"


def view_of(record: StoredRecord) -> dict[str, JsonValue]:
    view: dict[str, JsonValue] = {
        "kind": record.kind.value,
        "decision_id": record.decision_id,
        "timestamp": rfc3339(record.time_ns),
        "path": record.path,
        "action": record.action,
        "tenant": record.tenant,
        "outcome": record.outcome,
        "reasons": [{"code": code, "kind": kind} for code, kind in record.reasons],
        "bundles": {"lictor": {"revision": record.revision, "digest": record.bundle_digest}},
        "cites": [{"chain": cited.chain, "seq": cited.seq, "hash": cited.hash} for cited in record.cites],
        "chain": record.chain,
        "seq": record.seq,
        "prev": record.prev,
        "hash": record.hash,
        "durability": record.durability.value,
        "payload_digest": record.payload_digest,
        "salt": base64.b64encode(record.salt).decode() if record.salt is not None else None,
    }
    payload = parse(record.payload, what="payload", max_depth=_ANY_DEPTH) if record.payload is not None else {}
    if isinstance(payload, dict):
        view = {**payload, **view, "replayable": _is_replayable(record.kind, payload)}
    return view


def _is_replayable(kind: Kind, payload: dict[str, JsonValue]) -> bool:
    """All that was asked is there: neither erased nor masked."""
    return kind is Kind.DECISION and bool(payload) and not (payload.get("erased") or payload.get("masked"))


def line_of(record: StoredRecord | Unreadable) -> bytes:
    """A line of an export. A row that cannot be read ends it: a proof with a hole in it would be no proof."""
    if isinstance(record, Unreadable):
        raise StoreDamaged(f"{record.chain} seq {record.seq}: {record.why}; `lictor decisions verify` lists all faults")
    return canonical(view_of(record)) + b"\n"


def record_of(view: JsonValue, what: str = "record") -> StoredRecord:
    """The record that `view_of` showed; `InvalidParameter` if it is none. `what` names it in errors."""
    if not isinstance(view, dict):
        raise InvalidParameter(f"{what}: {_NOT_A_RECORD}")
    try:
        return _record(view)
    except KeyError as error:
        raise InvalidParameter(f"{what}: {_NOT_A_RECORD}: it has no {error}") from error
    except (TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise InvalidParameter(f"{what}: {_NOT_A_RECORD}: {error}") from error


def _record(view: dict[str, JsonValue]) -> StoredRecord:
    payload = {name: value for name, value in view.items() if name not in _HEADER}
    salt = view["salt"]
    if salt is None and payload:
        raise ValueError(f"erased, yet it has {', '.join(sorted(payload))}")
    if view["replayable"] is not _is_replayable(Kind(_text(view["kind"])), payload):
        raise ValueError("replayable is not what the rest of the record says")
    bundle = _object(_object(view["bundles"])["lictor"])
    return StoredRecord(
        kind=Kind(_text(view["kind"])),
        decision_id=_text(view["decision_id"]),
        time_ns=parse_rfc3339(_text(view["timestamp"])),
        path=_text(view["path"]),
        action=_text(view["action"]),
        tenant=_text(view["tenant"]),
        outcome=_text(view["outcome"]),
        reasons=tuple((_text(r["code"]), _text(r["kind"])) for r in map(_object, _list(view["reasons"]))),
        revision=_text(bundle["revision"]),
        bundle_digest=_text(bundle["digest"]),
        cites=tuple(citation_of(cited) for cited in _list(view["cites"])),
        chain=_text(view["chain"]),
        seq=_integer(view["seq"]),
        prev=_text(view["prev"]),
        durability=Durability(_text(view["durability"])),
        payload_digest=_text(view["payload_digest"]),
        hash=_text(view["hash"]),
        payload=canonical(payload) if salt is not None else None,
        salt=base64.b64decode(_text(salt), validate=True) if salt is not None else None,
        subject=_text(view.get("subject", "")),
    )


def citation_of(value: JsonValue) -> Citation:
    cited = _object(value)
    return Citation(_text(cited["chain"]), _integer(cited["seq"]), _text(cited["hash"]))


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _integer(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not an integer")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


def _object(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not an object")
    return value
