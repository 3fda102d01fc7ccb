"""`GET /v1/reference/{function}/{dtype}/{x}`: one value, and all there is to say about it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import FORMATS
from ...truth.lookup import is_quick
from ..answers import MEDIA_TYPE, look_up, look_up_with_others
from ..caching import kept
from ..hall import hall_of
from ..naming import PLAIN, DtypeName, FunctionName, NumberText, checked, parsed
from ..problems import Problem
from ..settings import DIGITS

router = APIRouter(tags=["reference"])


class Number(BaseModel):
    """A number of the dtype."""

    bits: str = Field(pattern="^0x[0-9a-f]+$")
    hex: str = Field(description="C99 hex float, exact; inf, -inf, nan.")
    decimal: str


class Pair(BaseModel):
    """An input and its correctly rounded result."""

    x_bits: str
    x_hex: str
    x: str
    y_bits: str
    y_hex: str
    y: str


class Neighbours(BaseModel):
    """The numbers of the dtype next to x, and their results."""

    below: Pair | None
    above: Pair | None


class Answer(Pair):
    """What is known of one input; docs/http.md explains every key."""

    function: str
    dtype: str
    exact: str | None = Field(description="Decimal of f(x), correctly rounded; null where float64 has no such numbers.")
    rounding_error_ulp: float | None
    round_down: Number
    round_up: Number
    kappa: float | None = Field(description="|x f'(x) / f(x)|.")
    region: str | None
    neighbours: Neighbours
    also: dict[str, Answer] | None = None


Digits = Annotated[int, PLAIN, Query(ge=1, le=1000, description="Significant digits of decimals.")]
Also = Annotated[
    str,
    Query(
        description="Other dtypes, separated by commas, or `all`: their answers to the same number.",
        max_length=200,
        json_schema_extra={"pattern": f"^(|all|({'|'.join(FORMATS)})(,({'|'.join(FORMATS)}))*)$"},
    ),
]


@router.get("/v1/reference/{function}/{dtype}/{x}", response_model=Answer, summary="The right answer for one input")
async def reference(
    request: Request, function: FunctionName, dtype: DtypeName, x: NumberText, digits: Digits = DIGITS, also: Also = ""
) -> Response:
    """The correctly rounded result as bits, hex float and decimal, with what surrounds it. Cacheable for ever."""
    hall, fmt = hall_of(request), checked(function, dtype)
    bits = parsed(fmt, x, hall.limits.number_text)
    others = _others(also, dtype)
    if not others and is_quick(function, dtype, bits, digits):
        body = look_up(function, dtype, bits, digits)
    elif not others:
        body = await hall.oracle.run(look_up, function, dtype, bits, digits)
    else:
        body = await hall.oracle.run(look_up_with_others, function, dtype, bits, digits, x, others)
    hall.metrics.values.labels("url").inc()
    return kept(request, body, MEDIA_TYPE)


def _others(also: str, dtype: str) -> tuple[str, ...]:
    names = tuple(FORMATS) if also == "all" else tuple(dict.fromkeys(name for name in also.split(",") if name))
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise Problem(422, "invalid", f"also: unknown dtype {unknown[0]!r} (accepted: {', '.join(FORMATS)}, all)")
    return tuple(name for name in names if name != dtype)
