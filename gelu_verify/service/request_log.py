"""One JSON line and one count for every request, and lines that are written without making a request wait."""

from __future__ import annotations

import os
import secrets
import time
from itertools import count
from json.encoder import encode_basestring_ascii as quoted
from threading import Event, Lock, Thread
from typing import TextIO

from .telemetry import Metrics, timestamp

_BATCH_S = 0.1
_MOST_BYTES = 2 << 20  # of lines that wait to be written
_PROCESS = secrets.token_hex(4)
_NUMBERS = count(1)


def new_id() -> str:
    """An id that no other request has, of any process."""
    return f"{_PROCESS}-{next(_NUMBERS):x}"


class LineWriter:
    """Writes lines in a thread of its own: a reader of the log that stops reading makes no client wait.

    Lines that nobody takes are dropped when 2 MiB wait, and counted.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._lock = stream, Lock()
        self._lines: list[str] = []
        self._bytes, self._dropped, self._ended = 0, 0, False
        self._wake = Event()
        self._thread = Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def put(self, line: str, *, soon: bool = False) -> None:
        """Write the line `soon`, or within a tenth of a second: to wake the thread costs more than the line."""
        with self._lock:
            if self._bytes < _MOST_BYTES:
                self._lines.append(line)
                self._bytes += len(line)
            else:
                self._dropped += 1
        if soon:
            self._wake.set()

    def close(self) -> None:
        """Write what waits, for at most a second."""
        self._ended = True
        self._wake.set()
        self._thread.join(1.0)

    def _write_all(self) -> None:
        while not self._ended:
            self._wake.wait(_BATCH_S)
            self._wake.clear()
            self._write()
        self._write()

    def _write(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
            self._bytes, dropped, self._dropped = 0, self._dropped, 0
        if dropped:
            lines.append(f'{{"time": "{timestamp(time.time())}", "event": "log lines dropped", "count": {dropped}}}')
        if lines:
            self._write_text("\n".join(lines) + "\n")

    def _write_text(self, text: str) -> None:
        """Not through the stream, if it is a file: whoever flushes it would wait as long as nobody reads, and to start
        a process does that."""
        try:
            place = self._stream.fileno()
        except (OSError, AttributeError, ValueError):
            self._stream.write(text)
            self._stream.flush()
            return
        rest = text.encode()
        while rest:
            rest = rest[os.write(place, rest) :]


class RequestLog:
    """Records a request when its response has been sent; without a writer only in the metrics."""

    def __init__(self, metrics: Metrics, writer: LineWriter | None = None, *, only_errors: bool = False) -> None:
        self._metrics, self._writer, self._only_errors = metrics, writer, only_errors
        self._second, self._text = 0, ""

    def record(
        self, request: str, client: str, method: str, route: str, path: str, status: int, sent: int, seconds: float,
        cause: str | None = None,
    ) -> None:  # fmt: skip
        """Count it, and write its line; `cause` says why the server could not answer."""
        self._metrics.request(route, method, status, seconds)
        if self._writer is None or (self._only_errors and status < 500):
            return
        now = time.time()
        if int(now) != self._second:
            self._second, self._text = int(now), time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        level = "error" if status >= 500 else "info"
        line = (
            f'{{"time": "{self._text}.{int(1e3 * (now - self._second)):03d}Z", "level": "{level}", "event": "request", '
            f'"id": {quoted(request)}, "client": {quoted(client)}, "method": {quoted(method)}, '
            f'"route": {quoted(route)}, "path": {quoted(path)}, "status": {status}, "bytes": {sent}, '
            f'"seconds": {seconds:.6f}'
        )
        self._writer.put(line + ("}" if cause is None else f', "cause": {quoted(cause)}}}'))
