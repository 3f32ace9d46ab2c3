"""The journal with its indexes, API keys, bundles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_CITING = sa.text("kind IN ('start', 'erasure')")


def upgrade() -> None:
    _journal()
    _journal_indexes()
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("created_ns", sa.BigInteger(), nullable=False),
        sa.Column("revoked_ns", sa.BigInteger()),
    )
    op.create_table(
        "bundle",
        sa.Column("digest", sa.String(80), primary_key=True),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("archive", sa.LargeBinary(), nullable=False),
        sa.Column("stored_ns", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "active_bundle",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("digest", sa.String(80), nullable=False),
        sa.Column("activated_ns", sa.BigInteger(), nullable=False),
    )


def _journal() -> None:
    op.create_table(
        "journal_chain",
        sa.Column("number", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("chain", sa.String(64), nullable=False, unique=True),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("cited_seq", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "journal",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("prev", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("decision_id", sa.String(36), nullable=False),
        sa.Column("time_ns", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("bundle_digest", sa.String(80), nullable=False),
        sa.Column("cites", sa.Text(), nullable=False),
        sa.Column("durability", sa.String(16), nullable=False),
        sa.Column("payload_digest", sa.String(64), nullable=False),
        sa.Column("payload", sa.LargeBinary()),
        sa.Column("salt", sa.LargeBinary()),
        sa.Column("subject", sa.Text(), nullable=False),
    )
    op.create_table(
        "journal_reason",
        sa.Column("code", sa.String(64), primary_key=True),
        sa.Column("time_ns", sa.BigInteger(), primary_key=True),
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )


def _journal_indexes() -> None:
    op.create_index("journal_reason_id", "journal_reason", ["id"])
    op.create_index("journal_decision_id", "journal", ["decision_id"])
    op.create_index("journal_time", "journal", ["time_ns", "id"])
    for column in ("tenant", "action", "outcome", "subject", "path"):
        op.create_index(f"journal_{column}", "journal", [column, "time_ns", "id"])
    op.create_index("journal_citing", "journal", ["id"], sqlite_where=_CITING, postgresql_where=_CITING)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE journal_text USING fts5(text)")
    else:
        op.execute("CREATE TABLE journal_text (rowid bigint PRIMARY KEY, text text NOT NULL)")
        op.execute("CREATE INDEX journal_text_words ON journal_text USING gin (to_tsvector('simple', text))")
