"""Look-ups that need the oracle, in processes of their own, so that they do not hold the server's interpreter lock.

Each thread of the pool has one process. A call that takes too long ends its process, and the next call of that thread
starts another. So does one that is cancelled.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from threading import Lock, Thread, local
from typing import Any

from ..work.process import ChildProcess
from .problems import Problem, internal_error, shutting_down
from .worker_pool import WorkerPool

COMMAND = (sys.executable, "-P", "-m", "gelu_verify.service.oracle_process")


class _Process(ChildProcess):
    """One process; `end` may be called from any thread."""

    def __init__(self) -> None:
        super().__init__(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request: bytes, seconds: float) -> bytes | None:
        """The line of the response; empty if the process ended, None if nothing came in time."""
        left, line = memoryview(request), bytearray()

        def write(file: int) -> bool:
            nonlocal left
            left = left[os.write(file, left) :]
            return bool(left)

        def read(file: int) -> bool:
            came = os.read(file, 1 << 16)
            line.extend(came)
            return bool(came) and not came.endswith(b"\n")

        try:
            in_time = self.talk(write, read, seconds)
        except ValueError:
            return b""
        return (bytes(line) if line.endswith(b"\n") else b"") if in_time else None


class OracleCall:
    """One call."""

    def __init__(self, arguments: tuple[Any, ...], seconds: float) -> None:
        self._request = json.dumps(arguments).encode() + b"\n"
        self._seconds = seconds
        self._lock = Lock()
        self._process: _Process | None = None
        self._stopped = ""

    def compute(self, process: _Process) -> bytes:
        """The response's body; Problem if it is an error or took too long."""
        with self._lock:
            self._process = process
        line = process.ask(self._request, self._seconds) if not self._stopped else b""
        if line is None:
            self.stop(f"it took more than {self._seconds:g} s")
            line = b""
        with self._lock:
            self._process = None
        if line.startswith(b"+"):
            return line[1:-1]
        if line.startswith(b"-"):
            kind, text = json.loads(line[1:])
            raise Problem(422, kind, text)
        if self._stopped:
            raise Problem(503, "too-long", f"{self._stopped}: ask for fewer digits")
        raise internal_error()

    def stop(self, why: str) -> None:
        """End the process that computes it, if one does."""
        with self._lock:
            self._stopped = why
            if self._process is not None:
                self._process.end()


class OraclePool(WorkerPool):
    """`processes` processes, started by the first calls or by `start`."""

    def __init__(self, processes: int, queue: int, seconds: float) -> None:
        super().__init__("oracle", processes, queue)
        self._seconds = seconds
        self._of_thread = local()
        self._processes: list[_Process] = []

    def start(self) -> None:
        """Start the processes now, so that no client waits for them."""
        for _ in range(self.threads):
            self._executor.submit(self._process)

    async def look_up(self, *arguments: Any) -> bytes:
        """`encoding.look_up` in a process; a cancelled call ends it."""
        call = OracleCall(arguments, self._seconds)
        future = self.submit(self._compute, call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancelled():  # it is being computed
                Thread(target=call.stop, args=("the client has left",)).start()  # to end a process takes a moment
            raise

    def close(self) -> None:
        super().close()
        for process in self._processes:
            process.end()

    def _compute(self, call: OracleCall) -> bytes:
        return call.compute(self._process())

    def _process(self) -> _Process:
        """The process of this thread."""
        process: _Process | None = getattr(self._of_thread, "process", None)
        if process is None or not process.alive:
            if process is not None:
                process.end()
            if self._closed:
                raise shutting_down()
            fresh = self._of_thread.process = _Process()
            self._processes = [each for each in self._processes if each.alive] + [fresh]
            return fresh
        return process
