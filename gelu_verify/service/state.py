"""What all routes share: settings, worker pools, metrics, jobs, published runs."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from .jobs import JobRegistry
from .library_pool import LibraryPool
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
        self.oracle_pool = WorkerPool("oracle", self.limits.oracle_threads, self.limits.oracle_queue)
        self.batch_pool = WorkerPool("batches", self.limits.batch_threads, self.limits.batch_queue)
        self.work_pool = WorkerPool("work", self.limits.work_threads, self.limits.work_queue)
        self.store = Store(settings.store) if settings.store is not None else None
        self.runs = RunRepository(self.store, settings.runs)
        self.jobs = JobRegistry(self.limits)
        self.reports = ReportCache()
        self.libraries = LibraryPool(settings.families, self.limits, self.metrics)
        self.ready = False
        for pool in (self.oracle_pool, self.batch_pool, self.work_pool):
            self.metrics.watch(pool)

    def close(self) -> None:
        """Refuse new work, end the library processes, stop reading the store."""
        self.libraries.close()
        for pool in (self.oracle_pool, self.batch_pool, self.work_pool):
            pool.close()
        if self.store is not None:
            self.store.close()


def state_of(request: Request) -> AppState:
    return cast(AppState, request.app.state.shared)
