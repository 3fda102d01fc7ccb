"""Pools of threads with a bounded queue, in which clients take turns; a call that does not fit is refused with 429."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from .clients import CLIENT, busy
from .problems import shutting_down

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class _Call:
    future: Future[Any]
    work: Callable[[], Any]


class WorkerPool:
    """`threads` threads and a queue of at most `queue` calls, half of the places for one client.

    The next call to run is one of the client that has waited longest since its last turn. A call that is cancelled
    while it is queued leaves the queue; one that runs keeps its thread until it ends.
    """

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.name, self.threads, self.capacity = name, threads, threads + queue
        self.per_client = max(1, self.capacity // 2)
        self.inflight = 0
        self.on_change: Callable[[float], None] = lambda inflight: None
        self._inflight_of: dict[str, int] = {}
        self._running = 0
        self._closed = False
        self._waiting: dict[str, deque[_Call]] = {}  # by client, the next one first
        self._lock = Lock()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start or queue a call; Problem 429 if the queue, or the client's share of it, is full."""
        client = CLIENT.get()
        call = _Call(Future(), lambda: work(*args, **kwargs))
        with self._lock:
            if self._closed:
                raise shutting_down()
            mine = self._inflight_of.get(client, 0)
            if self.inflight >= self.capacity:
                raise busy(f"{self.capacity} requests of this kind are running or queued")
            if mine >= self.per_client:
                raise busy(f"{mine} of your requests of this kind are running or queued")
            self.inflight += 1
            self._inflight_of[client] = mine + 1
            self.on_change(self.inflight)
            self._waiting.setdefault(client, deque()).append(call)
        call.future.add_done_callback(lambda _: self._leave(client))
        self._start_waiting()
        return call.future

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call."""
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

    def _start_waiting(self) -> None:
        """Give free threads to waiting calls, one client after the other."""
        with self._lock:
            while self._running < self.threads and self._waiting:
                client = next(iter(self._waiting))
                calls = self._waiting.pop(client)
                call = calls.popleft()
                if calls:
                    self._waiting[client] = calls  # behind the other clients
                if call.future.set_running_or_notify_cancel():
                    self._running += 1
                    self._executor.submit(self._run, call)

    def _run(self, call: _Call) -> None:
        try:
            result = call.work()
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller
            self._end()
            call.future.set_exception(error)
        else:
            self._end()
            call.future.set_result(result)

    def _end(self) -> None:
        with self._lock:
            self._running -= 1
        if not self._closed:
            self._start_waiting()

    def _leave(self, client: str) -> None:
        with self._lock:
            self.inflight -= 1
            self.on_change(self.inflight)
            self._inflight_of[client] -= 1
            if not self._inflight_of[client]:
                del self._inflight_of[client]
