"""`GET /v1/runs...`: published runs, their tables and reports, and the matrix over all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from ...runs.store import Run
from ..answers import MEDIA_TYPE, encoded
from ..caching import REVALIDATED, kept
from ..hall import Hall, hall_of
from ..library import Library
from ..problems import not_found

router = APIRouter(tags=["runs"])
Row = dict[str, Any]
Rows = list[Row]
TABLES = ("summary", "tail", "special", "regions", "throughput", "findings")
CSV = "text/csv"
RunId = Annotated[str, Path(json_schema_extra={"pattern": r"^[A-Za-z0-9_.+-]{1,100}$"}, description="Name of a run.")]
Table = Annotated[str, Path(json_schema_extra={"enum": list(TABLES)}, description="A table of the report.")]
_CSV_ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {CSV: {}}}}
_HTML_ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}


class RunSummary(BaseModel):
    """One published run."""

    id: str
    created: str
    plan: str
    seed: int
    command: str
    results: int
    headline: str
    links: dict[str, str]
    damaged: str | None


class RunList(BaseModel):
    """All published runs, the newest first."""

    runs: list[RunSummary]


class Cell(BaseModel):
    """The newest result of a target, function and dtype."""

    target: str
    family: str
    function: str
    dtype: str
    form: str
    version: str
    bound: str
    max_ulp: float | None
    witness: dict[str, str] | None
    failure: str | None
    verdict: str
    failed_checks: list[str]
    run: str


class Matrix(BaseModel):
    """Who is how accurate."""

    results: list[Cell]


@router.get("/v1/runs.json", response_model=RunList, summary="The same, under the name that a static copy has")
@router.get("/v1/runs", response_model=RunList, summary="Published runs")
async def runs(request: Request) -> Response:
    return await _as_json(request, "runs", Library.summaries)


@router.get("/v1/runs.csv", summary="Published runs", response_class=Response, responses=_CSV_ANSWER)
async def runs_csv(request: Request) -> Response:
    return await _as_csv(request, "runs.csv", Library.summaries, flat_summary)


@router.get("/v1/matrix.json", response_model=Matrix, summary="The same, under the name that a static copy has")
@router.get("/v1/matrix", response_model=Matrix, summary="The newest result of everything that was judged")
async def matrix(request: Request) -> Response:
    return await _as_json(request, "results", Library.matrix)


@router.get("/v1/matrix.csv", summary="The same as CSV", response_class=Response, responses=_CSV_ANSWER)
async def matrix_csv(request: Request) -> Response:
    return await _as_csv(request, "matrix.csv", Library.matrix, flat_cell)


async def _as_json(request: Request, key: str, rows: Callable[[Library], Rows]) -> Response:
    hall = hall_of(request)
    return kept(request, encoded({key: await hall.work.run(rows, hall.library)}), MEDIA_TYPE, REVALIDATED)


async def _as_csv(request: Request, name: str, rows: Callable[[Library], Rows], flat: Callable[[Row], Row]) -> Response:
    hall = hall_of(request)
    found = await hall.work.run(rows, hall.library)
    return kept(request, csv_of([flat(row) for row in found]), CSV, REVALIDATED, name)


@router.get("/v1/compare.html", summary="Runs side by side", response_class=Response, responses=_HTML_ANSWER)
async def compare(
    request: Request, run: Annotated[list[str], Query(min_length=1, max_length=4, description="Names of runs.")]
) -> Response:
    hall = hall_of(request)
    found = [_found(hall, name) for name in run]
    return (await hall.work.run(hall.shelf.page, found)).response(REVALIDATED)


@router.get(
    "/v1/runs/{run}/manifest.json",
    response_model=dict[str, Any],
    summary="The same, under the name that a static copy has",
)
@router.get("/v1/runs/{run}", response_model=dict[str, Any], summary="A run: its manifest, as docs/json.md has it")
async def one_run(request: Request, run: RunId) -> Response:
    return kept(request, encoded(_found(hall_of(request), run).document()), MEDIA_TYPE, REVALIDATED)


@router.get("/v1/runs/{run}/report.html", summary="Its report", response_class=Response, responses=_HTML_ANSWER)
async def report(request: Request, run: RunId) -> Response:
    hall = hall_of(request)
    return (await hall.work.run(hall.shelf.page, [_found(hall, run)])).response(REVALIDATED)


@router.get("/v1/runs/{run}/{table}.csv", summary="A table of its report", response_class=Response,
            responses=_CSV_ANSWER)  # fmt: skip
async def table_csv(request: Request, run: RunId, table: Table) -> Response:
    hall = hall_of(request)
    content = await hall.work.run(table_of, _found(hall, run), _known(table), "csv")
    return kept(request, content, CSV, REVALIDATED, f"{table}.csv")


@router.get("/v1/runs/{run}/{table}.json", response_model=list[dict[str, Any]], summary="A table of its report")
async def table_json(request: Request, run: RunId, table: Table) -> Response:
    hall = hall_of(request)
    content = await hall.work.run(table_of, _found(hall, run), _known(table), "json")
    return kept(request, content, MEDIA_TYPE, REVALIDATED)


def _known(table: str) -> str:
    if table not in TABLES:
        raise not_found(f"no table {table!r} (accepted: {', '.join(TABLES)})")
    return table


def _found(hall: Hall, name: str) -> Run:
    run = hall.library.run(name)
    if run is None:
        wrong = hall.library.damage(name)
        raise not_found(f"the run {name} is damaged: {wrong}" if wrong else f"no run of the name {name[:100]!r}")
    return run


def table_of(run: Run, table: str, kind: str) -> bytes:
    """A frame of the report as CSV or JSON."""
    from ...report.frames import FRAMES

    frame = FRAMES[table]([run])
    if kind == "csv":
        return bytes(frame.to_csv(index=False, lineterminator="\n").encode())
    return bytes(frame.to_json(orient="records", double_precision=15).encode())


def flat_summary(row: Row) -> Row:
    """What a list says of a run, without nesting."""
    return {key: value for key, value in row.items() if key != "links"}


def flat_cell(row: Row) -> Row:
    """A cell of the matrix without nesting."""
    witness = row["witness"] or {}
    bits = {name: witness.get(name) for name in ("x_bits", "got_bits", "want_bits")}
    rest = {key: value for key, value in row.items() if key != "witness"}
    return {**rest, "failed_checks": " ".join(row["failed_checks"]), **bits}


def csv_of(rows: Rows) -> bytes:
    """Rows of equal keys as CSV."""
    if not rows:
        return b""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
