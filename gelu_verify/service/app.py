"""The ASGI application: every router in `routes/`, and the middleware around them."""

from __future__ import annotations

import asyncio
import importlib
import logging
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette_compress import CompressMiddleware, add_compress_type

from .. import __version__
from ..errors import ResultsError
from ..fenv import in_default_environment
from ..records.json_schema import schema_of
from ..records.manifest import Manifest
from . import contract, problem_responses, routes
from .fast_path import FastPath
from .middleware import ServiceMiddleware
from .params import known_query
from .response_headers import OPEN
from .settings import Settings
from .state import AppState
from .telemetry import log

_COMPRESSED = (
    "/v1/tables/",
    "/v1/runs",
    "/v1/matrix",
    "/v1/compare",
    "/v1/versions",
    "/v1/jobs/",
    "/v1/functions",
    "/assets/",
    "/lookup",
)
_EXPIRE_S = 3600.0
DESCRIPTION = """Correctly rounded values of GELU and its relatives, and verification of implementations.

Values are sent as bits: hex text in JSON, little-endian in binary bodies. Errors are RFC 9457 problem details.
`docs/http.md` in the project explains every route."""


class _Application(FastAPI):
    """FastAPI, with our error responses in its OpenAPI document in place of its own."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            from ..versions.overview import Libraries  # imports the paths of all libraries (0.5 s)
            from ..versions.timeline import Timeline

            schema = get_openapi(
                title=self.title, version=self.version, description=self.description, routes=self.routes,
                license_info=self.license_info,
            )  # fmt: skip
            schemas = schema["components"]["schemas"]
            schemas.pop("HTTPValidationError", None)
            schemas.pop("ValidationError", None)
            schemas["ProblemDetails"] = problem_responses.ProblemDetails.model_json_schema()
            of_records: dict[str, Any] = {}
            for kind in (Manifest, Timeline, Libraries):
                found = schema_of(kind, "#/components/schemas/")
                of_records |= found.pop("$defs") | {kind.__name__: found}
            assert not of_records.keys() & schemas.keys(), "two types have one name"
            schemas |= of_records
            contract.complete(schema)
            for operations in schema["paths"].values():
                for operation in operations.values():
                    operation["responses"].pop("422", None)
            self.openapi_schema = schema
        return self.openapi_schema


@in_default_environment
def create_app(settings: Settings | None = None) -> FastPath:
    """The whole service as one ASGI application.

    Parameters
    ----------
    settings : default: no store, no published runs, the default limits

    Raises
    ------
    ResultsError : the store cannot be opened
    """
    state = AppState(settings or Settings())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        state.start()
        expiring = asyncio.create_task(_expire(state))
        yield
        expiring.cancel()
        await asyncio.to_thread(state.close)
        for each in state.on_stop:
            each()

    app = _Application(
        title="gelu-verify",
        version=__version__,
        description=DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=problem_responses.RESPONSES,
        redirect_slashes=False,
        dependencies=[Depends(known_query)],
    )
    app.state.shared = state
    problem_responses.register(app)
    for module in sorted(info.name for info in pkgutil.iter_modules(routes.__path__)):
        app.include_router(importlib.import_module(f"{routes.__name__}.{module}").router)
    return FastPath(ServiceMiddleware(_wrapped(app), state), state)


async def _expire(state: AppState) -> None:
    """Delete what the store retains no longer, now and every hour."""
    while state.store is not None:
        try:
            removed = await asyncio.to_thread(state.store.expire)
        except ResultsError as error:
            log("retention failed", logging.WARNING, problem=str(error))
        else:
            if removed:
                log("expired", runs=removed)
        await asyncio.sleep(_EXPIRE_S)


def _wrapped(app: FastAPI) -> ASGIApp:
    """The application with compression for large texts; preflights for the paths that other sites may read."""
    add_compress_type("text/csv")
    compressed = _by_path(_COMPRESSED, CompressMiddleware(app), app)
    preflight = CORSMiddleware(
        app, allow_origins=["*"], allow_methods=["GET", "HEAD", "POST"], max_age=86400,
        allow_headers=["Content-Type", "If-None-Match", "Range"],
    )  # fmt: skip

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["method"] == "OPTIONS" and scope["path"].startswith(OPEN)
        await (preflight if asks else compressed)(scope, receive, send)

    return wrapped


def _by_path(prefixes: tuple[str, ...], inside: ASGIApp, outside: ASGIApp) -> ASGIApp:
    """`inside` for the page and for paths that begin so, else `outside`."""

    async def by_path(scope: Scope, receive: Receive, send: Send) -> None:
        chosen = scope["type"] == "http" and (scope["path"] == "/" or scope["path"].startswith(prefixes))
        await (inside if chosen else outside)(scope, receive, send)

    return by_path
