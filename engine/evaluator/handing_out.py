"""Handing out a few things to many threads, first come, first served.

`queue.Queue` lets a thread that has just returned something take it again before those who wait are awake; under load
some of them would then wait until their time is up. Here what is returned goes straight to whoever has waited longest.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class HandingOut(Generic[T]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[T] = []
        self._waiting: deque[_Waiter[T]] = deque()

    def put(self, item: T) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().receive(item)
            else:
                self._idle.append(item)

    def take(self, timeout_s: float = 0.0) -> T | None:
        """An item, the last one returned first (it is warm); None if none became free in time."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if timeout_s <= 0:
                return None
            waiter: _Waiter[T] = _Waiter()
            self._waiting.append(waiter)
        if not waiter.arrived.wait(timeout_s):
            with self._lock:
                if waiter.item is None:
                    self._waiting.remove(waiter)
        return waiter.item


class _Waiter(Generic[T]):
    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.item: T | None = None

    def receive(self, item: T) -> None:
        self.item = item
        self.arrived.set()
