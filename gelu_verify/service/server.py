"""Runs uvicorn with our limits: one process or several, JSON log lines on stderr.

Several processes are uvicorn's: it starts a new one when one ends, and at SIGHUP replaces one after the other.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.util import get_temp_dir
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.supervisors import Multiprocess

from ..errors import UsageError
from ..truth.values import forget_values
from .app import create_app
from .fast_path import FastPath
from .memory import give_back_freed_memory
from .protocol import LimitedProtocol
from .request_log import LineWriter, RequestLog
from .settings import Settings
from .state import AppState
from .telemetry import LOG, JsonLines, log

IDLE_S = 30
_SWITCH_S = (
    0.0005  # so soon the event loop gets the interpreter lock from a thread that computes (Python's default: 5 ms)
)
FOLDER, LOCK = "gelu-verify-server-", "lock"
_FIRST_PASSED = 3  # the first descriptor that systemd passes


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests get `drain_s` to finish, calls of libraries are ended at once.

    Raises
    ------
    UsageError : the address is not available
    ResultsError : the store cannot be opened
    """
    with _listener(settings) as listener, _own_folder(settings) as settings:
        config = uvicorn.Config(
            partial(worker, settings), factory=True, http=LimitedProtocol, ws="none", lifespan="on",
            log_config=None, access_log=False, server_header=False, proxy_headers=False, timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=max(1, round(settings.drain_s)), backlog=1024, workers=settings.workers,
        )  # fmt: skip
        if settings.workers > 1:
            writer = log_to_stderr()
            log("listening", url=url_of(listener), workers=settings.workers)
            Multiprocess(config, sockets=[listener]).run()
            log("stopped")
            writer.close()
        else:
            config.app = partial(worker, settings, url_of(listener))
            uvicorn.Server(config).run([listener])


def worker(settings: Settings, url: str | None = None) -> FastPath | ProxyHeadersMiddleware:
    """The application of a process, with what belongs to the process: log, signals, limits of connections."""
    writer = log_to_stderr()
    give_back_freed_memory()
    sys.setswitchinterval(_SWITCH_S)
    forget_values(0)  # what is worth keeping is computed in processes
    app = create_app(settings)
    state = app.state
    state.log = RequestLog(state.metrics, writer, only_errors=settings.log_requests == "errors")
    state.on_start = [state.admission.small.start, partial(_drain_at_the_end, state)]
    state.on_stop = [partial(log, "stopped"), writer.close]
    # uvicorn ends this process by the signal that it got
    state.on_stop.append(partial(shutil.rmtree, get_temp_dir(), ignore_errors=True))
    if url is not None:
        state.on_start.append(partial(log, "listening", url=url))
    if settings.workers == 1 and settings.spool is not None:
        state.on_stop.append(partial(shutil.rmtree, settings.spool, ignore_errors=True))
    LimitedProtocol.limits, LimitedProtocol.log = settings.limits, state.log
    LimitedProtocol.hosts, LimitedProtocol.trusted_proxies = settings.hosts, frozenset(settings.trusted_proxies)
    if settings.trusted_proxies:
        return ProxyHeadersMiddleware(app, list(settings.trusted_proxies))  # type: ignore[arg-type]  # its ASGI types
    return app


def _drain_at_the_end(state: AppState) -> None:
    """At SIGTERM and Ctrl-C: say so in /readyz, end every connection after its response, and then let uvicorn stop."""
    loop = asyncio.get_running_loop()

    def stop(uvicorns: Any, number: int, frame: FrameType | None) -> None:
        state.ready, LimitedProtocol.draining = False, True

        def now() -> None:
            loop.run_in_executor(None, state.libraries.close)
            uvicorns(number, frame)

        delay = 0.0 if LimitedProtocol.stopping else state.settings.shutdown_delay_s
        LimitedProtocol.stopping = True
        loop.call_soon_threadsafe(loop.call_later, delay, now)

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, partial(stop, signal.getsignal(number)))


@contextmanager
def _own_folder(settings: Settings) -> Iterator[Settings]:
    """A folder in the spool for bodies, files, jobs and metrics; it is removed at the end, or by the next start."""
    parent = settings.spool or Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=".gelu-verify-", dir=parent))
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = folder.rename(parent / f"{FOLDER}{folder.name.removeprefix('.gelu-verify-')}")
        metrics = folder / "metrics"
        metrics.mkdir()
        if settings.workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(metrics)  # prometheus_client reads it when it is imported
        try:
            yield replace(settings, spool=folder, jobs_folder=settings.jobs_folder or folder)
        finally:
            os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of servers that were killed: nobody holds their lock."""
    for folder in parent.glob(f"{FOLDER}*"):
        with suppress(OSError), (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


def _listener(settings: Settings) -> socket.socket:
    """The socket that systemd passed (LISTEN_FDS), the Unix socket, or that of host and port."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()) and os.environ.get("LISTEN_FDS") == "1":
        listener = socket.socket(fileno=_FIRST_PASSED)
    elif settings.unix_socket is not None:
        listener = _unix_listener(settings.unix_socket)
    else:
        listener = _tcp_listener(settings.host, settings.port)
    listener.set_inheritable(True)
    listener.listen(1024)
    return listener


def _tcp_listener(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener


def _unix_listener(path: Path) -> socket.socket:
    """A Unix socket that the user and the group may use; one that a killed server left is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            path.unlink()
        listener.bind(str(path))
        path.chmod(0o660)
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {path}: {error.strerror or error}") from None
    return listener


def url_of(listener: socket.socket) -> str:
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _LineHandler(logging.Handler):
    """Gives log records to the writer of lines."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        self._writer.put(self.format(record), soon=True)


def log_to_stderr() -> LineWriter:
    """Log as JSON lines, in a thread of its own."""
    writer = LineWriter(sys.stderr)
    handler = _LineHandler(writer)
    handler.setFormatter(JsonLines())
    for logger, level in ((LOG, logging.INFO), (logging.getLogger("uvicorn"), logging.WARNING)):
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    return writer
