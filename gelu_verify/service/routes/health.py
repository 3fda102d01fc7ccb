"""`/healthz`, `/readyz`, `/metrics`: for operators."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from ... import __version__
from ..caching import NO_STORE
from ..contract import file
from ..encoding import JSON_TYPE, json_bytes
from ..problems import Problem
from ..state import AppState, state_of

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"]
    version: str


@router.get("/healthz", response_model=Health, operation_id="getHealth", summary="Whether the process answers")
async def healthz() -> Response:
    return _ok()


@router.get("/readyz", response_model=Health, operation_id="getReadiness", summary="Whether requests may be sent here")
async def readyz(request: Request) -> Response:
    """503 while it starts or stops, and while no run could be stored: the store or its disk is full or read-only."""
    wrong = await _problem(state_of(request))
    if wrong:
        raise Problem(503, "not-ready", wrong, {"Retry-After": "5"})
    return _ok()


@router.get("/metrics", summary="Prometheus metrics", **file("getMetrics", "text/plain"))
async def metrics(request: Request) -> Response:
    state = state_of(request)
    content = state.metrics.text(ready=not await _problem(state))
    return Response(content, headers={"Cache-Control": NO_STORE, "Content-Type": CONTENT_TYPE_LATEST})


async def _problem(state: AppState) -> str:
    """Why requests may not be sent here; empty if they may."""
    if not state.ready:
        return "the server is starting or stopping"
    return "" if state.store is None else await asyncio.to_thread(state.store.problem)


def _ok() -> Response:
    body = json_bytes({"status": "ok", "version": __version__})
    return Response(body, headers={"Cache-Control": NO_STORE}, media_type=JSON_TYPE)
