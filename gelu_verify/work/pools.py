"""What is common to all executors, and those of the standard library; `executors` opens one by its name."""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_any
from typing import Any, TypeVar

from ..errors import GeluVerifyError, RemoteError, UsageError

Item = TypeVar("Item")
R = TypeVar("R")
THREADS, PROCESSES, DASK = "threads", "processes", "dask"
SCHEMES = ("tcp://", "tls://")
LOOK = 1.0  # seconds after which it is looked how many workers there are now
CONTINUES = "the same command continues"


class Misfit(GeluVerifyError):
    """A worker that cannot do this work as the client would; `worker`: its address."""

    worker = ""


@dataclass(frozen=True, kw_only=True)
class Where:
    """An executor as a user names it: UsageError where there is none of that name.

    `tls_ca`, `tls_cert`, `tls_key`: files by which a scheduler is known, and by which it knows us; default: what Dask's
    own configuration says. `dashboard`: with the page on which Dask shows what it does. `item_seconds`: after which an
    item ends at the next chunk, so that little is lost with a worker; longer ones are less work for a scheduler.
    """

    name: str = THREADS
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    dashboard: bool = False
    item_seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in (THREADS, PROCESSES, DASK) and not self.name.startswith(SCHEMES):
            raise UsageError(
                f"executor {self.name!r} is not known (accepted: threads, processes, dask, tcp://host:port, "
                "tls://host:port)"
            )
        files = (self.tls_ca, self.tls_cert, self.tls_key)
        if any(files) and not all(files):
            raise UsageError("TLS needs three files: that of the authority, the certificate, and its key")
        if any(files) and not self.name.startswith("tls://"):
            raise UsageError(f"TLS is for a scheduler at tls://host:port, not for executor {self.name}")
        if self.dashboard and self.name in (THREADS, PROCESSES):
            raise UsageError(f"executor {self.name} has no dashboard (accepted: dask, tcp://host:port)")

    @property
    def shares_memory(self) -> bool:
        """Whether work runs in this process, with the objects that are here."""
        return self.name == THREADS


ON_THREADS = Where()


class Pool(ABC):
    """An open executor."""

    shares_memory = False
    attempts = 3  # at an item that is lost with its worker

    @property
    @abstractmethod
    def width(self) -> int:
        """How many items it does at once, now: workers of a cluster come and go."""

    @property
    def window(self) -> int:
        """How many items it is given at once: no worker waits for the next one, and the results fit into memory."""
        return 2 * self.width

    @abstractmethod
    def submit(self, function: Callable[[Item], R], item: Item) -> Future[R]:
        """As of an Executor."""

    def is_lost(self, error: BaseException) -> bool:
        """Whether an item ended so because its worker did."""
        return False

    def refuse(self, error: Misfit) -> None:
        """Give that worker nothing more; RemoteError where none is left."""
        raise RemoteError(f"a worker cannot be used: {error}")

    @cached_property
    def _spent(self) -> dict[tuple[tuple[str, str], ...], list[float]]:
        """Seconds of one core, by the facts of the machine that it is in."""
        return defaultdict(list)

    def spend(self, machine: Mapping[str, str], core_seconds: float) -> None:
        """A worker of that machine spent so much; from any thread."""
        self._spent[tuple(machine.items())].append(core_seconds)

    def described(self) -> list[dict[str, Any]]:
        """What a manifest says of the machines that took part."""
        return [{**dict(key), "core_seconds": round(sum(spent), 3)} for key, spent in sorted(self._spent.items())]


class LocalPool(Pool):
    """An executor of the standard library."""

    def __init__(self, executor: Executor, width: int, shares_memory: bool) -> None:
        self._executor, self._width, self.shares_memory = executor, width, shares_memory

    @property
    def width(self) -> int:
        return self._width

    @property
    def window(self) -> int:
        return 1 if isinstance(self._executor, InThisThread) else super().window

    def submit(self, function: Callable[[Item], R], item: Item) -> Future[R]:
        return self._executor.submit(function, item)


class ProcessPool(Pool):
    """Processes of this machine, started afresh where one of them died."""

    def __init__(self, width: int) -> None:
        self._width, self._lock = width, threading.Lock()
        self._executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._width, get_context("spawn"), initializer=_begin_worker)

    @property
    def width(self) -> int:
        return self._width

    def submit(self, function: Callable[[Item], R], item: Item) -> Future[R]:
        with self._lock:
            try:
                return self._executor.submit(function, item)
            except BrokenProcessPool:
                self._executor.shutdown(wait=False)
                self._executor = self._started()
                return self._executor.submit(function, item)

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, BrokenProcessPool)

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that started these answers it, and they end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker also holds the end of the pipe into which its parent writes, so it never sees the pipe closed."""
    if (parent := parent_process()) is not None:
        wait_for_any([parent.sentinel])
        os._exit(1)


class InThisThread(Executor):
    """Does what it is given at once, in the thread of the caller, as a debugger expects."""

    def submit(self, function: Callable[..., R], /, *arguments: Any, **options: Any) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:  # noqa: BLE001 - raised again by `result`
            future.set_exception(error)
        return future


@contextmanager
def on_threads(workers: int) -> Iterator[Pool]:
    """So many threads; one is that of the caller."""
    with InThisThread() if workers == 1 else ThreadPoolExecutor(workers) as executor:
        yield LocalPool(executor, workers, shares_memory=True)


def results(pool: Pool, function: Callable[[Item], R], items: deque[Item]) -> Iterator[tuple[Item, R]]:
    """(item, `function(item)`) of each item, as they end; items may be added to the deque meanwhile.

    The iterator ends when nothing is left. What `function` raises is raised here; then, and when the caller leaves, no
    further item is begun.

    Raises
    ------
    RemoteError : an item was lost with its worker again and again, or the executor itself was
    """
    waiting: dict[Future[R], tuple[Item, int]] = {}
    lost: deque[tuple[Item, int]] = deque()
    try:
        while items or lost or waiting:
            while (items or lost) and len(waiting) < max(pool.window, 1):
                item, times = lost.popleft() if lost else (items.popleft(), 0)
                waiting[pool.submit(function, item)] = item, times
            for future in wait(waiting, LOOK, FIRST_COMPLETED).done:
                item, times = waiting.pop(future)
                error = None if future.cancelled() else future.exception()
                if future.cancelled():
                    raise RemoteError(f"the executor was lost; {CONTINUES}")
                if error is None:
                    yield item, future.result()
                elif isinstance(error, Misfit):
                    pool.refuse(error)
                    lost.append((item, times))
                elif not pool.is_lost(error):
                    raise error
                elif times + 1 < pool.attempts:
                    lost.append((item, times + 1))
                else:
                    raise RemoteError(f"item {item} was lost again and again with its worker ({error}); {CONTINUES}")
    finally:
        for future in waiting:
            future.cancel()
