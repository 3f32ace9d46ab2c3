"""uvicorn's HTTP protocol with what it lacks: a bound on the size of a request's head, and on how long it may take.

Nobody is known yet while a head is being read, so nobody may make the server wait or fill its memory with one.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 64 * 1024
HEAD_S = 10.0

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b'content-length: 67\r\n\r\n{"code":"too_large","message":"headers: the limit is 65536 bytes"}\n'
)


class BoundedHttp(HttpToolsProtocol):
    _head_bytes = 0
    _head_done = False
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if not self._head_done and self._head_bytes > MAX_HEAD and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_done = True
        self._stop_timer()
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._head_bytes, self._head_done = 0, False
        self._stop_timer()
        self._head_timer = asyncio.get_running_loop().call_later(HEAD_S, self._give_up)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        if not self._head_done and not self.transport.is_closing():
            self.transport.close()
