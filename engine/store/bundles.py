"""The repository of bundles that loaded, and of the one that is active."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from engine.bundle.content import PackedBundle
from engine.store.connection import Database
from engine.store.models import ActiveBundleRow, BundleRow

_THE_ROW = 1


class BundleRepository:
    def __init__(self, database: Database) -> None:
        self._database = database

    def activate(self, bundle: PackedBundle, now_ns: int) -> None:
        """Keep `bundle`, and make it the one that every replica follows."""
        insert = sqlite_insert if self._database.is_sqlite else postgresql_insert
        kept = {"digest": bundle.digest, "revision": bundle.revision, "archive": bundle.archive, "stored_ns": now_ns}
        active = {"digest": bundle.digest, "activated_ns": now_ns}
        with self._database.write() as connection:  # two replicas may be at it at once
            connection.execute(insert(BundleRow).values(**kept).on_conflict_do_nothing())
            connection.execute(
                insert(ActiveBundleRow)
                .values(id=_THE_ROW, **active)
                .on_conflict_do_update(index_elements=[ActiveBundleRow.id], set_=active)
            )

    def active_digest(self) -> str | None:
        with self._database.read() as connection:
            return connection.execute(select(ActiveBundleRow.digest)).scalar()

    def active(self) -> PackedBundle | None:
        query = select(*BundleRow.__table__.columns).join(ActiveBundleRow, ActiveBundleRow.digest == BundleRow.digest)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return PackedBundle(row.digest, row.revision, row.archive) if row is not None else None
