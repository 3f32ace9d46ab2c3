"""A small keep-alive HTTP/1.1 client: on two cores, a load generator must cost less than what it measures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ServerGone(Exception):
    """The connection ended, or was refused."""


class Asking:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> None:
        self._reader = reader
        self._writer = writer
        self._headers = f"host: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n"

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and whole body; `ServerGone` if any of it is missing."""
        head = f"POST {path} HTTP/1.1\r\n{self._headers}content-length: {len(body)}\r\n\r\n"
        try:
            self._writer.write(head.encode() + body)
            await self._writer.drain()
            answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(answer.partition("content-length:")[2].partition("\r\n")[0])
            return int(answer.split(" ", 2)[1]), await self._reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ServerGone from error


@asynccontextmanager
async def ask(port: int, key: str) -> AsyncIterator[Asking]:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError as error:
        raise ServerGone from error
    try:
        yield Asking(reader, writer, key)
    finally:
        writer.close()
