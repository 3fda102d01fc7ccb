"""`GET /v1/inputs/...` and `POST /v1/verify`: fetch the inputs, run your GELU anywhere, post the bits."""

from __future__ import annotations

import asyncio
import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from ...formats import get_format
from ...records.serialize import to_json
from .. import contract
from ..admission import PLAN_S, report_s
from ..bodies import RAW_TYPE, media_type_of
from ..caching import NO_STORE, REVALIDATE
from ..encoding import JSON_TYPE, json_bytes
from ..file_cache import KeptFile, file_response
from ..input_files import CSV, NPY, PARQUET
from ..jobs import UploadJob
from ..params import (
    DtypeQuery,
    ParameterizedOrGelu,
    ParameterizedQuery,
    PlanName,
    PlanQuery,
    Seed,
    TestedDtypeName,
    checked_plan,
    file_name,
)
from ..problems import Problem, not_found
from ..process_pool import Answer
from ..settings import ServiceLimits
from ..state import AppState, state_of
from ..tokens import Authorization, Token, checked_token
from ..upload_jobs import Upload, job_record, run_job

router = APIRouter(tags=["verification"])
_KINDS = (RAW_TYPE, CSV, NPY, PARQUET)
_TEXT_BYTES, _OVERHEAD = 64, 1 << 16  # of a line of CSV; of the headers of other files
Name = Annotated[
    str, Query(pattern=r"^[A-Za-z0-9_.+-]{1,60}$", description="Name of the implementation in the report.")
]
Sha256 = Annotated[str, Query(pattern=r"^([0-9a-f]{64})?$", description="sha256 of the inputs that were used.")]
JobId = Annotated[str, Path(json_schema_extra={"pattern": "^[A-Za-z0-9_-]{16}$"})]


class Progress(BaseModel):
    """Inputs verified so far."""

    done: int
    total: int


class Links(BaseModel):
    """Related URLs."""

    self: str
    report: str | None = None
    run: str | None = None


class JobState(BaseModel):
    """An upload and its grade; `result` is a RESULT (docs/json.md)."""

    id: str
    state: str
    progress: Progress
    grade: str | None
    headline: str | None
    stored: bool
    result: dict[str, Any] | None
    links: Links


@router.get(
    "/v1/inputs/{plan}/{dtype}.bin", summary="The inputs of a plan",
    **contract.file("getInputs", RAW_TYPE, "ETag", "Content-Disposition", "X-Inputs-Sha256", "X-Inputs-Count"),
)  # fmt: skip
async def plan_inputs(
    request: Request, plan: PlanName, dtype: TestedDtypeName, function: ParameterizedOrGelu, seed: Seed = 0
) -> Response:
    """Raw little-endian bits, each input once, in ascending order; `X-Inputs-Sha256` identifies them."""
    state = state_of(request)
    found = await _inputs(state, plan, function, dtype, seed)
    count = found.size // get_format(dtype).uint.itemsize
    name = f"{plan}-{file_name(function)}-{dtype}-{seed}.bin"
    return file_response(
        request, found, RAW_TYPE, REVALIDATE, filename=name, shown=False,
        headers={"X-Inputs-Sha256": found.sha256, "X-Inputs-Count": str(count)},
    )  # fmt: skip


async def _inputs(state: AppState, plan: str, function: str, dtype: str, seed: int) -> KeptFile:
    """The file of the inputs of a plan."""
    checked_plan(plan, function, dtype)

    what, most = (plan, function, dtype, seed), state.limits.plan_inputs
    return await state.files.file(("inputs", *what), lambda: state.admission.compute(PLAN_S, "inputs", most, *what))


@router.post(
    "/v1/verify",
    operation_id="verifyOutputs",
    summary="Verify uploaded outputs",
    response_model=JobState,
    responses={
        **contract.headers("Location"),
        202: {"model": JobState, "description": "Not finished: poll `Location`.", **contract.headers("Location")[200]},
    },
    openapi_extra=contract.body(RAW_TYPE) | {"security": [{}]},  # or with a token
)
async def verify(
    request: Request,
    function: ParameterizedQuery,
    dtype: DtypeQuery,
    plan: PlanQuery = "default",
    seed: Seed = 0,
    name: Name = "mine",
    inputs_sha256: Sha256 = "",
    prefer: Annotated[str | None, Header(description="`respond-async` or `wait=SECONDS` (RFC 7240).")] = None,
    authorization: Authorization = None,
) -> Response:
    """Post a file of outputs in the order of the plan's inputs: raw little-endian bits, npy, CSV or Parquet.

    The content says which it is. With a token the run is stored; without, the result is forgotten after 15 minutes.
    """
    state, limits = state_of(request), state_of(request).limits
    fmt = checked_plan(plan, function, dtype)
    token = _store_token(state, authorization)
    store = None if token is None else state.store
    kind = media_type_of(request)
    if kind not in _KINDS:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {', '.join(_KINDS)})")
    made = await _inputs(state, plan, function, dtype, seed)
    if inputs_sha256 not in ("", made.sha256):
        raise Problem(409, "other-inputs", f"the inputs of this plan have sha256 {made.sha256}: fetch them again")
    count = made.size // fmt.uint.itemsize
    body = await state.spool.body(request, min(limits.body_bytes, _OVERHEAD + _TEXT_BYTES * count))
    job = await asyncio.to_thread(state.jobs.new, count)
    owner, pool = "" if token is None else token.name, state.admission.verification
    upload = Upload(plan, function, dtype, seed, name, body, store, owner, _facts())
    try:
        job.future = pool.submit(run_job, pool, state.jobs, job, upload)
    except Problem:
        body.close()
        await asyncio.to_thread(state.jobs.drop, job)
        raise
    job.future.add_done_callback(lambda _: _count(state, job))
    await _wait(job, _wait_seconds(prefer, limits))
    return await _job_response(state, job)


