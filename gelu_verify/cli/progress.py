"""A progress bar on stderr, where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import printable


class Progress:
    """Counts inputs; a subclass draws."""

    def start(self, label: str) -> None:
        """The next measurement begins."""

    def advance(self, inputs: int) -> None:
        """So many inputs are done."""


@contextmanager
def progress(total: int) -> Iterator[Progress]:
    """A bar over `total` inputs when stderr is a terminal, silence otherwise."""
    if not sys.stderr.isatty():
        yield Progress()
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
    task = bar.add_task("", total=total)

    class Drawn(Progress):
        def start(self, label: str) -> None:
            bar.update(task, description=printable(label))

        def advance(self, inputs: int) -> None:
            bar.advance(task, inputs)

    with bar:
        yield Drawn()
