"""`/healthz`, `/readyz`, `/metrics`: for those who run the service."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from ... import __version__
from ..answers import MEDIA_TYPE, encoded
from ..caching import FOR_NOBODY
from ..hall import hall_of
from ..problems import Problem

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """It is there."""

    status: Literal["ok"]
    version: str


@router.get("/healthz", response_model=Health, summary="Whether the process answers")
async def healthz() -> Response:
    return _ok()


@router.get("/readyz", response_model=Health, summary="Whether requests may be sent here")
async def readyz(request: Request) -> Response:
    """503 while it starts or stops, and while its store cannot be read."""
    hall = hall_of(request)
    if not hall.ready:
        raise Problem(503, "not-ready", "the server is starting or stopping", {"Retry-After": "1"})
    if hall.store is not None and not hall.store.is_readable():
        raise Problem(503, "not-ready", "the store cannot be read", {"Retry-After": "5"})
    return _ok()


@router.get("/metrics", summary="Prometheus metrics", responses={200: {"content": {"text/plain": {}}}},
            response_class=Response)  # fmt: skip
async def metrics(request: Request) -> Response:
    content = hall_of(request).metrics.text()
    return Response(content, headers={"Cache-Control": FOR_NOBODY, "Content-Type": CONTENT_TYPE_LATEST})


def _ok() -> Response:
    body = encoded({"status": "ok", "version": __version__})
    return Response(body, headers={"Cache-Control": FOR_NOBODY}, media_type=MEDIA_TYPE)
