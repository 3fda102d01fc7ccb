"""`GET /v1/reference/{function}/{dtype}/{x}`: one reference value and its surroundings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ... import __version__
from ...formats import FORMATS
from ..caching import cached_response, control_of
from ..contract import headers
from ..disconnection import unless_client_left
from ..encoding import JSON_TYPE, all_quick, look_up
from ..fast_path import others_of
from ..params import (
    DECIMAL_DIGITS,
    DtypeName,
    NumberText,
    ParameterizedPath,
    Rounding,
    checked,
    mode_of,
    parsed,
    whole_number,
)
from ..problems import Problem, not_found
from ..settings import DIGITS
from ..state import state_of

router = APIRouter(tags=["reference"])


class Number(BaseModel):
    """A number of the dtype."""

    bits: str = Field(pattern="^0x[0-9a-f]+$")
    hex: str = Field(description="C99 hex float, exact; inf, -inf, nan.")
    decimal: str


class ReferencePair(BaseModel):
    """An input and its correctly rounded result."""

    x_bits: str
    x_hex: str
    x: str
    y_bits: str
    y_hex: str
    y: str


class Neighbours(BaseModel):
    """The numbers of the dtype next to x, and their results."""

    below: ReferencePair | None
    above: ReferencePair | None


class ReferenceValue(ReferencePair):
    """A reference value; docs/json.md explains every key."""

    function: str
    dtype: str
    rounding: str = Field(description="How y was rounded.")
    exact: str | None = Field(description="Decimal of f(x), correctly rounded; null if it has none.")
    rounding_error_ulp: float | None
    round_down: Number
    round_up: Number
    kappa: float | None = Field(description="|x f'(x) / f(x)|.")
    region: str | None
    neighbours: Neighbours
    also: dict[str, ReferenceValue] | None = None


Digits = Annotated[int, DECIMAL_DIGITS, whole_number(1, 1000, "Significant digits of decimals.")]
Version = Annotated[str, Query(max_length=40, description="Version of gelu-verify: the response never changes then.")]
Also = Annotated[
    str,
    Query(
        description="Other dtypes, separated by commas, or `all`: reference values of the same number.",
        max_length=200,
        json_schema_extra={"pattern": f"^(|all|({'|'.join(FORMATS)})(,({'|'.join(FORMATS)}))*)$"},
    ),
]


@router.get("/v1/reference/{function}/{dtype}/{x}", response_model=ReferenceValue, operation_id="getReferenceValue",
            summary="The reference value of one input", responses=headers("ETag"))  # fmt: skip
async def reference(
    request: Request,
    function: ParameterizedPath,
    dtype: DtypeName,
    x: NumberText,
    digits: Digits = DIGITS,
    also: Also = "",
    v: Version = "",
    rounding: Rounding = "nearest",
) -> Response:
    """The correctly rounded result as bits, hex float and decimal, and its neighbours."""
    state, fmt = state_of(request), checked(function, dtype)
    bits = parsed(fmt, x, state.limits.number_text)
    if digits > state.limits.digits:
        raise Problem(422, "invalid", f"digits is {digits} (accepted on this server: up to {state.limits.digits})")
    if v not in ("", __version__):
        raise not_found(f"v: this server has version {__version__}, not {v[:40]}: leave v out for its values")
    query = (function, dtype, bits, digits, x, _others(also, dtype), mode_of(rounding))
    if all_quick(*query):
        body = look_up(*query)
    else:
        body = await unless_client_left(request, state.admission.look_up(*query))
        state.look_ups.add((request.scope["path"], request.scope["query_string"]), body, control_of(v))
    response = cached_response(request, body, JSON_TYPE, control_of(v))
    if response.status_code == 200:
        state.metrics.values.labels("url").inc()
    return response


def _others(also: str, dtype: str) -> tuple[str, ...]:
    names = others_of(also)
    if names is None:
        raise Problem(422, "invalid", f"also: {also[:60]!r} (accepted: {', '.join(FORMATS)}, all)")
    return tuple(name for name in names if name != dtype)
