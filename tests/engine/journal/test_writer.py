from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future

import pytest

from engine.clock import SystemClock
from engine.errors import JournalOverloaded, StoreUnavailable
from engine.ids import new_decision_id
from engine.journal.record import Citation, Draft, Durability, Kind, Record
from engine.journal.verify import verify
from engine.journal.waiting import LoopWaiting, ThreadWaiting
from engine.journal.writer import Bounds, Journal
from engine.store.opening import open_store

WAIT_S = 20


def decision(payload: bytes = b'{"subject":""}') -> Draft:
    return Draft(Kind.DECISION, new_decision_id(), 1, payload, path="lictor/admission")


class MemoryStore:
    """A store whose disk can be made slow or broken."""

    def __init__(self) -> None:
        self.groups: list[list[Record]] = []
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def append(self, records: Sequence[Record]) -> None:
        self.entered.set()
        assert self.gate.wait(WAIT_S)
        if self.error is not None:
            raise self.error
        self.groups.append(list(records))

    def loose_heads(self) -> list[Citation]:
        chains = {group[-1].chain: group[-1] for group in self.groups}
        return [Citation(last.chain, last.seq, last.hash) for last in chains.values()]

    def block(self) -> None:
        self.entered.clear()
        self.gate.clear()


@pytest.fixture
def store():
    return MemoryStore()


def opened(store, **options) -> Journal[Future[None]]:
    journal = Journal(store, ThreadWaiting(), SystemClock(), **options)
    journal.open()
    return journal


def test_chain_begins_with_a_durable_start_record_before_anything_is_asked(store):
    opened(store).close()
    assert [[record.draft.kind for record in group] for group in store.groups] == [[Kind.START]]
    assert store.groups[0][0].seq == 1


def test_nothing_is_settled_before_its_group_is_written(store):
    journal = opened(store)
    store.block()
    waiter = journal.submit(decision())
    assert store.entered.wait(WAIT_S)
    assert not waiter.done()
    store.gate.set()
    assert waiter.result(WAIT_S) is None
    journal.close()


def test_what_arrives_during_a_commit_shares_the_next_one(store):
    journal = opened(store)
    store.block()
    first = journal.submit(decision())
    assert store.entered.wait(WAIT_S)
    rest = [journal.submit(decision()) for _ in range(50)]
    store.gate.set()
    for waiter in (first, *rest):
        waiter.result(WAIT_S)
    journal.close()
    assert [len(group) for group in store.groups] == [1, 1, 50]
    assert [record.seq for group in store.groups for record in group] == list(range(1, 53))


def test_group_is_bounded_by_records_and_by_bytes(store):
    journal = opened(store, bounds=Bounds(group_records=10, group_bytes=100))
    store.block()
    waiters = [journal.submit(decision())]
    assert store.entered.wait(WAIT_S)
    waiters += [journal.submit(decision(b"x" * 60)) for _ in range(4)]
    waiters += [journal.submit(decision(b"")) for _ in range(15)]
    store.gate.set()
    for waiter in waiters:
        waiter.result(WAIT_S)
    journal.close()
    assert [len(group) for group in store.groups] == [1, 1, 2, 2, 10, 5]


def test_failed_group_is_answered_with_the_failure_and_a_new_chain_cites_the_old(store):
    journal = opened(store)
    journal.submit(decision()).result(WAIT_S)
    store.error = StoreUnavailable("the disk is full")
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        journal.submit(decision()).result(WAIT_S)
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        journal.submit(decision()).result(WAIT_S)
    store.error = None
    journal.submit(decision()).result(WAIT_S)
    journal.close()
    old, new = store.groups[0][0].chain, store.groups[2][0].chain
    assert [(r.chain, r.seq) for group in store.groups for r in group] == [(old, 1), (old, 2), (new, 1), (new, 2)]
    last = store.groups[1][-1]
    assert store.groups[2][0].draft.cites == (Citation(old, 2, last.hash),)


def test_unexpected_failure_is_answered_and_the_writer_lives(store):
    journal = opened(store)
    store.error = RuntimeError("surprise")
    with pytest.raises(StoreUnavailable, match="surprise"):
        journal.submit(decision()).result(WAIT_S)
    store.error = None
    assert journal.submit(decision()).result(WAIT_S) is None
    assert journal.trouble() is None
    journal.close()


def test_more_than_may_wait_is_refused_and_nothing_of_it_is_written(store):
    journal = opened(store, bounds=Bounds(waiting_records=3))
    store.block()
    waiters = [journal.submit(decision())]
    assert store.entered.wait(WAIT_S)
    waiters += [journal.submit(decision()) for _ in range(3)]
    with pytest.raises(JournalOverloaded):
        journal.submit(decision())
    store.gate.set()
    for waiter in waiters:
        waiter.result(WAIT_S)
    journal.close()
    assert sum(len(group) for group in store.groups) == 1 + 4


