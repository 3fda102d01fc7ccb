"""`GET /v1/runs...`: published runs, their tables and reports, and the matrix of all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from ...runs.store import Run
from ..admission import report_s
from ..caching import REVALIDATE, cached_response
from ..contract import file, headers, json_route
from ..encoding import JSON_TYPE, json_bytes
from ..file_cache import file_response
from ..params import DECIMAL_DIGITS, whole_number
from ..problems import Problem, not_found
from ..run_repository import RunRepository
from ..state import state_of
from ..telemetry import log
from ..tokens import Authorization, checked_token

router = APIRouter(tags=["runs"])
Row = dict[str, Any]
Rows = list[Row]
TABLES = ("summary", "tail", "special", "regions", "throughput", "findings")
CSV = "text/csv"
RunId = Annotated[str, Path(json_schema_extra={"pattern": r"^[A-Za-z0-9_.+-]{1,100}$"}, description="Name of a run.")]
Table = Annotated[str, Path(json_schema_extra={"enum": list(TABLES)}, description="A table of the report.")]
Count = Annotated[int, DECIMAL_DIGITS, whole_number(1, 1000, "Runs of a page.")]
Before = Annotated[str, Query(pattern=r"^[A-Za-z0-9_.+-]{0,100}$", description="Name of a run: older ones only.")]


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
    """Published runs, the newest first; `next` is the URL of the runs before these, if there are more."""

    runs: list[RunSummary]
    next: str | None


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
    grade: str | None
    grade_bound: str | None
    sentence: str | None
    failed_checks: list[str]
    run: str


class Matrix(BaseModel):
    """The accuracy of every implementation."""

    results: list[Cell]


@json_route(router, "/v1/runs", "listRuns", "Published runs", RunList)
async def runs(request: Request, count: Count = 100, before: Before = "") -> Response:
    """A page of them; the URL of the next page is in `next`."""
    state = state_of(request)
    rows = await state.admission.work.run(state.runs.summaries, before or None, count + 1)
    more = f"/v1/runs?count={count}&before={rows[count - 1]['id']}" if len(rows) > count else None
    return cached_response(request, json_bytes({"runs": rows[:count], "next": more}), JSON_TYPE, REVALIDATE)


@router.get("/v1/runs.csv", summary="Published runs", **file("listRunsCsv", CSV, "ETag", "Content-Disposition"))
async def runs_csv(request: Request) -> Response:
    return await _as_csv(request, "runs.csv", RunRepository.summaries, flat_summary)


@json_route(router, "/v1/matrix", "getMatrix", "The newest result of each target, function and dtype", Matrix)
async def matrix(request: Request) -> Response:
    return await _as_json(request, "results", RunRepository.matrix)


@router.get("/v1/matrix.csv", summary="The same as CSV", **file("getMatrixCsv", CSV, "ETag", "Content-Disposition"))
async def matrix_csv(request: Request) -> Response:
    return await _as_csv(request, "matrix.csv", RunRepository.matrix, flat_cell)


async def _as_json(request: Request, key: str, rows: Callable[[RunRepository], Rows]) -> Response:
    state = state_of(request)
    found = await state.admission.work.run(rows, state.runs)
    return cached_response(request, json_bytes({key: found}), JSON_TYPE, REVALIDATE)


async def _as_csv(
    request: Request, filename: str, rows: Callable[[RunRepository], Rows], flat: Callable[[Row], Row]
) -> Response:
    state = state_of(request)
    found = await state.admission.work.run(rows, state.runs)
    return cached_response(request, csv_of([flat(row) for row in found]), CSV, REVALIDATE, filename)


@router.get("/v1/compare.html", summary="Runs side by side", **file("compareRuns", "text/html", "ETag"))
async def compare(
    request: Request, run: Annotated[list[str], Query(min_length=1, max_length=4, description="Names of runs.")]
) -> Response:
    return await _report(request, run)


@json_route(
    router, "/v1/runs/{run}", "getRun", "The manifest of a run (docs/json.md)", "Manifest",
    "/v1/runs/{run}/manifest.json",
)  # fmt: skip
async def one_run(request: Request, run: RunId) -> Response:
    state = state_of(request)
    found = await state.admission.work.run(_found, state.runs, run)
    return cached_response(request, json_bytes(found.document()), JSON_TYPE, REVALIDATE)


@router.delete(
    "/v1/runs/{run}",
    operation_id="deleteRun",
    status_code=204,
    summary="Delete a run of the store",
    response_class=Response,
)
async def delete(request: Request, run: RunId, authorization: Authorization = None) -> Response:
    """With a token: that with which it was stored, or one that may delete all. Runs of `--runs` cannot be deleted."""
    state = state_of(request)
    token = checked_token(state.settings.tokens, authorization, "delete", "delete-any")
    if not token.may_delete(run):
        raise Problem(403, "scope", "the run was not stored with this token (needs the scope delete-any)")
    if state.store is None or not await state.admission.work.run(state.store.remove, run):
        raise not_found(f"the store has no run named {run[:100]!r}")
    state.runs.refresh()
    log("deleted", run=run)
    return Response(status_code=204)


@router.get("/v1/runs/{run}/report.html", summary="The report of a run", **file("getRunReport", "text/html", "ETag"))
async def report(request: Request, run: RunId) -> Response:
    return await _report(request, [run])


async def _report(request: Request, names: list[str]) -> Response:
    state = state_of(request)
    runs = [await state.admission.work.run(_found, state.runs, name) for name in names]
    key = ("report", *((run.path, run.manifest.get("content_sha256")) for run in runs))
    seconds = sum(report_s(len(run.results)) for run in runs)
    paths = [str(run.path) for run in runs]
    found = await state.files.file(key, lambda: state.admission.compute(seconds, "report", paths))
    return file_response(request, found, "text/html", REVALIDATE)


@router.get(
    "/v1/runs/{run}/{table}.csv",
    summary="A table of the report of a run",
    **file("getRunTableCsv", CSV, "ETag", "Content-Disposition"),
)
async def table_csv(request: Request, run: RunId, table: Table) -> Response:
    return cached_response(request, await _table(request, run, table, "csv"), CSV, REVALIDATE, f"{table}.csv")


@router.get(
    "/v1/runs/{run}/{table}.json",
    operation_id="getRunTable",
    response_model=list[dict[str, Any]],
    responses=headers("ETag"),
    summary="A table of the report of a run",
)
async def table_json(request: Request, run: RunId, table: Table) -> Response:
    return cached_response(request, await _table(request, run, table, "json"), JSON_TYPE, REVALIDATE)


async def _table(request: Request, run: str, table: str, kind: str) -> bytes:
    state = state_of(request)
    found, table = await state.admission.work.run(_found, state.runs, run), _checked_table(table)
    seconds = report_s(len(found.results))
    _, content = await state.admission.compute(seconds, "run_table", str(found.path), table, kind)
    return content


def _checked_table(table: str) -> str:
    if table not in TABLES:
        raise not_found(f"no table {table!r} (accepted: {', '.join(TABLES)})")
    return table


def _found(repository: RunRepository, name: str) -> Run:
    run = repository.run(name)
    if run is None:
        wrong = repository.damage(name)
        raise not_found(f"the run {name} is damaged: {wrong}" if wrong else f"no run named {name[:100]!r}")
    return run


def flat_summary(row: Row) -> Row:
    """An item of the list of runs, without nesting."""
    return {key: value for key, value in row.items() if key != "links"}


def flat_cell(row: Row) -> Row:
    """A cell of the matrix, without nesting."""
    witness = row["witness"] or {}
    bits = {name: witness.get(name) for name in ("x_bits", "got_bits", "want_bits")}
    rest = {key: value for key, value in row.items() if key != "witness"}
    return {**rest, "failed_checks": " ".join(row["failed_checks"]), **bits}


def csv_of(rows: Rows) -> bytes:
    """Rows with the same keys as CSV."""
    if not rows:
        return b""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
