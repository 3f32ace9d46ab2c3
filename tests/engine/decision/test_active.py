from __future__ import annotations

import logging
from pathlib import Path

import pytest

from engine.bundle.content import PackedBundle
from engine.bundle.files import pack
from engine.bundle.source import bundle_of
from engine.decision.active import ActiveBundle
from engine.errors import BundleInvalid, StoreUnavailable
from tests.builders import (
    NOON_NS,
    Changes,
    FakeEvaluator,
    FakePolicy,
    FixedClock,
    bundle_files,
    problems_of,
    write_bundle,
)

BROKEN = {"lictor/x.rego": "package lictor.x broken"}
SECOND = {".manifest": '{"revision": "r2", "roots": ["lictor"]}'}


class MemoryShelf:
    """The shelf of one store, shared by its replicas."""

    def __init__(self) -> None:
        self.bundles: dict[str, PackedBundle] = {}
        self.moves: list[tuple[str, int]] = []
        self.is_away = False

    def activate(self, bundle: PackedBundle, now_ns: int) -> None:
        if self.is_away:
            raise StoreUnavailable("away")
        self.bundles[bundle.digest] = bundle
        self.moves.append((bundle.digest, now_ns))

    def active_digest(self) -> str | None:
        return self.moves[-1][0] if self.moves else None

    def active(self) -> PackedBundle | None:
        digest = self.active_digest()
        return self.bundles[digest] if digest else None


class Replica:
    def __init__(self, shelf: MemoryShelf) -> None:
        self.evaluator = FakeEvaluator()
        self.active = ActiveBundle(self.evaluator, shelf, FixedClock())

    @property
    def revision(self) -> str | None:
        return self.active.current.bundle.revision if self.active.current else None

    @property
    def policies(self) -> list[FakePolicy]:
        return self.evaluator.loaded


@pytest.fixture
def shelf() -> MemoryShelf:
    return MemoryShelf()


@pytest.fixture
def replica(shelf: MemoryShelf) -> Replica:
    return Replica(shelf)


def source(tmp_path: Path, changes: Changes | None = None) -> Path:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    return write_bundle(folder, bundle_files(changes))


def packed(changes: Changes | None = None, digest: str = "") -> PackedBundle:
    files = bundle_files(changes)
    made = bundle_of(files)
    return PackedBundle(digest or made.digest, made.revision, pack(files))


def test_good_bundle_becomes_active_and_is_shelved_whole(tmp_path: Path, shelf: MemoryShelf, replica: Replica):
    replica.active.start(source(tmp_path))
    assert replica.revision == "r1"
    assert replica.active.trouble is None
    assert shelf.active() == packed()
    assert shelf.moves == [(packed().digest, NOON_NS)]


def test_same_bundle_at_the_next_start_is_not_shelved_again(tmp_path: Path, shelf: MemoryShelf):
    Replica(shelf).active.start(source(tmp_path))
    Replica(shelf).active.start(source(tmp_path))
    assert shelf.moves == [(packed().digest, NOON_NS)]


def test_broken_bundle_at_start_leaves_the_last_good_one(tmp_path: Path, shelf: MemoryShelf, caplog):
    Replica(shelf).active.start(source(tmp_path))
    replica = Replica(shelf)
    replica.active.start(source(tmp_path, {**SECOND, **BROKEN}))
    assert replica.revision == "r1"
    assert replica.active.trouble is not None
    assert problems_of(replica.active.trouble) == ["lictor/x.rego:1:1: rego_parse_error: broken"]
    assert shelf.active_digest() == packed().digest
    assert ("lictor.bundle", logging.ERROR, "bundle refused") in caplog.record_tuples


def test_unreadable_bundle_at_start_leaves_the_last_good_one(tmp_path: Path, shelf: MemoryShelf):
    Replica(shelf).active.start(source(tmp_path))
    replica = Replica(shelf)
    replica.active.start(tmp_path / "nothing")
    assert replica.revision == "r1"
    assert replica.active.trouble is not None
    assert "does not exist" in replica.active.trouble.message


def test_broken_bundle_with_none_good_before_it_leaves_nothing_to_decide(tmp_path: Path, shelf: MemoryShelf):
    replica = Replica(shelf)
    replica.active.start(source(tmp_path, BROKEN))
    assert replica.active.current is None
    assert replica.active.trouble is not None
    assert shelf.moves == []
    replica.active.close()


