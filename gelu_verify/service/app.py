"""The ASGI application: every router in `routes/`, and the middleware around them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .. import __version__
from ..fenv import in_default_environment
from . import problems, routes
from .fast_path import FastPath
from .middleware import ServiceMiddleware
from .settings import Settings
from .state import AppState

DESCRIPTION = """Correctly rounded values of GELU and its relatives, and verification of implementations.

Values are sent as bits: hex text in JSON, little-endian in binary bodies. Errors are RFC 9457 problem details.
`docs/http.md` in the project explains every route."""


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
        state.ready = True
        yield
        state.ready = False
        state.close()

    app = FastAPI(
        title="gelu-verify",
        version=__version__,
        description=DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=problems.RESPONSES,
        redirect_slashes=False,
    )
    app.state.shared = state
    problems.register(app)
    for module in sorted(info.name for info in pkgutil.iter_modules(routes.__path__)):
        app.include_router(importlib.import_module(f"{routes.__name__}.{module}").router)
    app.openapi = lambda: _schema(app)
    return FastPath(ServiceMiddleware(app, state.metrics), state)


def _schema(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's, with our error responses in place of its own."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes,
            license_info=app.license_info,
        )  # fmt: skip
        schemas = schema["components"]["schemas"]
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        schemas["ProblemDetails"] = problems.ProblemDetails.model_json_schema()
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        app.openapi_schema = schema
    return app.openapi_schema
