"""The journal's repository: appends groups, answers filtered pages from indexes, reads whole chains for proof."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, insert, select, text, tuple_, update

from engine.errors import BadRequest, InvalidParameter, StoreDamaged
from engine.journal.query import MAX_PAGE, Cursor, Filters, Page
from engine.journal.record import Citation, Durability, Indexed, Kind, Record, StoredRecord, Unreadable
from engine.journal.words import plain_words, tenant_token
from engine.jsontext import JsonValue, canonical, parse
from engine.store.connection import Database
from engine.store.models import SEQ_BITS, ChainRow, JournalRow, ReasonRow

_STREAM_BATCH = 1_000
_SEQ_MASK = (1 << SEQ_BITS) - 1

_INSERT_RECORD = insert(JournalRow.__table__)  # type: ignore[arg-type]
_INSERT_REASON = insert(ReasonRow.__table__)  # type: ignore[arg-type]
_INSERT_TEXT = text("INSERT INTO journal_text (rowid, text) VALUES (:id, :text)")
_DELETE_TEXT = text("DELETE FROM journal_text WHERE rowid = :id")
_MOVE_HEAD = (
    update(ChainRow).where(ChainRow.number == bindparam("of")).values(seq=bindparam("to"), hash=bindparam("head"))
)
_REASONS_BETWEEN = text("SELECT id, code, time_ns FROM journal_reason WHERE id > :after AND id <= :last")
_TEXTS_BETWEEN = text("SELECT rowid AS id, text FROM journal_text WHERE rowid > :after AND rowid <= :last")
_STRAY = (
    text("SELECT count(*) FROM journal_reason r WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.id = r.id)"),
    text("SELECT count(*) FROM journal_text t WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.id = t.rowid)"),
)
_NOT_INDEXED = Indexed(frozenset(), "")
_COLUMNS = tuple(JournalRow.__table__.columns)


class JournalRepository:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._lock = threading.Lock()

    def append(self, records: Sequence[Record]) -> None:
        """All of them in one transaction; an erasure takes its payloads away in the same one."""
        with self._database.write() as connection:
            for chain, group in itertools.groupby(records, key=attrgetter("chain")):
                self._append_to_chain(connection, chain, list(group))

    def loose_heads(self) -> list[Citation]:
        return self._heads(ChainRow.seq > ChainRow.cited_seq)

    def heads(self) -> list[Citation]:
        return self._heads(ChainRow.seq > 0)

    def page(self, filters: Filters, cursor: Cursor | None = None, limit: int = 50) -> Page:
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidParameter(f"limit: give 1 to {MAX_PAGE}, not {limit}")
        query = self.page_query(filters, cursor, limit)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
            records = [self._stored(connection, row) for row in rows[:limit]]
        last = rows[limit - 1] if len(rows) > limit else None
        return Page(records, Cursor(last.time_ns, last.id) if last is not None else None)

    def page_query(self, filters: Filters, cursor: Cursor | None, limit: int) -> Select[Any]:
        """One row more than the page, to know whether there is another page."""
        query = select(*_COLUMNS).where(JournalRow.kind == Kind.DECISION)
        at, row = JournalRow.time_ns, JournalRow.id
        if filters.reason is not None:
            query = query.join(ReasonRow, ReasonRow.id == JournalRow.id).where(ReasonRow.code == filters.reason)
            at, row = ReasonRow.time_ns, ReasonRow.id
        for column, wanted in _equalities(filters):
            query = query.where(column == wanted)
        if filters.text is not None:
            query = query.where(self._matches(filters.text, filters.tenant))
        if filters.since_ns is not None:
            query = query.where(at >= filters.since_ns)
        if filters.until_ns is not None:
            query = query.where(at < filters.until_ns)
        if filters.text is not None and self._database.is_sqlite:
            # The word index walks by rowid, which with one writer is the order of time: no sort, whatever it finds.
            if cursor is not None:
                query = query.where(JournalRow.id < cursor.id)
            return query.order_by(JournalRow.id.desc()).limit(limit + 1)
        if cursor is not None:
            query = query.where(tuple_(at, row) < (cursor.time_ns, cursor.id))
        return query.order_by(at.desc(), row.desc()).limit(limit + 1)

    def of_decision(self, decision_id: str) -> list[StoredRecord]:
        """The decision first, then its effects and its erasure as they came; they may be in another replica's chain."""
        query = (
            select(*_COLUMNS)
            .where(JournalRow.decision_id == decision_id)
            .order_by(JournalRow.kind != Kind.DECISION, JournalRow.time_ns, JournalRow.id)
        )
        with self._database.read() as connection:
            return [self._stored(connection, row) for row in connection.execute(query)]

    def in_chain_order(self) -> Iterator[StoredRecord | Unreadable]:
        """Every record, chain by chain; in short transactions, so that a long read blocks nobody."""
        return self._walk(select(*_COLUMNS))

    def citing(self) -> Iterator[StoredRecord]:
        kinds = JournalRow.kind.in_([Kind.START, Kind.ERASURE])
        return (record for record in self._walk(select(*_COLUMNS).where(kinds)) if isinstance(record, StoredRecord))

    def _walk(self, query: Select[Any]) -> Iterator[StoredRecord | Unreadable]:
        after = -(2**63)
        while True:
            page = query.where(JournalRow.id > after).order_by(JournalRow.id).limit(_STREAM_BATCH)
            with self._database.read() as connection:
                rows = connection.execute(page).all()
                indexed = _indexed(connection, after, rows[-1].id) if rows else {}
                batch = [self._stored_or_not(connection, row, indexed.get(row.id, _NOT_INDEXED)) for row in rows]
            yield from batch
            if len(rows) < _STREAM_BATCH:
                return
            after = rows[-1].id

    def stray_index_rows(self) -> int:
        """Rows of the indexes that name no record: none, unless someone put them there."""
        with self._database.read() as connection:
            return sum(connection.execute(stray).scalar_one() for stray in _STRAY)

    def _stored_or_not(self, connection: Connection, row: Row[Any], indexed: Indexed) -> StoredRecord | Unreadable:
        try:
            return replace(self._stored(connection, row), indexed=indexed)
        except StoreDamaged as error:
            return Unreadable(self._name(connection, row.id >> SEQ_BITS), row.id & _SEQ_MASK, error.message)

    def _append_to_chain(self, connection: Connection, chain: str, records: list[Record]) -> None:
        if records[0].seq == 1:
            self._open_chain(connection, records[0])
        number = self._number(connection, chain)
        connection.execute(_INSERT_RECORD, [_columns(record, number) for record in records])
        reasons = [
            {"code": code, "time_ns": record.draft.time_ns, "id": _row_id(number, record.seq)}
            for record in records
            for code in sorted({code for code, _ in record.draft.reasons})
        ]
        if reasons:
            connection.execute(_INSERT_REASON, reasons)
        texts = [
            {"id": _row_id(number, record.seq), "text": f"{tenant_token(record.draft.tenant)} {record.draft.text}"}
            for record in records
            if record.draft.text
        ]
        if texts:
            connection.execute(_INSERT_TEXT, texts)
        for record in records:
            if record.draft.kind is Kind.ERASURE:
                self._erase(connection, record.draft.cites)
        head = records[-1]
        connection.execute(_MOVE_HEAD, {"of": number, "to": head.seq, "head": head.hash})

    def _open_chain(self, connection: Connection, start: Record) -> None:
        connection.execute(insert(ChainRow).values(chain=start.chain, seq=0, hash=start.prev, cited_seq=0))
        for cited in start.draft.cites:
            connection.execute(update(ChainRow).where(ChainRow.chain == cited.chain).values(cited_seq=cited.seq))

    def _erase(self, connection: Connection, cited: Iterable[Citation]) -> None:
        for citation in cited:
            row = _row_id(self._number(connection, citation.chain), citation.seq)
            connection.execute(
                update(JournalRow).where(JournalRow.id == row).values(payload=None, salt=None, subject="")
            )
            connection.execute(_DELETE_TEXT, {"id": row})
        if self._database.is_sqlite:
            # A deleted word lingers in the word index until its segments are merged.
            connection.execute(text("INSERT INTO journal_text (journal_text) VALUES ('optimize')"))

    def _number(self, connection: Connection, chain: str) -> int:
        if chain not in self._numbers:
            found = connection.execute(select(ChainRow.number).where(ChainRow.chain == chain)).scalar_one()
            self._remember(found, chain)
        return self._numbers[chain]

    def _name(self, connection: Connection, number: int) -> str:
        if number not in self._names:
            found = connection.execute(select(ChainRow.chain).where(ChainRow.number == number)).scalar()
            self._remember(number, found or f"unknown chain {number}")
        return self._names[number]

    def _remember(self, number: int, chain: str) -> None:
        with self._lock:
            self._numbers[chain] = number
            self._names[number] = chain

    def _heads(self, which: ColumnElement[bool]) -> list[Citation]:
        query = select(ChainRow.chain, ChainRow.seq, ChainRow.hash).where(which).order_by(ChainRow.number)
        with self._database.read() as connection:
            return [Citation(row.chain, row.seq, row.hash) for row in connection.execute(query)]

    def _matches(self, words: str, tenant: str | None) -> ColumnElement[bool]:
        wanted = plain_words(words).split() + ([tenant_token(tenant)] if tenant is not None else [])
        if self._database.is_sqlite:
            match = text("SELECT rowid FROM journal_text WHERE journal_text MATCH :words ORDER BY rowid DESC")
            match = match.bindparams(words=" ".join(f'"{word}"' for word in wanted))
        else:
            match = text(
                "SELECT rowid FROM journal_text WHERE to_tsvector('simple', text) @@ plainto_tsquery('simple', :words)"
            )
            match = match.bindparams(words=" ".join(wanted))
        return JournalRow.id.in_(match.columns(rowid=JournalRow.id.type))

    def _stored(self, connection: Connection, row: Row[Any]) -> StoredRecord:
        try:
            return self._parsed(connection, row)
        except (BadRequest, ValueError, TypeError, LookupError) as error:
            raise StoreDamaged(f"the record in row {row.id} cannot be read: {error}") from error

    def _parsed(self, connection: Connection, row: Row[Any]) -> StoredRecord:
        return StoredRecord(
            kind=Kind(row.kind),
            decision_id=row.decision_id,
            time_ns=row.time_ns,
            path=row.path,
            action=row.action,
            tenant=row.tenant,
            outcome=row.outcome,
            reasons=_pairs(row.reasons),
            revision=row.revision,
            bundle_digest=row.bundle_digest,
            cites=_citations(row.cites),
            chain=self._name(connection, row.id >> SEQ_BITS),
            seq=row.id & _SEQ_MASK,
            prev=row.prev,
            durability=Durability(row.durability),
            payload_digest=row.payload_digest,
            hash=row.hash,
            payload=_bytes(row.payload),
            salt=_bytes(row.salt),
            subject=row.subject,
        )


