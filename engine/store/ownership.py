"""One SQLite file, one process: the second one is told so instead of corrupting the first one's chain."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from engine.errors import StoreLocked, StoreUnavailable


class Ownership:
    """Held while the process lives; the kernel takes it back when it dies, however it dies."""

    def __init__(self, database: Path) -> None:
        database = database.resolve()  # by whatever name it is opened
        self._path = database.with_name(database.name + ".lock")
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(self._file, 32).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise StoreLocked(
                f"{database} belongs to another Lictor process (pid {owner}); stop it first, "
                "or set LICTOR_DATABASE_URL to PostgreSQL, which several processes can share"
            ) from error
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        os.close(self._file)
