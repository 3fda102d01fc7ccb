"""Turns in the event loop, which all clients share: to begin a request takes it a millisecond, whatever comes of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Scope

from .clients import busy
from .disconnection import ClientLeft, has_left


class RequestTurns:
    """The requests that the fast path does not answer: in each round of the event loop, one of each client begins."""

    def __init__(self, per_client: int) -> None:
        self._per_client = per_client
        self._running: dict[str, int] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def request(self, client: str, scope: Scope) -> AsyncIterator[None]:
        """A request, from its turn to its end.

        Raises
        ------
        Problem : 429, the client has `per_client` others; only through a proxy can it have so many
        ClientLeft : it left before its turn
        """
        mine = self._running.get(client, 0)
        if client and mine >= self._per_client:
            raise busy(f"{mine} of your requests are running or waiting")
        self._running[client] = mine + 1
        try:
            await self._turn(client)
            if has_left(scope):
                raise ClientLeft
            yield
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]

    async def _turn(self, client: str) -> None:
        loop, waiting = asyncio.get_running_loop(), self._waiting.get(client)
        if waiting is None:
            self._waiting[client] = deque()
            loop.call_soon(self._next, client)
        else:
            waiting.append(loop.create_future())
            await waiting[-1]

    def _next(self, client: str) -> None:
        """Called in each round while requests of the client wait."""
        waiting = self._waiting[client]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(None)
                asyncio.get_running_loop().call_soon(self._next, client)
                return
        del self._waiting[client]
