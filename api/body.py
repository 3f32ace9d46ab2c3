"""Request bodies within their limit: one middleware for every route, and a plain reader for the decision route."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.errors import InvalidParameter, TooLarge

BODY_S = 10.0


class BodyTooLarge(TooLarge, HTTPException):
    """An HTTPException too, because FastAPI passes only those through while it reads a body."""

    def __init__(self, size: int, limit: int) -> None:
        message = f"body: {size} bytes or more, the limit is {limit}; send less, or raise LICTOR_MAX_BODY_BYTES"
        TooLarge.__init__(self, message)
        self.status_code, self.detail, self.headers = 413, message, None


class BodyTooSlow(InvalidParameter, HTTPException):
    def __init__(self) -> None:
        message = f"body: nothing more arrived for {BODY_S:g} s"
        InvalidParameter.__init__(self, message)
        self.status_code, self.detail, self.headers = 400, message, None


class BodyLimit:
    """What is announced too large is refused unread; what grows too large is cut off."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, complete = 0, False

        async def limited() -> Message:
            nonlocal size, complete
            announced = _announced(scope) if size == 0 else 0
            if announced > self._limit:
                raise BodyTooLarge(announced, self._limit)
            message = await (receive() if complete else _in_time(receive))
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if size > self._limit:
                raise BodyTooLarge(size, self._limit)
            return message

        await self._app(scope, limited if scope["type"] == "http" else receive, send)


async def read_body(headers: Mapping[bytes, str], receive: Receive) -> bytes:
    encoding = headers.get(b"content-encoding", "identity")
    if encoding != "identity":
        raise InvalidParameter(f"content-encoding: {encoding} is not understood; send the body as it is")
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidParameter("body: the connection ended before it was complete")
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _in_time(receive: Receive) -> Message:
    try:
        async with asyncio.timeout(BODY_S):
            return await receive()
    except TimeoutError as error:
        raise BodyTooSlow from error


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
