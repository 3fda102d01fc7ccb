"""`GET /v1/answers/{function}/{dtype}/{x}`: what the implementations at hand answer, and how wrong they are."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from ...errors import TargetFailure
from ...formats import DTYPES, Format
from ...lookup import written
from ...reference import judge
from ..answers import MEDIA_TYPE, encoded
from ..caching import REVALIDATED, kept
from ..hall import Hall, hall_of
from ..naming import FunctionName, JudgedDtypeName, NumberText, checked, parsed
from ..problems import not_found
from ..settings import DIGITS

if TYPE_CHECKING:
    from ...targets import Target

router = APIRouter(tags=["reference"])
_turn = Lock()  # implementations are called one at a time


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
    failure: str | None
    max_ulp: float | None
    bound: str | None
    run: str | None


class Implementations(BaseModel):
    """All that are at hand on this server."""

    function: str
    dtype: str
    x_bits: str
    answers: list[Implementation]


@router.get("/v1/answers/{function}/{dtype}/{x}", response_model=Implementations, summary="What implementations answer")
async def answers(request: Request, function: FunctionName, dtype: JudgedDtypeName, x: NumberText) -> Response:
    """Computed here and now, by the target families that the server was started with."""
    hall, fmt = hall_of(request), checked(function, dtype)
    if dtype not in DTYPES:
        raise not_found(f"implementations are judged in {', '.join(DTYPES)}, not in {dtype}")
    bits = parsed(fmt, x, hall.limits.number_text)
    found = await hall.work.run(_answers, hall, function, fmt, bits)
    content = {"function": function, "dtype": dtype, "x_bits": fmt.bits_text(bits), "answers": found}
    return kept(request, encoded(content), MEDIA_TYPE, REVALIDATED)


def _answers(hall: Hall, function: str, fmt: Format, bits: int) -> list[dict[str, Any]]:
    from ...targets import find

    with _turn:
        targets, _ = find(hall.settings.families)
        chosen = [target for target in targets if target.function == function and fmt.name in target.dtypes]
        entries = [_answer(target, function, fmt, bits) for target in chosen]
    known = {(cell["target"], cell["dtype"]): cell for cell in hall.library.matrix() if cell["function"] == function}
    for entry in entries:
        cell = known.get((entry["target"], fmt.name), {})
        entry |= {name: cell.get(name) for name in ("max_ulp", "bound", "run")}
    return sorted(entries, key=lambda entry: (entry["failure"] is not None, abs(entry["error_ulp"] or 0.0)))


def _answer(target: Target, function: str, fmt: Format, bits: int) -> dict[str, Any]:
    x = np.array([bits], fmt.uint)
    told = {"target": target.name, "form": target.form, "note": target.note, "version": target.version}
    nothing = dict.fromkeys(("y_bits", "y_hex", "y", "error_ulp", "failure"))
    try:
        got = target.evaluate(fmt.name, x)
    except TargetFailure as failure:
        return {**told, **nothing, "failure": str(failure)}
    error = float(judge(function, fmt.name, x, got).error[0])
    text = written(fmt, int(got[0]), DIGITS)
    finite = error if np.isfinite(error) else 0.0 if not fmt.is_finite(bits) else None
    return {**told, "y_bits": text["bits"], "y_hex": text["hex"], "y": text["decimal"], "error_ulp": finite,
            "failure": None}  # fmt: skip
