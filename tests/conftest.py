"""Fixtures of every test: fresh databases, real programs, and the word about what is missing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from engine.store.opening import upgrade_store
from tests.testbeds.finding import require_program
from tests.testbeds.postgres import PostgresServer, running_postgres

# A slow machine is no fault of the code; and what CI tries is the same each time, so that it judges the change alone.
settings.register_profile("lictor", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("lictor")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    if reasons:
        terminalreporter.section("did not run", yellow=True)
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} tests: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session")
def opa() -> str:
    """The path of a real `opa`."""
    return require_program("opa", "OPA")


@pytest.fixture(scope="session")
def strace() -> str:
    return require_program("strace", "strace")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres(require_program("initdb", "PostgreSQL")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> str:
    """A database with the newest schema, to be copied."""
    name = postgres.new_database()
    upgrade_store(postgres.url(name))
    return name


@pytest.fixture
def postgres_url(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    name = postgres.new_database(postgres_template)
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh, up-to-date store: every test that takes it runs on both databases."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{tmp_path / 'store.db'}"
