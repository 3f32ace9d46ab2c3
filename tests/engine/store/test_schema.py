from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from engine.errors import InvalidParameter, StoreNewer, StoreOutdated, StoreUnavailable
from engine.store import schema
from engine.store.connection import open_database
from engine.store.connection import store_url as normalised
from engine.store.models import Base
from engine.store.opening import open_reader, open_store, upgrade_store


def test_migrations_make_exactly_the_tables_of_the_models(store_url):
    open_store(store_url).close()
    database = open_database(store_url)
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": _is_ours})
        difference = compare_metadata(context, Base.metadata)
    database.close()
    assert difference == []


def _is_ours(_thing, name, kind, _reflected, _compared):
    return not (kind == "table" and name.startswith("journal_text"))


def test_empty_postgresql_is_refused_until_it_is_upgraded(postgres):
    url = postgres.url(postgres.new_database())
    with pytest.raises(StoreOutdated, match="run `lictor db upgrade`"):
        open_store(url)
    assert upgrade_store(url) == (None, schema.latest())
    assert upgrade_store(url) == (schema.latest(), schema.latest())
    open_store(url).close()


def test_schema_of_a_newer_program_is_refused_and_left_alone(store_url):
    open_store(store_url).close()
    database = open_database(store_url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for opening in (open_store, open_reader, upgrade_store):
        with pytest.raises(StoreNewer, match="9999 was made by a newer Lictor"):
            opening(store_url)
    assert schema.current(database) == "9999"
    database.close()


def test_reader_of_a_file_that_is_not_there_says_how_to_make_it(tmp_path):
    with pytest.raises(StoreUnavailable, match="does not exist yet; start the server once"):
        open_reader(f"sqlite:///{tmp_path / 'none.db'}")
    assert list(tmp_path.iterdir()) == []


def test_reader_of_sqlite_cannot_write(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    open_store(url).close()
    reader = open_reader(url)
    with pytest.raises(StoreUnavailable, match="readonly"):
        reader.keys.revoke("key_x", 1)
    reader.close()


def test_file_that_is_no_database_is_a_coded_error(tmp_path):
    (tmp_path / "store.db").write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(StoreUnavailable, match="file is not a database"):
        open_store(f"sqlite:///{tmp_path / 'store.db'}")


def test_server_that_is_not_there_is_a_coded_error_without_the_password():
    with pytest.raises(StoreUnavailable) as caught:
        open_store("postgresql://someone:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("url", ["", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "no url at all", "redis://h"])
def test_url_of_another_database_says_which_are_known(url):
    with pytest.raises(InvalidParameter, match=r"sqlite:///.* or postgresql://"):
        normalised(url)


def test_file_removed_while_in_use_is_no_longer_written(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    (tmp_path / "store.db").rename(tmp_path / "moved.db")
    with pytest.raises(StoreUnavailable, match="was removed or replaced while in use"):
        store.keys.revoke("key_x", 1)
    (tmp_path / "moved.db").rename(tmp_path / "store.db")
    assert store.keys.revoke("key_x", 1) is False
    store.close()
