"""The error responses of the service: RFC 9457 problem details, `application/problem+json`.

{"type": "urn:gelu-verify:problem:too-large", "title": "...", "status": 413, "detail": "..."}; `type` names the kind.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..errors import GeluVerifyError, OracleError, ResultsError, UsageError

MEDIA_TYPE = "application/problem+json"
CAUSE = "gelu_verify.cause"  # in the scope of a request that failed: what the log says of it
REFUSED_S = 1.0  # after which 429 is sent, so that a client waits that would not wait after it
CLIENT_LEFT = 499  # nginx's: nobody reads the response, but logs and metrics have it


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(description="Kind of problem: `urn:gelu-verify:problem:<kind>`.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="What was wrong, and what is accepted.")


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


def response(problem: Problem) -> Response:
    headers = {"Cache-Control": "no-store", **problem.headers}
    body = content(problem.status, problem.kind, problem.detail)
    if problem.finished:
        body = b'%s, "finished": %s}' % (body[:-1], problem.finished)
    return Response(body, problem.status, headers, MEDIA_TYPE)


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


RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "Any error: RFC 9457 problem details.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
}
"""Responses of every route, besides those that it declares."""


def register(app: FastAPI) -> None:
    """Make every error of the application a problem-details response."""

    @app.exception_handler(Problem)
    @app.exception_handler(GeluVerifyError)
    @app.exception_handler(Exception)
    async def on_error(request: Request, error: Exception) -> Response:
        if isinstance(error, Problem) and error.status == 429:
            await asyncio.sleep(REFUSED_S)
        request.scope[CAUSE] = str(error) if isinstance(error, Problem | GeluVerifyError) else repr(error)
        return response(problem_of(error))

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
        headers = dict(error.headers or {})
        operations = app.openapi()["paths"].get(getattr(request.scope.get("route"), "path", ""))
        if error.status_code == 405 and operations:  # Starlette names the methods of the first route of a path only
            headers["Allow"] = ", ".join(sorted(name.upper() for name in operations))
        return response(Problem(error.status_code, kind, str(error.detail), headers))

    @app.exception_handler(RequestValidationError)
    async def on_validation(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        status = 404 if first["loc"][0] == "path" else 422
        return response(Problem(status, "invalid", f"{where}: {first['msg']}"))


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
