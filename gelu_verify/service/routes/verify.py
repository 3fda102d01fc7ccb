"""`GET /v1/inputs/...` and `POST /v1/verify`: fetch the inputs, run your GELU anywhere, post the bits."""

from __future__ import annotations

import asyncio
import datetime
import hmac
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from ...errors import UsageError
from ...inputs.plans import make_plan
from ..answers import MEDIA_TYPE, encoded
from ..bodies import Pieces, read_body
from ..caching import FOR_NOBODY, REVALIDATED, matches
from ..hall import Hall, hall_of
from ..jobs import Job
from ..judging import inputs, judge_upload, shown
from ..naming import DtypeQuery, FunctionQuery, JudgedDtypeName, PlanName, PlanQuery, Seed, checked_plan
from ..problems import Problem, not_found, of_error
from ..reports import render_job
from ..settings import Limits

router = APIRouter(tags=["verification"])
RAW = "application/octet-stream"
_RAW_BODY: dict[str, Any] = {RAW: {"schema": {"type": "string", "format": "binary"}}}
Name = Annotated[
    str, Query(pattern=r"^[A-Za-z0-9_.+-]{1,60}$", description="What the implementation is called in the report.")
]
Sha256 = Annotated[str, Query(pattern=r"^([0-9a-f]{64})?$", description="sha256 of the inputs that were answered.")]
JobId = Annotated[str, Path(json_schema_extra={"pattern": "^[A-Za-z0-9_-]{16}$"})]


class Progress(BaseModel):
    """Inputs judged so far."""

    done: int
    total: int


class Links(BaseModel):
    """Where more is."""

    self: str
    report: str | None = None
    run: str | None = None


class JobState(BaseModel):
    """An upload and its verdict; `result` is a RESULT of docs/json.md."""

    id: str
    state: str
    progress: Progress
    verdict: str | None
    headline: str | None
    stored: bool
    result: dict[str, Any] | None
    links: Links


@router.get("/v1/inputs/{plan}/{dtype}.bin", summary="The inputs of a plan", response_class=Response,
            responses={200: {"content": _RAW_BODY}})  # fmt: skip
async def plan_inputs(
    request: Request, plan: PlanName, dtype: JudgedDtypeName, function: FunctionQuery = "gelu", seed: Seed = 0
) -> Response:
    """Raw little-endian bits, each input once, in ascending order; `X-Inputs-Sha256` names exactly these."""
    hall = hall_of(request)
    checked_plan(plan, function, dtype)
    x, digest = await hall.work.run(_inputs, hall.limits, plan, function, dtype, seed)
    headers = {"ETag": f'"{digest[:32]}"', "Cache-Control": REVALIDATED, "X-Inputs-Sha256": digest,
               "X-Inputs-Count": str(len(x))}  # fmt: skip
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    name = f"{plan}-{function}-{dtype}-{seed}.bin"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Type": RAW}
    return Pieces(memoryview(x).cast("B"), {**headers, **disposition})


def _inputs(limits: Limits, plan: str, function: str, dtype: str, seed: int) -> tuple[Any, str]:
    _size(limits, plan, function, dtype, seed)
    return inputs(plan, function, dtype, seed)


def _size(limits: Limits, plan: str, function: str, dtype: str, seed: int) -> int:
    """How many inputs a plan has; Problem 404 where it is none for this dtype, or none for a network."""
    try:
        size = make_plan(plan, function, dtype, seed).size
    except UsageError as error:
        raise not_found(str(error)) from None
    if size > limits.plan_inputs:
        raise not_found(
            f"plan {plan} in {dtype} has {size} inputs, more than the {limits.plan_inputs} that are judged over HTTP: "
            "install gelu-verify"
        )
    return size


