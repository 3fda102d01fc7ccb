"""`GET /v1/tables/...`: reference values as files, under fixed names and under names that contain a hash."""

from __future__ import annotations

from pathlib import Path as FolderPath
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, Response

from ...atomic_files import replace_file
from ...formats import FORMATS
from ...functions.parameters import split_name
from ..caching import IMMUTABLE, REVALIDATE, cached_response, matches
from ..encoding import JSON_TYPE, json_bytes
from ..params import DtypeName, ParameterizedPath, checked, file_name
from ..problems import not_found
from ..state import AppState, state_of
from ..tables import MEDIA_TYPES, WRITERS, File, catalogue, file

router = APIRouter(tags=["tables"])
Kind = Annotated[str, Path(json_schema_extra={"enum": list(WRITERS)}, description="File format.")]
Digest = Annotated[str, Path(json_schema_extra={"pattern": "^[0-9a-f]{16}$"}, description="From the file's sha256.")]
_FILES: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in MEDIA_TYPES.values()}}}


class FunctionEntry(BaseModel):
    """A function and how it relates to others."""

    name: str
    formula: str
    gradient_of: str | None
    approximates: str | None


class DtypeEntry(BaseModel):
    """A format: precision with the hidden bit, smallest and largest exponent of normal numbers."""

    name: str
    width: int
    precision: int
    emin: int
    emax: int
    has_infinity: bool


class Catalogue(BaseModel):
    """What this server has."""

    version: str
    static: bool = Field(description="Whether this is a folder of files without a server.")
    functions: list[FunctionEntry]
    dtypes: list[DtypeEntry]
    plans: list[str]


class TableFile(BaseModel):
    """One file of a table; the content at `url` never changes."""

    format: str
    bytes: int
    sha256_16: str
    url: str


class TableEntry(BaseModel):
    """A table and its files."""

    function: str
    dtype: str
    whole: bool
    files: list[TableFile]


@router.get("/v1/functions.json", response_model=Catalogue, summary="The same, under its name in a static copy")
@router.get("/v1/functions", response_model=Catalogue, summary="Functions, dtypes and plans")
async def functions(request: Request) -> Response:
    return cached_response(request, json_bytes(catalogue(static=False)), JSON_TYPE, REVALIDATE)


# Routes with more dots come first: a path parameter matches dots too.
@router.get("/v1/tables/{function}/{dtype}.{digest}.{kind}", response_class=Response, responses=_FILES,
            summary="The same, under a name that changes with the content")  # fmt: skip
async def table_version(
    request: Request, function: ParameterizedPath, dtype: DtypeName, digest: Digest, kind: Kind
) -> Response:
    """Immutable: caches may keep it."""
    found = await _file(state_of(request), function, dtype, kind)
    if digest != found.digest:
        raise not_found(f"the table has digest {found.digest} now")
    return await _file_response(request, found, f"{file_name(function)}-{dtype}.{kind}", IMMUTABLE)


@router.get("/v1/tables/{function}/{dtype}.{kind}", response_class=Response, responses=_FILES,
            summary="A table as npy, csv, parquet, bin or h")  # fmt: skip
async def table_file(request: Request, function: ParameterizedPath, dtype: DtypeName, kind: Kind) -> Response:
    """Complete for dtypes of up to 16 bits; hard cases and landmarks for wider ones."""
    found = await _file(state_of(request), function, dtype, kind)
    response = await _file_response(request, found, f"{file_name(function)}-{dtype}.{kind}", REVALIDATE)
    response.headers["Content-Location"] = _url(function, dtype, found.digest, kind)
    return response


@router.get("/v1/tables/{function}/{dtype}", response_model=TableEntry, summary="The files of a table")
async def table(request: Request, function: ParameterizedPath, dtype: DtypeName) -> Response:
    checked(function, dtype)
    entry = await state_of(request).work_pool.run(entry_of, function, dtype)
    return cached_response(request, json_bytes(entry), JSON_TYPE, REVALIDATE)


def entry_of(function: str, dtype: str) -> dict[str, Any]:
    """A table and its files, with URLs whose content never changes."""
    entries = []
    for kind in WRITERS:
        found = file(function, dtype, kind)
        url = _url(function, dtype, found.digest, kind)
        entries.append({"format": kind, "bytes": len(found.content), "sha256_16": found.digest, "url": url})
    return {"function": function, "dtype": dtype, "whole": FORMATS[dtype].width <= 16, "files": entries}


def _url(function: str, dtype: str, digest: str, kind: str) -> str:
    """Where the content of a file never changes: parameters are a query."""
    base, values = split_name(function)
    return f"/v1/tables/{base}/{dtype}.{digest}.{kind}" + (f"?{urlencode(values, safe='/')}" if values else "")


async def _file(state: AppState, function: str, dtype: str, kind: str) -> File:
    checked(function, dtype)
    if kind not in WRITERS:
        raise not_found(f"no format {kind!r} (accepted: {', '.join(WRITERS)})")
    return await state.work_pool.run(file, function, dtype, kind)


async def _file_response(request: Request, found: File, name: str, control: str) -> Response:
    """A table from a file, so that parts of it can be asked for; 304 if the client has it."""
    headers = {"ETag": f'"{found.digest}"', "Cache-Control": control}
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    state, media_type = state_of(request), MEDIA_TYPES[name.rpartition(".")[2]]
    if "=" in name:  # of parameters, of which anybody may think of any number: none is left on the disk
        headers["Content-Disposition"] = f'inline; filename="{name}"'
        return Response(found.content, headers=headers, media_type=media_type)
    path = await state.work_pool.run(_written, state.tables, found, name)
    return FileResponse(path, headers=headers, media_type=media_type, filename=name, content_disposition_type="inline")


def _written(folder: FolderPath, found: File, name: str) -> FolderPath:
    path = folder / f"{found.digest}-{name}"
    if not path.exists():
        replace_file(path, found.content)
    return path
