"""Bounded work: so many threads, so many who wait, and 429 for everybody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

from .problems import Problem

P = ParamSpec("P")
T = TypeVar("T")


class Room:
    """A pool of `slots` threads in which at most `waiting` calls wait.

    A call that nobody waits for any more keeps its place until it ends: threads cannot be stopped, so it is
    what they may be asked that is limited.
    """

    def __init__(self, name: str, slots: int, waiting: int) -> None:
        self.name, self.capacity = name, slots + waiting
        self.inside = 0
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix=name)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start or queue `work`; Problem 429 when the room is full."""
        with self._lock:
            if self.inside >= self.capacity:
                detail = f"{self.capacity} requests of this kind are at work or waiting: try again"
                raise Problem(429, "busy", detail, {"Retry-After": "1"})
            self.inside += 1
        try:
            future = self._pool.submit(work, *args, **kwargs)
        except RuntimeError:  # shut down between two requests
            self._left(None)
            raise Problem(503, "shutting-down", "the server is shutting down", {"Retry-After": "5"}) from None
        future.add_done_callback(self._left)
        return future

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work` in this room, awaited."""
        return await asyncio.wrap_future(self.submit(work, *args, **kwargs))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _left(self, future: Future[T] | None) -> None:
        with self._lock:
            self.inside -= 1
