"""Files that were made for responses: tables and inputs, kept on disk while there is room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from ..atomic_files import replace_file


@dataclass(frozen=True)
class KeptFile:
    """One of them, with the sha256 of its content."""

    path: Path
    size: int
    sha256: str


class FileCache:
    """At most `most_bytes` of files in a folder of `parent`; those that were not asked for longest go first."""

    def __init__(self, parent: Path | None, most_bytes: int) -> None:
        self._parent, self._most, self._bytes, self._made = parent, most_bytes, 0, 0
        self._folder: TemporaryDirectory[str] | None = None
        self._lock = Lock()
        self._files: dict[Hashable, KeptFile] = {}

    async def file(self, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> KeptFile:
        """The file of a key, with what `make` returns if there is none."""
        found = self._files.pop(key, None)
        if found is None:
            found = await asyncio.to_thread(self._written, await make())
            self._bytes += found.size
            other = self._files.pop(key, None)  # made at the same time
            if other is not None:
                self._remove(other)
        self._files[key] = found
        while self._bytes > self._most and len(self._files) > 1:
            self._remove(self._files.pop(next(iter(self._files))))
        return found

    def close(self) -> None:
        """Remove them all."""
        if self._folder is not None:
            self._folder.cleanup()

    def _written(self, content: bytes) -> KeptFile:
        with self._lock:
            self._made += 1
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="gelu-verify-files-", dir=self._parent)
            path = Path(self._folder.name) / f"file-{self._made}"
        replace_file(path, content)
        return KeptFile(path, len(content), sha256(content).hexdigest())

    def _remove(self, file: KeptFile) -> None:
        self._bytes -= file.size
        file.path.unlink(missing_ok=True)
