"""The application: one router per file of `routes/`, found by looking, behind one door."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from .. import __version__
from ..fenv import in_default_environment
from . import problems, routes
from .door import Door
from .hall import Hall
from .settings import Settings

DESCRIPTION = """Correctly rounded values of GELU and its relatives, and verification of implementations.

Values travel as bits: hex text of the dtype's width in JSON, little-endian in binary bodies. Errors are RFC 9457
problem details. `docs/http.md` of the project explains every route."""


@in_default_environment
def create_app(settings: Settings | None = None) -> ASGIApp:
    """The whole service as one ASGI application.

    Parameters
    ----------
    settings : default: no store, no published runs, the usual limits

    Raises
    ------
    ResultsError : the store cannot be opened
    """
    hall = Hall(settings or Settings())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        hall.ready = True
        yield
        hall.ready = False
        hall.close()

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
    app.state.hall = hall
    problems.register(app)
    for module in sorted(info.name for info in pkgutil.iter_modules(routes.__path__)):
        app.include_router(importlib.import_module(f"{routes.__name__}.{module}").router)
    app.openapi = lambda: _schema(app)
    return Door(app, hall)


def _schema(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's, with our error shape in place of its own."""
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
