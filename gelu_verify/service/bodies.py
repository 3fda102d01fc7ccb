"""Request bodies and results, kept on disk while they are used; large responses sent in slices.

Bytes are charged to a client as they arrive, whatever length it announced, and must arrive at a least rate.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .admission import Admission, ByteBudget
from .clients import CLIENT
from .problems import Problem, bad_request, too_large
from .settings import ServiceLimits

RAW_TYPE = "application/octet-stream"
SLICE = 1 << 18
_IN_MEMORY = 1 << 16  # smaller bodies are not written to disk


def media_type_of(request: Request) -> str:
    """The content type without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


class Body:
    """Bytes of a request or of a response, in memory if they are few, else in a file that nobody else can open."""

    def __init__(self, budget: ByteBudget, folder: str | None) -> None:
        self._budget, self._client, self.size = budget, CLIENT.get(), 0
        file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=folder, prefix="gelu-verify-")  # noqa: SIM115 - see `close`
        self._file = cast(IO[bytes], file)

    async def add(self, data: bytes | bytearray) -> None:
        """Append to it; Problem 429 if the client may not hold so many bytes, 507 if the disk is full."""
        self._budget.add(self._client, len(data))
        self.size += len(data)
        try:
            if self.size <= _IN_MEMORY:
                self._file.write(data)
            else:
                await asyncio.to_thread(self._file.write, data)
        except OSError:
            raise Problem(507, "no-space", "the server cannot keep the body: its disk is full") from None

    def close(self) -> None:
        """Remove it, once."""
        if not self._file.closed:
            self._file.close()
            self._budget.remove(self._client, self.size)

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


class Spool:
    """Where bodies are kept while they are used."""

    def __init__(self, admission: Admission, limits: ServiceLimits, folder: str | None) -> None:
        self._admission, self._limits, self._folder = admission, limits, folder

    async def body(self, request: Request, max_bytes: int) -> Body:
        """The body of a request, to be closed by the caller.

        Raises
        ------
        Problem : 413 longer than `max_bytes`; 415 encoded; 429 not admitted; 408 too slow; 400 cut off;
            507 the disk is full
        """
        _check_announced(request, max_bytes)
        with self._admission.receiving(), self._closed_on_error() as body:
            await self._receive(request, body, max_bytes)
            return body

    async def kept(self, content: bytes) -> Body:
        """Bytes that are not to stay in memory, to be closed by the caller; charged to the current client."""
        with self._closed_on_error() as body:
            await body.add(content)
            return body

    @contextmanager
    def _closed_on_error(self) -> Iterator[Body]:
        body = Body(self._admission.bytes, self._folder)
        try:
            yield body
        except BaseException:
            body.close()
            raise

    async def _receive(self, request: Request, body: Body, max_bytes: int) -> None:
        """Add what arrives, in slices."""
        limits, clock, pending, size = self._limits, asyncio.get_running_loop(), bytearray(), 0
        began, stream = clock.time(), request.stream()
        while True:
            latest = began + min(limits.body_s, limits.body_idle_s + size / limits.body_bytes_per_s)
            try:
                async with asyncio.timeout_at(min(latest, clock.time() + limits.body_idle_s)):
                    data = await anext(stream, None)
            except TimeoutError:
                raise _too_slow(limits, size) from None
            except ClientDisconnect:
                raise bad_request("the body was cut off", "cut-off") from None
            if data is None:
                break
            size += len(data)
            pending += data
            if size > max_bytes:
                raise too_large(f"the body has more than {max_bytes} bytes")
            if len(pending) >= SLICE:
                await body.add(pending)
                pending = bytearray()
        await body.add(pending)


def _too_slow(limits: ServiceLimits, size: int) -> Problem:
    detail = (
        f"{size} bytes of the body arrived (accepted: all within {limits.body_s:g} s, {limits.body_bytes_per_s} a "
        f"second after the first {limits.body_idle_s:g} s, and no pause of {limits.body_idle_s:g} s)"
    )
    return Problem(408, "too-slow", detail)


def _check_announced(request: Request, max_bytes: int) -> None:
    """Refuse a body by its head: Problem if it is encoded or too long."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        detail = f"content encoding {encoding[:40]!r} (accepted: identity, a body that is not compressed)"
        raise Problem(415, "encoding", detail, {"Accept-Encoding": "identity"})
    declared = request.headers.get("content-length", "")
    size = int(declared) if declared.isascii() and declared.isdecimal() else None
    if size is not None and size > max_bytes:
        raise too_large(f"the body has {size} bytes (accepted: up to {max_bytes})")


class SlicedResponse(Response):
    """A large body sent in slices, so that a slow reader keeps no copy of it in memory; it is closed then."""

    def __init__(self, content: Body, headers: Mapping[str, str], limits: ServiceLimits) -> None:
        self._content, self._seconds = content, limits.response_s
        super().__init__(b"", headers={**headers, "Content-Length": str(content.size)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = self._content.size
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with asyncio.timeout(self._seconds):
                sent = 0
                while sent < size:
                    end = min(sent + SLICE, await self.end_of_ready(sent, scope))
                    if end <= sent:
                        return
                    part, sent = self._content.read(sent, end - sent), end
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        finally:
            await self.end()
            self._content.close()

    async def end_of_ready(self, sent: int, scope: Scope) -> int:
        """Wait until more than `sent` bytes can be sent; so many, or fewer if no more ever will."""
        return self._content.size

    async def end(self) -> None:
        """Nothing more of it will be sent."""
