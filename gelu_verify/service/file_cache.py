"""Files that were made for responses: tables, inputs and reports, kept on disk while there is room."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..atomic_files import replace_file
from .caching import matches
from .problems import Problem

Made = tuple[str | None, bytes]
"""The Content-Security-Policy of a page, and a content."""


@dataclass(frozen=True)
class KeptFile:
    """One of them, with the sha256 of its content, and of a page its Content-Security-Policy."""

    path: Path
    size: int
    sha256: str
    note: str | None


class FileCache:
    """At most `most_bytes` of files in a folder of `parent`; those that were not asked for longest go first."""

    def __init__(self, parent: Path | None, most_bytes: int) -> None:
        self._parent, self._most, self._bytes, self._made = parent, most_bytes, 0, 0
        self._folder: TemporaryDirectory[str] | None = None
        self._making: dict[Hashable, asyncio.Event] = {}
        self._lock = Lock()
        self._files: dict[Hashable, KeptFile] = {}

    async def file(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> KeptFile:
        """The file of a key, with the note and the content that `make` returns if there is none."""
        while key in self._making:  # for another request; where that fails, for this one
            await self._making[key].wait()
        found = self._files.pop(key, None)
        if found is not None:
            self._files[key] = found
            return found
        ended = self._making[key] = asyncio.Event()
        try:
            return await self.add(key, *await make())
        finally:
            del self._making[key]
            ended.set()

    async def add(self, key: Hashable, note: str | None, content: bytes) -> KeptFile:
        """Keep a file, in the place of one that was there."""
        found = await asyncio.to_thread(self._written, note, content)
        other = self._files.pop(key, None)
        if other is not None:
            self._remove(other)
        self._files[key] = found
        self._bytes += found.size
        while self._bytes > self._most and len(self._files) > 1:
            self._remove(self._files.pop(next(iter(self._files))))
        return found

    def discard(self, key: Hashable) -> None:
        """Remove the file of a key if there is one."""
        found = self._files.pop(key, None)
        if found is not None:
            self._remove(found)

    def close(self) -> None:
        """Remove them all."""
        if self._folder is not None:
            self._folder.cleanup()

    def _written(self, note: str | None, content: bytes) -> KeptFile:
        with self._lock:
            self._made += 1
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="gelu-verify-files-", dir=self._parent)
            path = Path(self._folder.name) / f"file-{self._made}"
        replace_file(path, content)
        return KeptFile(path, len(content), sha256(content).hexdigest(), note)

    def _remove(self, file: KeptFile) -> None:
        self._bytes -= file.size
        file.path.unlink(missing_ok=True)


_RANGE = re.compile(r"(\d{0,18})-(\d{0,18})")
_RANGES = re.compile(r"bytes=(\d{1,18}-\d{0,18}|-\d{1,18})(\s*,\s*(\d{1,18}-\d{0,18}|-\d{1,18}))*")


def file_response(
    request: Request, found: KeptFile, media_type: str, control: str, *, filename: str = "", shown: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """A kept file, so that parts of it can be asked for, or 304 if the client has it; a page has its policy as note."""
    headers = {"ETag": f'"{found.sha256[:32]}"', "Cache-Control": control, **(headers or {})}
    if found.note:
        headers["Content-Security-Policy"] = found.note
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    _check_range(request, found.size)
    kind = "inline" if shown else "attachment"
    return FileResponse(
        found.path, headers=headers, media_type=media_type, filename=filename or None, content_disposition_type=kind
    )


def _check_range(request: Request, size: int) -> None:
    """Ignore a `Range` that is none of bytes, as RFC 9110 has it; Problem 416 where nothing of it is in the file."""
    ranges = request.headers.get("range")
    if ranges is None:
        return
    parts = _RANGE.findall(ranges) if _RANGES.fullmatch(ranges) else []
    if not parts or any(last and first and int(last) < int(first) for first, last in parts):
        request.scope["headers"] = [each for each in request.scope["headers"] if each[0] != b"range"]
    elif "if-range" not in request.headers and not any(
        int(first) < size if first else int(last) for first, last in parts
    ):
        raise Problem(416, "range", f"nothing of {ranges} is there", {"Content-Range": f"bytes */{size}"})
