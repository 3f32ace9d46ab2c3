from __future__ import annotations

import pytest

from engine.bundle.content import PackedBundle
from engine.store.opening import open_store


@pytest.fixture
def bundles(store_url):
    store = open_store(store_url)
    yield store.bundles
    store.close()


def test_last_activated_bundle_is_the_active_one(bundles):
    assert (bundles.active(), bundles.active_digest()) == (None, None)
    one, two = PackedBundle("sha256:1", "r1", b"one"), PackedBundle("sha256:2", "r2", b"two")
    for bundle in (one, two, one):
        bundles.activate(bundle, 5)
        assert (bundles.active(), bundles.active_digest()) == (bundle, bundle.digest)
