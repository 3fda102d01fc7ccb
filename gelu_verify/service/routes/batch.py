"""Many reference values: as JSON, as raw little-endian bits, as files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from .. import contract, input_files
from ..admission import TEXT_S, slowest_s
from ..batches import Batch, StreamedResults, Wanted
from ..bodies import RAW_TYPE, Body, SlicedResponse, media_type_of
from ..caching import NO_STORE
from ..disconnection import unless_client_left
from ..encoding import JSON_TYPE
from ..params import DtypeName, ParameterizedPath, Rounding, check_query, checked, file_name, mode_of
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


class BatchInputs(BaseModel):
    """Inputs as bits."""

    model_config = ConfigDict(extra="forbid")

    x_bits: list[Annotated[str, Field(pattern="^0[xX][0-9a-fA-F]{1,16}$")]] = Field(max_length=65536)


_EXAMPLE = {"x_bits": ["0x3f800000", "0xc0d00000"]}
_RESULTS = {"function": "gelu", "dtype": "float32", "rounding": "nearest", "y_bits": ["0x3f57625f", "0xaf8f821f"]}
OutputFormat = Annotated[str, Query(pattern="^(csv|npz|parquet|arrow)$", description="Format of the response.")]


@router.post("/v1/reference/{function}/{dtype}.bin", summary="The reference values of many inputs, as raw bits",
             **contract.file("computeReferenceBits", RAW_TYPE), openapi_extra=contract.body(RAW_TYPE))  # fmt: skip
async def raw_batch(
    request: Request, function: ParameterizedPath, dtype: DtypeName, rounding: Rounding = "nearest"
) -> Response:
    """Little-endian bits in, and as many out in the same order.

    Results are sent as they are computed; a response that is cut off holds those that were.
    """
    return await _batch(request, function, dtype, rounding, (RAW_TYPE,))


@router.post(
    "/v1/reference/{function}/{dtype}",
    operation_id="computeReferenceValues",
    response_model=Results,
    summary="The reference values of many inputs",
    openapi_extra=contract.model_body(BatchInputs, _EXAMPLE),
    responses={200: {"content": {JSON_TYPE: {"example": _RESULTS}}}},
)
async def batch(
    request: Request, function: ParameterizedPath, dtype: DtypeName, rounding: Rounding = "nearest"
) -> Response:
    """Bits as text in, and as many out in the same order."""
    return await _batch(request, function, dtype, rounding, (JSON_TYPE, RAW_TYPE))  # raw bits: its URL of old


async def _batch(request: Request, function: str, dtype: str, rounding: str, kinds: Sequence[str]) -> Response:
    wanted, kind = _asked(request, function, dtype, rounding, kinds)
    if kind == RAW_TYPE:
        return await _raw(request, wanted)
    return await _FileBatch(state_of(request), wanted, kind, "json").response(request, {})


def _add_route(form: str, kind: str, media_type: str) -> None:
    """That of one kind of file."""

    @router.post(f"/v1/files/{{function}}/{{dtype}}.{form}", summary=f"Reference values of a file of inputs, as {form}",
                 **contract.file(f"compute{form.capitalize()}", media_type, "Content-Disposition"),
                 openapi_extra=contract.body(kind))  # fmt: skip
    async def file(
        request: Request, function: ParameterizedPath, dtype: DtypeName, rounding: Rounding = "nearest"
    ) -> Response:
        """Inputs in; inputs and results out."""
        return await _file(request, function, dtype, rounding, (kind,), form)


for _form, _kind in input_files.INPUTS_OF.items():
    _add_route(_form, _kind, input_files.MEDIA_TYPES[_form])


@router.post("/v1/files/{function}/{dtype}", include_in_schema=False)
async def any_file(
    request: Request, function: ParameterizedPath, dtype: DtypeName, format: OutputFormat = "parquet",
    rounding: Rounding = "nearest",
) -> Response:  # fmt: skip
    """From any kind of file to any other; not in the OpenAPI document, where a route has one media type."""
    check_query(request)
    return await _file(request, function, dtype, rounding, input_files.FILES, format)


async def _file(
    request: Request, function: str, dtype: str, rounding: str, kinds: Sequence[str], form: str
) -> Response:
    wanted, kind = _asked(request, function, dtype, rounding, kinds)
    mode = "" if wanted.mode == "nearest" else f"-{wanted.mode}"
    disposition = f'attachment; filename="{file_name(function)}-{dtype}{mode}.{form}"'
    batch = _FileBatch(state_of(request), wanted, kind, form)
    return await batch.response(request, {"Content-Disposition": disposition})


def _asked(request: Request, function: str, dtype: str, rounding: str, kinds: Sequence[str]) -> tuple[Wanted, str]:
    """Which results, and the media type of the inputs; Problem 415 unless it is one of `kinds`."""
    wanted, kind = Wanted(function, checked(function, dtype), mode_of(rounding)), media_type_of(request)
    if kind not in kinds:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {', '.join(kinds)})")
    return wanted, kind


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
        count = self._most if self._kind in input_files.COMPRESSED else min(size // 2, self._most)
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
