"""`GET /v1/versions...`: how accurate each release of a library is, and what changed at which."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from ..admission import VERSIONS_S
from ..caching import FRESH
from ..contract import file, json_route
from ..encoding import JSON_TYPE
from ..file_cache import Made, file_response
from ..problems import not_found
from ..state import state_of

router = APIRouter(tags=["versions"])
CSV, ATOM, HTML = "text/csv", "application/atom+xml", "text/html"
LIBRARY = re.compile("[a-z0-9_]{1,40}")
Library = Annotated[
    str, Path(json_schema_extra={"pattern": f"^{LIBRARY.pattern}$"}, description="A library: `torch`, `jax`, ...")
]


@json_route(
    router, "/v1/versions", "listLibraries", "Libraries whose releases were measured, and what changed last",
    "Libraries", "/v1/versions/libraries.json",
)  # fmt: skip
async def libraries(request: Request) -> Response:
    return await _of_all(request, "libraries.json", JSON_TYPE)


@router.get("/v1/versions/libraries.html", summary="The same as a page", **file("getLibrariesPage", HTML, "ETag"))
async def index(request: Request) -> Response:
    return await _of_all(request, "libraries.html", HTML)


@router.get("/v1/versions/changes.atom", summary="What changed, as an Atom feed", **file("getChanges", ATOM, "ETag"))
async def changes(request: Request) -> Response:
    return await _of_all(request, "changes.atom", ATOM)


@router.get(
    "/v1/versions/{library}.csv",
    summary="Every release of a library as CSV",
    **file("getLibraryCsv", CSV, "ETag", "Content-Disposition"),
)
async def library_csv(request: Request, library: Library) -> Response:
    return await _of_one(request, library, "csv", CSV)


@router.get("/v1/versions/{library}.html", summary="The same as a page", **file("getLibraryPage", HTML, "ETag"))
async def library_page(request: Request, library: Library) -> Response:
    return await _of_one(request, library, "html", HTML)


@json_route(router, "/v1/versions/{library}", "getLibrary", "Every release of a library (docs/json.md)", "Timeline")
async def one_library(request: Request, library: Library) -> Response:
    return await _of_one(request, library, "json", JSON_TYPE)


async def _of_all(request: Request, name: str, media_type: str) -> Response:
    return await _file(request, "", name, media_type)


async def _of_one(request: Request, library: str, kind: str, media_type: str) -> Response:
    if not LIBRARY.fullmatch(library):
        raise not_found(f"no releases of {library[:100]!r} were measured")
    return await _file(request, library, f"{library}.{kind}", media_type)


async def _file(request: Request, library: str, name: str, media_type: str) -> Response:
    """Only a new version of the program has others; the first request makes all files of a library."""
    state = state_of(request)
    folder = None if state.settings.versions is None else str(state.settings.versions)

    async def made() -> Made:
        facts, content = await state.admission.compute(VERSIONS_S, "version_files", folder, library)
        found, start = {}, 0
        for each, size, policy in facts:
            found[each] = policy, content[start : start + size]
            start += size
        for each in found.keys() - {name}:
            await state.files.add(("versions", library, each), *found[each])
        return found[name]

    kept = await state.files.file(("versions", library, name), made)
    filename = name if media_type == CSV else ""
    return file_response(request, kept, media_type, FRESH, filename=filename)
