"""One worker subprocess, seen from the parent: started, asked with a deadline, ended by its own id.

One thread holds a worker at a time; `kill` alone may come from another. Whoever holds it disposes of it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, cast

from engine.evaluator.frames import HEADER_BYTES, frame, missing_bytes

_SOURCE_ROOT: Final = Path(__file__).resolve().parents[2]
_COMMAND: Final = (sys.executable, "-s", "-m", "engine.evaluator.regopy_worker")
_READ_BYTES: Final = 1 << 20
_END_WAIT_S: Final = 5.0


class WorkerDiedError(Exception):
    pass


class WorkerTimeoutError(Exception):
    pass


class WorkerProcess:
    def __init__(self) -> None:
        # Nothing of our environment goes along: a rule could read it. Python needs to find its modules, no more.
        self._process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(_SOURCE_ROOT)},
            bufsize=0,
        )
        self._in = cast("IO[bytes]", self._process.stdin)
        self._out = cast("IO[bytes]", self._process.stdout)
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self._out.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, payload: bytes, deadline_s: float) -> bytes:
        """Send a frame and wait for the answer. After an exception the worker is only good to dispose of."""
        until = time.monotonic() + deadline_s
        self._write(frame(payload), until)
        return self._read(until)

    def hello(self, deadline_s: float) -> None:
        """Wait until the worker has regopy in memory; WorkerDiedError if it cannot be started at all."""
        self._read(time.monotonic() + deadline_s)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)

    def dispose(self) -> None:
        """End the process and leave nothing behind: no zombie, no descriptor."""
        self.kill()
        # A process that the kernel does not let go (a dead disk, say) must not hold up its killer.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_WAIT_S)
        self._in.close()
        self._out.close()

    def end(self) -> str:
        """How the process ended, in words."""
        code = self._process.returncode
        if code is None:
            return "still running"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"

    def _write(self, data: bytes, until: float) -> None:
        rest = memoryview(data)
        descriptor = self._in.fileno()
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                self._wait(descriptor, select.POLLOUT, until)
            except BrokenPipeError as error:
                raise WorkerDiedError("the worker closed its input") from error

    def _read(self, until: float) -> bytes:
        received = bytearray()
        descriptor = self._out.fileno()
        while missing := missing_bytes(received):
            self._wait(descriptor, select.POLLIN, until)
            chunk = os.read(descriptor, min(missing if received else HEADER_BYTES, _READ_BYTES))
            if not chunk:
                raise WorkerDiedError("the worker closed its output")
            received += chunk
        return bytes(received[HEADER_BYTES:])

    @staticmethod
    def _wait(descriptor: int, event: int, until: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left_ms = max(0.0, until - time.monotonic()) * 1000
        if not poll.poll(left_ms):
            raise WorkerTimeoutError("the deadline passed")
