"""Request bodies, admitted before they are read and kept on disk; large responses sent in slices.

A body of known length reserves that many bytes of the spool before its first byte is read, one of unknown length the
most that it may have. What is not free is refused with 429, so clients cannot fill the memory or the disk.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from typing import IO, Any, cast

import numpy as np
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .clients import ByteBudget
from .problems import Problem, bad_request, conflict, too_large
from .settings import ServiceLimits

RAW_TYPE = "application/octet-stream"
SLICE = 1 << 18
_IN_MEMORY = 1 << 16  # smaller bodies are not written to disk


def media_type_of(request: Request) -> str:
    """The content type without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


class Body:
    """A whole request body, in a file that nobody else can open."""

    def __init__(self, opened: ExitStack, file: IO[bytes], size: int) -> None:
        self._opened, self._file, self.size = opened, file, size

    def close(self) -> None:
        """Remove the file, and give back its place in the spool."""
        self._opened.close()

    def content(self) -> bytes:
        """All of it."""
        return self.read(0, self.size)

    def read(self, start: int, count: int) -> bytes:
        self._file.seek(start)
        return self._file.read(count)

    def replace(self, start: int, data: bytes) -> None:
        """Put other bytes in the place of some."""
        self._file.seek(start)
        self._file.write(data)

    def digest(self) -> str:
        """The sha256 of it."""
        found = sha256()
        for start in range(0, self.size, SLICE):
            found.update(self.read(start, SLICE))
        return found.hexdigest()

    def array(self, dtype: np.dtype[Any]) -> np.ndarray:
        """All of it as an array; pages of the file, not of memory, if it is large."""
        if self.size <= _IN_MEMORY:
            return np.frombuffer(self.content(), dtype)
        self._file.flush()
        return np.memmap(self._file, dtype, "r")


class Spool:
    """Where bodies are kept while they are used, and how many bytes of them there may be."""

    def __init__(self, limits: ServiceLimits, folder: str | None) -> None:
        self._limits, self._folder = limits, folder
        self.budget = ByteBudget(limits.spool_bytes, limits.spool_bytes_per_client)

    async def body(self, request: Request, max_bytes: int, expected: int | None = None) -> Body:
        """The body of a request, to be closed by the caller.

        Raises
        ------
        Problem : 413 longer than `max_bytes`; 415 encoded; 429 not admitted; 408 too slow; 400 cut off;
            409 not `expected` bytes long; 507 the disk is full
        """
        size = _announced(request, max_bytes, expected)
        with ExitStack() as opening:
            opening.enter_context(self.budget.reserved(size))
            file = cast(IO[bytes], opening.enter_context(
                tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=self._folder, prefix="gelu-verify-")))  # fmt: skip
            received = await self._receive(request, file, max_bytes)
            if expected is not None and received != expected:
                raise wrong_length(received, expected)
            return Body(opening.pop_all(), file, received)

    async def _receive(self, request: Request, file: IO[bytes], max_bytes: int) -> int:
        """Write the body to `file`; its size."""
        limits, size, pending = self._limits, 0, bytearray()
        try:
            async with asyncio.timeout(limits.body_s) as whole:
                stream = request.stream()
                while True:
                    async with asyncio.timeout(limits.body_idle_s):
                        data = await anext(stream, None)
                    if data is None:
                        break
                    size += len(data)
                    pending += data
                    if size > max_bytes:
                        raise too_large(f"the body has more than {max_bytes} bytes")
                    if len(pending) >= SLICE:
                        await _write(file, pending)
                        pending = bytearray()
        except TimeoutError:
            limit = limits.body_s if whole.expired() else limits.body_idle_s
            raise Problem(408, "too-slow", f"the body did not arrive within {limit:g} s") from None
        except ClientDisconnect:
            raise bad_request("the body was cut off", "cut-off") from None
        await _write(file, pending)
        return size


async def _write(file: IO[bytes], data: bytearray) -> None:
    """In a thread, if it goes to disk."""
    try:
        if file.tell() + len(data) <= _IN_MEMORY:
            file.write(data)
        else:
            await asyncio.to_thread(file.write, data)
    except OSError:
        raise Problem(507, "no-space", "the server cannot keep the body: its disk is full") from None


def _announced(request: Request, max_bytes: int, expected: int | None) -> int:
    """The length of the body, or the most it may have; Problem if it will not be accepted."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        detail = f"content encoding {encoding[:40]!r} (accepted: identity, a body that is not compressed)"
        raise Problem(415, "encoding", detail, {"Accept-Encoding": "identity"})
    declared = request.headers.get("content-length", "")
    size = int(declared) if declared.isascii() and declared.isdecimal() else None
    if size is not None and size > max_bytes:
        raise too_large(f"the body has {size} bytes (accepted: up to {max_bytes})")
    if expected is not None and size not in (None, expected):
        raise wrong_length(size or 0, expected)
    return next(each for each in (size, expected, max_bytes) if each is not None)


def wrong_length(found: int, expected: int) -> Problem:
    return conflict(f"the body has {found} bytes (accepted: exactly {expected})", "wrong-length")


def json_of(body: bytes) -> Any:
    """The body as JSON; Problem 400 if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is not JSON: {error}", "no-json") from None


class SlicedResponse(Response):
    """A large body sent in slices, so that a slow reader keeps no copy of it in memory; a `Body` is closed then."""

    def __init__(self, content: memoryview | Body, headers: Mapping[str, str], limits: ServiceLimits) -> None:
        self._content, self._seconds = content, limits.response_s
        self._size = content.size if isinstance(content, Body) else len(content)
        super().__init__(b"", headers={**headers, "Content-Length": str(self._size)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with asyncio.timeout(self._seconds):
                for start in range(0, max(self._size, 1), SLICE):
                    part, more = self._part(start), start + SLICE < self._size
                    await send({"type": "http.response.body", "body": part, "more_body": more})
        finally:
            if isinstance(self._content, Body):
                self._content.close()

    def _part(self, start: int) -> bytes:
        if isinstance(self._content, Body):
            return self._content.read(start, SLICE)
        return bytes(self._content[start : start + SLICE])
