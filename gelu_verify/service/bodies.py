"""Reading what a client sends and sending what it asked for, within limits of bytes and seconds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .problems import Problem, bad, too_large, unfit
from .settings import Limits

PIECE = 1 << 18


async def read_body(request: Request, limits: Limits, most: int, expected: int | None = None) -> bytearray:
    """The whole body.

    Raises
    ------
    Problem : 413 longer than `most`; 408 too slow; 400 cut off; 409 not `expected` bytes long
    """
    told = request.headers.get("content-length", "")
    if told.isdigit() and int(told) > most:
        raise too_large(f"the body has {told} bytes (accepted: up to {most})")
    if expected is not None and told.isdigit() and int(told) != expected:
        raise wrong_length(int(told), expected)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_s) as whole:
            pieces = request.stream()
            while True:
                async with asyncio.timeout(limits.body_idle_s):
                    piece = await anext(pieces, None)
                if piece is None:
                    break
                body += piece
                if len(body) > most:
                    raise too_large(f"the body has more than {most} bytes")
    except TimeoutError:
        limit = limits.body_s if whole.expired() else limits.body_idle_s
        raise Problem(408, "too-slow", f"the body did not arrive within {limit:g} s") from None
    except ClientDisconnect:
        raise bad("the body was cut off", "cut-off") from None
    if expected is not None and len(body) != expected:
        raise wrong_length(len(body), expected)
    return body


def wrong_length(found: int, expected: int) -> Problem:
    return unfit(f"the body has {found} bytes, accepted are exactly {expected}", "wrong-length")


def json_of(body: bytes | bytearray) -> Any:
    """The body as JSON; Problem 400 when it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad(f"the body is not JSON: {error}", "no-json") from None


class Pieces(Response):
    """A body sent piece by piece, so that a slow reader does not have it twice in memory."""

    def __init__(self, data: bytes | bytearray | memoryview, headers: Mapping[str, str]) -> None:
        super().__init__(b"", headers={**headers, "Content-Length": str(len(data))})
        self._data = memoryview(data)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        for start in range(0, max(len(self._data), 1), PIECE):
            piece, more = bytes(self._data[start : start + PIECE]), start + PIECE < len(self._data)
            await send({"type": "http.response.body", "body": piece, "more_body": more})
