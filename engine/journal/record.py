"""A journal record: a header that stays for ever, and a payload that may be erased by law.

The header is chained: `hash` is the SHA-256 of its canonical JSON, which holds `prev` (the hash before it) and
`payload_digest` (HMAC-SHA-256 of the payload's canonical bytes under the record's own salt). Erasing takes payload and
salt together; what is left proves that something was decided, and cannot be used to guess what it was about.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum

from engine.jsontext import canonical

GENESIS = "0" * 64
"""`prev` of a chain's first record."""

_VERSION = 1


class Kind(StrEnum):
    START = "start"
    """The first of its chain; cites the heads of the chains that it knows."""
    DECISION = "decision"
    EFFECT = "effect"
    """What became of an allowed action: it cites nothing and carries the decision's id."""
    ERASURE = "erasure"
    """Cites the record whose payload it took away."""


class Durability(StrEnum):
    DURABLE = "durable"
    """Answered after the record was synced to disk."""
    RELAXED = "relaxed"
    """Answered before: an operator's choice that a power cut may cost answered decisions."""


@dataclass(frozen=True, slots=True)
class Citation:
    chain: str
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be remembered, before it has a place in a chain."""

    kind: Kind
    decision_id: str
    time_ns: int
    payload: bytes
    """Canonical JSON of the erasable part."""
    path: str = ""
    action: str = ""
    tenant: str = ""
    outcome: str = ""
    reasons: tuple[tuple[str, str], ...] = ()
    """Code and kind of each reason; their messages are in the payload."""
    revision: str = ""
    bundle_digest: str = ""
    subject: str = ""
    """Erasable: also in the payload."""
    text: str = ""
    """Erasable: the words under which the record can be found."""
    cites: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A draft in its place."""

    draft: Draft
    chain: str
    seq: int
    prev: str
    durability: Durability
    salt: bytes
    payload_digest: str
    hash: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """The rows of the word and reason indexes that name a record."""

    reasons: frozenset[tuple[str, int]]
    """Code and time."""
    text: str


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as read back; payload and salt are None once erased."""

    kind: Kind
    decision_id: str
    time_ns: int
    path: str
    action: str
    tenant: str
    outcome: str
    reasons: tuple[tuple[str, str], ...]
    revision: str
    bundle_digest: str
    cites: tuple[Citation, ...]
    chain: str
    seq: int
    prev: str
    durability: Durability
    payload_digest: str
    hash: str
    payload: bytes | None
    salt: bytes | None
    subject: str
    indexed: Indexed | None = None
    """What the indexes say of it; None where they were not read, or are not there."""

    @property
    def citation(self) -> Citation:
        return Citation(self.chain, self.seq, self.hash)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row in a record's place that is none."""

    chain: str
    seq: int
    why: str


def seal(draft: Draft, previous: Citation, durability: Durability, salt: bytes) -> Record:
    """`draft` as the record after `previous` (whose seq is 0 at the start of a chain)."""
    digest = payload_digest(salt, draft.payload)
    record = Record(
        draft=draft,
        chain=previous.chain,
        seq=previous.seq + 1,
        prev=previous.hash,
        durability=durability,
        salt=salt,
        payload_digest=digest,
        hash="",
    )
    return Record(record.draft, record.chain, record.seq, record.prev, durability, salt, digest, hash_of(record))


def payload_digest(salt: bytes, payload: bytes) -> str:
    return hmac.digest(salt, payload, "sha256").hex()


def hash_of(record: Record | StoredRecord) -> str:
    source = record.draft if isinstance(record, Record) else record
    header = {
        "v": _VERSION,
        "kind": source.kind,
        "chain": record.chain,
        "seq": record.seq,
        "prev": record.prev,
        "decision_id": source.decision_id,
        "time_ns": source.time_ns,
        "path": source.path,
        "action": source.action,
        "tenant": source.tenant,
        "outcome": source.outcome,
        "reasons": source.reasons,
        "revision": source.revision,
        "bundle_digest": source.bundle_digest,
        "cites": [[cited.chain, cited.seq, cited.hash] for cited in source.cites],
        "durability": record.durability,
        "payload_digest": record.payload_digest,
    }
    return hashlib.sha256(canonical(header)).hexdigest()
