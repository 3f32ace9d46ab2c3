from __future__ import annotations

import pytest

from engine.access.keys import make_key
from engine.access.roles import Role
from engine.store.opening import open_store


@pytest.fixture
def keys(store_url):
    store = open_store(store_url)
    yield store.keys
    store.close()


def test_key_is_found_as_it_was_added(keys):
    assert keys.is_empty()
    _, record = make_key("ana", Role.TENANT_USER, "acme", 5)
    keys.add(record)
    assert not keys.is_empty()
    assert keys.find(record.identity.id) == record
    assert keys.find("key_other") is None


def test_revoking_keeps_the_first_time(keys):
    _, record = make_key("ana", Role.AUDITOR, "", 5)
    keys.add(record)
    assert keys.revoke(record.identity.id, 7)
    assert keys.revoke(record.identity.id, 9)
    assert [each.revoked_ns for each in keys.all()] == [7]
    assert not keys.revoke("key_other", 9)
