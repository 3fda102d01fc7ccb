"""Look-ups without the web framework: ASGI middleware in front of `GET /v1/reference/{function}/{dtype}/{x}`.

FastAPI takes most of the time of a look-up (docs/decisions/service.md has the numbers). This middleware answers
look-ups that the native core decides, and those that were answered lately; everything else goes to the application.
Its responses are byte for byte those of the route (`tests/service/test_reference.py`).
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from .. import __version__
from ..errors import UsageError
from ..fenv import awaited_in_default_environment
from ..formats import FORMATS, MODES
from ..functions import FUNCTIONS
from .caching import control_of, matches
from .clients import client_of
from .encoding import all_quick, look_up
from .look_up_cache import Key, LookUp
from .middleware import id_of
from .settings import DIGITS
from .state import AppState

PREFIX = "/v1/reference/"
ROUTE = "/v1/reference/{function}/{dtype}/{x}"
Options = tuple[int, tuple[str, ...], str, str]  # digits, other dtypes, version, rounding


class FastPath:
    """Answers simple look-ups; passes everything else to `app`."""

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self.state = app, state
        self._values = state.metrics.values.labels("url")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The floating-point environment of the calling thread must not change the result.
        await awaited_in_default_environment(self._respond(scope, receive, send))

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, found = perf_counter(), None
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(PREFIX):
            found = self._found((scope["path"], scope["query_string"]))
        if found is None:
            await self.app(scope, receive, send)
            return
        request, not_modified = id_of(scope), False
        for name, value in scope["headers"]:
            if name == b"if-none-match" and matches(value.decode("latin-1"), found.tag):
                not_modified = True
        body = b"" if not_modified else found.body
        if not not_modified:
            self._values.inc()
        await send(found.start(request, not_modified=not_modified))
        await send({"type": "http.response.body", "body": body})
        client = client_of(scope["client"][0]) if scope.get("client") else ""
        status, seconds = 304 if not_modified else 200, perf_counter() - began
        self.state.log.record(request, client, "GET", ROUTE, scope["path"], status, len(body), seconds)

    def _found(self, key: Key) -> LookUp | None:
        """The response; None if the application must answer."""
        found = self.state.look_ups.get(key)
        if found is None:
            options = _options(key[1])
            body = None if options is None else look_up_of(key[0], options)
            if options is not None and body is not None:
                found = self.state.look_ups.add(key, body, control_of(options[2]))
        return found


@lru_cache(maxsize=256)
def _options(query: bytes) -> Options | None:
    """What the query asks for; None if the route must say what is wrong with it, or must ask the oracle."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    options = dict(given)
    digits, version = options.pop("digits", str(DIGITS)), options.pop("v", "")
    others, rounding = others_of(options.pop("also", "")), options.pop("rounding", "nearest")
    if options or others is None or rounding not in MODES:
        return None
    if version not in ("", __version__) or len({name for name, _ in given}) < len(given):
        return None
    quick = digits.isascii() and digits.isdecimal() and len(digits) <= 5 and 1 <= int(digits) <= DIGITS
    return (int(digits), others, version, rounding) if quick else None


def others_of(also: str) -> tuple[str, ...] | None:
    """The dtypes that `also` names; None if one is unknown."""
    names = tuple(FORMATS) if also == "all" else tuple(dict.fromkeys(name for name in also.split(",") if name))
    return names if all(name in FORMATS for name in names) else None


def look_up_of(path: str, options: Options = (DIGITS, (), "", "nearest")) -> bytes | None:
    """The body for a path; None unless it is a valid look-up that the native core decides."""
    parts = path[len(PREFIX) :].split("/")
    if len(parts) != 3 or parts[0] not in FUNCTIONS or parts[1] not in FORMATS or len(parts[2]) > 40:
        return None
    function, dtype, x = parts
    try:
        bits = FORMATS[dtype].parse(x)
    except UsageError:  # the route says what is wrong
        return None
    others = tuple(name for name in options[1] if name != dtype)
    query = (function, dtype, bits, options[0], x, others, options[3])
    return look_up(*query) if all_quick(*query) else None
