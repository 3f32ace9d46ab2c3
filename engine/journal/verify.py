"""Proof of the journal: pure, over records in chain order, wherever they were read from.

What is proved: no record was changed, none is missing inside a chain, every citation holds (so a vanished chain or a
cut tail that anyone cited shows), every payload is the one that was hashed, and what is missing was erased on record.
What it cannot prove alone: that the newest tail of a chain was not cut. A signed checkpoint kept elsewhere does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from engine.errors import LictorError
from engine.journal.record import GENESIS, Citation, Kind, StoredRecord, Unreadable, hash_of, payload_digest
from engine.jsontext import parse

MAX_FAULTS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    chain: str
    seq: int
    message: str


@dataclass(slots=True)
class Report:
    records: int = 0
    chains: int = 0
    erased: int = 0
    heads: list[Citation] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    """The first hundred; `ok` is False as soon as there is one."""

    @property
    def ok(self) -> bool:
        return not self.faults


def verify(
    records: Iterable[StoredRecord | Unreadable],
    citing: Callable[[], Iterable[StoredRecord]],
    expected: Sequence[Citation] = (),
) -> Report:
    """`records` by chain, then by seq; `citing` reads those of them that cite others (starts and erasures): once
    before, so that memory does not grow with the journal, and again if a payload went away while the rest was read.
    `expected` are heads from checkpoints: each must still be there."""
    verifier = _Verifier(citing(), expected)
    for record in records:
        if isinstance(record, Unreadable):
            verifier.pass_over(record)
        else:
            verifier.take(record)
    return verifier.finish(citing)


class _Verifier:
    def __init__(self, citing: Iterable[StoredRecord], expected: Sequence[Citation]) -> None:
        self._report = Report()
        self._last: StoredRecord | None = None
        self._erasures: set[tuple[str, int]] = set()
        self._wanted: dict[tuple[str, int], list[tuple[Citation, str]]] = {}
        for head in expected:
            self._want(head, "a checkpoint")
        self._bare: list[Citation] = []
        for record in citing:
            for cited in record.cites:
                self._want(cited, f"{record.chain} seq {record.seq}")
                if record.kind is Kind.ERASURE:
                    self._erasures.add((cited.chain, cited.seq))

    def take(self, record: StoredRecord) -> None:
        self._report.records += 1
        self._check_place(record)
        self._check_content(record)
        for cited, by in self._wanted.pop((record.chain, record.seq), ()):
            if cited.hash != record.hash:
                self._fault("citation_broken", record.citation, f"cited by {by} with another hash")
        self._last = record

    def pass_over(self, row: Unreadable) -> None:
        self._report.records += 1
        self._wanted.pop((row.chain, row.seq), None)
        self._fault("unreadable", Citation(row.chain, row.seq, ""), row.why)

    def finish(self, citing: Callable[[], Iterable[StoredRecord]]) -> Report:
        self._end_chain()
        if self._bare:
            self._check_bare(citing())
        for wanted in self._wanted.values():
            for cited, by in wanted:
                message = f"cited by {by}, but missing: the chain vanished or its tail was cut"
                self._fault("citation_broken", cited, message)
        return self._report

    def _want(self, cited: Citation, by: str) -> None:
        self._wanted.setdefault((cited.chain, cited.seq), []).append((cited, by))

    def _check_place(self, record: StoredRecord) -> None:
        last = self._last
        if last is None or last.chain != record.chain:
            self._end_chain()
            self._report.chains += 1
            if record.seq != 1 or record.prev != GENESIS or record.kind is not Kind.START:
                self._fault("chain_start", record.citation, "the chain does not begin with its start record")
        elif record.seq != last.seq + 1:
            self._fault("gap", record.citation, f"follows seq {last.seq}: records between them are missing")
        elif record.prev != last.hash:
            self._fault("broken_link", record.citation, "prev is not the hash of the record before it")

    def _check_content(self, record: StoredRecord) -> None:
        if hash_of(record) != record.hash:
            self._fault("changed", record.citation, "the header does not give its hash: it was changed")
        if record.payload is None or record.salt is None:
            self._report.erased += 1
            if (record.chain, record.seq) not in self._erasures:
                self._bare.append(record.citation)
        elif payload_digest(record.salt, record.payload) != record.payload_digest:
            self._fault("payload_changed", record.citation, "the payload does not give its digest: it was changed")
        elif record.kind is Kind.DECISION and record.subject != _subject(record.payload):
            self._fault("index_changed", record.citation, "the indexed subject is not the payload's")

    def _check_bare(self, citing: Iterable[StoredRecord]) -> None:
        """A payload may have been erased since the erasures were first read."""
        erasures = {(c.chain, c.seq) for record in citing if record.kind is Kind.ERASURE for c in record.cites}
        for bare in self._bare:
            if (bare.chain, bare.seq) not in erasures:
                self._fault("payload_missing", bare, "the payload is gone and no erasure record says why")

    def _end_chain(self) -> None:
        if self._last is not None:
            self._report.heads.append(self._last.citation)

    def _fault(self, code: str, at: Citation, message: str) -> None:
        if len(self._report.faults) < MAX_FAULTS:
            self._report.faults.append(Fault(code, at.chain, at.seq, message))


def _subject(payload: bytes) -> str:
    try:
        value = parse(payload, what="payload", max_depth=1000)
    except LictorError:
        return ""
    subject = value.get("subject", "") if isinstance(value, dict) else ""
    return subject if isinstance(subject, str) else ""
