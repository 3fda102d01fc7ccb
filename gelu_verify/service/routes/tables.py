"""`GET /v1/tables/...`: reference values as files, under fixed names and under names that contain a hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import FORMATS
from ...functions.parameters import split_name
from .. import contract
from ..admission import table_s
from ..caching import IMMUTABLE, REVALIDATE, cached_response
from ..encoding import JSON_TYPE, json_bytes
from ..file_cache import KeptFile, file_response
from ..params import DtypeName, ParameterizedPath, checked, file_name
from ..problems import not_found
from ..state import AppState, state_of
from ..tables import HASH_DIGITS, MEDIA_TYPES, WRITERS, catalogue, rows_of

router = APIRouter(tags=["tables"])
Digest = Annotated[str, Path(json_schema_extra={"pattern": "^[0-9a-f]{16}$"}, description="From the file's sha256.")]


class ParameterEntry(BaseModel):
    """A number that a function depends on beside x: a query parameter of everything that takes a function."""

    name: str
    default: str | None = Field(description="null: an end of what is accepted, where it changes nothing.")
    meaning: str


class FunctionEntry(BaseModel):
    """A function and how it relates to others."""

    name: str
    formula: str
    gradient_of: str | None
    approximates: str | None
    general: str = Field(description="The formula in the parameters; empty where there are none.")
    parameters: list[ParameterEntry]


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


@contract.json_route(router, "/v1/functions", "getCatalogue", "Functions, dtypes and plans", Catalogue)
async def functions(request: Request) -> Response:
    return cached_response(request, json_bytes(catalogue(static=False)), JSON_TYPE, REVALIDATE)


def _add_routes(kind: str) -> None:
    """Those of one kind of file. Routes with more dots come first: a path parameter matches dots too."""
    what, media_type, path = kind.capitalize(), MEDIA_TYPES[kind], "/v1/tables/{function}/{dtype}"

    @router.get(f"{path}.{{digest}}.{kind}", summary="The same, under a name that changes with the content",
                **contract.file(f"getTableVersion{what}", media_type, "ETag", "Content-Disposition"))  # fmt: skip
    async def table_version(
        request: Request, function: ParameterizedPath, dtype: DtypeName, digest: Digest
    ) -> Response:
        """Immutable: caches may keep it."""
        found = await _file(state_of(request), function, dtype, kind)
        if digest != found.sha256[:HASH_DIGITS]:
            raise not_found(f"the table has digest {found.sha256[:HASH_DIGITS]} now")
        return _response(request, found, f"{file_name(function)}-{dtype}.{kind}", IMMUTABLE)

    @router.get(
        f"{path}.{kind}", summary=f"A table as {kind}",
        **contract.file(f"getTable{what}", media_type, "ETag", "Content-Disposition", "Content-Location"),
    )  # fmt: skip
    async def table_file(request: Request, function: ParameterizedPath, dtype: DtypeName) -> Response:
        """Complete for dtypes of up to 16 bits; hard cases and landmarks for wider ones."""
        found = await _file(state_of(request), function, dtype, kind)
        response = _response(request, found, f"{file_name(function)}-{dtype}.{kind}", REVALIDATE)
        response.headers["Content-Location"] = _url(function, dtype, found.sha256[:HASH_DIGITS], kind)
        return response


for _kind in WRITERS:
    _add_routes(_kind)


@router.get("/v1/tables/{function}/{dtype}", operation_id="listTableFiles", response_model=TableEntry,
            responses=contract.headers("ETag"), summary="The files of a table")  # fmt: skip
async def table(request: Request, function: ParameterizedPath, dtype: DtypeName) -> Response:
    state = state_of(request)
    found = {kind: await _file(state, function, dtype, kind) for kind in WRITERS}
    entry = entry_of(function, dtype, {kind: (each.size, each.sha256) for kind, each in found.items()})
    return cached_response(request, json_bytes(entry), JSON_TYPE, REVALIDATE)


def entry_of(function: str, dtype: str, files: Mapping[str, tuple[int, str]]) -> dict[str, Any]:
    """A table and its files, of which the size and the sha256 are given, with URLs whose content never changes."""
    entries = []
    for kind, (size, sha256) in files.items():
        digest = sha256[:HASH_DIGITS]
        url = _url(function, dtype, digest, kind)
        entries.append({"format": kind, "bytes": size, "sha256_16": digest, "url": url})
    return {"function": function, "dtype": dtype, "whole": FORMATS[dtype].width <= 16, "files": entries}


def _url(function: str, dtype: str, digest: str, kind: str) -> str:
    """Where the content of a file never changes: parameters are a query."""
    base, values = split_name(function)
    return f"/v1/tables/{base}/{dtype}.{digest}.{kind}" + (f"?{urlencode(values, safe='/')}" if values else "")


async def _file(state: AppState, function: str, dtype: str, kind: str) -> KeptFile:
    checked(function, dtype)
    seconds = table_s(function, dtype, rows_of(dtype))
    what = (function, dtype, kind)
    return await state.files.file(("table", *what), lambda: state.admission.compute(seconds, "table", *what))


def _response(request: Request, found: KeptFile, name: str, control: str) -> Response:
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return file_response(request, found, media_type, control, filename=name)
