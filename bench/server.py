"""A real `lictor serve` of this checkout, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

READY = b"the API is at http://127.0.0.1:"
ROOT = Path(__file__).parent.parent


class Server:
    """Started on entry and ready then; stopped on exit, if it still runs."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder = folder
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("LICTOR_")}
        self._environment.update({f"LICTOR_{name.upper()}": value for name, value in settings.items()})
        self._environment["PYTHONPATH"] = str(ROOT)
        self.port = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "serve", "--port", "0"], cwd=self._folder, env=self._environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if READY in line:
                self.port = int(line.partition(READY)[2].split()[0])
                return self
        raise RuntimeError(f"the server ended with code {self._process.wait()} before it was ready")

    @property
    def key(self) -> str:
        return (self._folder / ".lictor" / "operator.key").read_text().strip()

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)
        if self._process.stdout is not None:
            self._process.stdout.close()
