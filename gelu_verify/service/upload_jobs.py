"""Verification of uploaded outputs: by the same sweep that tests a target on this machine."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from ..errors import Unanswered
from ..formats import get_format, ordinals
from ..inputs.plans import Plan, make_plan
from ..records.schema import SCHEMA
from ..records.serialize import to_json
from ..report.verdicts import headline
from ..runs.bucket_files import parquet_of
from ..targets.base import Target
from ..work.observer import Observer
from .bodies import Body
from .jobs import JobRegistry, UnstoredRun, UploadJob
from .store import Store
from .telemetry import log


@lru_cache(maxsize=8)
def inputs(plan: str, function: str, dtype: str, seed: int) -> tuple[np.ndarray, str]:
    """All inputs of a plan in the order of its file (by ordinal), and the sha256 of that file."""
    x = np.concatenate([chunk.x_bits() for chunk in make_plan(plan, function, dtype, seed).chunks])
    content = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("<"), copy=False))
    content.flags.writeable = False
    return content, sha256(content.data).hexdigest()


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


class Advancing(Observer):
    """Counts in a job how many inputs are done."""

    def __init__(self, jobs: JobRegistry, job: UploadJob) -> None:
        self._jobs, self._job = jobs, job

    def advance(self, steps: int) -> None:
        self._jobs.advance(self._job, steps)


@dataclass(frozen=True)
class Upload:
    """What is verified, and where the run goes; None: nowhere."""

    plan: Plan
    name: str
    body: Body
    store: Store | None
    facts: dict[str, Any]


def run_job(jobs: JobRegistry, job: UploadJob, upload: Upload) -> None:
    """Verify, store if there is a store, and record the outcome in the job."""
    buckets = None
    try:
        buckets = _verify(jobs, job, upload)
    except Exception as error:  # noqa: BLE001 - the end of a thread: the job reports the error, the log has its cause
        log("error", logging.ERROR, error, job=job.id)
        jobs.end(job, error)
    else:
        jobs.end(job, None, buckets)
    finally:
        upload.body.close()


def _verify(jobs: JobRegistry, job: UploadJob, upload: Upload) -> bytes | None:
    """Set the job's run; the buckets of it."""
    from ..measure.request import Request  # imports all checks: a tenth of the startup time
    from ..measure.run import measure_one

    plan = upload.plan
    fmt = get_format(plan.dtype)
    x, _ = inputs(plan.name, plan.function, plan.dtype, plan.seed)
    outputs = upload.body.array(fmt.uint.newbyteorder("<")).astype(fmt.uint, copy=False)
    target = Uploaded(
        name=f"upload.{upload.name}", function=plan.function, dtypes=(plan.dtype,), note="uploaded results",
        version=f"sha256:{upload.body.digest()[:12]}", safe_in_threads=True, inputs=ordinals(fmt, x),
        outputs=outputs,
    )  # fmt: skip
    query = f"function={plan.function}&dtype={plan.dtype}&plan={plan.name}&seed={plan.seed}"
    repeat = f"post the same bits to /v1/verify?{query}"
    request = Request(
        targets=(target,), functions=(plan.function,), dtypes=(plan.dtype,), plan=plan.name, seed=plan.seed, budget=0,
        workers=1, repeat=repeat,
    )  # fmt: skip
    result = measure_one(request, Advancing(jobs, job))
    manifest = {
        "schema": SCHEMA, "command": repeat, "seed": plan.seed, "plan": plan.name, "absent": {},
        **upload.facts,
    }  # fmt: skip
    buckets = None if result.table is None else parquet_of(result.table, result.record)
    job.run = UnstoredRun(manifest, result.record, None if buckets is None else lambda: buckets)
    if upload.store is not None:
        facts = {key: value for key, value in upload.facts.items() if key != "created"}  # the store has its own time
        job.stored_as = upload.store.add(result, command=repeat, facts=facts)
    log("verified", target=target.name, function=plan.function, dtype=plan.dtype, plan=plan.name,
        grade=result.record.grade, max_ulp=result.max_ulp, stored=job.stored_as)  # fmt: skip
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
