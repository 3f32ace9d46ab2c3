"""Small builders for what tests need often: records, chains, a fixed clock, an evaluator that answers from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.bundle.content import Bundle
from engine.bundle.source import bundle_of
from engine.errors import BundleInvalid, Problem
from engine.evaluator.port import Evaluation, Question, Undefined
from engine.journal.record import GENESIS, Citation, Draft, Durability, Kind, Record, StoredRecord, seal
from engine.jsontext import JsonValue

NOON_NS = 1_767_268_800_000_000_000
"""2026-01-01T12:00:00Z."""

DECISION_ID = "0198c5a2-0000-7000-8000-000000000001"


@dataclass(slots=True)
class FixedClock:
    time_ns: int = NOON_NS

    def now_ns(self) -> int:
        return self.time_ns


def draft(**changes: object) -> Draft:
    """A refused submission, with whatever a test wants otherwise."""
    made = Draft(
        kind=Kind.DECISION,
        decision_id=DECISION_ID,
        time_ns=NOON_NS,
        payload=b'{"input":{"tenant":{"id":"acme"}},"subject":"wl_1"}',
        path="lictor/admission",
        action="submit_workload",
        tenant="acme",
        outcome="deny",
        reasons=(("envelope_exceeded", "authority"),),
        revision="r1",
        bundle_digest="sha256:" + "b" * 64,
        subject="wl_1",
        text="train llama envelope",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def stored(record: Record) -> StoredRecord:
    """A sealed record as the store gives it back."""
    made = record.draft
    return StoredRecord(
        kind=made.kind,
        decision_id=made.decision_id,
        time_ns=made.time_ns,
        path=made.path,
        action=made.action,
        tenant=made.tenant,
        outcome=made.outcome,
        reasons=made.reasons,
        revision=made.revision,
        bundle_digest=made.bundle_digest,
        cites=made.cites,
        chain=record.chain,
        seq=record.seq,
        prev=record.prev,
        durability=record.durability,
        payload_digest=record.payload_digest,
        hash=record.hash,
        payload=made.payload,
        salt=record.salt,
        subject=made.subject,
    )


def erased(record: StoredRecord) -> StoredRecord:
    return replace(record, payload=None, salt=None, subject="")


def start(cites: tuple[Citation, ...] = ()) -> Draft:
    return Draft(kind=Kind.START, decision_id=DECISION_ID, time_ns=NOON_NS, payload=b'{"pid":1}', cites=cites)


def chain(*drafts: Draft, name: str = "chain_1", cites: tuple[Citation, ...] = ()) -> list[StoredRecord]:
    """A start record, then `drafts`; salts are fixed, so that hashes are."""
    return [stored(record) for record in sealed(start(cites), *drafts, name=name)]


def sealed(*drafts: Draft, name: str = "chain_1", durability: Durability = Durability.DURABLE) -> list[Record]:
    """`drafts` from seq 1 on, as they are."""
    head = Citation(name, 0, GENESIS)
    records = []
    for made in drafts:
        record = seal(made, head, durability, bytes([head.seq % 256]) * 16)
        head = Citation(name, record.seq, record.hash)
        records.append(record)
    return records


Answers = Mapping[str, Evaluation] | Callable[[Question], Evaluation]


@dataclass(slots=True)
class FakePolicy:
    """Answers from a table of paths (others are undefined) or from a function, and notes what it was asked."""

    answers: Answers = field(default_factory=dict)
    blocking: bool = False
    asked: list[Question] = field(default_factory=list)
    closed: bool = False

    def evaluate(self, question: Question) -> Evaluation:
        self.asked.append(question)
        if callable(self.answers):
            return self.answers(question)
        return self.answers.get(question.path, Undefined())

    def close(self) -> None:
        self.closed = True


@dataclass(slots=True)
class FakeEvaluator:
    """Loads any bundle, unless a module holds the word `broken`."""

    answers: Answers = field(default_factory=dict)
    loaded: list[FakePolicy] = field(default_factory=list)

    def load(self, bundle: Bundle) -> FakePolicy:
        problems = [
            Problem("rego_parse_error", "broken", module.path, 1, 1)
            for module in bundle.modules
            if "broken" in module.source
        ]
        if problems:
            raise BundleInvalid("the bundle cannot be loaded", problems)
        policy = FakePolicy(self.answers)
        self.loaded.append(policy)
        return policy


Changes = Mapping[str, str | bytes | None]


def bundle_files(changes: Changes | None = None) -> dict[str, bytes]:
    """The files of a small, good bundle; a change of None takes a file away."""
    files: dict[str, str | bytes | None] = {
        ".manifest": '{"revision": "r1", "roots": ["lictor"]}',
        "lictor/admission/admission.rego": 'package lictor.admission\n\noutcome := "allow"\n',
        "lictor/tiers/data.json": '{"gold": {"rank": 1}}',
        **(changes or {}),
    }
    return {
        path: content.encode() if isinstance(content, str) else content
        for path, content in files.items()
        if content is not None
    }


def write_bundle(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def bundle(changes: Changes | None = None) -> Bundle:
    return bundle_of(bundle_files(changes))


def nested(depth: int, innermost: JsonValue = 1) -> JsonValue:
    """`depth` arrays, one inside the other."""
    value = innermost
    for _ in range(depth):
        value = [value]
    return value


def problems_of(error: BundleInvalid) -> Sequence[str]:
    return [str(problem) for problem in error.problems]
