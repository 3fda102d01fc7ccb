"""Pools of processes, so that what they compute does not hold the server's interpreter lock.

Each thread of a pool has one process, which `worker_process.serve` runs. A call that takes too long ends its process,
and so does one that is cancelled while it runs; a process that has too much memory is ended after its call. The next
call of that thread starts another: a fork of one that has imported all there is to import, whose memory they share.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread, local
from time import monotonic
from typing import Any

from . import worker_process
from .problems import Problem, shutting_down
from .worker_pool import WorkerPool

Answer = tuple[Any, bytes]
Progress = Callable[[int], None]
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["gelu_verify.service.worker_imports"])
_STARTING = Lock()
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LOST: tuple[str, Any, bytes] = "lost", "the process ended", b""


class TookTooLong(Problem):
    """A call was ended because of its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(503, "too-long", f"it took more than {seconds:g} s: ask for fewer digits or inputs")


class ProcessFailed(Exception):
    """A process ended in the middle of a task, or did what nobody expected."""


class _Process:
    """One process; `end` may be called from any thread."""

    def __init__(self, niceness: int) -> None:
        with _STARTING:
            self._pipe, theirs = _FORKS.Pipe()
            self._process = _FORKS.Process(target=worker_process.serve, args=(theirs, niceness), daemon=True)
            self._process.start()
            theirs.close()
        self._pipe.recv_bytes()  # it has started
        self._at_first = self._resident()

    def ask(self, request: bytes, content: bytes, seconds: float, progress: Progress) -> tuple[str, Any, bytes] | None:
        """The last response to a request: kind, value, bytes; `lost` if the process ended, None if it came too late."""
        try:
            self._pipe.send_bytes(request)
            self._pipe.send_bytes(content)
            end = monotonic() + seconds
            while self._pipe.poll(max(0.0, end - monotonic())):
                kind, value = json.loads(self._pipe.recv_bytes())
                if kind != "progress":
                    return kind, value, self._pipe.recv_bytes()
                progress(value)
        except (OSError, EOFError):
            return _LOST
        return None

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    @property
    def growth(self) -> int:
        """Resident bytes beyond those that it had at first; 0 where the system does not say."""
        return self._resident() - self._at_first

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.join()

    def _resident(self) -> int:
        with suppress(OSError):
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE
        return 0


class _Exchange:
    """One call, which can be stopped from another thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: _Process | None = None
        self._stopped = False

    def run(self, process: _Process, request: bytes, content: bytes, seconds: float, progress: Progress) -> Answer:
        """The value and the bytes of the response; Problem if it is one."""
        with self._lock:
            self._process = process
        found = _LOST if self._stopped else process.ask(request, content, seconds, progress)
        if found is None:
            self.stop()
            raise TookTooLong(seconds)
        with self._lock:
            self._process = None
        kind, value, answer = found
        if kind == "problem":
            status, name, detail = value
            raise Problem(status, name, detail)
        if kind != "done":
            raise ProcessFailed(value)
        return value, answer

    def stop(self) -> None:
        """End the process that computes it, if one does."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.end()

    def stop_soon(self) -> None:
        """The same without waiting: to end a process takes a moment, and so does a thread."""
        self._stopped = True
        if self._process is not None:
            Thread(target=self.stop).start()


class ForkPool(WorkerPool):
    """`processes` processes, started by the first calls or by `start`.

    Parameters
    ----------
    niceness : of the processes, beyond that of the server
    seconds : that a call may take
    most_bytes : that the resident memory of a process may grow; then it is replaced
    """

    def __init__(
        self, name: str, processes: int, queue: int, *, niceness: int, seconds: float, most_bytes: int
    ) -> None:
        super().__init__(name, processes, queue)
        self._niceness, self._seconds, self._most_bytes = niceness, seconds, most_bytes
        self._of_thread = local()
        self._processes: list[_Process] = []

    def start(self) -> None:
        """Start the processes now, so that no client waits for them."""
        for _ in range(self.threads):
            self._executor.submit(self._process)

    async def compute(self, task: str, *arguments: Any, content: bytes = b"") -> Answer:
        """A task in a process, of a request that has a place; if it is cancelled, that ends the process."""
        stopping = _Exchange()
        try:
            return await self.call(self.ask, task, *arguments, content=content, stopping=stopping)
        except asyncio.CancelledError:
            stopping.stop_soon()
            raise

    def ask(
        self, task: str, *arguments: Any, content: bytes = b"", progress: Progress = lambda done: None,
        stopping: _Exchange | None = None,
    ) -> Answer:  # fmt: skip
        """The same in a thread of this pool, while it waits."""
        request, process = json.dumps([task, arguments]).encode(), self._process()
        try:
            return (stopping or _Exchange()).run(process, request, content, self._seconds, progress)
        finally:
            if process.growth > self._most_bytes:
                process.end()

    def close(self) -> None:
        super().close()
        for process in self._processes:
            process.end()

    def _process(self) -> _Process:
        """The process of this thread."""
        process: _Process | None = getattr(self._of_thread, "process", None)
        if process is None or not process.alive:
            if process is not None:
                process.end()
            process = self._of_thread.process = _Process(self._niceness)
            with self._lock:
                self._processes = [each for each in self._processes if each.alive] + [process]
            if self._closed:
                process.end()
                raise shutting_down()
        return process
