"""Who is asking: an API key in `Authorization: Bearer …`, looked up once and remembered for a few seconds."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Annotated

from fastapi import Depends, Request, params

from engine.access.keys import PresentedKey, parse_key
from engine.access.roles import Identity, Permission
from engine.errors import Unauthenticated
from engine.store.keys import KeyRepository

REMEMBERED_S = 5.0
"""So long a revoked key may still open another replica."""
REMEMBERED_KEYS = 10_000

_HELP = "send an API key as `Authorization: Bearer lictor_…`"


class Authenticator:
    def __init__(self, keys: KeyRepository) -> None:
        self._keys = keys
        self._known: dict[bytes, tuple[Identity, float]] = {}
        self._generation = 0

    async def identify(self, authorization: str) -> Identity:
        scheme, _, token = authorization.partition(" ")
        presented = parse_key(token.strip()) if scheme.lower() == "bearer" else None
        if presented is None:
            raise Unauthenticated("no API key; " + _HELP if not authorization else "not an API key; " + _HELP)
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None and time.monotonic() < known[1]:
            return known[0]
        return await self._look_up(presented, digest)

    def forget_all(self) -> None:
        """Also what is being looked up at this moment."""
        self._generation += 1
        self._known.clear()

    async def _look_up(self, presented: PresentedKey, digest: bytes) -> Identity:
        generation = self._generation
        record = await asyncio.to_thread(self._keys.find, presented.id)
        if record is None or not presented.opens(record):
            raise Unauthenticated("unknown or revoked API key; " + _HELP)
        if generation == self._generation:
            if len(self._known) >= REMEMBERED_KEYS:
                self._known.clear()
            self._known[digest] = (record.identity, time.monotonic() + REMEMBERED_S)
        return record.identity


async def identity_of(request: Request) -> Identity:
    authenticator: Authenticator = request.app.state.runtime.authenticator
    return await authenticator.identify(request.headers.get("authorization", ""))


Caller = Annotated[Identity, Depends(identity_of)]


def requires(permission: Permission) -> params.Depends:
    """A dependency that lets only identities with `permission` through."""

    async def check(caller: Caller) -> None:
        caller.require(permission)

    return params.Depends(check)
