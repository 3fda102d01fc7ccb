"""Judging uploads: each is a job with progress, kept for a while after it is done, then forgotten."""

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
from .settings import Limits

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class UnstoredRun:
    """What the report needs of a run, of a result that is not stored; buckets packed, for they are large."""

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
class Job:
    """One upload on its way to a verdict."""

    id: str
    total: int
    done: int = 0
    state: str = "running"
    run: UnstoredRun | None = None
    stored_as: str | None = None
    problem: BaseException | None = None
    future: Future[None] | None = None
    ended: float | None = None

    def advance(self, inputs: int) -> None:
        self.done += inputs


class Jobs:
    """The jobs of this process: so many, the oldest that are done go first."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._lock, self._jobs = limits, Lock(), dict[str, Job]()

    def new(self, total: int) -> Job:
        job = Job(secrets.token_urlsafe(12), total)
        with self._lock:
            self._forget(self._limits.jobs_kept - 1)
            self._jobs[job.id] = job
        return job

    def get(self, name: str) -> Job | None:
        with self._lock:
            self._forget(self._limits.jobs_kept)
            return self._jobs.get(name)

    def drop(self, job: Job) -> None:
        with self._lock:
            self._jobs.pop(job.id, None)

    def _forget(self, kept: int) -> None:
        now = monotonic()
        ended = [job for job in self._jobs.values() if job.ended is not None]
        surplus = len(self._jobs) - kept
        for place, job in enumerate(ended):
            if place < surplus or now - (job.ended or now) > self._limits.job_kept_s:
                del self._jobs[job.id]
