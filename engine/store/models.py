"""The tables.

A journal row's id *is* its place: `chain number × 2**40 + seq`. So the primary key is what makes a chain gap-free and
unforked, rows of a chain lie side by side, and nothing has to be asked back after an insert.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, String, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# SQLite numbers rows by itself only in a column declared INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")

SEQ_BITS = 40


class Base(DeclarativeBase):
    pass


class ChainRow(Base):
    """A chain, its head, and how far later chains have cited it."""

    __tablename__ = "journal_chain"

    number: Mapped[int] = mapped_column(RowId, primary_key=True, autoincrement=True)
    chain: Mapped[str] = mapped_column(String(64), unique=True)
    seq: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[str] = mapped_column(String(64))
    cited_seq: Mapped[int] = mapped_column(BigInteger)


class JournalRow(Base):
    """One record. Up to `payload_digest` it is the header, which never changes; the last three can be erased."""

    __tablename__ = "journal"

    id: Mapped[int] = mapped_column(RowId, primary_key=True, autoincrement=False)
    prev: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    decision_id: Mapped[str] = mapped_column(String(36))
    time_ns: Mapped[int] = mapped_column(BigInteger)
    path: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(Text)
    tenant: Mapped[str] = mapped_column(Text)
    outcome: Mapped[str] = mapped_column(String(16))
    reasons: Mapped[str] = mapped_column(Text)
    revision: Mapped[str] = mapped_column(Text)
    bundle_digest: Mapped[str] = mapped_column(String(80))
    cites: Mapped[str] = mapped_column(Text)
    durability: Mapped[str] = mapped_column(String(16))
    payload_digest: Mapped[str] = mapped_column(String(64))
    payload: Mapped[bytes | None] = mapped_column(LargeBinary)
    salt: Mapped[bytes | None] = mapped_column(LargeBinary)
    subject: Mapped[str] = mapped_column(Text)

    # Every filter has an index that also gives the order of the answer: newest first, id to break ties.
    __table_args__ = (
        Index("journal_decision_id", "decision_id"),
        Index("journal_time", "time_ns", "id"),
        Index("journal_tenant", "tenant", "time_ns", "id"),
        Index("journal_action", "action", "time_ns", "id"),
        Index("journal_outcome", "outcome", "time_ns", "id"),
        Index("journal_subject", "subject", "time_ns", "id"),
        Index("journal_path", "path", "time_ns", "id"),
        Index(
            "journal_citing",
            "id",
            sqlite_where=text("kind IN ('start', 'erasure')"),
            postgresql_where=text("kind IN ('start', 'erasure')"),
        ),
    )


class ReasonRow(Base):
    """Which records carry a reason code."""

    __tablename__ = "journal_reason"

    code: Mapped[str] = mapped_column(String(64), primary_key=True)
    time_ns: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)

    __table_args__ = (Index("journal_reason_id", "id"), {"sqlite_with_rowid": False})


class ApiKeyRow(Base):
    __tablename__ = "api_key"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(String(32))
    tenant: Mapped[str] = mapped_column(Text)
    secret_sha256: Mapped[str] = mapped_column(String(64))
    created_ns: Mapped[int] = mapped_column(BigInteger)
    revoked_ns: Mapped[int | None] = mapped_column(BigInteger)


class BundleRow(Base):
    """A bundle that loaded: kept whole, so that it can be fallen back on and old decisions can be decided again."""

    __tablename__ = "bundle"

    digest: Mapped[str] = mapped_column(String(80), primary_key=True)
    revision: Mapped[str] = mapped_column(Text)
    archive: Mapped[bytes] = mapped_column(LargeBinary)
    stored_ns: Mapped[int] = mapped_column(BigInteger)


class ActiveBundleRow(Base):
    """The one row that every replica follows."""

    __tablename__ = "active_bundle"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    digest: Mapped[str] = mapped_column(String(80))
    activated_ns: Mapped[int] = mapped_column(BigInteger)
