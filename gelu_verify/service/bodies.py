"""Request bodies read within limits of size and time; large responses sent in slices."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .problems import Problem, bad_request, conflict, too_large
from .settings import ServiceLimits

RAW_TYPE = "application/octet-stream"
SLICE = 1 << 18


def media_type_of(request: Request) -> str:
    """The content type without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, limits: ServiceLimits, max_bytes: int, expected: int | None = None) -> bytearray:
    """The whole request body.

    Raises
    ------
    Problem : 413 longer than `max_bytes`; 408 too slow; 400 cut off; 409 not `expected` bytes long
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise too_large(f"the body has {declared} bytes (accepted: up to {max_bytes})")
    if expected is not None and declared.isdigit() and int(declared) != expected:
        raise wrong_length(int(declared), expected)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_s) as whole:
            stream = request.stream()
            while True:
                async with asyncio.timeout(limits.body_idle_s):
                    data = await anext(stream, None)
                if data is None:
                    break
                body += data
                if len(body) > max_bytes:
                    raise too_large(f"the body has more than {max_bytes} bytes")
    except TimeoutError:
        limit = limits.body_s if whole.expired() else limits.body_idle_s
        raise Problem(408, "too-slow", f"the body did not arrive within {limit:g} s") from None
    except ClientDisconnect:
        raise bad_request("the body was cut off", "cut-off") from None
    if expected is not None and len(body) != expected:
        raise wrong_length(len(body), expected)
    return body


def wrong_length(found: int, expected: int) -> Problem:
    return conflict(f"the body has {found} bytes (accepted: exactly {expected})", "wrong-length")


def json_of(body: bytes | bytearray) -> Any:
    """The body as JSON; Problem 400 if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is not JSON: {error}", "no-json") from None


class SlicedResponse(Response):
    """A large body sent in slices, so that a slow reader does not keep a second copy of it in memory."""

    def __init__(self, data: bytes | bytearray | memoryview, headers: Mapping[str, str]) -> None:
        super().__init__(b"", headers={**headers, "Content-Length": str(len(data))})
        self._data = memoryview(data)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        for start in range(0, max(len(self._data), 1), SLICE):
            part, more = bytes(self._data[start : start + SLICE]), start + SLICE < len(self._data)
            await send({"type": "http.response.body", "body": part, "more_body": more})
