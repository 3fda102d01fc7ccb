"""Look-ups without the web framework: ASGI middleware in front of `GET /v1/reference/{function}/{dtype}/{x}`.

FastAPI takes most of the time of a look-up (docs/decisions.md has the numbers). This middleware answers look-ups that
the native core decides, and remembers the responses; everything else goes to the application. Its responses are byte
for byte those of the route (`tests/service/test_reference.py`).
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import UsageError
from ..fenv import awaited_in_default_environment
from ..formats import FORMATS
from ..functions import FUNCTIONS
from ..truth.lookup import is_quick
from .caching import IMMUTABLE, etag, matches
from .encoding import JSON_TYPE, look_up
from .middleware import API_HEADERS
from .settings import DIGITS
from .state import AppState

PREFIX = "/v1/reference/"
CACHE_SIZE = 4096  # responses of about 2 KiB


class FastPath:
    """Answers simple look-ups; passes everything else to `app`."""

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self.state = app, state
        self._cache: dict[str, tuple[Message, Message, Message]] = {}
        requests, route = state.metrics.requests, "/v1/reference/{function}/{dtype}/{x}"
        self._ok, self._not_modified = requests.labels(route, "GET", 200), requests.labels(route, "GET", 304)
        self._values = state.metrics.values.labels("url")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The floating-point environment of the calling thread must not change the result.
        await awaited_in_default_environment(self._respond(scope, receive, send))

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None
        if scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]:
            found = self._messages(scope["path"])
        if found is None:
            await self.app(scope, receive, send)
            return
        start, body, not_modified = found
        self._values.inc()
        for name, value in scope["headers"]:
            if name == b"if-none-match" and matches(value.decode("latin-1"), not_modified["etag"]):
                self._not_modified.inc()
                await send(not_modified)
                await send({"type": "http.response.body", "body": b""})
                return
        self._ok.inc()
        await send(start)
        await send(body)

    def _messages(self, path: str) -> tuple[Message, Message, Message] | None:
        """Start, body and 304 of the response; None if the application must answer."""
        found = self._cache.get(path)
        if found is None:
            body = lookup_of_path(path)
            if body is None:
                return None
            found = _messages_of(body)
            if len(self._cache) >= CACHE_SIZE:
                del self._cache[next(iter(self._cache))]
            self._cache[path] = found
        return found


def lookup_of_path(path: str) -> bytes | None:
    """The body for a path; None unless it is a valid look-up that the native core decides."""
    if not path.startswith(PREFIX):
        return None
    parts = path[len(PREFIX) :].split("/")
    if len(parts) != 3 or parts[0] not in FUNCTIONS or parts[1] not in FORMATS or len(parts[2]) > 40:
        return None
    function, dtype, x = parts
    try:
        bits = FORMATS[dtype].parse(x)
    except UsageError:  # the route says what is wrong
        return None
    return look_up(function, dtype, bits, DIGITS) if is_quick(function, dtype, bits, DIGITS) else None


def _messages_of(body: bytes) -> tuple[Message, Message, Message]:
    tag = etag(body)
    headers = [(b"etag", tag.encode()), (b"cache-control", IMMUTABLE.encode())]
    content = [(b"content-length", str(len(body)).encode()), (b"content-type", JSON_TYPE.encode())]
    start = {"type": "http.response.start", "status": 200, "headers": [*headers, *content, *API_HEADERS]}
    not_modified = {"type": "http.response.start", "status": 304, "headers": [*headers, *API_HEADERS], "etag": tag}
    return start, {"type": "http.response.body", "body": body}, not_modified
