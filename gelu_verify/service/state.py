"""What all routes share: settings, worker pools, metrics, jobs, published runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from starlette.requests import Request

from .admission import Admission
from .bodies import Spool
from .file_cache import FileCache
from .jobs import JobRegistry
from .library_pool import LibraryPool
from .look_up_cache import LookUpCache
from .request_log import RequestLog
from .run_repository import RunRepository
from .settings import Settings
from .store import Store
from .telemetry import Metrics
from .turns import RequestTurns


class AppState:
    """One per application; `ready` between startup and shutdown."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.log = RequestLog(self.metrics)
        self.admission = Admission(self.limits)
        self.turns = RequestTurns(self.limits.connections_per_client)
        self.spool = Spool(self.admission, self.limits, None if settings.spool is None else str(settings.spool))
        self.store = (
            None if settings.store is None else Store(settings.store, settings.store_bytes, settings.retain_days)
        )
        self.runs = RunRepository(self.store, settings.runs)
        self.jobs = JobRegistry(self.limits, settings.jobs_folder)
        self.look_ups = LookUpCache(self.limits.look_up_cache_bytes)
        self.files = FileCache(settings.spool, self.limits.file_cache_bytes)
        self.libraries = LibraryPool(settings.families, self.limits, self.metrics)
        self.ready = False
        self.on_start: list[Callable[[], None]] = []
        self.on_stop: list[Callable[[], None]] = []
        for pool in self.admission.pools:
            self.metrics.watch(pool)
        self.admission.bytes.on_change = self.metrics.spooled.set

    def start(self) -> None:
        """Accept requests."""
        for each in self.on_start:
            each()
        self.ready = True

    def close(self) -> None:
        """Refuse new work, end the library processes, stop reading the store."""
        self.ready = False
        self.libraries.close()
        self.jobs.give_up()
        self.admission.close()
        self.jobs.close()
        self.files.close()
        if self.store is not None:
            self.store.close()


def state_of(request: Request) -> AppState:
    return cast(AppState, request.app.state.shared)
