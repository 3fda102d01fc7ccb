"""ASGI middleware around the application: security headers, metrics and logs of every request."""

from __future__ import annotations

import logging
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .clients import CLIENT, client_of
from .telemetry import Metrics, log

Headers = list[tuple[bytes, bytes]]
_SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
API_HEADERS: Headers = [
    *_SECURITY_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
PAGE_HEADERS: Headers = [*_SECURITY_HEADERS, (b"cross-origin-resource-policy", b"same-origin")]


class ServiceMiddleware:
    """Adds the security headers, counts and logs requests, and answers HEAD like GET."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        CLIENT.set(client_of(scope["client"][0]) if scope.get("client") else "")
        start, status = perf_counter(), 0
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _completed(message["headers"])}
            await send(message)

        try:
            await self.app(inner, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001 - the outermost handler: `problems.register` has sent the 500
            log("error", logging.ERROR, error, path=scope["path"])
        seconds = perf_counter() - start
        self._record(scope, getattr(inner.get("route"), "path", "none"), status, seconds)

    def _record(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        self.metrics.requests.labels(route, _method_label(scope["method"]), status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        log("request", level, method=scope["method"], path=scope["path"], status=status, seconds=round(seconds, 6))


def _method_label(method: str) -> str:
    """A label with few values, whatever clients send."""
    return method if method in ("GET", "HEAD", "POST", "OPTIONS") else "other"


def _completed(headers: Headers) -> Headers:
    """The headers of a response and ours; a response with its own Content-Security-Policy is a page."""
    names = {name for name, _ in headers}
    ours = PAGE_HEADERS if b"content-security-policy" in names else API_HEADERS
    return [*headers, *((name, value) for name, value in ours if name not in names)]
