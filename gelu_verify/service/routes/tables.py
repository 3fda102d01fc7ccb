"""`GET /v1/tables/...`: right answers as files, under lasting names and under names that carry their hash."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import FORMATS
from ..answers import MEDIA_TYPE, encoded
from ..caching import FOR_EVER, REVALIDATED, kept
from ..hall import Hall, hall_of
from ..naming import DtypeName, FunctionName, checked
from ..problems import not_found
from ..tabulated import MEDIA_TYPES, WRITERS, File, catalogue, file

router = APIRouter(tags=["tables"])
Kind = Annotated[str, Path(json_schema_extra={"enum": list(WRITERS)}, description="File format.")]
Digest = Annotated[str, Path(json_schema_extra={"pattern": "^[0-9a-f]{16}$"}, description="Of the file's sha256.")]
_FILES: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in MEDIA_TYPES.values()}}}


class FunctionEntry(BaseModel):
    """A function of the family."""

    name: str
    formula: str
    gradient_of: str | None
    approximates: str | None


class DtypeEntry(BaseModel):
    """A format: precision with the hidden bit, exponents of normal numbers."""

    name: str
    width: int
    precision: int
    emin: int
    emax: int
    has_infinity: bool


class Catalogue(BaseModel):
    """What can be asked for."""

    version: str
    static: bool = Field(description="Whether this is a folder of files, without a server behind it.")
    functions: list[FunctionEntry]
    dtypes: list[DtypeEntry]
    plans: list[str]


class TableFile(BaseModel):
    """One file of a table; `url` may be kept for ever."""

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


@router.get("/v1/functions.json", response_model=Catalogue, summary="The same, under the name that a static copy has")
@router.get("/v1/functions", response_model=Catalogue, summary="Functions, dtypes and plans")
async def functions(request: Request) -> Response:
    return kept(request, encoded(catalogue(static=False)), MEDIA_TYPE, REVALIDATED)


# The more dots, the earlier: a name in a path may hold dots too.
@router.get("/v1/tables/{function}/{dtype}.{digest}.{kind}", response_class=Response, responses=_FILES,
            summary="The same, under a name that changes with its content")  # fmt: skip
async def table_version(
    request: Request, function: FunctionName, dtype: DtypeName, digest: Digest, kind: Kind
) -> Response:
    """Immutable: may be kept for ever."""
    found = await _file(hall_of(request), function, dtype, kind)
    if digest != found.digest:
        raise not_found(f"the table has digest {found.digest} now")
    return kept(request, found.content, MEDIA_TYPES[kind], FOR_EVER, f"{function}-{dtype}.{kind}")


@router.get("/v1/tables/{function}/{dtype}.{kind}", response_class=Response, responses=_FILES,
            summary="A table as npy, csv, parquet, bin or h")  # fmt: skip
async def table_file(request: Request, function: FunctionName, dtype: DtypeName, kind: Kind) -> Response:
    """Whole for formats of up to 16 bits; hard cases and landmarks for wider ones."""
    found = await _file(hall_of(request), function, dtype, kind)
    response = kept(request, found.content, MEDIA_TYPES[kind], REVALIDATED, f"{function}-{dtype}.{kind}")
    response.headers["Content-Location"] = f"/v1/tables/{function}/{dtype}.{found.digest}.{kind}"
    return response


@router.get("/v1/tables/{function}/{dtype}", response_model=TableEntry, summary="The files of a table")
async def table(request: Request, function: FunctionName, dtype: DtypeName) -> Response:
    checked(function, dtype)
    return kept(request, encoded(await hall_of(request).work.run(entry_of, function, dtype)), MEDIA_TYPE, REVALIDATED)


def entry_of(function: str, dtype: str) -> dict[str, Any]:
    """A table and its files, with URLs that may be kept for ever."""
    entries = []
    for kind in WRITERS:
        found = file(function, dtype, kind)
        url = f"/v1/tables/{function}/{dtype}.{found.digest}.{kind}"
        entries.append({"format": kind, "bytes": len(found.content), "sha256_16": found.digest, "url": url})
    return {"function": function, "dtype": dtype, "whole": FORMATS[dtype].width <= 16, "files": entries}


async def _file(hall: Hall, function: str, dtype: str, kind: str) -> File:
    checked(function, dtype)
    if kind not in WRITERS:
        raise not_found(f"no format {kind!r} (accepted: {', '.join(WRITERS)})")
    return await hall.work.run(file, function, dtype, kind)
