"""Errors as responses of the application. Processes that compute have `problems` alone, and no web framework."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..errors import GeluVerifyError
from .problems import CAUSE, MEDIA_TYPE, Problem, content, problem_of

REFUSED_S = 1.0  # after which 429 is sent, so that a client waits that would not wait after it


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(description="Kind of problem: `urn:gelu-verify:problem:<kind>`.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="What was wrong, and what is accepted.")


def response(problem: Problem) -> Response:
    headers = {"Cache-Control": "no-store", **problem.headers}
    body = content(problem.status, problem.kind, problem.detail)
    if problem.finished:
        body = b'%s, "finished": %s}' % (body[:-1], problem.finished)
    return Response(body, problem.status, headers, MEDIA_TYPE)


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
