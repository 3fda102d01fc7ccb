"""The outermost room: what was just answered is answered again at once; everything is counted; headers are strict.

A look-up that the native core answers does not pass through the framework: half of the time of a request would be
spent there. The framework's route gives the same bytes (`tests/service/test_reference.py`) and documents it.
"""

from __future__ import annotations

import logging
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import UsageError
from ..fenv import awaited_in_default_environment
from ..formats import FORMATS
from ..functions import FUNCTIONS
from ..truth.lookup import is_quick
from .answers import look_up
from .caching import FOR_EVER, etag, matches
from .hall import Hall
from .observing import log
from .settings import DIGITS

REMEMBERED = 4096  # answers of about 2 KiB
_PREFIX = "/v1/reference/"
_STRICT = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_FOR_API = [
    *_STRICT,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
_FOR_PAGES = [*_STRICT, (b"cross-origin-resource-policy", b"same-origin")]


class Door:
    """ASGI middleware around the application."""

    def __init__(self, app: ASGIApp, hall: Hall) -> None:
        self.app, self.hall = app, hall
        self._remembered: dict[str, tuple[Message, Message, Message]] = {}
        self._counted = hall.metrics.requests.labels("/v1/reference/{function}/{dtype}/{x}", "GET", 200)
        self._values = hall.metrics.values.labels("url")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await awaited_in_default_environment(self._answered(scope, receive, send))

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"].startswith(_PREFIX) and scope["method"] == "GET" and not scope["query_string"]:
            known = self._known(scope["path"])
            if known is not None:
                await self._repeat(scope, known, send)
                return
        await self._pass_on(scope, receive, send)

    # ---- quick answers ---------------------------------------------------------------------------

    def _known(self, path: str) -> tuple[Message, Message, Message] | None:
        """Head, body and 304 of a look-up that the core answers; None for everything else."""
        known = self._remembered.get(path)
        if known is None:
            body = _quick(path)
            if body is None:
                return None
            known = _messages(body)
            if len(self._remembered) >= REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[path] = known
        return known

    async def _repeat(self, scope: Scope, known: tuple[Message, Message, Message], send: Send) -> None:
        head, body, unchanged = known
        self._values.inc()
        for name, value in scope["headers"]:
            if name == b"if-none-match" and matches(value.decode("latin-1"), unchanged["tag"]):
                await send(unchanged)
                await send({"type": "http.response.body", "body": b""})
                return
        self._counted.inc()
        await send(head)
        await send(body)

    # ---- everything else -------------------------------------------------------------------------

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application, with our headers, counted; an error that nobody expected is a 500 in the one shape."""
        start, status = perf_counter(), 0
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def strict(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _completed(message["headers"])}
            await send(message)

        try:
            await self.app(inner, receive, strict)
        except Exception as error:  # noqa: BLE001 - the border to the world: logged, counted, answered
            log("error", logging.ERROR, error, path=scope["path"])  # `problems.register` has answered
        route = getattr(inner.get("route"), "path", "none")
        metrics, seconds = self.hall.metrics, perf_counter() - start
        metrics.requests.labels(route, _method(scope["method"]), status).inc()
        metrics.seconds.labels(route).observe(seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        log("request", level, method=scope["method"], path=scope["path"], status=status, seconds=round(seconds, 6))


def _method(name: str) -> str:
    """A method as a label: few values, whatever clients send."""
    return name if name in ("GET", "HEAD", "POST", "OPTIONS") else "other"


def _completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Those of the answer, and ours; a page that brings its own policy keeps it, and is nobody else's."""
    names = {name for name, _ in headers}
    ours = _FOR_PAGES if b"content-security-policy" in names else _FOR_API
    return [*headers, *((name, value) for name, value in ours if name not in names)]


def _quick(path: str) -> bytes | None:
    """The answer, where nothing about the question is unusual and the core knows it."""
    parts = path[len(_PREFIX) :].split("/")
    if len(parts) != 3 or parts[0] not in FUNCTIONS or parts[1] not in FORMATS or len(parts[2]) > 40:
        return None
    function, dtype, x = parts
    try:
        bits = FORMATS[dtype].parse(x)
    except UsageError:  # the framework's route says what is wrong
        return None
    return look_up(function, dtype, bits, DIGITS) if is_quick(function, dtype, bits, DIGITS) else None


def _messages(body: bytes) -> tuple[Message, Message, Message]:
    tag = etag(body)
    cache: list[tuple[bytes, bytes]] = [(b"etag", tag.encode()), (b"cache-control", FOR_EVER.encode()), *_FOR_API]
    kind: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return (
        {"type": "http.response.start", "status": 200, "headers": [*kind, *cache]},
        {"type": "http.response.body", "body": body},
        {"type": "http.response.start", "status": 304, "headers": cache, "tag": tag},
    )
