"""What all routes share: settings, worker pools, metrics, jobs, published runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

from starlette.requests import Request

from .bodies import Spool
from .jobs import JobRegistry
from .library_pool import LibraryPool
from .look_up_cache import LookUpCache
from .oracle_pool import OraclePool
from .request_log import RequestLog
from .run_repository import RunRepository
from .settings import Settings
from .store import Store
from .telemetry import Metrics
from .version_repository import VersionRepository
from .worker_pool import WorkerPool


class AppState:
    """One per application; `ready` between startup and shutdown."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.log = RequestLog(self.metrics)
        self.spool = Spool(self.limits, None if settings.spool is None else str(settings.spool))
        self.oracle_pool = OraclePool(self.limits.oracle_processes, self.limits.oracle_queue, self.limits.oracle_s)
        self.verify_pool = WorkerPool("verification", self.limits.verify_threads, self.limits.verify_queue)
        self.batch_pool = WorkerPool("batches", self.limits.batch_threads, self.limits.batch_queue)
        self.work_pool = WorkerPool("work", self.limits.work_threads, self.limits.work_queue)
        self.store = (
            None if settings.store is None else Store(settings.store, settings.store_bytes, settings.retain_days)
        )
        self.runs = RunRepository(self.store, settings.runs)
        self.versions = VersionRepository(settings.versions)
        self.jobs = JobRegistry(self.limits, settings.jobs_folder)
        self.look_ups = LookUpCache(self.limits.look_up_cache_bytes)
        self._tables: tempfile.TemporaryDirectory[str] | None = None
        self.libraries = LibraryPool(settings.families, self.limits, self.metrics)
        self.ready = False
        self.on_start: list[Callable[[], None]] = []
        self.on_stop: list[Callable[[], None]] = []
        self.pools = (self.oracle_pool, self.batch_pool, self.verify_pool, self.work_pool)
        for pool in self.pools:
            self.metrics.watch(pool)
        self.spool.budget.on_change = self.metrics.spooled.set

    def start(self) -> None:
        """Accept requests."""
        for each in self.on_start:
            each()
        self.ready = True

    @property
    def tables(self) -> Path:
        """Folder of the tables that were asked for."""
        if self._tables is None:
            self._tables = tempfile.TemporaryDirectory(prefix="gelu-verify-tables-", dir=self.settings.spool)
        return Path(self._tables.name)

    def close(self) -> None:
        """Refuse new work, end the library processes, stop reading the store."""
        self.ready = False
        self.libraries.close()
        for pool in self.pools:
            pool.close()
        self.jobs.close()
        if self._tables is not None:
            self._tables.cleanup()
        if self.store is not None:
            self.store.close()


def state_of(request: Request) -> AppState:
    return cast(AppState, request.app.state.shared)
