"""A real PostgreSQL server in a temporary folder, and a fresh database of it for each test."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

READY_S = 30.0


class PostgresServer:
    def __init__(self, port: int) -> None:
        self._port = port
        self._databases = 0

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://lictor@127.0.0.1:{self._port}/{name}"

    def new_database(self, template: str = "template1") -> str:
        """The name of a fresh database."""
        self._databases += 1
        name = f"test_{self._databases}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop_database(self, name: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextlib.contextmanager
def running_postgres(initdb: str, *, fsync: bool = False) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="lictor-pg-"))
    user = _unprivileged()
    if user is not None:
        shutil.chown(folder, user)
    port = free_port()
    data = folder / "data"
    try:
        subprocess.run(
            [initdb, "-D", data, "-U", "lictor", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"],
            check=True, user=user, cwd=folder, capture_output=True, timeout=60,
        )  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [
                    Path(initdb).resolve().with_name("postgres"), "-D", data, "-p", str(port), "-k", folder,
                    "-c", "listen_addresses=127.0.0.1", "-c", f"fsync={'on' if fsync else 'off'}",
                ],
                user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        try:
            running = PostgresServer(port)
            _wait(running.url(), server, folder / "log")
            yield running
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"postgres ended at once: {log.read_text()}")
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"postgres was not ready in {READY_S:g} s: {log.read_text()}")