def test_broken_bundle_activated_while_running_changes_nothing(tmp_path: Path, replica: Replica, shelf: MemoryShelf):
    replica.active.start(source(tmp_path))
    with pytest.raises(BundleInvalid):
        replica.active.activate(source(tmp_path, BROKEN))
    assert replica.revision == "r1"
    assert not replica.policies[0].closed
    assert shelf.active_digest() == packed().digest


def test_good_bundle_after_a_broken_one_ends_the_trouble(tmp_path: Path, replica: Replica):
    replica.active.start(source(tmp_path, BROKEN))
    replica.active.activate(source(tmp_path))
    assert (replica.revision, replica.active.trouble) == ("r1", None)


def test_bundle_that_cannot_be_shelved_is_not_active_and_its_policy_is_closed(
    tmp_path: Path, replica: Replica, shelf: MemoryShelf
):
    replica.active.start(source(tmp_path))
    shelf.is_away = True
    with pytest.raises(StoreUnavailable):
        replica.active.activate(source(tmp_path, SECOND))
    assert replica.revision == "r1"
    assert [policy.closed for policy in replica.policies] == [False, True]


def test_follow_picks_up_the_bundle_of_another_replica(tmp_path: Path, shelf: MemoryShelf):
    one, other = Replica(shelf), Replica(shelf)
    one.active.start(source(tmp_path))
    other.active.follow()
    assert other.revision == "r1"
    one.active.activate(source(tmp_path, SECOND))
    other.active.follow()
    assert other.active.current is not None
    assert other.active.current.bundle == bundle_of(bundle_files(SECOND))


def test_follow_without_a_change_loads_nothing(tmp_path: Path, replica: Replica):
    replica.active.follow()
    assert replica.policies == []
    replica.active.start(source(tmp_path))
    replica.active.follow()
    assert len(replica.policies) == 1


def test_replaced_policy_stays_open_until_the_next_look(tmp_path: Path, replica: Replica):
    replica.active.start(source(tmp_path))
    replica.active.activate(source(tmp_path, SECOND))
    assert [policy.closed for policy in replica.policies] == [False, False]
    replica.active.follow()
    assert [policy.closed for policy in replica.policies] == [True, False]


def test_close_closes_every_policy(tmp_path: Path, replica: Replica):
    replica.active.start(source(tmp_path))
    replica.active.activate(source(tmp_path, SECOND))
    replica.active.close()
    assert [policy.closed for policy in replica.policies] == [True, True]
    assert replica.active.current is None


@pytest.mark.parametrize(
    "stored",
    [
        packed({**SECOND, **BROKEN}),
        PackedBundle("sha256:x", "r2", b"no archive"),
        packed(SECOND, digest="sha256:of-another-bundle"),
    ],
    ids=["does not load", "no archive", "another digest"],
)
def test_broken_stored_bundle_leaves_the_current_one(
    tmp_path: Path, replica: Replica, shelf: MemoryShelf, stored: PackedBundle
):
    replica.active.start(source(tmp_path))
    shelf.activate(stored, NOON_NS)
    replica.active.follow()
    assert replica.revision == "r1"
    assert replica.active.trouble is not None
    assert not replica.policies[0].closed


def test_good_stored_bundle_after_a_broken_one_ends_the_trouble(tmp_path: Path, replica: Replica, shelf: MemoryShelf):
    replica.active.start(source(tmp_path))
    shelf.activate(packed(BROKEN), NOON_NS)
    replica.active.follow()
    shelf.activate(packed(SECOND), NOON_NS)
    replica.active.follow()
    assert (replica.revision, replica.active.trouble) == ("r2", None)


@pytest.mark.parametrize(
    ("changes", "masks"),
    [
        ({}, False),
        ({"m.rego": "package system.log\n"}, True),
        ({"m.rego": "package system\nlog.mask contains 1"}, True),
        ({"m.rego": "package system.log.mask\n"}, True),
        ({"m.rego": "package system.authz\n"}, False),
        ({"m.rego": "package system.logs\n"}, False),
        ({"system/log/data.json": '{"mask": ["/input/card"]}'}, True),
        ({"m_test.rego": "package system.log_test\n"}, False),
    ],
)
def test_bundle_that_may_define_a_mask_is_asked_for_it(tmp_path: Path, replica: Replica, changes: Changes, masks: bool):
    replica.active.start(source(tmp_path, {".manifest": None, **changes}))
    assert replica.active.current is not None
    assert replica.active.current.masks is masks
