"""The schema's version: SQLite is brought up to date when it is opened, PostgreSQL by `lictor db upgrade`."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError

from engine.errors import StoreNewer, StoreOutdated
from engine.store.connection import Database

_UPGRADE_LOCK = 0x4C4943544F52


def current(database: Database) -> str | None:
    """The revision that the database has; None if it is empty."""
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def latest() -> str:
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise RuntimeError("this program was built without its migrations")
    return head


def upgrade(database: Database) -> None:
    """Bring the schema up to date, in one transaction; `StoreNewer` if a newer program made it."""
    _refuse_newer(database)
    config = _config()
    with database.write() as connection:
        if not database.is_sqlite:  # two replicas that upgrade at once take turns
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def require_current(database: Database) -> None:
    """`StoreOutdated` or `StoreNewer` unless this program and the schema fit."""
    _refuse_newer(database)
    found = current(database)
    if found != latest():
        raise StoreOutdated(
            f"the database schema is at {found or 'nothing'}, this program needs {latest()}; run `lictor db upgrade`"
        )


def _refuse_newer(database: Database) -> None:
    found = current(database)
    if found is None:
        return
    try:
        ScriptDirectory.from_config(_config()).get_revision(found)
    except CommandError as error:
        raise StoreNewer(
            f"the database schema {found} was made by a newer Lictor; start that version, or restore an older backup"
        ) from error


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    return config
