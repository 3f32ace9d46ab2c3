"""A real `opa run --server`, in a folder of its own, and what its own clock says of each evaluation."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from engine.jsontext import JsonValue, canonical

READY_S: Final = 30.0
ANSWER_S: Final = 30.0


class OpaFailed(Exception):
    """It did not start, or did not answer."""


@dataclass(frozen=True, slots=True)
class Timed:
    result: bytes
    """The document as canonical JSON; nothing if it is undefined."""
    eval_ns: int
    """Evaluation alone: neither JSON in nor JSON out."""
    handler_ns: int
    """The whole request inside the server, JSON in and out with it."""


def find_opa() -> str | None:
    """On PATH, or in the cache that `make testbeds` fills."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    testbeds = Path(os.environ.get("LICTOR_TESTBEDS") or caches / "lictor" / "testbeds")
    return shutil.which("opa") or shutil.which("opa", path=str(testbeds / "bin"))


class OpaServer:
    """Started on entry and ready then; stopped on exit."""

    def __init__(self, opa: str, folder: Path, modules: Mapping[str, str], data: JsonValue, path: str) -> None:
        self._opa = opa
        self._folder = folder
        self._path = f"/v1/data/{path}?metrics=true"
        for number, source in enumerate(modules.values()):
            (folder / f"module{number}.rego").write_text(source)
        (folder / "data.json").write_bytes(canonical(data))

    def __enter__(self) -> Self:
        port = _free_port()
        try:
            self._process = subprocess.Popen(
                [
                    self._opa, "run", "--server", "--addr", f"127.0.0.1:{port}", "--log-level", "error",
                    "--disable-telemetry", ".",
                ],
                cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise OpaFailed(f"{self._opa} cannot be run: {error}") from error
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        return self

    def ask(self, given: bytes) -> Timed:
        """`given` is the input as JSON text."""
        body = b'{"input":' + given + b"}"
        answer = self._exchange("POST", self._path, body)
        metrics = answer["metrics"]
        result = canonical(answer["result"]) if "result" in answer else b""
        return Timed(result, metrics["timer_rego_query_eval_ns"], metrics["timer_server_handler_ns"])

    def _exchange(self, method: str, path: str, body: bytes = b"") -> dict[str, Any]:
        try:
            self._connection.request(method, path, body, {"content-type": "application/json"})
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise OpaFailed(f"no answer of OPA: {error!r}") from error
        if response.status != 200:
            raise OpaFailed(f"OPA answered {response.status}: {text[:300].decode(errors='replace')}")
        found: dict[str, Any] = json.loads(text)
        return found

    def _wait(self) -> None:
        until = time.monotonic() + READY_S
        while True:
            try:
                self._exchange("GET", "/health")
            except OpaFailed as error:
                if (code := self._process.poll()) is not None:
                    raise OpaFailed(f"OPA ended with code {code}; does it take this policy?") from error
                if time.monotonic() > until:
                    raise OpaFailed(f"OPA is not ready after {READY_S:g} s") from error
                time.sleep(0.02)
            else:
                return

    def _end(self) -> None:
        self._connection.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
