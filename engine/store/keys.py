"""The repository of API keys."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, func, insert, select, update

from engine.access.keys import KeyRecord
from engine.access.roles import Identity, Role
from engine.store.connection import Database
from engine.store.models import ApiKeyRow


class KeyRepository:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, record: KeyRecord) -> None:
        identity = record.identity
        with self._database.write() as connection:
            connection.execute(
                insert(ApiKeyRow).values(
                    id=identity.id,
                    name=identity.name,
                    role=identity.role.value,
                    tenant=identity.tenant,
                    secret_sha256=record.secret_sha256,
                    created_ns=record.created_ns,
                )
            )

    def find(self, key_id: str) -> KeyRecord | None:
        with self._database.read() as connection:
            row = connection.execute(select(*_COLUMNS).where(ApiKeyRow.id == key_id)).one_or_none()
        return _record(row) if row is not None else None

    def all(self) -> list[KeyRecord]:
        with self._database.read() as connection:
            rows = connection.execute(select(*_COLUMNS).order_by(ApiKeyRow.created_ns, ApiKeyRow.id)).all()
        return [_record(row) for row in rows]

    def is_empty(self) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(ApiKeyRow)).scalar_one() == 0

    def revoke(self, key_id: str, now_ns: int) -> bool:
        """False if there is no such key; revoking twice keeps the first time."""
        with self._database.write() as connection:
            result = connection.execute(
                update(ApiKeyRow)
                .where(ApiKeyRow.id == key_id)
                .values(revoked_ns=func.coalesce(ApiKeyRow.revoked_ns, now_ns))
            )
            return result.rowcount == 1


_COLUMNS = tuple(ApiKeyRow.__table__.columns)


def _record(row: Row[Any]) -> KeyRecord:
    identity = Identity(row.id, row.name, Role(row.role), row.tenant)
    return KeyRecord(identity, row.secret_sha256, row.created_ns, row.revoked_ns)
