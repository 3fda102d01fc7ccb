"""HTTP/1.1 on a socket, as uvicorn speaks it, with limits on what a connection may hold and for how long.

uvicorn leaves these open: a head that never ends or grows without bound, a reader that never reads, a body that
nobody wants, more connections than there is room for. Answers are in the one error shape.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .problems import MEDIA_TYPE, content
from .settings import Limits

LINGER_S = 5.0
"""How long an unwanted body is thrown away, so that the client gets to read why it is unwanted."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection."""

    limits = Limits()
    _timer: TimerHandle | None = None  # of the head, or of an unwanted body
    _stalled: TimerHandle | None = None
    _in_head = True
    _head_bytes = 0
    _leaving = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(429, "busy", "too many connections: try again", b"retry-after: 1\r\n")
            return
        self._start_timer(self.limits.head_s, self._head_too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._leaving or self.transport.is_closing():
            return
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self._head_too_large()

    def eof_received(self) -> bool:
        """True keeps the connection: a client that has said everything still waits for its answer."""
        cycle = self.cycle
        if self._leaving or cycle is None or cycle.response_complete:
            return False
        if cycle.more_body and not cycle.response_started:
            self._refuse(400, "cut-off", "the body was cut off")
            return False
        cycle.keep_alive = False
        return True

    # ---- the head --------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        self._start_timer(self.limits.head_s, self._head_too_slow)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_timer()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.head_bytes:
            self._head_too_large()
            return
        super().on_headers_complete()
        self.cycle.transport = _Exit(self)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "no-http", "this is not an HTTP/1.1 request")

    def _head_too_slow(self) -> None:
        if self._head_bytes or self.cycle is None:
            self._refuse(408, "too-slow", f"the head of a request did not arrive within {self.limits.head_s:g} s")

    def _head_too_large(self) -> None:
        limit = self.limits.head_bytes
        self._refuse(431, "too-large", f"the head of the request has more than {limit} bytes")

    # ---- bodies that nobody reads, readers that do not read --------------------------------------

    def leave(self) -> None:
        """Close, but read on for a while what was still being sent: else the client might not get to our answer."""
        whole = self.cycle is not None and not self.cycle.more_body
        if self._leaving or self.transport.is_closing() or (whole and not self._in_head):
            self.transport.close()
            return
        self._leaving = True
        self.flow.resume_reading()
        self.transport.write_eof()
        self._start_timer(LINGER_S, self.transport.abort)

    def on_response_complete(self) -> None:
        if self._leaving:
            return
        super().on_response_complete()
        cycle = self.cycle
        if cycle is not None and cycle.response_complete and cycle.more_body and not self.transport.is_closing():
            self._start_timer(LINGER_S, self.transport.abort)

    def on_message_complete(self) -> None:
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle.more_body = False
            self._stop_timer()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.limits.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    # ---- shared ----------------------------------------------------------------------------------

    def _start_timer(self, seconds: float, then: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, kind: str, detail: str, extra: bytes = b"") -> None:
        """Answer without the application, and close."""
        if self._leaving or self.transport.is_closing():
            return
        self._stop_timer()
        body = content(status, kind, detail)
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n".encode()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(STATUS_LINE[status] + head + extra + b"\r\n" + body)
        self._in_head = True
        self.leave()


class _Exit:
    """The transport as an answer sees it: closing leaves politely."""

    def __init__(self, protocol: GuardedProtocol) -> None:
        self._protocol = protocol
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing

    def close(self) -> None:
        self._protocol.leave()
