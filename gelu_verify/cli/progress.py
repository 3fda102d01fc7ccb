"""What a measurement says of itself, on stderr: warnings, and how far it is.

Where somebody is watching, a bar; else, as in the log of a batch job, a line a minute."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..errors import printable
from ..work.observer import Observer
from .program import say, warn

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


EVERY = 60.0  # seconds between two lines


class OnStderr(Observer):
    """A bar for each phase when stderr is a terminal, else lines; warnings always."""

    def __init__(self) -> None:
        self._bar: tuple[Progress, TaskID] | None = None
        self._lines: Lines | None = None
        self._cost = 0.0

    @contextmanager
    def phase(self, total: int) -> Iterator[None]:
        if not sys.stderr.isatty():
            self._lines = Lines(total)
            yield
            self._lines = None
            return
        import rich.console
        import rich.progress

        bar = rich.progress.Progress(
            rich.progress.BarColumn(),
            rich.progress.TaskProgressColumn(),
            rich.progress.TimeRemainingColumn(),
            rich.progress.TextColumn("{task.fields[cost]}", markup=False),
            rich.progress.TextColumn("{task.description}", markup=False),
            console=rich.console.Console(stderr=True),
            transient=True,
        )
        self._bar = bar, bar.add_task("", total=total, cost="")
        try:
            with bar:
                yield
        finally:
            self._bar = None

    def start(self, label: str) -> None:
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, description=printable(label))

    def advance(self, steps: int) -> None:
        if self._bar is not None:
            bar, task = self._bar
            bar.advance(task, steps)
        elif self._lines is not None and (line := self._lines.advanced(steps, _cost_text(self._cost))):
            say(line, err=True)

    def finish(self, what: str, results: Sequence[Any]) -> None:
        from ..report.verdicts import counts_text

        say(f"{what}: {counts_text(results)}", err=True)

    def spend(self, core_seconds: float) -> None:
        self._cost += core_seconds
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, cost=_cost_text(self._cost))

    def warn(self, message: str) -> None:
        warn(message)


class Lines:
    """How far a phase is, in a line now and then."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._lock, self._start = Lock(), monotonic()
        self._next = self._start + EVERY

    def advanced(self, steps: int, cost: str = "") -> str:
        """The line, where it is time for one; from several threads."""
        with self._lock:
            self._done += steps
            now = monotonic()
            if now < self._next or self._done >= self._total:
                return ""
            self._next = now + EVERY
        left = (now - self._start) * (self._total - self._done) / self._done
        parts = f"{100 * self._done / self._total:.1f} %", f"{_time_text(left)} left", cost
        return ", ".join(filter(None, parts))


def _cost_text(core_seconds: float) -> str:
    return f"{_time_text(core_seconds)} of one core" if core_seconds else ""


def _time_text(seconds: float) -> str:
    """In the largest unit of which there are two."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
