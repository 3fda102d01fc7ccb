"""Responses to look-ups that were answered lately."""

from __future__ import annotations

from starlette.types import Message

from .caching import etag
from .encoding import JSON_TYPE
from .middleware import OPEN_HEADERS

Key = tuple[str, bytes]  # path and query
Messages = tuple[Message, Message, Message]  # start, body and 304 of a response


class LookUpCache:
    """The latest responses, by path and query, of at most `most_bytes` together."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: dict[Key, Messages] = {}

    def get(self, key: Key) -> Messages | None:
        """Start, body and 304 of the response."""
        return self._found.get(key)

    def add(self, key: Key, body: bytes, control: str) -> Messages:
        """The messages of a new response."""
        found = self._found[key] = _messages_of(body, control)
        self._bytes += _size(key, found)
        while self._bytes > self._most and len(self._found) > 1:
            oldest = next(iter(self._found))
            self._bytes -= _size(oldest, self._found.pop(oldest))
        return found


def _messages_of(body: bytes, control: str) -> Messages:
    tag = etag(body)
    headers = [(b"etag", tag.encode()), (b"cache-control", control.encode())]
    content = [(b"content-length", str(len(body)).encode()), (b"content-type", JSON_TYPE.encode())]
    start = {"type": "http.response.start", "status": 200, "headers": [*headers, *content, *OPEN_HEADERS]}
    not_modified = {"type": "http.response.start", "status": 304, "headers": [*headers, *OPEN_HEADERS], "etag": tag}
    return start, {"type": "http.response.body", "body": body}, not_modified


def _size(key: Key, found: Messages) -> int:
    """Bytes that a cached response takes, with what Python needs for it."""
    return len(key[0]) + len(key[1]) + len(found[1]["body"]) + 4096