def _count(state: AppState, job: UploadJob) -> None:
    if job.run is not None and job.state == "done":
        state.metrics.verified.labels(str(job.run.record.grade)).inc()


async def _wait(job: UploadJob, seconds: float) -> None:
    if job.future is not None:
        await asyncio.wait([asyncio.wrap_future(job.future)], timeout=seconds)


async def _job_response(state: AppState, job: UploadJob) -> Response:
    if job.state == "failed" and job.problem is not None:
        raise job.problem
    record = job_record(job)
    if job.state == "done":
        state.runs.refresh()
    status = 200 if job.state == "done" else 202
    headers = {"Cache-Control": NO_STORE, "Location": record["links"]["self"]}
    return Response(json_bytes(record), status, headers, JSON_TYPE)


def _store_token(state: AppState, authorization: str | None) -> Token | None:
    """The token with which the upload is to be stored; None if it is not; Problem 401 or 403 if it may not be."""
    if authorization is None:
        return None
    token = checked_token(state.settings.tokens, authorization, "store")
    if state.store is None:
        raise Problem(409, "no-store", "this server has no store (gelu-verify serve --store)")
    return token


def _wait_seconds(prefer: str | None, limits: ServiceLimits) -> float:
    """Seconds to wait for the result before answering 202."""
    preferences = [part.strip().lower() for part in (prefer or "").split(",")]
    if "respond-async" in preferences:
        return 0.0
    for preference in preferences:
        name, _, value = preference.partition("=")
        if name == "wait" and value.isascii() and value.isdecimal():
            return min(float(value[:6]), limits.batch_s)
    return limits.wait_s


def _facts() -> dict[str, Any]:
    """Provenance of an upload: it was computed on an unknown machine."""
    from ...machine import versions

    now = datetime.datetime.now(datetime.UTC)
    return {
        "created": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "versions": versions(("gelu-verify", "numpy", "mpmath")),
        "machine": {"origin": "uploaded results"},
        "git": None,
        "copy_bytes_per_s": None,
    }


@router.get("/v1/jobs/{job}", operation_id="getUpload", summary="Progress and grade of an upload",
            response_model=JobState, responses=contract.headers("Location"))  # fmt: skip
async def job_state(request: Request, job: JobId) -> Response:
    state = state_of(request)
    response = await _job_response(state, await _found(state, job))
    response.status_code = 200
    return response


@router.get("/v1/jobs/{job}/report.html", summary="The report of an upload",
            **contract.file("getUploadReport", "text/html", "ETag"))  # fmt: skip
async def job_report(request: Request, job: JobId) -> Response:
    state = state_of(request)
    found = await _found(state, job)
    if found.state != "done":
        raise Problem(409, "not-done", f"the job is {found.state}: poll /v1/jobs/{job} until it is done")
    return file_response(
        request, await state.files.file(("report", job), lambda: _rendered(state, found)), "text/html", NO_STORE
    )


async def _rendered(state: AppState, job: UploadJob) -> Answer:
    """The policy of the report of a job, and the report."""
    assert job.run is not None
    buckets = b"" if job.run.buckets is None else await asyncio.to_thread(job.run.buckets)
    what = (job.run.manifest, to_json(job.run.record))
    return await state.admission.compute(report_s(1), "job_report", *what, content=buckets)


@router.delete("/v1/jobs/{job}", status_code=204, operation_id="deleteUpload",
               summary="Delete an upload that was not stored", response_class=Response)  # fmt: skip
async def delete_job(request: Request, job: JobId) -> Response:
    """Its result and its report, for who knows its name: nobody else was told it. A stored run stays."""
    state = state_of(request)
    found = await _found(state, job)
    if found.state == "running":
        raise Problem(409, "not-done", f"the job is running: poll /v1/jobs/{job} until it is done")
    await asyncio.to_thread(state.jobs.drop, found)
    await asyncio.to_thread(state.files.discard, ("report", job))
    return Response(status_code=204)


async def _found(state: AppState, job_id: str) -> UploadJob:
    job = await asyncio.to_thread(state.jobs.get, job_id)
    if job is None:
        raise not_found("no such job, or it was forgotten")
    return job
