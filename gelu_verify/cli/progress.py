"""What a measurement says of itself, on stderr: warnings, and a progress bar where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import printable
from ..measure.observer import Observer
from .program import warn

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class OnStderr(Observer):
    """A bar for each phase when stderr is a terminal; warnings always."""

    def __init__(self) -> None:
        self._bar: tuple[Progress, TaskID] | None = None

    @contextmanager
    def phase(self, total: int) -> Iterator[None]:
        if not sys.stderr.isatty():
            yield
            return
        import rich.console
        import rich.progress

        bar = rich.progress.Progress(
            rich.progress.BarColumn(),
            rich.progress.TaskProgressColumn(),
            rich.progress.TimeRemainingColumn(),
            rich.progress.TextColumn("{task.description}", markup=False),
            console=rich.console.Console(stderr=True),
            transient=True,
        )
        self._bar = bar, bar.add_task("", total=total)
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

    def warn(self, message: str) -> None:
        warn(message)
