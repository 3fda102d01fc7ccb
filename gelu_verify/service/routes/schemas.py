"""`GET /v1/schema/...`: the JSON Schemas of what runs, comparisons and trends are."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from ...paths import resource
from ..caching import FRESH, cached_response
from ..contract import file
from ..problems import not_found

router = APIRouter(tags=["runs"])
FOLDER = resource("data/schema")
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
MEDIA_TYPE = "application/schema+json"
Name = Annotated[str, Path(json_schema_extra={"enum": NAMES}, description="Of what.")]


@router.get("/v1/schema/{name}.json", summary="A JSON Schema (docs/json.md)", **file("getSchema", MEDIA_TYPE, "ETag"))
async def schema(request: Request, name: Name) -> Response:
    if name not in NAMES:
        raise not_found(f"there is no schema {name[:100]!r}: {', '.join(NAMES)}")
    return cached_response(request, (FOLDER / f"{name}.json").read_bytes(), MEDIA_TYPE, FRESH)
