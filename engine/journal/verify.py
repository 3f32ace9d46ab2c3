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
from engine.journal.words import tenant_token, words_of
from engine.jsontext import JsonValue, parse

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
        """Nothing at all is no proof: every journal has the start record of its first chain."""
        return self.records > 0 and not self.faults


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
        self._seen: set[str] = set()
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
            if record.chain in self._seen:
                self._fault("chain_twice", record.citation, "the chain is there twice: one of them is forged")
            self._seen.add(record.chain)
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
            self._check_erased(record)
        elif payload_digest(record.salt, record.payload) != record.payload_digest:
            self._fault("payload_changed", record.citation, "the payload does not give its digest: it was changed")
        else:
            self._check_index(record, _object(record.payload))

    def _check_erased(self, record: StoredRecord) -> None:
        self._report.erased += 1
        if (record.chain, record.seq) not in self._erasures:
            self._bare.append(record.citation)
        if record.payload is not None or record.salt is not None:
            self._fault("payload_changed", record.citation, "half of the payload is gone: it was changed")
        self._check_index(record, {})

    def _check_index(self, record: StoredRecord, payload: dict[str, JsonValue]) -> None:
        """Queries are answered from indexes: they must say what the record says."""
        is_decision = record.kind is Kind.DECISION
        if record.subject != (payload.get("subject", "") if is_decision else ""):
            self._fault("index_changed", record.citation, "the indexed subject is not the payload's")
        if record.indexed is None:
            return
        if record.indexed.reasons != {(code, record.time_ns) for code, _ in record.reasons}:
            self._fault("index_changed", record.citation, "the indexed reasons are not the record's")
        words = words_of(payload.get("input"), payload.get("result")) if is_decision else ""
        if record.indexed.text != (f"{tenant_token(record.tenant)} {words}" if words else ""):
            self._fault("index_changed", record.citation, "the indexed words are not the payload's")

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


def _object(payload: bytes) -> dict[str, JsonValue]:
    try:
        value = parse(payload, what="payload", max_depth=1000)
    except LictorError:
        return {}
    return value if isinstance(value, dict) else {}
