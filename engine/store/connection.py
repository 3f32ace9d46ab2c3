"""Connections: how SQLite and PostgreSQL are opened, and what their failures are called here."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.errors import InvalidParameter, StoreUnavailable
from engine.journal.record import Durability

POOL_SIZE = 8
POOL_WAIT_S = 5.0
BUSY_WAIT_MS = 5_000


class Database:
    """An engine with short transactions; every failure to reach the store is `StoreUnavailable`."""

    def __init__(self, engine: Engine, file: Path | None = None) -> None:
        self.engine = engine
        self._file = file
        self._identity = _file_identity(file) if file is not None else None

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with _named_failures(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: committed at the end, or nothing of it happened."""
        self._require_same_file()
        with (
            _named_failures(),
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    def _require_same_file(self) -> None:
        """A file that was deleted can still be written to, and all of it is lost when the process ends."""
        if self._file is not None and _file_identity(self._file) != self._identity:
            raise StoreUnavailable(f"{self._file} was removed or replaced while in use; restore it and start again")


def open_database(url: str, *, durability: Durability = Durability.DURABLE, read_only: bool = False) -> Database:
    parsed = store_url(url)
    if parsed.get_backend_name() == "sqlite":
        file = Path(parsed.database or "")
        return Database(_sqlite(parsed, durability, read_only=read_only), file if file.exists() else None)
    return Database(_postgresql(parsed, durability))


def _file_identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def store_url(url: str) -> URL:
    """The URL with the driver that we use; `InvalidParameter` for a database that we do not know."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise InvalidParameter(_URL_HELP) from error
    if backend == "postgresql" or parsed.drivername == "postgres":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed
    raise InvalidParameter(_URL_HELP)


def sqlite_path(url: str) -> Path | None:
    """The file of an SQLite URL; None for PostgreSQL."""
    parsed = store_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


_URL_HELP = (
    "database_url must be sqlite:///path/to/file.db or postgresql://user:password@host:port/name "
    "(an absolute SQLite path has four slashes)"
)


def _sqlite(url: URL, durability: Durability, *, read_only: bool) -> Engine:
    if read_only:
        url = url.set(database=f"file:{quote(url.database or '')}", query={"mode": "ro", "uri": "true"})
    engine = create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        connect_args={"isolation_level": None, "timeout": BUSY_WAIT_MS / 1000},
    )
    synchronous = "FULL" if durability is Durability.DURABLE else "NORMAL"

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:  # noqa: ANN401  a driver's connection has no common type
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is erased by law is overwritten, not only forgotten
        connection.execute("PRAGMA cache_size=-65536")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer that first reads must not find, on its first write, that another has been there.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, durability: Durability) -> Engine:
    if importlib.util.find_spec("psycopg") is None:
        raise StoreUnavailable("PostgreSQL needs its driver: pip install 'lictor[postgres]'")
    commit = "on" if durability is Durability.DURABLE else "off"
    return create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 5,
            "options": f"-c synchronous_commit={commit} -c statement_timeout=30000 -c lock_timeout=10000",
        },
    )


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise StoreUnavailable(f"no database connection became free in {POOL_WAIT_S:g} s") from error
    except DBAPIError as error:
        raise StoreUnavailable(f"the database did not answer: {_brief(error.orig)}") from error


def _brief(cause: object) -> str:
    """The driver's first line, without what could be a password."""
    line = str(cause).strip().partition("\n")[0]
    return re.sub(r"(password|passwd)=\S+", r"\1=…", line)
