"""Pools of threads with a bounded queue, in which clients take turns; what does not fit is refused with 429."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from .clients import CLIENT, busy, note_quota
from .problems import shutting_down

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class _Call:
    future: Future[Any]
    work: Callable[[], Any]


class WorkerPool:
    """`threads` threads and places for at most `queue` requests more, half of the places for one client.

    A request has a place from its first call to its last. One call of a client runs at a time; the next one to run is
    of the client that has waited longest since its last turn. A call that is cancelled while it is queued leaves the
    queue; one that runs keeps its thread until it ends.
    """

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.name, self.threads, self.capacity = name, threads, threads + queue
        self.per_client = max(1, self.capacity // 2)
        self.inflight = 0
        self.on_change: Callable[[float], None] = lambda inflight: None
        self._inflight_of: dict[str, int] = {}
        self._running: set[str] = set()  # clients
        self._closed = False
        self._waiting: dict[str, deque[_Call]] = {}  # by client, the next one first
        self._lock = Lock()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for a request of the current client; Problem 429 if all, or those that it may have, are taken."""
        client = CLIENT.get()
        self._enter(client)
        try:
            yield
        finally:
            self._leave(client)

    async def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call of a request that has a place."""
        return await asyncio.wrap_future(self._queued(CLIENT.get(), lambda: work(*args, **kwargs)))

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A request of one call, which has a place until it ends; Problem 429 as above."""
        client = CLIENT.get()
        self._enter(client)
        future = self._queued(client, lambda: work(*args, **kwargs))
        future.add_done_callback(lambda _: self._leave(client))
        return future

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of such a request."""
        return await asyncio.wrap_future(self.submit(work, *args, **kwargs))

    def close(self) -> None:
        """Cancel what is queued; do not wait for what is running."""
        with self._lock:
            self._closed = True
            queued = [call for calls in self._waiting.values() for call in calls]
            self._waiting.clear()
        for call in queued:
            call.future.cancel()
        self._executor.shutdown(wait=False)

    def _queued(self, client: str, work: Callable[[], T]) -> Future[T]:
        call = _Call(Future(), work)
        with self._lock:
            if self._closed:
                raise shutting_down()
            self._waiting.setdefault(client, deque()).append(call)
        self._start_waiting()
        return call.future

    def _start_waiting(self) -> None:
        """Give free threads to waiting calls, one client after the other."""
        with self._lock:
            while len(self._running) < self.threads:
                client = next((each for each in self._waiting if each not in self._running), None)
                if client is None:
                    return
                calls = self._waiting.pop(client)
                call = calls.popleft()
                if calls:
                    self._waiting[client] = calls  # behind the other clients
                if call.future.set_running_or_notify_cancel():
                    self._running.add(client)
                    self._executor.submit(self._run, client, call)

    def _run(self, client: str, call: _Call) -> None:
        try:
            result = call.work()
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller
            self._end(client)
            call.future.set_exception(error)
        else:
            self._end(client)
            call.future.set_result(result)

    def _end(self, client: str) -> None:
        with self._lock:
            self._running.remove(client)
        if not self._closed:
            self._start_waiting()

    def _enter(self, client: str) -> None:
        with self._lock:
            if self._closed:
                raise shutting_down()
            mine = self._inflight_of.get(client, 0)
            free = min(self.per_client - mine, self.capacity - self.inflight)
            note_quota(self.name, self.per_client, max(0, free - 1))
            if self.inflight >= self.capacity:
                raise busy(f"{self.capacity} requests of this kind are running or queued")
            if mine >= self.per_client:
                raise busy(f"{mine} of your requests of this kind are running or queued")
            self.inflight += 1
            self._inflight_of[client] = mine + 1
            self.on_change(self.inflight)

    def _leave(self, client: str) -> None:
        with self._lock:
            self.inflight -= 1
            self.on_change(self.inflight)
            self._inflight_of[client] -= 1
            if not self._inflight_of[client]:
                del self._inflight_of[client]