def _indexed(connection: Connection, after: int, last: int) -> dict[int, Indexed]:
    """What the indexes say of the records after one and up to another."""
    reasons: dict[int, set[tuple[str, int]]] = {}
    for row in connection.execute(_REASONS_BETWEEN, {"after": after, "last": last}):
        reasons.setdefault(row.id, set()).add((row.code, row.time_ns))
    texts = {row.id: row.text for row in connection.execute(_TEXTS_BETWEEN, {"after": after, "last": last})}
    return {id_: Indexed(frozenset(reasons.get(id_, ())), texts.get(id_, "")) for id_ in reasons.keys() | texts.keys()}


def _row_id(number: int, seq: int) -> int:
    return (number << SEQ_BITS) + seq


def _equalities(filters: Filters) -> Iterator[tuple[ColumnElement[str], str]]:
    for name in ("tenant", "action", "outcome", "subject", "path"):
        wanted = getattr(filters, name)
        if wanted is not None:
            yield getattr(JournalRow, name), wanted


def _columns(record: Record, number: int) -> dict[str, object]:
    draft = record.draft
    return {
        "id": _row_id(number, record.seq),
        "prev": record.prev,
        "hash": record.hash,
        "kind": draft.kind.value,
        "decision_id": draft.decision_id,
        "time_ns": draft.time_ns,
        "path": draft.path,
        "action": draft.action,
        "tenant": draft.tenant,
        "outcome": draft.outcome,
        "reasons": canonical(draft.reasons).decode(),
        "revision": draft.revision,
        "bundle_digest": draft.bundle_digest,
        "cites": canonical([[cited.chain, cited.seq, cited.hash] for cited in draft.cites]).decode(),
        "durability": record.durability.value,
        "payload_digest": record.payload_digest,
        "payload": draft.payload,
        "salt": record.salt,
        "subject": draft.subject,
    }


def _bytes(stored: object) -> bytes | None:
    if stored is not None and not isinstance(stored, bytes):
        raise TypeError(f"bytes were expected, not {type(stored).__name__}")
    return stored


def _pairs(stored: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(code), str(kind)) for code, kind in _rows(stored))


def _citations(stored: str) -> tuple[Citation, ...]:
    return tuple(Citation(str(chain), int(str(seq)), str(digest)) for chain, seq, digest in _rows(stored))


def _rows(stored: str) -> list[list[JsonValue]]:
    found = parse(stored.encode(), what="column")
    if not isinstance(found, list):
        raise TypeError("a list was expected")
    return [row for row in found if isinstance(row, list)]
