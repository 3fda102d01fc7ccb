"""`GET /v1/answers...`: what the implementations at hand answer, and how wrong they are."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from ...formats import DTYPES
from ..answers import MEDIA_TYPE, encoded
from ..caching import FOR_NOBODY, REVALIDATED, kept
from ..hall import Hall, hall_of
from ..naming import FunctionName, JudgedDtypeName, NumberText, checked, parsed
from ..problems import not_found

router = APIRouter(tags=["reference"])
FamilyName = Annotated[
    str, Query(pattern="^([a-z][a-z0-9_]{0,39})?$", description="One family of /v1/answers; all where it is empty.")
]
_PUBLISHED = ("max_ulp", "bound", "run")


class FamilyState(BaseModel):
    """A family of implementations that this server asks."""

    family: str
    awake: bool = Field(description="Whether it answers at once; else it is loaded first, which takes seconds.")
    absent: str | None = Field(description="Why it could not be asked the last time.")


class FamilyList(BaseModel):
    """All of them, the quickest first."""

    families: list[FamilyState]


class Implementation(BaseModel):
    """One implementation's answer, and its largest error in the published runs."""

    target: str
    form: str
    note: str
    version: str
    y_bits: str | None
    y_hex: str | None
    y: str | None
    error_ulp: float | None
    failure: str | None = Field(description="What it did instead of answering, or beside it.")
    max_ulp: float | None
    bound: str | None
    run: str | None


class Implementations(BaseModel):
    """What those that compute the function answer; `absent` says why a family has no answers."""

    function: str
    dtype: str
    x_bits: str
    absent: dict[str, str]
    answers: list[Implementation]


@router.get("/v1/answers", response_model=FamilyList, summary="Whose implementations can be asked")
async def families(request: Request) -> Response:
    """Families of the server's `--answers`; nothing is loaded to answer this."""
    members = await asyncio.to_thread(hall_of(request).families.members)
    listed = [
        {"family": each.name, "awake": each.ours or each.awake, "absent": each.absent or None}
        for each in members.values()
    ]
    return Response(encoded({"families": listed}), headers={"Cache-Control": FOR_NOBODY}, media_type=MEDIA_TYPE)


@router.get("/v1/answers/{function}/{dtype}/{x}", response_model=Implementations, summary="What implementations answer")
async def answers(
    request: Request, function: FunctionName, dtype: JudgedDtypeName, x: NumberText, family: FamilyName = ""
) -> Response:
    """Computed here and now, each family in a process of its own: a crash or a hang is an answer (`failure`)."""
    hall, fmt = hall_of(request), checked(function, dtype)
    if dtype not in DTYPES:
        raise not_found(f"implementations are judged in {', '.join(DTYPES)}, not in {dtype}")
    bits = parsed(fmt, x, hall.limits.number_text)
    names = [family] if family else list(await asyncio.to_thread(hall.families.members))
    asked = (hall.families.ask(name, function, fmt, bits, request.is_disconnected) for name in names)
    found = dict(zip(names, await asyncio.gather(*asked), strict=True))
    rows = [row for findings in found.values() for row in findings.answers]
    content = {
        "function": function,
        "dtype": dtype,
        "x_bits": fmt.bits_text(bits),
        "absent": {name: findings.absent for name, findings in found.items() if findings.absent},
        "answers": sorted(await hall.work.run(_published, hall, function, dtype, rows), key=_rank),
    }
    return kept(request, encoded(content), MEDIA_TYPE, REVALIDATED)


def _published(hall: Hall, function: str, dtype: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with its largest error in the published runs."""
    of_interest = (cell for cell in hall.library.matrix() if (cell["function"], cell["dtype"]) == (function, dtype))
    known = {cell["target"]: {key: cell[key] for key in _PUBLISHED} for cell in of_interest}
    return [{**dict.fromkeys(_PUBLISHED), **row, **known.get(row["target"], {})} for row in rows]


def _rank(row: dict[str, Any]) -> tuple[bool, float]:
    return row["y_bits"] is None, abs(row["error_ulp"] or 0.0)
