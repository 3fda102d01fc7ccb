"""What all routes share: settings, rooms for slow work, counters, jobs, published runs."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from .families import Families
from .jobs import Jobs
from .library import Library
from .observing import Metrics
from .reports import Shelf
from .rooms import Room
from .settings import Settings
from .store import Store


class Hall:
    """One per application; `ready` between start and stop."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.oracle = Room("oracle", self.limits.oracle_slots, self.limits.oracle_waiting)
        self.batches = Room("batches", self.limits.batch_slots, self.limits.batch_waiting)
        self.work = Room("work", self.limits.work_slots, self.limits.work_waiting)
        self.store = Store(settings.store) if settings.store is not None else None
        self.library = Library(self.store, settings.runs)
        self.jobs = Jobs(self.limits)
        self.shelf = Shelf()
        self.families = Families(settings.families, self.limits, self.metrics)
        self.ready = False
        for room in (self.oracle, self.batches, self.work):
            self.metrics.watch(room)

    def close(self) -> None:
        """No new work, no process but this; the store is closed when its last writer is done."""
        self.families.close()
        for room in (self.oracle, self.batches, self.work):
            room.close()
        if self.store is not None:
            self.store.close()


def hall_of(request: Request) -> Hall:
    return cast(Hall, request.app.state.hall)