@router.post(
    "/v1/verify",
    summary="How accurate are these results?",
    response_model=JobState,
    responses={202: {"model": JobState, "description": "Still at work: ask `Location`."}},
    openapi_extra={"requestBody": {"required": True, "content": _RAW_BODY}},
)
async def verify(
    request: Request,
    function: FunctionQuery,
    dtype: DtypeQuery,
    plan: PlanQuery = "default",
    seed: Seed = 0,
    name: Name = "mine",
    inputs_sha256: Sha256 = "",
    prefer: Annotated[str | None, Header(description="`respond-async` or `wait=SECONDS` (RFC 7240).")] = None,
) -> Response:
    """Post raw little-endian result bits in the order of the plan's inputs.

    With `Authorization: Bearer TOKEN` the run is stored; without, the verdict is forgotten after a quarter of an hour.
    """
    hall, limits = hall_of(request), hall_of(request).limits
    fmt = checked_plan(plan, function, dtype)
    store = hall.store if _may_write(hall, request.headers.get("authorization")) else None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != RAW:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {RAW})")
    size = _size(limits, plan, function, dtype, seed)
    body = await read_body(request, limits, limits.body_bytes, expected=size * fmt.uint.itemsize)
    _, digest = await hall.work.run(inputs, plan, function, dtype, seed)
    if inputs_sha256 not in ("", digest):
        raise Problem(409, "other-inputs", f"the inputs of this plan have sha256 {digest}: fetch them again")
    job = hall.jobs.new(size)
    try:
        work = (hall.jobs, make_plan(plan, function, dtype, seed), name, body, store, _facts())
        job.future = hall.work.submit(judge_upload, job, *work)
    except Problem:
        hall.jobs.drop(job)
        raise
    await _wait(job, _patience(prefer, limits))
    return await _answer(hall, job)


async def _wait(job: Job, seconds: float) -> None:
    if job.future is not None:
        await asyncio.wait([asyncio.wrap_future(job.future)], timeout=seconds)


async def _answer(hall: Hall, job: Job) -> Response:
    if job.state == "failed" and job.problem is not None:
        hall.jobs.drop(job)
        raise job.problem if isinstance(job.problem, Problem) else of_error(job.problem)  # type: ignore[arg-type]
    record = shown(job)
    if job.state == "done":
        hall.library.forget()
        hall.metrics.verified.labels(record["verdict"]).inc()
    status = 200 if job.state == "done" else 202
    headers = {"Cache-Control": FOR_NOBODY, "Location": record["links"]["self"]}
    return Response(encoded(record), status, headers, MEDIA_TYPE)


def _may_write(hall: Hall, authorization: str | None) -> bool:
    """Whether the upload is to be stored; Problem 401 for a token that is not ours."""
    if authorization is None:
        return False
    scheme, _, token = authorization.partition(" ")
    ours = hall.settings.token
    if scheme.lower() != "bearer" or ours is None or not hmac.compare_digest(token.strip().encode(), ours.encode()):
        raise Problem(401, "token", "this token does not permit writing here", {"WWW-Authenticate": "Bearer"})
    if hall.store is None:
        raise Problem(409, "no-store", "this server has no store (gelu-verify serve --store)")
    return True


def _patience(prefer: str | None, limits: Limits) -> float:
    """Seconds to wait for the verdict before 202."""
    wishes = [part.strip().lower() for part in (prefer or "").split(",")]
    if "respond-async" in wishes:
        return 0.0
    for wish in wishes:
        name, _, value = wish.partition("=")
        if name == "wait" and value.isascii() and value.isdecimal():
            return min(float(value[:6]), limits.batch_s)
    return limits.wait_s


def _facts() -> dict[str, Any]:
    """Provenance of an upload: it was computed elsewhere, nobody here knows where."""
    from ...machine import versions

    now = datetime.datetime.now(datetime.UTC)
    return {
        "created": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "versions": versions(("gelu-verify", "numpy", "mpmath")),
        "machine": {"origin": "uploaded results"},
        "git": None,
        "copy_bytes_per_s": None,
    }


@router.get("/v1/jobs/{job}", summary="Progress and verdict of an upload", response_model=JobState)
async def job_state(request: Request, job: JobId) -> Response:
    hall = hall_of(request)
    answer = await _answer(hall, _found(hall, job))
    answer.status_code = 200
    return answer


@router.get("/v1/jobs/{job}/report.html", summary="The report of an upload", response_class=Response,
            responses={200: {"content": {"text/html": {}}}})  # fmt: skip
async def job_report(request: Request, job: JobId) -> Response:
    hall = hall_of(request)
    found = _found(hall, job)
    if found.state != "done":
        raise Problem(409, "not-done", f"the job is {found.state}: ask /v1/jobs/{job} until it is done")
    page = await hall.work.run(render_job, found)
    return page.response(FOR_NOBODY)


def _found(hall: Hall, name: str) -> Job:
    job = hall.jobs.get(name)
    if job is None:
        raise not_found("no such job, or it is forgotten")
    return job
