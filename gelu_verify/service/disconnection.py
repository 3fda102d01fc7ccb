"""Work that is stopped when the client that waits for it has left."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Scope

from .problems import CLIENT_LEFT, Problem
from .protocol import LEFT

T = TypeVar("T")
GRACE_S = 1.0
"""For so long work may go on: a client that closed its half only gets most responses, and few processes are ended."""


class ClientLeft(Problem):
    """Work was stopped because nobody waits for it."""

    def __init__(self) -> None:
        super().__init__(CLIENT_LEFT, "client-left", "the client has left")


async def unless_client_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled soon after the client leaves.

    Raises
    ------
    ClientLeft : the client has closed the connection, or its half
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=GRACE_S)
        if task.done():
            return task.result()
        raise ClientLeft
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def has_left(scope: Scope) -> bool:
    """Whether the client has closed the connection, or its half of it, as far as our server says."""
    left: asyncio.Event | None = scope.get("extensions", {}).get(LEFT)
    return left is not None and left.is_set()


async def client_has_left(request: Request) -> bool:
    """Whether the client has closed the connection, or its half of it."""
    left: asyncio.Event | None = request.scope.get("extensions", {}).get(LEFT)
    return await request.is_disconnected() if left is None else left.is_set()


async def _gone(request: Request) -> None:
    """Return when the client has left."""
    left: asyncio.Event | None = request.scope.get("extensions", {}).get(LEFT)
    if left is not None:
        await left.wait()
        return
    while (await request.receive())["type"] != "http.disconnect":  # a server that is not ours
        pass
