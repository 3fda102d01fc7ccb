"""Upload jobs: each has progress and a result, which is kept for a while after it is done."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..records.result import Record
from ..runs.store import frame_of
from .settings import ServiceLimits

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class UnstoredRun:
    """What a report needs of a run that is not stored; the buckets are compressed, because they are large."""

    manifest: dict[str, Any]
    record: Record
    buckets: bytes | None

    @property
    def results(self) -> list[Record]:
        return [replace(self.record, buckets=None if self.buckets is None else "in memory")]

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        assert self.buckets is not None
        return frame_of(self.buckets, columns)


@dataclass
class UploadJob:
    """The verification of one upload; `state` is running, done or failed."""

    id: str
    total: int
    done: int = 0
    state: str = "running"
    run: UnstoredRun | None = None
    stored_as: str | None = None
    problem: Exception | None = None
    future: Future[None] | None = None
    ended: float | None = None

    def advance(self, inputs: int) -> None:
        self.done += inputs


class JobRegistry:
    """The jobs of this process; the oldest finished ones are forgotten first."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits, self._lock, self._jobs = limits, Lock(), dict[str, UploadJob]()

    def new(self, total: int) -> UploadJob:
        job = UploadJob(secrets.token_urlsafe(12), total)
        with self._lock:
            self._forget(self._limits.jobs_max - 1)
            self._jobs[job.id] = job
        return job

    def get(self, job_id: str) -> UploadJob | None:
        with self._lock:
            self._forget(self._limits.jobs_max)
            return self._jobs.get(job_id)

    def drop(self, job: UploadJob) -> None:
        with self._lock:
            self._jobs.pop(job.id, None)

    def _forget(self, limit: int) -> None:
        """Forget finished jobs that are too old, and the oldest of those beyond `limit`."""
        now = monotonic()
        ended = [job for job in self._jobs.values() if job.ended is not None]
        surplus = len(self._jobs) - limit
        for index, job in enumerate(ended):
            if index < surplus or now - (job.ended or now) > self._limits.job_ttl_s:
                del self._jobs[job.id]
