"""Pools of processes, so that what they compute does not hold the server's interpreter lock.

Each thread of a pool has one process (`worker_process`). A call that takes too long ends its process, and so does one
that is cancelled while it runs; a process that has too much memory is ended after its call. The next call of that
thread starts another.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread, local
from typing import Any

from ..work.process import ChildProcess
from .problems import Problem, shutting_down
from .worker_pool import WorkerPool

Answer = tuple[Any, bytes]
Progress = Callable[[int], None]
_MODULE = "gelu_verify.service.worker_process"
_START_S = 60.0
_LOST: tuple[str, Any, bytes] = "lost", "the process ended", b""
_PAGE = os.sysconf("SC_PAGE_SIZE")


class TookTooLong(Problem):
    """A call was ended because of its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(503, "too-long", f"it took more than {seconds:g} s: ask for fewer digits or inputs")


class ProcessFailed(Exception):
    """A process ended in the middle of a task, or did what nobody expected."""


class _Process(ChildProcess):
    """One process; `end` may be called from any thread."""

    def __init__(self, niceness: int) -> None:
        command = (sys.executable, "-P", "-m", _MODULE, str(niceness))
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.widen_pipes()

    def ask(self, request: bytes, seconds: float, progress: Progress) -> tuple[str, Any, bytes] | None:
        """The last response to a request: kind, value, bytes; `lost` if the process ended, None if it came too late."""
        left, came, found = memoryview(request), bytearray(), _LOST

        def write(file: int) -> bool:
            nonlocal left
            left = left[os.write(file, left) :]
            return bool(left)

        def read(file: int) -> bool:
            nonlocal found
            data = os.read(file, 1 << 20)
            came.extend(data)
            while (end := came.find(b"\n")) >= 0:
                kind, value, size = json.loads(came[:end])
                if len(came) < end + 1 + size:
                    break
                content = bytes(came[end + 1 : end + 1 + size])
                del came[: end + 1 + size]
                if kind != "progress":
                    found = kind, value, content
                    return False
                progress(value)
            return bool(data)

        with suppress(ValueError):  # it was ended
            if not self.talk(write, read, seconds):
                return None
        return found

    @property
    def memory(self) -> int:
        """Resident bytes; 0 where the system does not say."""
        with suppress(OSError):
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE
        return 0


class _Exchange:
    """One call, which can be stopped from another thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: _Process | None = None
        self._stopped = False

    def run(self, process: _Process, request: bytes, seconds: float, progress: Progress) -> Answer:
        """The value and the bytes of the response; Problem if it is one."""
        with self._lock:
            self._process = process
        found = _LOST if self._stopped else process.ask(request, seconds, progress)
        if found is None:
            self.stop()
            raise TookTooLong(seconds)
        with self._lock:
            self._process = None
        kind, value, content = found
        if kind == "problem":
            status, name, detail = value
            raise Problem(status, name, detail)
        if kind != "done":
            raise ProcessFailed(value)
        return value, content

    def stop(self) -> None:
        """End the process that computes it, if one does."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.end()


class ProcessPool(WorkerPool):
    """`processes` processes, started by the first calls or by `start`.

    Parameters
    ----------
    niceness : of the processes, beyond that of the server
    seconds : that a call may take
    most_bytes : resident memory beyond which a process is replaced
    """

    def __init__(
        self, name: str, processes: int, queue: int, *, niceness: int, seconds: float, most_bytes: int
    ) -> None:
        super().__init__(name, processes, queue)
        self._niceness, self._seconds, self._most_bytes = niceness, seconds, most_bytes
        self._of_thread = local()
        self._processes: list[_Process] = []
        self._starting = Lock()

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
            Thread(target=stopping.stop).start()  # to end a process takes a moment
            raise

    def ask(
        self, task: str, *arguments: Any, content: bytes = b"", progress: Progress = lambda done: None,
        stopping: _Exchange | None = None,
    ) -> Answer:  # fmt: skip
        """The same in a thread of this pool, while it waits."""
        request = json.dumps([task, arguments, len(content)]).encode() + b"\n" + content
        process = self._process()
        try:
            return (stopping or _Exchange()).run(process, request, self._seconds, progress)
        finally:
            if process.memory > self._most_bytes:
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
            with self._starting:
                self._processes = [each for each in self._processes if each.alive] + [process]
            if self._closed:
                process.end()
                raise shutting_down()
            process.ask(b"", _START_S, lambda done: None)  # what it loads at the start is no request's time
        return process
