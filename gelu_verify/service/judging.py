"""From uploaded bits to a verdict: the same sweep that judges a target on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from time import monotonic
from typing import Any

import numpy as np

from ..errors import Unanswered
from ..formats import get_format, ordinals
from ..inputs.plans import Plan, make_plan
from ..records.schema import SCHEMA
from ..records.serialize import to_json
from ..report.verdicts import headline, verdict
from ..runs.store import parquet_of
from ..targets.base import Target
from .jobs import Job, Jobs, UnstoredRun
from .observing import log
from .store import Store


@lru_cache(maxsize=8)
def inputs(plan: str, function: str, dtype: str, seed: int) -> tuple[np.ndarray, str]:
    """All inputs of a plan in the order of its file (by ordinal), and the sha256 of that file."""
    x = np.concatenate([chunk.x_bits() for chunk in make_plan(plan, function, dtype, seed).chunks])
    content = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("<"), copy=False))
    content.flags.writeable = False
    return content, sha256(content.data).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Uploaded(Target):
    """Answers that somebody computed elsewhere to the inputs with the ordinals `known`, ascending."""

    known: np.ndarray
    answers: np.ndarray

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        """Places of the inputs in the file."""
        fmt = get_format(dtype)
        asked = ordinals(fmt, x_bits)
        place = np.minimum(np.searchsorted(self.known, asked), len(self.known) - 1)
        absent = np.flatnonzero(self.known[place] != asked)
        if len(absent):
            raise Unanswered(f"an upload answers its plan only, not {fmt.bits_text(int(x_bits[absent[0]]))}")
        return place

    def call(self, loaded: Any) -> Any:
        return self.answers[loaded]

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return result


def judge_upload(
    job: Job, jobs: Jobs, plan: Plan, name: str, body: bytearray, store: Store | None, facts: dict[str, Any]
) -> None:
    """Judge, store where there is a store, and say in the job how it went."""
    try:
        _judge(job, plan, name, body, store, facts)
        job.state = "done"
    except BaseException as error:
        job.problem, job.state = error, "failed"
        raise
    finally:
        job.ended = monotonic()


def _judge(job: Job, plan: Plan, name: str, body: bytearray, store: Store | None, facts: dict[str, Any]) -> None:
    from ..measure.sweep import sweep  # with all checks: a tenth of the time of a start

    fmt = get_format(plan.dtype)
    x, _ = inputs(plan.name, plan.function, plan.dtype, plan.seed)
    answers = np.frombuffer(body, fmt.uint.newbyteorder("<")).astype(fmt.uint, copy=False)
    target = Uploaded(
        name=f"upload.{name}", function=plan.function, dtypes=(plan.dtype,), note="uploaded results",
        version=f"sha256:{sha256(body).hexdigest()[:12]}", safe_in_threads=True, known=ordinals(fmt, x),
        answers=answers,
    )  # fmt: skip
    where = f"function={plan.function}&dtype={plan.dtype}&plan={plan.name}&seed={plan.seed}"
    repeat = f"post the same bits to /v1/verify?{where}"
    result = sweep(target, plan, workers=1, progress=job.advance).updated(repeat=repeat)
    manifest = {
        "schema": SCHEMA, "command": repeat, "seed": plan.seed, "plan": plan.name, "absent": {},
        **facts,
    }  # fmt: skip
    buckets = None if result.table is None else parquet_of(result.table, result.record)
    job.run = UnstoredRun(manifest, result.record, buckets)
    if store is not None:
        job.stored_as = store.add(result, command=repeat, facts=_without_time(facts))
    log("verified", target=target.name, function=plan.function, dtype=plan.dtype, plan=plan.name,
        verdict=verdict(result.record), max_ulp=result.max_ulp, stored=job.stored_as)  # fmt: skip


def _without_time(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != "created"}


def shown(job: Job) -> dict[str, Any]:
    """The job as JSON (docs/http.md)."""
    base = f"/v1/jobs/{job.id}"
    document: dict[str, Any] = {
        "id": job.id,
        "state": job.state,
        "progress": {"done": min(job.done, job.total), "total": job.total},
        "verdict": None,
        "headline": None,
        "stored": job.stored_as is not None,
        "result": None,
        "links": {"self": base},
    }
    if job.state == "done" and job.run is not None:
        record = job.run.record
        document |= {"verdict": verdict(record), "headline": headline([record]), "result": to_json(record)}
        stored = f"/v1/runs/{job.stored_as}"
        document["links"] |= {"report": f"{stored if job.stored_as else base}/report.html"}
        document["links"] |= {"run": stored} if job.stored_as else {}
    return document
