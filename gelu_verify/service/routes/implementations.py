"""`GET /v1/answers...`: what the installed implementations return, and how wrong they are."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from ...formats import Format
from ...truth.values import reference_bits
from ..caching import NO_STORE, REVALIDATE, cached_response
from ..contract import headers
from ..disconnection import client_has_left
from ..encoding import JSON_TYPE, json_bytes
from ..input_files import bits_of
from ..params import NumberText, ParameterizedPath, TestedDtypeName, checked_tested, parsed
from ..problems import not_found
from ..state import AppState, state_of

router = APIRouter(tags=["reference"])
FamilyName = Annotated[
    str, Query(pattern="^([a-z][a-z0-9_]{0,39})?$", description="One family of /v1/answers; empty for all.")
]
MOST_INPUTS = 256
_PUBLISHED = ("max_ulp", "bound", "run")


class FamilyState(BaseModel):
    """A target family of this server."""

    family: str
    awake: bool = Field(description="Whether its process runs; otherwise it is loaded first, which takes seconds.")
    absent: str | None = Field(description="Why it could not be loaded the last time.")


class FamilyList(BaseModel):
    """All families, the quickest first."""

    families: list[FamilyState]


class Implementation(BaseModel):
    """One implementation's output, and its largest error in the published runs."""

    target: str
    form: str
    note: str
    version: str
    y_bits: str | None
    y_hex: str | None
    y: str | None
    error_ulp: float | None
    failure: str | None = Field(description="What went wrong, instead of an output or besides it.")
    max_ulp: float | None
    bound: str | None
    run: str | None


class Implementations(BaseModel):
    """Outputs of the implementations of a function; `absent` says why a family has none."""

    function: str
    dtype: str
    x_bits: str
    absent: dict[str, str]
    answers: list[Implementation]


@router.get("/v1/answers", response_model=FamilyList, operation_id="listFamilies",
            summary="The target families of this server")  # fmt: skip
async def families(request: Request) -> Response:
    """The families of the server's `--answers`; this request loads none of them."""
    workers = await asyncio.to_thread(state_of(request).libraries.workers)
    listed = [
        {"family": each.name, "awake": each.in_process or each.running, "absent": each.absent or None}
        for each in workers.values()
    ]
    return Response(json_bytes({"families": listed}), headers={"Cache-Control": NO_STORE}, media_type=JSON_TYPE)


@router.get("/v1/answers/{function}/{dtype}/{x}", response_model=Implementations,
            operation_id="getOutputs", summary="What implementations return", responses=headers("ETag"))  # fmt: skip
async def answers(
    request: Request, function: ParameterizedPath, dtype: TestedDtypeName, x: NumberText, family: FamilyName = ""
) -> Response:
    """Computed on request, each family in a process of its own: a crash or a hang becomes its `failure`."""
    state, fmt = state_of(request), _without_parameters(function, dtype)
    bits = parsed(fmt, x, state.limits.number_text)
    names = [family] if family else list(await asyncio.to_thread(state.libraries.workers))
    calls = (state.libraries.compute(name, function, fmt, bits, partial(client_has_left, request)) for name in names)
    outputs = dict(zip(names, await asyncio.gather(*calls), strict=True))
    rows = [row for each in outputs.values() for row in each.rows]
    content = {
        "function": function,
        "dtype": dtype,
        "x_bits": fmt.bits_text(bits),
        "absent": {name: each.absent for name, each in outputs.items() if each.absent},
        "answers": sorted(await state.admission.work.run(_published, state, function, dtype, rows), key=_rank),
    }
    return cached_response(request, json_bytes(content), JSON_TYPE, REVALIDATE)


def _without_parameters(function: str, dtype: str) -> Format:
    """The format; Problem 404 for a function with parameters: every value would be another set of loaded targets."""
    fmt = checked_tested(function, dtype)
    if "[" in function:
        command = f"gelu-verify run FAMILY --function '{function}' --dtype {dtype}"
        raise not_found(f"implementations are not asked for {function} here (use {command})")
    return fmt


class Inputs(BaseModel):
    """Inputs as bits."""

    model_config = ConfigDict(extra="forbid")

    x_bits: list[Annotated[str, Field(pattern="^0[xX][0-9a-fA-F]{1,16}$")]] = Field(
        min_length=1, max_length=MOST_INPUTS, examples=[["0xc0d00000", "0x3f800000"]]
    )


class OutputList(BaseModel):
    """The outputs of an implementation, in the order of the inputs."""

    target: str
    y_bits: list[str] | None
    error_ulp: list[float | None] | None
    failure: str | None


class Agreement(BaseModel):
    """The reference and all outputs; `agree` has for each input the targets by their output."""

    function: str
    dtype: str
    x_bits: list[str]
    reference: list[str]
    absent: dict[str, str]
    answers: list[OutputList]
    agree: list[dict[str, list[str]]]


@router.post("/v1/answers/{function}/{dtype}", response_model=Agreement,
             operation_id="compareOutputs", summary="Which implementations agree on these inputs")  # fmt: skip
async def agreement(
    request: Request, function: ParameterizedPath, dtype: TestedDtypeName, inputs: Inputs, family: FamilyName = ""
) -> Response:
    """The outputs of all implementations for up to 256 inputs."""
    state, fmt = state_of(request), _without_parameters(function, dtype)
    x = bits_of(fmt, inputs.model_dump(), MOST_INPUTS)
    names = [family] if family else list(await asyncio.to_thread(state.libraries.workers))
    left = partial(client_has_left, request)
    calls = (state.libraries.compute_many(name, function, fmt, x, left) for name in names)
    outputs = dict(zip(names, await asyncio.gather(*calls), strict=True))
    rows = [row for each in outputs.values() for row in each.rows]
    reference = await state.admission.work.run(reference_bits, function, dtype, x)
    content = {
        "function": function,
        "dtype": dtype,
        "x_bits": [fmt.bits_text(bits) for bits in x.tolist()],
        "reference": [fmt.bits_text(bits) for bits in reference.tolist()],
        "absent": {name: each.absent for name, each in outputs.items() if each.absent},
        "answers": rows,
        "agree": [_by_output(rows, index) for index in range(len(x))],
    }
    return Response(json_bytes(content), headers={"Cache-Control": NO_STORE}, media_type=JSON_TYPE)


def _by_output(rows: list[dict[str, Any]], index: int) -> dict[str, list[str]]:
    """The targets by what they return for one input, the largest group first."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["y_bits"] is not None:
            found.setdefault(row["y_bits"][index], []).append(row["target"])
    return dict(sorted(found.items(), key=lambda group: -len(group[1])))


def _published(state: AppState, function: str, dtype: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with its largest error in the published runs."""
    cells = (cell for cell in state.runs.matrix() if (cell["function"], cell["dtype"]) == (function, dtype))
    published = {cell["target"]: {key: cell[key] for key in _PUBLISHED} for cell in cells}
    return [{**dict.fromkeys(_PUBLISHED), **row, **published.get(row["target"], {})} for row in rows]


def _rank(row: dict[str, Any]) -> tuple[bool, float]:
    return row["y_bits"] is None, abs(row["error_ulp"] or 0.0)
