"""Upload jobs: each has progress and a result, which every worker process finds and which is kept for a while.

They are in one SQLite table: a file beside the store, or a temporary one without a name. When there are too many, the
oldest one of the client that has most goes first.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import ResultsError
from ..records.result import Record
from ..records.serialize import record_from_json, to_json
from ..runs.bucket_files import frame_of
from .clients import CLIENT
from .problems import Problem, problem_of
from .settings import ServiceLimits

if TYPE_CHECKING:
    import pandas as pd

NAME = "jobs.sqlite"
_PROGRESS_S = 0.5  # how often a running job's progress is written
_LOST_S = 120.0  # a running job whose progress is older belongs to a process that has ended
_TABLE = """
    CREATE TABLE IF NOT EXISTS jobs (
        id TEXT PRIMARY KEY, client TEXT NOT NULL, updated REAL NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL,
        total INTEGER NOT NULL, stored_as TEXT, problem TEXT, manifest TEXT, record TEXT, buckets BLOB
    ) WITHOUT ROWID
"""


@dataclass(frozen=True)
class UnstoredRun:
    """What a report needs of a run that is not stored; `buckets` reads the Parquet file of its buckets."""

    manifest: dict[str, Any]
    record: Record
    buckets: Callable[[], bytes] | None

    @property
    def results(self) -> list[Record]:
        return [replace(self.record, buckets=None if self.buckets is None else "in the table of jobs")]

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        assert self.buckets is not None
        return frame_of(self.buckets(), columns)


_LOST = 503, "lost", "the server was restarted: upload it again"  # of a Problem


@dataclass
class UploadJob:
    """The verification of one upload; `state` is running, done or failed."""

    id: str
    total: int
    done: int = 0
    state: str = "running"
    run: UnstoredRun | None = None
    stored_as: str | None = None
    problem: Problem | None = None
    future: Future[None] | None = None
    written: float = 0.0


class JobRegistry:
    """The jobs of a server.

    Parameters
    ----------
    folder : where the table is; None: in a temporary file of this process
    """

    def __init__(self, limits: ServiceLimits, folder: Path | None = None) -> None:
        self._limits, self._lock, self._running = limits, Lock(), dict[str, UploadJob]()
        path = "" if folder is None else str(folder / NAME)
        try:
            self._table = sqlite3.connect(path, timeout=10, check_same_thread=False, isolation_level=None)
            self._table.execute("PRAGMA journal_mode = WAL")
            self._table.execute(_TABLE)
        except sqlite3.Error as error:
            raise ResultsError(f"cannot open the table of jobs {path}: {error}") from error

    def new(self, total: int) -> UploadJob:
        """A running job of the current client."""
        job = UploadJob(secrets.token_urlsafe(12), total)
        with self._locked() as table:
            columns = "id, client, updated, state, done, total"
            values = (job.id, CLIENT.get(), time.time(), job.state, 0, total)
            table.execute(f"INSERT INTO jobs ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values)
            self._running[job.id] = job
        return job

    def advance(self, job: UploadJob, inputs: int) -> None:
        """So many more inputs are verified."""
        job.done += inputs
        if time.monotonic() - job.written > _PROGRESS_S:
            job.written = time.monotonic()
            with self._locked() as table:
                table.execute("UPDATE jobs SET done = ?, updated = ? WHERE id = ?", (job.done, time.time(), job.id))

    def end(self, job: UploadJob, error: Exception | None, buckets: bytes | None = None) -> None:
        """The job is done, or has failed with `error`."""
        job.problem = None if error is None else problem_of(error)
        job.state = "done" if error is None else "failed"
        run, problem = job.run, job.problem
        row = {
            "id": job.id, "updated": time.time(), "state": job.state, "done": job.done, "stored_as": job.stored_as,
            "problem": None if problem is None else json.dumps([problem.status, problem.kind, problem.detail]),
            "manifest": None if run is None else json.dumps(run.manifest),
            "record": None if run is None else json.dumps(to_json(run.record)),
            "buckets": buckets,
        }  # fmt: skip
        columns = ", ".join(f"{name} = :{name}" for name in row if name != "id")
        with self._locked() as table:
            if self._running.pop(job.id, None) is None:  # it was given up
                return
            table.execute(f"UPDATE jobs SET {columns} WHERE id = :id", row)
            self._forget(table)

    def get(self, job_id: str) -> UploadJob | None:
        """A job; None if there is none, or it was forgotten."""
        with self._locked() as table:
            self._forget(table)
            if job_id in self._running:
                return self._running[job_id]
            row = table.execute("SELECT updated, state, done, total, stored_as, problem, manifest, record, "
                                "buckets IS NOT NULL FROM jobs WHERE id = ?", (job_id,)).fetchone()  # fmt: skip
        return None if row is None else self._job(job_id, *row)

    def drop(self, job: UploadJob) -> None:
        with self._locked() as table:
            table.execute("DELETE FROM jobs WHERE id = ?", (job.id,))
            self._running.pop(job.id, None)

    def give_up(self) -> None:
        """What runs here is lost: the server stops."""
        with self._locked() as table:
            lost = json.dumps(_LOST)
            rows = [(time.time(), lost, each) for each in self._running]
            table.executemany("UPDATE jobs SET state = 'failed', updated = ?, problem = ? WHERE id = ?", rows)
            self._running.clear()

    def is_running(self, job: UploadJob) -> bool:
        """Whether it has neither ended nor been given up."""
        with self._lock:
            return job.id in self._running

    def close(self) -> None:
        with self._lock:
            self._table.close()

    def _job(self, job_id: str, updated: float, state: str, done: int, total: int, stored_as: str | None,
             problem: str | None, manifest: str | None, record: str | None, has_buckets: int) -> UploadJob:  # fmt: skip
        found = UploadJob(job_id, total, done, state, stored_as=stored_as)
        if state == "running" and time.time() - updated > _LOST_S:
            found.state, found.problem = "failed", Problem(*_LOST)
        if problem is not None:
            found.problem = Problem(*json.loads(problem))
        if manifest is not None and record is not None:
            buckets = (lambda: self._buckets(job_id)) if has_buckets else None
            found.run = UnstoredRun(json.loads(manifest), record_from_json(json.loads(record)), buckets)
        return found

    def _buckets(self, job_id: str) -> bytes:
        with self._locked() as table:
            row = table.execute("SELECT buckets FROM jobs WHERE id = ?", (job_id,)).fetchone()
        if row is None:
            raise Problem(404, "not-found", "the job was forgotten")
        return bytes(row[0])

    def _forget(self, table: sqlite3.Connection) -> None:
        """Delete jobs that are too old, then those beyond the limits of number and size."""
        table.execute("DELETE FROM jobs WHERE updated < ?", (time.time() - max(self._limits.job_ttl_s, _LOST_S),))
        table.execute("DELETE FROM jobs WHERE state != 'running' AND updated < ?",
                      (time.time() - self._limits.job_ttl_s,))  # fmt: skip
        while True:
            count, size = table.execute("SELECT count(*), total(length(buckets)) FROM jobs").fetchone()
            if count <= self._limits.jobs_max and size <= self._limits.jobs_bytes:
                return
            done = table.execute(
                "DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE state != 'running' ORDER BY "
                "(SELECT count(*) FROM jobs AS theirs WHERE theirs.client = jobs.client) DESC, updated LIMIT 1)"
            )
            if not done.rowcount:
                return

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._table
            except sqlite3.Error as error:
                raise ResultsError(f"the table of jobs failed: {error}") from error