def test_bytes_that_wait_are_bounded_too(store):
    journal = opened(store, bounds=Bounds(waiting_bytes=100))
    store.block()
    journal.submit(decision())
    assert store.entered.wait(WAIT_S)
    journal.submit(decision(b"x" * 100))
    with pytest.raises(JournalOverloaded):
        journal.submit(decision())
    store.gate.set()
    journal.close()


def test_relaxed_answers_at_once_until_its_buffer_is_full_then_waits(store):
    journal = opened(store, durability=Durability.RELAXED, bounds=Bounds(waiting_records=8))
    store.block()
    first = journal.submit(decision())
    assert first.done()
    assert store.entered.wait(WAIT_S)
    assert [journal.submit(decision()).done() for _ in range(6)] == [True, True, True, True, False, False]
    store.gate.set()
    journal.close()
    assert {record.durability for group in store.groups for record in group} == {Durability.RELAXED}


def test_relaxed_counts_what_it_answered_and_lost(store):
    journal = opened(store, durability=Durability.RELAXED)
    store.error = StoreUnavailable("gone")
    assert journal.submit(decision()).done()
    journal.close()
    assert journal.counts.lost == 1


def test_close_writes_what_waits_and_refuses_what_comes_later(store):
    journal = opened(store)
    waiters = [journal.submit(decision()) for _ in range(100)]
    journal.close()
    assert all(waiter.done() for waiter in waiters)
    assert sum(len(group) for group in store.groups) == 101
    with pytest.raises(StoreUnavailable, match="the journal is closed"):
        journal.submit(decision())
    journal.close()


def test_lag_is_the_age_of_the_oldest_that_waits(store):
    journal = opened(store)
    assert (journal.lag_s(), journal.waiting_records()) == (0.0, 0)
    store.block()
    journal.submit(decision())
    assert store.entered.wait(WAIT_S)
    journal.submit(decision())
    assert journal.waiting_records() == 1
    assert journal.lag_s() > 0
    store.gate.set()
    journal.close()


def test_open_fails_if_the_store_cannot_be_written(store):
    store.error = StoreUnavailable("read-only file system")
    with pytest.raises(StoreUnavailable, match="read-only"):
        opened(store)


def test_loop_callers_are_woken_and_a_caller_that_went_away_harms_nobody(store):
    async def scenario() -> None:
        journal = Journal(store, LoopWaiting(), SystemClock())
        journal.open()
        store.block()
        gone, stays = journal.submit(decision()), journal.submit(decision())
        gone.cancel()
        store.gate.set()
        await asyncio.wait_for(stays, WAIT_S)
        store.error = StoreUnavailable("gone")
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(journal.submit(decision()), WAIT_S)
        await asyncio.to_thread(journal.close)

    asyncio.run(scenario())
    assert sum(len(group) for group in store.groups) == 3


def test_many_threads_on_a_real_store_leave_one_whole_chain(store_url):
    store = open_store(store_url)
    journal = Journal(store.journal, ThreadWaiting(), SystemClock())
    journal.open()

    def write() -> None:
        for _ in range(25):
            journal.submit(decision()).result(WAIT_S)

    threads = [threading.Thread(target=write) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    report = verify(store.journal.in_chain_order(), store.journal.citing, store.journal.heads())
    assert (report.ok, report.records, report.chains) == (True, 401, 1)
    store.close()


def test_restarts_leave_chains_that_cite_each_other(store_url):
    for _ in range(3):
        store = open_store(store_url)
        journal = Journal(store.journal, ThreadWaiting(), SystemClock())
        journal.open()
        journal.submit(decision()).result(WAIT_S)
        journal.close()
        store.close()
    store = open_store(store_url)
    starts = list(store.journal.citing())
    report = verify(store.journal.in_chain_order(), lambda: starts, store.journal.heads())
    store.close()
    assert (report.ok, report.records, report.chains) == (True, 6, 3)
    assert [[cited.chain for cited in start.cites] for start in starts] == [[], [starts[0].chain], [starts[1].chain]]


def test_two_replicas_on_postgresql_write_two_whole_chains(postgres_url):
    stores = [open_store(postgres_url) for _ in range(2)]
    journals = [Journal(store.journal, ThreadWaiting(), SystemClock()) for store in stores]
    for journal in journals:
        journal.open()
    for waiter in [journal.submit(decision()) for _ in range(20) for journal in journals]:
        waiter.result(WAIT_S)
    for journal in journals:
        journal.close()
    report = verify(stores[0].journal.in_chain_order(), stores[0].journal.citing, stores[0].journal.heads())
    assert (report.ok, report.records, report.chains) == (True, 42, 2)
    for store in stores:
        store.close()
