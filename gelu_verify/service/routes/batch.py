"""`POST /v1/reference/{function}/{dtype}`: many reference values, as JSON or as raw little-endian bits."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from .. import input_files
from ..admission import TEXT_S, slowest_s
from ..batches import Batch, StreamedResults, Wanted
from ..bodies import RAW_TYPE, Body, SlicedResponse, media_type_of
from ..caching import NO_STORE
from ..disconnection import unless_client_left
from ..encoding import JSON_TYPE
from ..params import DtypeName, ParameterizedPath, Rounding, checked, file_name, mode_of
from ..problems import Problem, conflict
from ..process_pool import ForkPool, TookTooLong
from ..state import AppState, state_of

router = APIRouter(tags=["reference"])


class Results(BaseModel):
    """Correctly rounded results, in the order of the inputs."""

    function: str
    dtype: str
    rounding: str = Field(description="How results were rounded.")
    y_bits: list[str]


_BODY = {
    "required": True,
    "content": {
        JSON_TYPE: {
            "schema": {
                "type": "object",
                "required": ["x_bits"],
                "properties": {
                    "x_bits": {
                        "type": "array",
                        "maxItems": 65536,
                        "items": {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{1,16}$"},
                        "example": ["0x3c00", "0x0"],
                    }
                },
            },
        },
        RAW_TYPE: {"schema": {"type": "string", "format": "binary"}},
    },
}
_FILE_BODY = {
    "required": True,
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in input_files.FILES},
}
_FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {} for kind in (*input_files.FILES, input_files.NPZ)}}
}
OutputFormat = Annotated[
    str, Query(pattern="^(csv|npz|parquet)$", description="Format of the response: csv, npz or parquet.")
]
_RAW_RESPONSE = {RAW_TYPE: {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "/v1/reference/{function}/{dtype}",
    response_model=Results,
    summary="The reference values of many inputs",
    openapi_extra={"requestBody": _BODY},
    responses={200: {"content": _RAW_RESPONSE}},
)
async def batch(
    request: Request, function: ParameterizedPath, dtype: DtypeName, rounding: Rounding = "nearest"
) -> Response:
    """JSON in, JSON out; or raw little-endian bits in, and as many out in the same order.

    Raw results are sent as they are computed; a response that is cut off holds those that were.
    """
    wanted = Wanted(function, checked(function, dtype), mode_of(rounding))
    kind = media_type_of(request)
    if kind == JSON_TYPE:
        return await _FileBatch(state_of(request), wanted, kind, "json").response(request, {})
    if kind == RAW_TYPE:
        return await _raw(request, wanted)
    raise Problem(415, "media-type", f"content type {kind!r} (accepted: {JSON_TYPE}, {RAW_TYPE})")


@router.post("/v1/files/{function}/{dtype}", response_class=Response, summary="Reference values of a file of inputs",
             openapi_extra={"requestBody": _FILE_BODY}, responses=_FILE_RESPONSES)  # fmt: skip
async def whole_file(
    request: Request, function: ParameterizedPath, dtype: DtypeName, format: OutputFormat = "parquet",
    rounding: Rounding = "nearest",
) -> Response:  # fmt: skip
    """A CSV, npy or Parquet file in; inputs and results as CSV, npz or Parquet out."""
    fmt, kind = checked(function, dtype), media_type_of(request)
    wanted = Wanted(function, fmt, mode_of(rounding))
    if kind not in input_files.FILES:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {', '.join(input_files.FILES)})")
    mode = "" if wanted.mode == "nearest" else f"-{wanted.mode}"
    disposition = f'attachment; filename="{file_name(function)}-{dtype}{mode}.{format}"'
    batch = _FileBatch(state_of(request), wanted, kind, format)
    return await batch.response(request, {"Content-Disposition": disposition})


class _FileBatch:
    """A file of inputs, and a file of their results."""

    def __init__(self, state: AppState, wanted: Wanted, kind: str, form: str) -> None:
        self._state, self._wanted, self._kind, self._form = state, wanted, kind, form
        self._is_text = kind in (JSON_TYPE, input_files.CSV)
        self._held: list[Body] = []
        self._batch: Batch | None = None

    async def response(self, request: Request, headers: dict[str, str]) -> Response:
        state, limits = self._state, self._state.limits
        file = await state.spool.body(request, limits.json_bytes if self._is_text else limits.body_bytes)
        try:
            work = state.admission.in_class(self._cost_s(file.size), lambda *where: self._computed(file, *where))
            content, media_type = await unless_client_left(request, work)
            if self._kind == JSON_TYPE and self._batch is not None:
                state.metrics.values.labels("json").inc(self._batch.total)
            headers = {"Cache-Control": NO_STORE, "Content-Type": media_type, **headers}
            return SlicedResponse(await state.spool.kept(content), headers, limits)
        except TookTooLong as error:
            raise await self._incomplete(error) from None
        finally:
            for each in (file, *self._held):
                each.close()

    def _cost_s(self, size: int) -> float:
        """Seconds of as many inputs as there can be in a file of this size."""
        fmt = self._wanted.fmt
        count = min(size // 2, self._most) if self._kind != input_files.PARQUET else self._most
        return slowest_s(self._wanted.function, fmt.name, count) + count * TEXT_S * self._is_text

    @property
    def _most(self) -> int:
        return self._state.limits.json_values if self._is_text else self._state.limits.file_values

    async def _computed(self, file: Body, pool: ForkPool, most_s: float) -> tuple[bytes, str]:
        """The file of results and its media type; what is done is not done again where it is called a second time."""
        state, wanted, spool = self._state, self._wanted, self._state.spool
        if self._batch is None:
            _, x = await pool.compute("read", self._kind, wanted.fmt.name, self._most, content=file.content())
            for _ in ("inputs", "results"):
                self._held.append(await spool.kept(x))
            self._batch = Batch(state.admission, state.limits, wanted, self._held[1])
        await self._batch.compute(pool, most_s)
        return await self._written(pool, self._form, self._batch.done)

    async def _written(self, pool: ForkPool, form: str, count: int) -> tuple[bytes, str]:
        """A file of the first results."""
        function, fmt, mode = self._wanted
        both = b"".join(each.read(0, count * fmt.uint.itemsize) for each in self._held)
        media_type, content = await pool.compute("write", form, function, fmt.name, mode, content=both)
        return content, media_type

    async def _incomplete(self, error: TookTooLong) -> Problem:
        """What took too long, with the results that there are."""
        if self._batch is None or not self._batch.done:
            return error
        problem = self._batch.incomplete(error)
        with self._state.admission.batch.place():
            problem.finished, _ = await self._written(self._state.admission.batch, "json", self._batch.done)
        return problem


async def _raw(request: Request, wanted: Wanted) -> Response:
    state, fmt = state_of(request), wanted.fmt
    size = fmt.uint.itemsize
    body = await state.spool.body(request, state.limits.body_bytes)
    try:
        if body.size % size:
            detail = f"the body has {body.size} bytes, not a multiple of the {size} bytes of a {fmt.name}"
            raise conflict(detail, "wrong-length")
        batch = Batch(state.admission, state.limits, wanted, body)
        computing = asyncio.create_task(batch.in_class())
        try:
            await unless_client_left(request, batch.started(computing))
        except BaseException:
            computing.cancel()
            raise
    except BaseException:
        body.close()
        raise
    state.metrics.values.labels("raw").inc(batch.total)
    headers = {"Content-Type": RAW_TYPE, "Cache-Control": NO_STORE}
    return StreamedResults(batch, computing, headers, state.limits)
