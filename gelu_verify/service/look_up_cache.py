"""Responses to look-ups that were answered lately."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Message

from .caching import etag
from .encoding import JSON_TYPE
from .response_headers import OPEN_HEADERS

Key = tuple[str, bytes]  # path and query
_TYPE = (b"content-type", JSON_TYPE.encode())
_OVERHEAD = 1024  # bytes that Python needs for a response, about


@dataclass(frozen=True, slots=True)
class LookUp:
    """The response to a look-up."""

    body: bytes
    tag: str
    control: bytes

    def start(self, request: str, *, not_modified: bool) -> Message:
        """The first message of the response with that id, or of a 304."""
        headers = [(b"etag", self.tag.encode()), (b"cache-control", self.control)]
        if not not_modified:
            headers += [(b"content-length", b"%d" % len(self.body)), _TYPE]
        headers += OPEN_HEADERS
        headers.append((b"x-request-id", request.encode()))
        return {"type": "http.response.start", "status": 304 if not_modified else 200, "headers": headers}


class LookUpCache:
    """The latest responses, by path and query, of at most `most_bytes` together."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: dict[Key, LookUp] = {}

    def get(self, key: Key) -> LookUp | None:
        return self._found.get(key)

    def add(self, key: Key, body: bytes, control: str) -> LookUp:
        """Remember a response, and forget the oldest ones if there are too many."""
        if key in self._found:
            return self._found[key]
        found = self._found[key] = LookUp(body, etag(body), control.encode())
        self._bytes += _size(key, found)
        while self._bytes > self._most and len(self._found) > 1:
            oldest = next(iter(self._found))
            self._bytes -= _size(oldest, self._found.pop(oldest))
        return found


def _size(key: Key, found: LookUp) -> int:
    return len(key[0]) + len(key[1]) + len(found.body) + _OVERHEAD
