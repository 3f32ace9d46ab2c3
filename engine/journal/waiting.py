"""How a caller waits for its record: as a thread, or on an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import Future

from engine.errors import StoreError


class ThreadWaiting:
    def new(self) -> Future[None]:
        return Future()

    def settle(self, waiters: Sequence[Future[None]], error: StoreError | None) -> None:
        _settle(waiters, error)


class LoopWaiting:
    """One wake-up of the loop for a whole group, where a future each would write to its self-pipe each time."""

    def new(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    def settle(self, waiters: Sequence[asyncio.Future[None]], error: StoreError | None) -> None:
        if waiters:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                waiters[0].get_loop().call_soon_threadsafe(_settle, waiters, error)


def _settle(waiters: Sequence[asyncio.Future[None] | Future[None]], error: StoreError | None) -> None:
    for waiter in waiters:
        if waiter.done():  # its caller went away; the record is written all the same
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)
