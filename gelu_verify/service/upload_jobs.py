"""Verification of uploaded outputs: by the same sweep that tests a target on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from ..errors import Unanswered, UsageError
from ..formats import get_format, ordinals
from ..inputs.plans import Plan, make_plan
from ..records.result import Result
from ..records.schema import SCHEMA
from ..records.serialize import record_from_json, to_json
from ..report.verdicts import headline
from ..runs.bucket_files import parquet_of
from ..targets.base import Target
from ..work.observer import Observer
from .bodies import Body
from .jobs import JobRegistry, UnstoredRun, UploadJob
from .problems import not_found
from .process_pool import ProcessPool
from .store import Store
from .telemetry import log


def inputs(plan: str, function: str, dtype: str, seed: int, most: int | None = None) -> bytes:
    """All inputs of a plan as little-endian bits, in ascending order.

    Raises
    ------
    Problem : 404 the dtype has no plan of that name, or one of more than `most` inputs
    """
    made = _made(plan, function, dtype, seed, most)
    x = np.concatenate([chunk.x_bits() for chunk in made.chunks])
    return x.astype(get_format(dtype).uint.newbyteorder("<"), copy=False).tobytes()


def _made(name: str, function: str, dtype: str, seed: int, most: int | None) -> Plan:
    try:
        plan = make_plan(name, function, dtype, seed)
    except UsageError as error:
        raise not_found(str(error)) from None
    if most is not None and plan.size > most:
        raise not_found(
            f"plan {name} in {dtype} has {plan.size} inputs (accepted over HTTP: up to {most}): "
            "install gelu-verify to verify it"
        )
    return plan


@dataclass(frozen=True, kw_only=True)
class Uploaded(Target):
    """Outputs that were computed elsewhere, for the inputs with the ascending ordinals `inputs`."""

    inputs: np.ndarray
    outputs: np.ndarray

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        """Positions of the inputs in the file."""
        fmt = get_format(dtype)
        wanted = ordinals(fmt, x_bits)
        position = np.minimum(np.searchsorted(self.inputs, wanted), len(self.inputs) - 1)
        absent = np.flatnonzero(self.inputs[position] != wanted)
        if len(absent):
            raise Unanswered(
                f"the upload has outputs for its plan only, not for {fmt.bits_text(int(x_bits[absent[0]]))}"
            )
        return position

    def call(self, loaded: Any) -> Any:
        return self.outputs[loaded]

    def store(self, dtype: str, loaded: Any, result: np.ndarray) -> np.ndarray:
        return result


class _Counting(Observer):
    """Tells how many inputs are done."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell

    def advance(self, steps: int) -> None:
        self._tell(steps)


def judged(
    content: bytes, plan: str, function: str, dtype: str, seed: int, name: str, tell: Callable[[int], None]
) -> tuple[list[Any], bytes]:
    """In a process: the record of a run that judges these outputs and the size of its table; the table, then its file.

    `tell` is told of inputs that are done.
    """
    from ..measure.parts import Part, packed  # imports all checks: a tenth of the startup time
    from ..measure.request import Request
    from ..measure.run import measure_one

    fmt = get_format(dtype)
    little = fmt.uint.newbyteorder("<")
    x = np.frombuffer(inputs(plan, function, dtype, seed), little).astype(fmt.uint)
    target = Uploaded(
        name=f"upload.{name}", function=function, dtypes=(dtype,), note="uploaded results",
        version=f"sha256:{sha256(content).hexdigest()[:12]}", safe_in_threads=True, inputs=ordinals(fmt, x),
        outputs=np.frombuffer(content, little).astype(fmt.uint),
    )  # fmt: skip
    request = Request(
        targets=(target,), functions=(function,), dtypes=(dtype,), plan=plan, seed=seed, budget=0, workers=1,
        repeat=_repeat(plan, function, dtype, seed),
    )  # fmt: skip
    result = measure_one(request, _Counting(tell))
    table = b"" if result.table is None else packed(Part(0, 0, result.table))
    file = b"" if result.table is None else parquet_of(result.table, result.record)
    return [to_json(result.record), len(table)], table + file


def _repeat(plan: str, function: str, dtype: str, seed: int) -> str:
    return f"post the same bits to /v1/verify?function={function}&dtype={dtype}&plan={plan}&seed={seed}"


@dataclass(frozen=True)
class Upload:
    """What is verified, and where the run goes; None: nowhere."""

    plan: str
    function: str
    dtype: str
    seed: int
    name: str
    body: Body
    store: Store | None
    facts: dict[str, Any]


def run_job(pool: ProcessPool, jobs: JobRegistry, job: UploadJob, upload: Upload) -> None:
    """In a thread of `pool`: verify, store if there is a store, and record the outcome in the job."""
    buckets = None
    try:
        buckets = _verify(pool, jobs, job, upload)
    except Exception as error:  # noqa: BLE001 - the end of a thread: the job reports the error, the log has its cause
        log("error", logging.ERROR, error, job=job.id)
        jobs.end(job, error)
    else:
        jobs.end(job, None, buckets)
    finally:
        upload.body.close()


def _verify(pool: ProcessPool, jobs: JobRegistry, job: UploadJob, upload: Upload) -> bytes | None:
    """Set the job's run; the buckets of it."""
    what = (upload.plan, upload.function, upload.dtype, upload.seed)
    (record, size), both = pool.ask(
        "verify", *what, upload.name, content=upload.body.content(), progress=lambda done: jobs.advance(job, done)
    )
    record, buckets = record_from_json(record), both[size:] or None
    repeat = _repeat(*what)
    manifest = {
        "schema": SCHEMA, "command": repeat, "seed": upload.seed, "plan": upload.plan, "absent": {}, **upload.facts
    }  # fmt: skip
    job.run = UnstoredRun(manifest, record, None if buckets is None else lambda: buckets)
    if upload.store is not None:
        from ..measure.parts import unpacked

        result = Result(record, unpacked(both[:size]).table if size else None)
        facts = {key: value for key, value in upload.facts.items() if key != "created"}  # the store has its own time
        job.stored_as = upload.store.add(result, command=repeat, facts=facts)
    log("verified", target=record.target, function=upload.function, dtype=upload.dtype, plan=upload.plan,
        grade=record.grade, max_ulp=record.max_ulp, stored=job.stored_as)  # fmt: skip
    return buckets


def job_record(job: UploadJob) -> dict[str, Any]:
    """The job as JSON (docs/http.md)."""
    base = f"/v1/jobs/{job.id}"
    document: dict[str, Any] = {
        "id": job.id,
        "state": job.state,
        "progress": {"done": min(job.done, job.total), "total": job.total},
        "grade": None,
        "headline": None,
        "stored": job.stored_as is not None,
        "result": None,
        "links": {"self": base},
    }
    if job.state == "done" and job.run is not None:
        record = job.run.record
        document |= {"grade": record.grade, "headline": headline([record]), "result": to_json(record)}
        stored = f"/v1/runs/{job.stored_as}"
        document["links"] |= {"report": f"{stored if job.stored_as else base}/report.html"}
        document["links"] |= {"run": stored} if job.stored_as else {}
    return document
