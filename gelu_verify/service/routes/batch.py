"""`POST /v1/reference/{function}/{dtype}`: many values, as JSON or as raw little-endian bits."""

from __future__ import annotations

import re
from time import monotonic
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import Format
from ...truth.values import reference_bits
from ..answers import MEDIA_TYPE, encoded
from ..bodies import Pieces, json_of, read_body
from ..caching import FOR_NOBODY
from ..hall import hall_of
from ..naming import DtypeName, FunctionName, checked
from ..problems import Problem, unfit
from ..settings import Limits

router = APIRouter(tags=["reference"])
RAW = "application/octet-stream"
FIRST_SLICE, LARGEST_SLICE = 1 << 12, 1 << 18
_QUICK_S = 0.02  # a slice that took less is followed by one twice as long
_BITS = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


class Batch(BaseModel):
    """Inputs as bits."""

    x_bits: list[str] = Field(max_length=65536, examples=[["0xc0d00000", "0x3f800000"]])


class Results(BaseModel):
    """Correctly rounded results, in the order of the inputs."""

    function: str
    dtype: str
    y_bits: list[str]


_BODY = {
    "required": True,
    "content": {
        MEDIA_TYPE: {
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
        RAW: {"schema": {"type": "string", "format": "binary"}},
    },
}
_ANSWER = {RAW: {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "/v1/reference/{function}/{dtype}",
    response_model=Results,
    summary="The right answers for many inputs",
    openapi_extra={"requestBody": _BODY},
    responses={200: {"content": _ANSWER}},
)
async def batch(request: Request, function: FunctionName, dtype: DtypeName) -> Response:
    """JSON in, JSON out; or raw little-endian bits in, as many out, in the same order."""
    fmt = checked(function, dtype)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == MEDIA_TYPE:
        return await _json(request, function, fmt)
    if kind == RAW:
        return await _raw(request, function, fmt)
    raise Problem(415, "media-type", f"content type {kind!r} (accepted: {MEDIA_TYPE}, {RAW})")


async def _json(request: Request, function: str, fmt: Format) -> Response:
    hall = hall_of(request)
    body = await read_body(request, hall.limits, hall.limits.json_bytes)
    content, count = await hall.batches.run(_json_answer, function, fmt, body, hall.limits)
    hall.metrics.values.labels("json").inc(count)
    return Response(content, headers={"Cache-Control": FOR_NOBODY}, media_type=MEDIA_TYPE)


def _json_answer(function: str, fmt: Format, body: bytearray, limits: Limits) -> tuple[bytes, int]:
    x = _bits(fmt, json_of(body), limits.json_values)
    _fill(function, fmt, x, limits.batch_s)
    return encoded({"function": function, "dtype": fmt.name, "y_bits": [fmt.bits_text(y) for y in x.tolist()]}), len(x)


async def _raw(request: Request, function: str, fmt: Format) -> Response:
    hall = hall_of(request)
    size = fmt.uint.itemsize
    if (body := await read_body(request, hall.limits, hall.limits.body_bytes)) and len(body) % size:
        raise unfit(f"the body has {len(body)} bytes, no multiple of the {size} of {fmt.name}", "wrong-length")
    x = np.frombuffer(body, fmt.uint.newbyteorder("<"))
    await hall.batches.run(_fill, function, fmt, x, hall.limits.batch_s)
    hall.metrics.values.labels("raw").inc(len(x))
    return Pieces(body, {"Content-Type": RAW, "Cache-Control": FOR_NOBODY})


def _bits(fmt: Format, content: Any, most: int) -> np.ndarray:
    texts = content.get("x_bits") if isinstance(content, dict) else None
    if not isinstance(texts, list):
        raise Problem(422, "invalid", 'the body must be an object such as {"x_bits": ["0xc0d00000"]}')
    if len(texts) > most:
        raise Problem(413, "too-large", f"x_bits has {len(texts)} values (accepted: up to {most}; more as {RAW})")
    found = []
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not _BITS.fullmatch(text):
            raise Problem(422, "invalid", f"x_bits[{index}] is {repr(text)[:40]} (accepted: bits such as 0xc0d00000)")
        if (bits := int(text, 16)) >> fmt.width:
            raise unfit(f"x_bits[{index}] is {text}, too wide for {fmt.name} ({fmt.width} bits)")
        found.append(bits)
    return np.array(found, fmt.uint)


def _fill(function: str, fmt: Format, x: np.ndarray, seconds: float) -> None:
    """Put each result in the place of its input.

    In slices, so that the clock is looked at: inputs of the oracle take a thousand times as long as others.
    """
    start, done, size = monotonic(), 0, FIRST_SLICE
    while done < len(x):
        began = monotonic()
        if began - start > seconds:
            detail = f"{done} of {len(x)} values took the {seconds:g} s that a batch may take: send fewer"
            raise Problem(413, "too-long", detail)
        part = x[done : done + size]
        part[:] = reference_bits(function, fmt.name, part.astype(fmt.uint, copy=False))
        done += size
        if monotonic() - began < _QUICK_S:
            size = min(2 * size, LARGEST_SLICE)
