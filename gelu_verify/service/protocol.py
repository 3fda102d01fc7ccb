"""uvicorn's HTTP/1.1 connection with limits on what a client may send, how slowly, and how slowly it may read.

uvicorn does not limit the size or the time of a request's head, nor trailers, nor the time in which a client reads
its response, nor the connections of one client; it accepts requests without `Host` and with encodings that it does not
decode. An ASGI application does not see that. Refusals are problem details like all errors.
docs/decisions/service.md has the alternatives that were measured.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .clients import Rate, client_of, is_among
from .problems import MEDIA_TYPE, content
from .request_log import RequestLog, new_id
from .settings import ServiceLimits

LEFT = "gelu_verify.client_left"
"""Extension of the ASGI scope: an asyncio.Event, set when the client has closed the connection or its half of it.

A client that has left looks like one that closed its half and waits: work that takes long is done for neither.
"""
LINGER_S = 5.0
"""How long an unwanted body is read and discarded, so that the client can read why it was refused."""


class _Enough(Exception):
    """Stops the parser at the head of a request."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    limits = ServiceLimits()
    trusted_proxies: frozenset[str] = frozenset()  # addresses and networks without a limit of connections
    hosts: frozenset[str] | None = None  # names that `Host` may have; None: any
    log: RequestLog | None = None
    draining = stopping = False  # every response ends its connection
    per_client: ClassVar[Counter[str]] = Counter()
    rate: ClassVar[Rate] = Rate()
    _client = ""
    _left: asyncio.Event
    _idle_since = 0.0
    _timer: TimerHandle | None = None  # of a head, or of an unwanted body
    _write_timer: TimerHandle | None = None
    _in_head = True
    _overhead = 0  # bytes since the last head was complete or the last byte of a body came: head, trailers, framing
    _progress = False
    _closing = False
    _full = False  # it has sent so many requests ahead that no further ones are read

    # ---- called by asyncio -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._client = client_of(self.client[0]) if self.client else ""
        self.per_client[self._client] += 1
        self._left = asyncio.Event()
        self._idle_since = self.loop.time()
        if not self._has_place():
            self._refuse(429, "busy", "too many connections: try again", b"retry-after: 1\r\n")
            self.transport.close()  # at once: those that linger would take the places of others
        else:
            self._start_timer(self.limits.head_s, self._head_too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._left.set()
        self.per_client[self._client] -= 1
        if not self.per_client[self._client]:
            del self.per_client[self._client]
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._closing or self._full or self.transport.is_closing():
            return
        self._progress = False
        super().data_received(data)
        self._overhead = 0 if self._progress else self._overhead + len(data)
        if self._overhead > self.limits.head_bytes:
            self._head_too_large()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio accepts a bool; uvicorn returns None
        """The client has sent everything; True keeps the connection open until it has its response."""
        cycle = self.cycle
        if self._closing or cycle is None or cycle.response_complete:
            return False
        if cycle.more_body and not cycle.response_started:
            self._refuse(400, "cut-off", "the body was cut off")
            return False
        cycle.keep_alive = False
        self._left.set()
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    # ---- called by the parser --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= self.limits.pipelined:  # heads take the event loop time before anything is answered
            self.cycle.keep_alive = False
            self._full = self._in_head = True
            raise _Enough
        super().on_message_begin()
        self._in_head = True
        self._start_timer(self.limits.head_s, self._head_too_slow)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # else a trailer: ignored
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._progress = False, True
        self._stop_timer()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.head_bytes:
            self._head_too_large()
            return
        wrong = _wrong(self.headers, self.parser.get_http_version(), self.hosts)
        if wrong is not None:
            self._refuse(*wrong)
            return
        self.scope["extensions"] = {LEFT: self._left}  # type: ignore[dict-item]  # an object of this process
        super().on_headers_complete()
        self.cycle.transport = cast(asyncio.Transport, _LingeringTransport(self))
        if self.draining:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle.more_body = False
            self._stop_timer()
        super().on_message_complete()

    # ---- called by uvicorn -----------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        if not self._full:
            self._refuse(400, "no-http", "this is not an HTTP/1.1 request")

    def on_response_complete(self) -> None:
        if self._closing:
            return
        super().on_response_complete()
        self._idle_since = self.loop.time()
        cycle = self.cycle
        if cycle is not None and cycle.response_complete and cycle.more_body and not self.transport.is_closing():
            self._start_timer(LINGER_S, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    # ---- shared ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close after the response; discard for a while what still comes, or the client may not get to read it."""
        complete = self.cycle is not None and not self.cycle.more_body
        if self._closing or self.transport.is_closing() or (complete and not self._in_head):
            self.transport.close()
            return
        self._closing = True
        self.flow.resume_reading()
        self.transport.write_eof()
        self._start_timer(LINGER_S, self.transport.abort)

    @property
    def idle(self) -> bool:
        """Whether it waits for a request, or for the rest of the head of one."""
        return not self._closing and (self.cycle is None or (self.cycle.response_complete and not self.cycle.more_body))

    def _has_place(self) -> bool:
        """Whether this new connection may stay; the longest idle one of the client with the most is closed for it."""
        limits, mine = self.limits, self.per_client[self._client]
        if self.client is not None and not is_among(self.client[0], self.trusted_proxies):  # else those of all clients
            most = limits.connections_per_client
            if not self.rate.admits(self._client, self.loop.time(), limits.connections_per_s, most):
                return False
            if mine > most:
                return self._close_longest_idle(each for each in self._others() if each._client == self._client)
        if len(self.connections) <= self.limits.connections:
            return True
        idle = [each for each in self._others() if each.idle]
        most = max((self.per_client[each._client] for each in idle), default=0)
        return self._close_longest_idle(each for each in idle if self.per_client[each._client] == most)

    def _others(self) -> list[LimitedProtocol]:
        return [each for each in cast("set[LimitedProtocol]", self.connections) if each is not self]

    def _close_longest_idle(self, candidates: Iterable[LimitedProtocol]) -> bool:
        idle = [each for each in candidates if each.idle]
        if not idle:
            return False
        longest = min(idle, key=lambda each: each._idle_since)
        longest._closing = True
        longest.transport.abort()
        return True

    def _head_too_slow(self) -> None:
        self._refuse(408, "too-slow", f"the head of a request did not arrive within {self.limits.head_s:g} s")

    def _head_too_large(self) -> None:
        limit = self.limits.head_bytes
        self._refuse(431, "too-large", f"the head or the trailers of the request have more than {limit} bytes")

    def _refuse(self, status: int, kind: str, detail: str, extra: bytes = b"") -> None:
        """Answer without the application, and close."""
        if self._closing or self.transport.is_closing():
            return
        body = content(status, kind, detail)
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n".encode()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.log is not None:
            self.log.record(new_id(), self._client, "none", "none", "", status, len(body), 0.0, detail)
        self.transport.write(STATUS_LINE[status] + head + extra + b"\r\n" + body)
        self._in_head = True
        self.close()

    def _start_timer(self, seconds: float, then: Callable[[], Any]) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _wrong(
    headers: list[tuple[bytes, bytes]], version: str, allowed: frozenset[str] | None
) -> tuple[int, str, str] | None:
    """Status, kind and detail of what no server may accept (RFC 9112), but httptools does; and of a foreign `Host`."""
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or (not hosts and version == "1.1"):
        return 400, "host", f"the request has {len(hosts)} Host headers (accepted: one)"
    if allowed is not None and hosts and _name_in(hosts[0]) not in allowed:
        return 421, "host", f"this server is not that of Host (accepted: {', '.join(sorted(allowed))}; --allowed-hosts)"
    encodings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    if encodings not in ([], [b"chunked"]):
        return 501, "encoding", "Transfer-Encoding: only `chunked` is decoded"
    return None


@lru_cache(maxsize=256)
def _name_in(host: bytes) -> str:
    """The name in the value of `Host`, without the port and the brackets of IPv6."""
    text = host.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if ":" in text else text


class _LingeringTransport:
    """The transport as uvicorn's response uses it: `close` lets the client read the response first."""

    def __init__(self, protocol: LimitedProtocol) -> None:
        self.close = protocol.close
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing
