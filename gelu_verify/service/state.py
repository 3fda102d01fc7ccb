"""What all routes share: settings, worker pools, metrics, jobs, published runs."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from .bodies import Spool
from .jobs import JobRegistry
from .library_pool import LibraryPool
from .oracle_pool import OraclePool
from .reports import ReportCache
from .run_repository import RunRepository
from .settings import Settings
from .store import Store
from .telemetry import Metrics
from .worker_pool import WorkerPool


class AppState:
    """One per application; `ready` between startup and shutdown."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.spool = Spool(self.limits, None if settings.spool is None else str(settings.spool))
        self.oracle_pool = OraclePool(self.limits.oracle_processes, self.limits.oracle_queue, self.limits.oracle_s)
        self.verify_pool = WorkerPool("verification", self.limits.verify_threads, self.limits.verify_queue)
        self.batch_pool = WorkerPool("batches", self.limits.batch_threads, self.limits.batch_queue)
        self.work_pool = WorkerPool("work", self.limits.work_threads, self.limits.work_queue)
        self.store = Store(settings.store) if settings.store is not None else None
        self.runs = RunRepository(self.store, settings.runs)
        self.jobs = JobRegistry(self.limits, settings.jobs_folder)
        self.reports = ReportCache()
        self.libraries = LibraryPool(settings.families, self.limits, self.metrics)
        self.ready = False
        self.pools = (self.oracle_pool, self.batch_pool, self.verify_pool, self.work_pool)
        for pool in self.pools:
            self.metrics.watch(pool)

    def close(self) -> None:
        """Refuse new work, end the library processes, stop reading the store."""
        self.libraries.close()
        for pool in self.pools:
            pool.close()
        if self.store is not None:
            self.store.close()


def state_of(request: Request) -> AppState:
    return cast(AppState, request.app.state.shared)
