"""The errors of the service: RFC 9457 problem details, `application/problem+json`; `problem_responses.py` sends them.

{"type": "urn:gelu-verify:problem:too-large", "title": "...", "status": 413, "detail": "..."}; `type` names the kind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from ..errors import OracleError, ResultsError, UsageError

MEDIA_TYPE = "application/problem+json"
CAUSE = "gelu_verify.cause"  # in the scope of a request that failed: what the log says of it
CLIENT_LEFT = 499  # nginx's: nobody reads the response, but logs and metrics have it


class Problem(Exception):
    """An error response: status, kind, and one line that says what was wrong and what is accepted."""

    finished = b""  # JSON of the part of a result that there is, for the member `finished`

    def __init__(self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.headers = status, kind, detail, dict(headers or {})


def content(status: int, kind: str, detail: str) -> bytes:
    """The body of a problem."""
    title = HTTPStatus(status).phrase if status != CLIENT_LEFT else "Client Closed Request"
    fields = {"type": f"urn:gelu-verify:problem:{kind}", "title": title, "status": status, "detail": detail}
    return json.dumps(fields, ensure_ascii=True).encode()


def too_large(detail: str) -> Problem:
    """413; `protocol.py` discards the rest of the body for a while, so that the client can read this response."""
    return Problem(413, "too-large", detail)


def not_found(detail: str) -> Problem:
    return Problem(404, "not-found", detail)


def bad_request(detail: str, kind: str = "bad-request") -> Problem:
    return Problem(400, kind, detail)


def conflict(detail: str, kind: str = "unfit") -> Problem:
    """409: a valid body that does not fit what its URL names."""
    return Problem(409, kind, detail)


def shutting_down() -> Problem:
    return Problem(503, "shutting-down", "the server is shutting down", {"Retry-After": "5"})


def problem_of(error: Exception) -> Problem:
    """An error of the layers below as a client sees it, without paths of this machine."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, UsageError):
        return Problem(422, "invalid", str(error))
    if isinstance(error, OracleError):
        return Problem(422, "undecided", str(error))
    if isinstance(error, ResultsError):
        return Problem(507, "not-stored", "the run could not be stored or read: the server's log has the cause")
    return internal_error()


def internal_error() -> Problem:
    """500; the cause is in the log, not in the response."""
    return Problem(500, "internal", "an unexpected error: the server's log has the cause")
