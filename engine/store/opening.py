"""Opening the store: as its owner (the server), or to read it beside a running server (the command line)."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import StoreUnavailable
from engine.journal.record import Durability
from engine.store import schema
from engine.store.bundles import BundleRepository
from engine.store.connection import Database, open_database, sqlite_path
from engine.store.journal import JournalRepository
from engine.store.keys import KeyRepository
from engine.store.ownership import Ownership


class Store:
    """The repositories over one database."""

    def __init__(self, database: Database, ownership: Ownership | None = None) -> None:
        self._database = database
        self._ownership = ownership
        self.journal = JournalRepository(database)
        self.keys = KeyRepository(database)
        self.bundles = BundleRepository(database)

    @property
    def is_exclusive(self) -> bool:
        """Whether no other process can be working on it."""
        return self._database.is_sqlite

    def ping(self) -> None:
        """`StoreUnavailable` unless the database answers."""
        with self._database.read() as connection:
            connection.exec_driver_sql("SELECT 1")

    def close(self) -> None:
        self._database.close()
        if self._ownership is not None:
            self._ownership.release()


def open_store(url: str, durability: Durability = Durability.DURABLE) -> Store:
    """For the process that writes. SQLite: taken as the only owner and migrated. PostgreSQL: must be up to date."""
    ownership = _own(sqlite_path(url))
    database = open_database(url, durability=durability)
    try:
        if database.is_sqlite:
            schema.upgrade(database)
        else:
            schema.require_current(database)
    except BaseException:
        database.close()
        if ownership is not None:
            ownership.release()
        raise
    return Store(database, ownership)


def open_reader(url: str) -> Store:
    """For a look at what is there; changes nothing, also while a server owns the file."""
    path = sqlite_path(url)
    if path is not None and not path.exists():
        raise StoreUnavailable(f"{path} does not exist yet; start the server once (`lictor serve`)")
    database = open_database(url, read_only=True)
    try:
        schema.require_current(database)
    except BaseException:
        database.close()
        raise
    return Store(database)


def upgrade_store(url: str) -> tuple[str | None, str]:
    """Bring the schema up to date; the revisions before and after."""
    ownership = _own(sqlite_path(url))
    database = open_database(url)
    try:
        before = schema.current(database)
        schema.upgrade(database)
        return before, schema.latest()
    finally:
        database.close()
        if ownership is not None:
            ownership.release()


def _own(path: Path | None) -> Ownership | None:
    if path is None:
        return None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite would let everyone read it
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be made: {error.strerror}") from error
    return Ownership(path)
