"""`POST /v1/reference/{function}/{dtype}`: many reference values, as JSON or as raw little-endian bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import Annotated, Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import Format, Mode
from ...functions import get_function
from ...truth.values import reference_bits
from .. import input_files
from ..bodies import RAW_TYPE, Body, SlicedResponse, json_of, media_type_of
from ..caching import NO_STORE
from ..disconnection import unless_client_left
from ..encoding import JSON_TYPE, json_bytes
from ..params import DtypeName, ParameterizedPath, Rounding, checked, file_name, mode_of
from ..problems import Problem, conflict
from ..settings import ServiceLimits
from ..state import state_of

router = APIRouter(tags=["reference"])
FIRST_SLICE, LARGEST_SLICE = 1 << 12, 1 << 18
_SLICE_S = 0.02  # a slice that took less is followed by one of twice the size
_BITS = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


class Results(BaseModel):
    """Correctly rounded results, in the order of the inputs."""

    function: str
    dtype: str
    rounding: str = Field(description="How results were rounded.")
    y_bits: list[str]


class Wanted(NamedTuple):
    """Which results."""

    function: str
    fmt: Format
    mode: Mode


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
_FILE_KINDS = (input_files.CSV, input_files.NPY, input_files.PARQUET, input_files.NPZ)
_FILE_BODY = {
    "required": True,
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _FILE_KINDS[:3]},
}
_FILE_RESPONSES: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in _FILE_KINDS}}}
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
    """JSON in, JSON out; or raw little-endian bits in, and as many out in the same order."""
    wanted = Wanted(function, checked(function, dtype), mode_of(rounding))
    kind = media_type_of(request)
    if kind == JSON_TYPE:
        return await _json(request, wanted)
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
    fmt, state, kind = checked(function, dtype), state_of(request), media_type_of(request)
    wanted, limits = Wanted(function, fmt, mode_of(rounding)), state.limits
    body = await state.spool.body(request, limits.body_bytes if kind != input_files.CSV else limits.json_bytes)
    left = Event()

    def work() -> tuple[bytes, str]:
        most = limits.json_values if kind == input_files.CSV else limits.file_values
        x = input_files.read_inputs(kind, body.content(), fmt, most)
        y = _results_of(wanted, x, limits, left)
        return input_files.written(format, fmt, x, y, get_function(function).values if "[" in function else {})

    try:
        content, media_type = await unless_client_left(request, state.batch_pool.run(work), left)
    finally:
        body.close()
    mode = "" if wanted.mode == "nearest" else f"-{wanted.mode}"
    disposition = f'attachment; filename="{file_name(function)}-{dtype}{mode}.{format}"'
    headers = {"Cache-Control": NO_STORE, "Content-Disposition": disposition, "Content-Type": media_type}
    return SlicedResponse(memoryview(content), headers, limits)


async def _json(request: Request, wanted: Wanted) -> Response:
    state = state_of(request)
    body = await state.spool.body(request, state.limits.json_bytes)
    left = Event()
    try:
        work = state.batch_pool.run(_json_results, wanted, body, state.limits, left)
        content, count = await unless_client_left(request, work, left)
    finally:
        body.close()
    state.metrics.values.labels("json").inc(count)
    return Response(content, headers={"Cache-Control": NO_STORE}, media_type=JSON_TYPE)


def _json_results(wanted: Wanted, body: Body, limits: ServiceLimits, left: Event) -> tuple[bytes, int]:
    function, fmt, mode = wanted
    x = bits_of(fmt, json_of(body.content()), limits.json_values)
    y_bits = [fmt.bits_text(y) for y in _results_of(wanted, x, limits, left).tolist()]
    return json_bytes({"function": function, "dtype": fmt.name, "rounding": mode, "y_bits": y_bits}), len(x)


def _results_of(wanted: Wanted, x: np.ndarray, limits: ServiceLimits, left: Event) -> np.ndarray:
    y = x.copy()

    def replace(start: int, part: np.ndarray) -> None:
        y[start : start + len(part)] = part

    _fill(wanted, len(y), lambda start, count: y[start : start + count], replace, limits.batch_s, left)
    return y


async def _raw(request: Request, wanted: Wanted) -> Response:
    state, fmt = state_of(request), wanted.fmt
    size, left = fmt.uint.itemsize, Event()
    body = await state.spool.body(request, state.limits.body_bytes)
    try:
        if body.size % size:
            detail = f"the body has {body.size} bytes, not a multiple of the {size} bytes of a {fmt.name}"
            raise conflict(detail, "wrong-length")
        work = state.batch_pool.run(_raw_results, wanted, body, state.limits, left)
        await unless_client_left(request, work, left)
    except BaseException:
        body.close()
        raise
    state.metrics.values.labels("raw").inc(body.size // size)
    return SlicedResponse(body, {"Content-Type": RAW_TYPE, "Cache-Control": NO_STORE}, state.limits)


def _raw_results(wanted: Wanted, body: Body, limits: ServiceLimits, left: Event) -> None:
    """Replace the inputs in the body by their results."""
    fmt = wanted.fmt
    little, size = fmt.uint.newbyteorder("<"), fmt.uint.itemsize

    def read(start: int, count: int) -> np.ndarray:
        return np.frombuffer(body.read(start * size, count * size), little)

    def replace(start: int, part: np.ndarray) -> None:
        body.replace(start * size, part.astype(little, copy=False).tobytes())

    _fill(wanted, body.size // size, read, replace, limits.batch_s, left)


def bits_of(fmt: Format, content: Any, max_values: int) -> np.ndarray:
    texts = content.get("x_bits") if isinstance(content, dict) else None
    if not isinstance(texts, list):
        raise Problem(422, "invalid", 'the body must be an object such as {"x_bits": ["0xc0d00000"]}')
    if len(texts) > max_values:
        raise Problem(
            413, "too-large", f"x_bits has {len(texts)} values (accepted: up to {max_values}; more as {RAW_TYPE})"
        )
    found = []
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not _BITS.fullmatch(text):
            raise Problem(422, "invalid", f"x_bits[{index}] is {repr(text)[:40]} (accepted: bits such as 0xc0d00000)")
        if (bits := int(text, 16)) >> fmt.width:
            raise conflict(f"x_bits[{index}] is {text}, too wide for {fmt.name} ({fmt.width} bits)")
        found.append(bits)
    return np.array(found, fmt.uint)


def _fill(
    wanted: Wanted, total: int, read: Callable[[int, int], np.ndarray],
    replace: Callable[[int, np.ndarray], None], seconds: float, left: Event,
) -> None:  # fmt: skip
    """Replace each input by its result.

    In slices, so that the time limit is checked: inputs that need the oracle take a thousand times as long as others.
    """
    function, fmt, mode = wanted
    start, done, size = monotonic(), 0, FIRST_SLICE
    while done < total and not left.is_set():
        began = monotonic()
        if began - start > seconds:
            detail = f"{done} of {total} values took {seconds:g} s, the limit of a batch: send fewer"
            raise Problem(413, "too-long", detail)
        part = read(done, size)
        replace(done, reference_bits(function, fmt.name, part.astype(fmt.uint, copy=False), rounding=mode))
        done += size
        if monotonic() - began < _SLICE_S:
            size = min(2 * size, LARGEST_SLICE)
