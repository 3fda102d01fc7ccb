"""The one error shape: RFC 9457 problem details, `application/problem+json`.

{"type": "about:blank#too-large", "title": "...", "status": 413, "detail": "..."}; `type` names the kind of problem.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..errors import GeluVerifyError, OracleError, ResultsError, UsageError

MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(description="Kind of problem: `urn:gelu-verify:problem:<kind>`.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="What was wrong, and what is accepted.")


class Problem(Exception):
    """An answer that is an error: status, kind, one line that says what is accepted."""

    def __init__(self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.headers = status, kind, detail, dict(headers or {})


def content(status: int, kind: str, detail: str) -> bytes:
    """The body of a problem."""
    title = HTTPStatus(status).phrase
    shown = {"type": f"urn:gelu-verify:problem:{kind}", "title": title, "status": status, "detail": detail}
    return json.dumps(shown, ensure_ascii=True).encode()


def response(problem: Problem) -> Response:
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(content(problem.status, problem.kind, problem.detail), problem.status, headers, MEDIA_TYPE)


def too_large(detail: str) -> Problem:
    """413; what still comes is thrown away for a while (`protocol.py`), so that the client reads this answer."""
    return Problem(413, "too-large", detail)


def not_found(detail: str) -> Problem:
    return Problem(404, "not-found", detail)


def bad(detail: str, kind: str = "bad-request") -> Problem:
    return Problem(400, kind, detail)


def unfit(detail: str, kind: str = "unfit") -> Problem:
    """409: a body that is sound, but does not fit what its URL names."""
    return Problem(409, kind, detail)


RESPONSES = {
    "default": {
        "description": "Any error: RFC 9457 problem details.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
}
"""What every route may answer besides what it says of itself."""


def register(app: FastAPI) -> None:
    """Every error of the application ends in the one shape."""

    @app.exception_handler(Problem)
    async def on_problem(request: Request, error: Problem) -> Response:
        return response(error)

    @app.exception_handler(GeluVerifyError)
    async def on_ours(request: Request, error: GeluVerifyError) -> Response:
        return response(of_error(error))

    @app.exception_handler(Exception)
    async def on_any(request: Request, error: Exception) -> Response:
        return response(unexpected())

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
        return response(Problem(error.status_code, kind, str(error.detail), error.headers))

    @app.exception_handler(RequestValidationError)
    async def on_validation(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        status = 404 if first["loc"][0] == "path" else 422
        return response(Problem(status, "invalid", f"{where}: {first['msg']}"))


def of_error(error: GeluVerifyError) -> Problem:
    """An error of the floors below, as a client sees it; paths of this machine stay here."""
    if isinstance(error, UsageError):
        return Problem(422, "invalid", str(error))
    if isinstance(error, OracleError):
        return Problem(422, "undecided", str(error))
    if isinstance(error, ResultsError):
        return Problem(507, "not-stored", "the run could not be stored or read: the server's log says why")
    return unexpected()


def unexpected() -> Problem:
    """500; what happened stands in the log, not in the answer."""
    return Problem(500, "internal", "an error that nobody expected: the server's log says more")
