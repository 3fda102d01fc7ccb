"""Thread pools with a bounded queue: a call that does not fit is refused with 429."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

from .problems import Problem

P = ParamSpec("P")
T = TypeVar("T")


class WorkerPool:
    """`threads` threads and a queue of at most `queue` calls.

    A call whose client has gone keeps its place until it ends, because a thread cannot be stopped: limit what a call
    may do instead.
    """

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.name, self.capacity = name, threads + queue
        self.inflight = 0
        self._lock = Lock()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start or queue a call; Problem 429 if the queue is full."""
        with self._lock:
            if self.inflight >= self.capacity:
                detail = f"{self.capacity} requests of this kind are running or queued: try again"
                raise Problem(429, "busy", detail, {"Retry-After": "1"})
            self.inflight += 1
        try:
            future = self._executor.submit(work, *args, **kwargs)
        except RuntimeError:  # shut down between two requests
            self._done(None)
            raise Problem(503, "shutting-down", "the server is shutting down", {"Retry-After": "5"}) from None
        future.add_done_callback(self._done)
        return future

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call."""
        return await asyncio.wrap_future(self.submit(work, *args, **kwargs))

    def close(self) -> None:
        """Cancel what is queued; do not wait for what is running."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _done(self, future: Future[T] | None) -> None:
        with self._lock:
            self.inflight -= 1
