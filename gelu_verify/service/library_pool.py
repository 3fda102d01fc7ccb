"""Outputs of the installed libraries: each library has a process of its own, which is stopped when idle.

A library may crash, hang, grow or raise: that is reported as its result. Each computes one request at a time,
`library_threads` of them at the same time, in at most `libraries_running` processes, so that clients cannot overload
the machine. The processes run at a lower priority than the server.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock, Semaphore

import numpy as np

from ..formats import Format
from .disconnection import ClientLeft
from .library_worker import FamilyOutputs, LibraryWorker
from .problems import Problem, not_found, shutting_down
from .settings import ServiceLimits
from .telemetry import Metrics
from .worker_pool import WorkerPool

_POLL_S = 0.25  # how often a waiting request is checked for a lost client or its time limit


def default_families() -> tuple[str, ...]:
    """The target families that `run` tests by default on a CPU, and the published re-implementations."""
    from ..targets import asked_for, device_of

    names = [name for name in asked_for(None, False)[0] if device_of(name) == "cpu"]
    return (*names, "published")


class LibraryPool:
    """The library workers of a server; a process is started by the first request to its library."""

    def __init__(self, families: Sequence[str] | None, limits: ServiceLimits, metrics: Metrics) -> None:
        self._limits, self._families, self._metrics = limits, families, metrics
        self._running = Semaphore(limits.library_threads)
        self._lock = Lock()
        self._workers: dict[str, LibraryWorker] | None = None
        self._queues: dict[str, WorkerPool] = {}
        self._idle_timers: dict[str, TimerHandle] = {}

    def workers(self) -> dict[str, LibraryWorker]:
        """The worker of each target family; those without a process, which are the quickest, first."""
        if self._workers is not None:
            return self._workers
        with self._lock:
            if self._workers is None:
                names = default_families() if self._families is None else self._families
                workers = [LibraryWorker(name, self._limits) for name in dict.fromkeys(names)]
                for worker in workers:
                    self._queues[worker.name] = WorkerPool(f"library {worker.name}", 1, self._limits.library_queue)
                    self._metrics.watch(self._queues[worker.name])
                self._workers = {each.name: each for each in sorted(workers, key=lambda each: not each.in_process)}
            return self._workers

    async def compute(
        self, family: str, function: str, fmt: Format, x_bits: int, client_left: Callable[[], Awaitable[bool]]
    ) -> FamilyOutputs:
        """What the targets of one family return for one input.

        A request whose client has left is dropped from the queue.

        Raises
        ------
        Problem : 404 unknown family; 429 its queue is full; 503 it was not reached in time
        ClientLeft : the client has left
        """
        worker = await self._worker(family)
        cached = worker.cached(function, fmt, x_bits)
        if cached is not None:
            return cached
        return await self._run(worker, partial(worker.compute, function, fmt, x_bits), client_left)

    async def compute_many(
        self, family: str, function: str, fmt: Format, x_bits: np.ndarray, client_left: Callable[[], Awaitable[bool]]
    ) -> FamilyOutputs:
        """The same for several inputs."""
        worker = await self._worker(family)
        return await self._run(worker, partial(worker.compute_many, function, fmt, x_bits), client_left)

    async def _worker(self, family: str) -> LibraryWorker:
        workers = await asyncio.to_thread(self.workers)
        if family not in workers:
            raise not_found(f"no target family {family[:40]!r} here (accepted: {', '.join(workers) or 'none'})")
        return workers[family]

    async def _run(
        self, worker: LibraryWorker, work: Callable[[], FamilyOutputs], client_left: Callable[[], Awaitable[bool]]
    ) -> FamilyOutputs:
        family = worker.name
        future = asyncio.wrap_future(self._queues[family].submit(self._compute, worker, work))
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.library_wait_s
        while not future.done():
            await asyncio.wait([future], timeout=_POLL_S)
            late = loop.time() > end
            if not future.done() and (late or await client_left()):
                future.cancel()
                if not late:
                    raise ClientLeft
                detail = f"{family} was busy for {self._limits.library_wait_s:g} s: try again"
                raise Problem(503, "busy", detail, {"Retry-After": "10"})
        self._stop_when_idle(loop, worker)
        return future.result()

    def _compute(self, worker: LibraryWorker, work: Callable[[], FamilyOutputs]) -> FamilyOutputs:
        if worker.in_process:
            return work()
        with self._running:
            self._stop_least_recent(worker)
            found = work()
        self._report_running()
        if worker.closed:
            raise shutting_down()
        return found

    def _report_running(self) -> None:
        self._metrics.libraries_running.set(sum(each.running for each in (self._workers or {}).values()))

    def _stop_least_recent(self, newcomer: LibraryWorker) -> None:
        """Stop the processes that were used longest ago, if there would be too many."""
        with self._lock:
            others = [each for each in (self._workers or {}).values() if each.running and each is not newcomer]
            surplus = len(others) + 1 - self._limits.libraries_running
            for each in sorted(others, key=lambda each: each.used_at):
                if surplus > 0 and each.stop_if_idle():
                    surplus -= 1

    def _stop_when_idle(self, loop: asyncio.AbstractEventLoop, worker: LibraryWorker) -> None:
        """Stop the worker's process unless it is used again within `library_idle_s`."""
        if worker.name in self._idle_timers:
            self._idle_timers[worker.name].cancel()
        self._idle_timers[worker.name] = loop.call_later(self._limits.library_idle_s, self._stop_idle, worker)

    def _stop_idle(self, worker: LibraryWorker) -> None:
        """In the worker's thread: stopping a large process would block the event loop."""
        with suppress(Problem):  # its queue is full, so it is not idle
            stopped = self._queues[worker.name].submit(worker.stop_if_idle)
            stopped.add_done_callback(lambda _: self._report_running())

    def close(self) -> None:
        """Stop every process; requests that wait for one get 503."""
        for queue in self._queues.values():
            queue.close()
        for worker in (self._workers or {}).values():
            worker.close()
