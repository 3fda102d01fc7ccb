"""Runs uvicorn with our limits: one process, one event loop, JSON log lines on stderr."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections import Counter

import uvicorn

from ..errors import UsageError
from .app import create_app
from .protocol import LimitedProtocol
from .settings import Settings
from .state import AppState
from .telemetry import LOG, JsonLines, log

GRACE_S = 10
_SWITCH_S = 0.0005  # so soon the event loop gets the interpreter lock from a thread that computes (Python's default: 5 ms)
IDLE_S = 30


class _Server(uvicorn.Server):
    """Logs its URL when it listens, and ends the library processes before it waits for requests."""

    def __init__(self, config: uvicorn.Config, state: AppState) -> None:
        super().__init__(config)
        self._state = state

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._state.oracle_pool.start()
        for server in self.servers:
            for each in server.sockets:
                log("listening", url=_url(each))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.to_thread(self._state.libraries.close)
        await super().shutdown(sockets)
        log("stopped")


def run_server(settings: Settings, host: str, port: int, *, access_log: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests get up to 10 s to finish, calls of libraries are ended at once.

    Raises
    ------
    UsageError : the address is not available
    ResultsError : the store cannot be opened
    """
    _log_to_stderr(access_log)
    sys.setswitchinterval(_SWITCH_S)
    protocol = type("Protocol", (LimitedProtocol,), {"limits": settings.limits, "per_client": Counter()})
    with _listener(host, port) as listener:
        app = create_app(settings)
        config = uvicorn.Config(
            app, http=protocol, ws="none", lifespan="on", log_config=None, access_log=False,
            server_header=False, proxy_headers=False, timeout_keep_alive=IDLE_S, timeout_graceful_shutdown=GRACE_S,
            backlog=1024,
        )  # fmt: skip
        _Server(config, app.state).run([listener])


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    listener.set_inheritable(True)
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _log_to_stderr(access_log: bool) -> None:
    """Log as JSON lines; successful requests only with `access_log`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    if not access_log:
        handler.addFilter(lambda record: record.getMessage() != "request" or record.levelno > logging.INFO)
    for logger, level in ((LOG, logging.INFO), (logging.getLogger("uvicorn"), logging.WARNING)):
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
