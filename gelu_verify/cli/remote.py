"""A server of `gelu-verify serve`, asked from here: standard library only, so that look-ups stay quick."""

from __future__ import annotations

import json
import re
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from .. import __version__
from ..errors import RemoteError, UsageError

TIMEOUT_S = 20.0
LARGEST = 1 << 24  # bytes of an answer that are read


def fetch_answer(
    server: str, function: str, dtype: str, x: str, digits: int = 40, rounding: str = "nearest"
) -> dict[str, Any]:
    """The answer that `gelu_verify.lookup.answer` gives, from `server` ("http://127.0.0.1:8000").

    Raises
    ------
    UsageError : the URL cannot be used, or the server finds a name or a number wrong
    RemoteError : the server cannot be reached, or fails
    """
    try:
        usable = re.fullmatch(r"https?://[!-~]+", server) is not None and bool(urlsplit(server).hostname)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"{server!r} is not an http or https URL")
    base, parameters = _split(function)
    path = "/".join(quote(part, safe="") for part in (base, dtype, x))
    asked = {"digits": digits, **({} if rounding == "nearest" else {"rounding": rounding}), **parameters}
    url = f"{server.rstrip('/').removesuffix('/v1')}/v1/reference/{path}?{urlencode(asked)}"
    request = Request(url, headers={"Accept": "application/json", "User-Agent": f"gelu-verify/{__version__}"})
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:
            answer: dict[str, Any] = json.loads(response.read(LARGEST))
    except HTTPError as error:
        detail = _detail(error)
        if error.code in (404, 422) and detail:
            raise UsageError(f"{detail}: {url}" if detail == error.reason else detail) from None
        raise RemoteError(f"{server} answered {error.code}: {detail or error.reason}") from None
    except (URLError, HTTPException, TimeoutError, OSError) as error:
        raise RemoteError(f"cannot reach {server}: {getattr(error, 'reason', error)}") from None
    except ValueError as error:
        raise RemoteError(f"{server} did not answer with JSON: {error}") from None
    if not isinstance(answer, dict) or not {"x", "y"} <= answer.keys():
        raise RemoteError(f"{server} did not answer as `gelu-verify serve` does")
    return answer


def _split(function: str) -> tuple[str, dict[str, str]]:
    if "[" not in function:
        return function, {}
    from ..functions.parameters import split_name

    return split_name(function)


def _detail(error: HTTPError) -> str:
    """What a problem document says; nothing where the answer is none."""
    try:
        content = json.loads(error.read(LARGEST))
    except ValueError:
        return ""
    return str(content.get("detail", "")) if isinstance(content, dict) else ""
