"""The one thread that writes the journal: it takes whatever waits, seals it into the chain, and commits it as a group.

While one group is being synced the next one gathers, so the cost of a sync is shared by everyone who waits for it.
Callers of the last group come back one by one; the writer gives them a moment (a fraction of what a commit takes)
instead of syncing the first one alone. A group that fails is answered with the failure and the chain is left behind: a
new one begins, citing what is really in the store, because after a lost connection nobody knows whether the commit
arrived.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from engine.clock import Clock
from engine.errors import JournalOverloaded, StoreError, StoreUnavailable
from engine.ids import new_decision_id, new_id
from engine.journal.record import GENESIS, Citation, Draft, Durability, Kind, Record, seal
from engine.jsontext import canonical

log = logging.getLogger("lictor.journal")

W = TypeVar("W")


class JournalStore(Protocol):
    """Where groups of records become durable."""

    def append(self, records: Sequence[Record]) -> None:
        """All of them, synced to disk, or none (`StoreError`)."""
        ...

    def loose_heads(self) -> list[Citation]:
        """The last record of every chain that no later chain has cited yet."""
        ...


class Waiting(Protocol[W]):
    """How callers wait: threads and event loops differ in that, and in nothing else."""

    def new(self) -> W: ...

    def settle(self, waiters: Sequence[W], error: StoreError | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may wait in memory, and what goes into one commit."""

    waiting_records: int = 20_000
    waiting_bytes: int = 128 * 1024 * 1024
    group_records: int = 1_000
    group_bytes: int = 16 * 1024 * 1024
    gather_share: float = 0.25
    """Of the last commit's time: how long a group smaller than the last one is waited for."""
    gather_s: float = 0.002
    """At the most."""


@dataclass(slots=True)
class Counts:
    records: int = 0
    groups: int = 0
    lost: int = 0
    """Answered in relaxed mode, and then not written."""


@dataclass(slots=True)
class _Entry(Generic[W]):
    draft: Draft
    waiter: W | None
    arrived: float


class Journal(Generic[W]):
    def __init__(
        self,
        store: JournalStore,
        waiting: Waiting[W],
        clock: Clock,
        durability: Durability = Durability.DURABLE,
        bounds: Bounds | None = None,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._clock = clock
        self._durability = durability
        self._bounds = bounds or Bounds()
        self.counts = Counts()
        self._changed = threading.Condition()
        self._queue: deque[_Entry[W]] = deque()
        self._queued_bytes = 0
        self._closing = False
        self._wake_at = 1
        self._last_size = 0
        self._last_commit_s = 0.0
        self._writing_since: float | None = None
        self._failed = False
        self._head: Citation | None = None
        self._thread = threading.Thread(target=self._run, name="lictor-journal", daemon=True)

    def open(self) -> None:
        """Begin a chain: its first record is durable, so the store can be written, before anything is answered."""
        self._head = self._begin_chain()
        self._thread.start()

    def submit(self, draft: Draft, *, wait: bool = False) -> W:
        """Queue `draft`; what is returned is settled when the record is durable. In relaxed mode that is at once,
        unless `wait` asks for more or the buffer is full: then relaxed callers wait as durable ones do."""
        waiter = self._waiting.new()
        with self._changed:
            if self._closing or not self._thread.is_alive():
                raise StoreUnavailable("the journal is closed; the server is stopping")
            if len(self._queue) >= self._bounds.waiting_records or self._queued_bytes >= self._bounds.waiting_bytes:
                raise JournalOverloaded("the journal cannot keep up with the disk; try again in a second")
            answered = self._durability is Durability.RELAXED and not wait and self._has_room()
            self._queue.append(_Entry(draft, None if answered else waiter, time.monotonic()))
            self._queued_bytes += len(draft.payload)
            if len(self._queue) >= self._wake_at:
                self._changed.notify()
        if answered:
            self._waiting.settle([waiter], None)
        return waiter

    def lag_s(self) -> float:
        """How long the oldest record has been waiting for the disk."""
        with self._changed:
            oldest = self._writing_since or (self._queue[0].arrived if self._queue else None)
            return time.monotonic() - oldest if oldest is not None else 0.0

    def waiting_records(self) -> int:
        return len(self._queue)

    def trouble(self) -> str | None:
        """Why nothing can be journaled now; None as long as the last group was written."""
        if not self._thread.is_alive():
            return "the journal writer has ended"
        return "the last records could not be written" if self._failed else None

    def close(self) -> None:
        """Write what waits, then end. What comes later is refused."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def _has_room(self) -> bool:
        return (
            len(self._queue) < self._bounds.waiting_records // 2
            and self._queued_bytes < self._bounds.waiting_bytes // 2
        )

    def _run(self) -> None:
        while group := self._next_group():
            began = time.monotonic()
            self._writing_since = group[0].arrived
            error = self._commit([entry.draft for entry in group])
            self._writing_since, self._failed = None, error is not None
            self._last_size, self._last_commit_s = len(group), time.monotonic() - began
            waiters = [entry.waiter for entry in group if entry.waiter is not None]
            if error is not None:
                self.counts.lost += len(group) - len(waiters)
                log.error("journal group failed", extra={"records": len(group), "error": error.message})
            try:
                self._waiting.settle(waiters, error)
            except Exception:  # a caller that cannot be told must not end the journal for all others
                log.exception("journal callers could not be told")

    def _next_group(self) -> list[_Entry[W]]:
        """What waits now, bounded; empty only when closing and drained."""
        group: list[_Entry[W]] = []
        room = self._bounds.group_bytes
        with self._changed:
            self._gather()
            while self._queue and room > 0 and len(group) < self._bounds.group_records:
                entry = self._queue.popleft()
                room -= len(entry.draft.payload)
                group.append(entry)
            self._queued_bytes -= sum(len(entry.draft.payload) for entry in group)
        return group

    def _gather(self) -> None:
        """Wait for something to write, then a moment for as much as there was last time."""
        self._wake_at = 1
        while not self._queue and not self._closing:
            self._changed.wait()
        moment = min(self._last_commit_s * self._bounds.gather_share, self._bounds.gather_s)
        self._wake_at = min(self._last_size, self._bounds.group_records)
        if len(self._queue) < self._wake_at and not self._closing:
            self._changed.wait(moment)

    def _commit(self, drafts: Sequence[Draft]) -> StoreError | None:
        try:
            head = self._head or self._begin_chain()
            self._head = None
            records = self._seal(drafts, head)
            self._store.append(records)
        except StoreError as error:
            return error
        except Exception as error:
            log.exception("journal writer")
            return StoreUnavailable(f"the journal could not be written: {error}")
        self._head = _citation(records[-1])
        self.counts.records += len(records)
        self.counts.groups += 1
        return None

    def _begin_chain(self) -> Citation:
        start = Draft(
            kind=Kind.START,
            decision_id=new_decision_id(),
            time_ns=self._clock.now_ns(),
            payload=canonical({"pid": os.getpid()}),
            cites=tuple(self._store.loose_heads()),
        )
        records = self._seal([start], Citation(new_id("chain"), 0, GENESIS))
        self._store.append(records)
        return _citation(records[0])

    def _seal(self, drafts: Sequence[Draft], head: Citation) -> list[Record]:
        records = []
        salts = os.urandom(16 * len(drafts))
        for place, draft in enumerate(drafts):
            record = seal(draft, head, self._durability, salts[16 * place : 16 * place + 16])
            head = _citation(record)
            records.append(record)
        return records


def _citation(record: Record) -> Citation:
    return Citation(record.chain, record.seq, record.hash)
