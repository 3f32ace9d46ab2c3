"""Ends what takes too long: a thread that looks at all evaluations now and then and interrupts the late ones.

Compiled code counts its own steps, but a builtin, a comparison or the hash of a large value does not. So a late
evaluation is interrupted wherever its Python code is, by an exception that its thread gets from outside. What no thread
can interrupt is a single call of a C function: builtins bound what they hand to those.

The exception must never arrive after the evaluation has ended: a guard that is closed takes back an order that was not
carried out yet, and gives none any more.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

EVERY_S: Final = 0.02
"""How often it looks."""

T = TypeVar("T")


class Interrupted(BaseException):
    """Not an Exception: nothing on its way may take it for an ordinary fault."""


class TooLate(Exception):
    """The work was not done in time."""


def in_time(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives; TooLate if that takes longer."""
    if seconds == math.inf:
        return work()
    guard = _Guard(time.monotonic() + seconds)
    found: list[T] = []
    fault: Exception | None = None
    # No call may stand outside of the two `try` from here until the guard is closed: the exception could come there.
    try:
        fault = _attempted(guard, work, found)
    except Interrupted:
        guard.is_open = False
    while True:
        try:
            guard.close()
            break
        except Interrupted:  # it came while the guard was being closed
            guard.is_open = False
    WATCHDOG.forget(guard)
    if guard.interrupted:
        raise TooLate
    if fault is not None:
        raise fault
    return found[0]


def _attempted(guard: _Guard, work: Callable[[], T], found: list[T]) -> Exception | None:
    try:
        WATCHDOG.watch(guard)
        found.append(work())
    except Exception as error:  # noqa: BLE001  raised again, once nothing can be interrupted any more
        return error
    return None


class _Guard:
    __slots__ = ("_lock", "deadline", "interrupted", "is_open", "thread")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.thread = ctypes.c_ulong(threading.get_ident())
        self.interrupted = False
        self.is_open = True
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            self.is_open = False
            if self.interrupted:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self.thread, None)

    def interrupt(self) -> None:
        """Repeated until the guard is closed: where Python ignores exceptions, as in `__del__`, one gets lost."""
        with self._lock:
            if self.is_open:
                self.interrupted = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self.thread, ctypes.py_object(Interrupted))


class Watchdog:
    """One thread for all evaluations; it sleeps while there are none."""

    def __init__(self) -> None:
        self._guards: set[_Guard] = set()
        self._needed = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, guard: _Guard) -> None:
        self._guards.add(guard)
        if not self._needed.is_set():
            self._needed.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._look, name="rego-watchdog", daemon=True)
            self._thread.start()

    def forget(self, guard: _Guard) -> None:
        self._guards.discard(guard)

    def _look(self) -> None:
        while True:
            self._needed.wait()
            time.sleep(EVERY_S)
            self._needed.clear()
            now = time.monotonic()
            for guard in self._guards.copy():
                self._needed.set()
                if now > guard.deadline and guard.is_open:
                    guard.interrupt()


WATCHDOG: Final = Watchdog()
