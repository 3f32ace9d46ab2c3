"""The real command in real processes: a server on a free port, and commands as a person types them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbeds.postgres import free_port

LICTOR = str(Path(sys.executable).with_name("lictor"))
READY_S = 30.0


class Terminal:
    """A folder in which commands are typed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("LICTOR_")}

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [LICTOR, *arguments], cwd=self.folder, env=self.environment, input=stdin, text=True,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip


class RunningServer:
    """`lictor serve` until it has said all it has to say, or ended."""

    def __init__(self, terminal: Terminal, *arguments: str) -> None:
        self.port = free_port()
        self.said = ""
        self.process = subprocess.Popen(
            [LICTOR, "serve", "--port", str(self.port), *arguments], cwd=terminal.folder, env=terminal.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._greeted = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._greeted.wait(READY_S), self.said
        terminal.environment["LICTOR_SERVER"] = f"http://127.0.0.1:{self.port}"

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(READY_S)
        self._reader.join(READY_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if line.startswith("  curl "):
                self._greeted.set()
        self._greeted.set()


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.fixture
def server(terminal: Terminal) -> Iterator[RunningServer]:
    running = RunningServer(terminal)
    yield running
    running.stop(signal.SIGKILL)
