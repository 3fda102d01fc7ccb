"""Verification of uploaded outputs, as jobs: judged in a process (`upload_record`), stored here."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from ..records.result import Result
from ..records.schema import SCHEMA
from ..records.serialize import record_from_json, to_json
from ..report.verdicts import headline
from .bodies import Body
from .jobs import JobRegistry, UnstoredRun, UploadJob
from .problems import problem_of
from .process_pool import ForkPool
from .store import Store
from .telemetry import log
from .upload_record import repeat_of


@dataclass(frozen=True)
class Upload:
    """What is verified; where the run goes, None: nowhere; and the name of the token that permits it."""

    plan: str
    function: str
    dtype: str
    seed: int
    name: str
    body: Body
    store: Store | None
    owner: str
    facts: dict[str, Any]


def run_job(pool: ForkPool, jobs: JobRegistry, job: UploadJob, upload: Upload) -> None:
    """In a thread of `pool`: verify, store if there is a store, and record the outcome in the job."""
    buckets = None
    try:
        buckets = _verify(pool, jobs, job, upload)
    except Exception as error:  # noqa: BLE001 - the end of a thread: the job reports the error, the log has its cause
        if problem_of(error).status >= 500 and jobs.is_running(job):  # else the file is wrong, or the server stops
            log("error", logging.ERROR, error, job=job.id)
        jobs.end(job, error)
    else:
        jobs.end(job, None, buckets)
    finally:
        upload.body.close()


def _verify(pool: ForkPool, jobs: JobRegistry, job: UploadJob, upload: Upload) -> bytes | None:
    """Set the job's run; the buckets of it."""
    what = (upload.plan, upload.function, upload.dtype, upload.seed)
    (record, size), both = pool.ask(
        "verify", *what, upload.name, content=upload.body.content(), progress=lambda done: jobs.advance(job, done)
    )
    record, buckets = record_from_json(record), both[size:] or None
    repeat = repeat_of(*what)
    manifest = {
        "schema": SCHEMA, "command": repeat, "seed": upload.seed, "plan": upload.plan, "absent": {}, **upload.facts
    }  # fmt: skip
    job.run = UnstoredRun(manifest, record, None if buckets is None else lambda: buckets)
    if upload.store is not None:
        from ..measure.parts import unpacked

        result = Result(record, unpacked(both[:size]).table if size else None)
        facts = {key: value for key, value in upload.facts.items() if key != "created"}  # the store has its own time
        job.stored_as = upload.store.add(result, command=repeat, facts=facts, owner=upload.owner)
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
