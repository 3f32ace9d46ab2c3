from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engine.errors import StoreLocked
from engine.store.opening import open_reader, open_store, upgrade_store

HOLD = """
import sys
from engine.store.opening import open_store
open_store(sys.argv[1])
print("holding", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "holding\n"
    yield url, process
    process.kill()
    process.communicate()


def test_second_process_on_a_sqlite_file_is_refused_with_the_owners_pid(holder):
    url, process = holder
    for opening in (open_store, upgrade_store):
        with pytest.raises(StoreLocked, match=rf"belongs to another Lictor process \(pid {process.pid}\)"):
            opening(url)


def test_reader_beside_the_owner_is_welcome(holder):
    url, _ = holder
    reader = open_reader(url)
    assert reader.journal.heads() == []
    reader.close()


def test_owner_that_was_killed_leaves_the_file_free(holder):
    url, process = holder
    process.kill()
    process.wait()
    open_store(url).close()


def test_closing_lets_the_same_process_open_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    open_store(url).close()
    store = open_store(url)
    assert (tmp_path / "store.db.lock").read_text() == f"{os.getpid()}\n"
    store.close()


def test_postgresql_takes_two_owners(postgres_url):
    first, second = open_store(postgres_url), open_store(postgres_url)
    first.close()
    second.close()
