"""ASGI middleware around the application: headers, the id, metrics and the log line of every request."""

from __future__ import annotations

import asyncio
import logging
import re
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import problems
from .clients import CLIENT, QUOTAS, client_of
from .problem_responses import response
from .problems import CAUSE
from .request_log import new_id
from .response_headers import Headers, completed
from .telemetry import log

if TYPE_CHECKING:
    from .state import AppState

_ID = re.compile(rb"[A-Za-z0-9_-]{8,64}")


class ServiceMiddleware:
    """Adds the security headers and an id, records requests, and answers HEAD like GET."""

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self.state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = client_of(scope["client"][0]) if scope.get("client") else ""
        CLIENT.set(client)
        quotas: dict[str, tuple[int, int]] = {}
        QUOTAS.set(quotas)
        start, status, sent, request = perf_counter(), 0, 0, id_of(scope)
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def send_with_headers(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], *_rate_limit(quotas)]
                message = {**message, "headers": completed(headers, scope["path"], request)}
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            async with self.state.turns.request(client, scope):
                await self.app(inner, receive, send_with_headers)
        except problems.Problem as problem:
            await response(problem)(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the time that running requests have after SIGTERM is over
            inner[CAUSE] = "the server ended before the response was complete"
            if not status:
                await response(problems.shutting_down())(scope, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001 - the outermost handler: `problem_responses.register` has sent the 500
            inner[CAUSE] = repr(error)
            log("error", logging.ERROR, error, path=scope["path"], id=request)
        route = getattr(inner.get("route"), "path", "none")
        cause = inner.get(CAUSE) if status >= 499 or not status else None
        self.state.log.record(
            request, client, scope["method"], route, scope["path"], status, sent, perf_counter() - start, cause
        )


def _rate_limit(quotas: dict[str, tuple[int, int]]) -> Headers:
    """Places of the client in queues, and those left (draft-ietf-httpapi-ratelimit-headers)."""
    if not quotas:
        return []
    policy = ", ".join(f'"{name}";q={most};qu="concurrent-requests"' for name, (most, _) in quotas.items())
    left = ", ".join(f'"{name}";r={left}' for name, (_, left) in quotas.items())
    return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]


def id_of(scope: Scope) -> str:
    """The id of a request: that of the proxy, if it sent one, so that both logs have the same."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value.decode())
    return new_id()
