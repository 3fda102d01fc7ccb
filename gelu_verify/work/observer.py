"""Progress and warnings for the caller while a measurement runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any


class Observer:
    """Does nothing; a subclass draws a bar, prints a line, or counts."""

    def phase(self, total: int) -> AbstractContextManager[object]:
        """The next `total` steps are one phase, such as inputs that are judged."""
        return nullcontext()

    def start(self, label: str) -> None:
        """The next measurement of the phase begins."""

    def advance(self, steps: int) -> None:
        """So many steps of the phase are done; called from several threads."""

    def finish(self, what: str, results: Sequence[Any]) -> None:
        """A part of the work is done, with these results."""

    def spend(self, core_seconds: float) -> None:
        """Workers elsewhere spent so much on it."""

    def warn(self, message: str) -> None:
        """Something did not go as was asked for, and the rest goes on."""


SILENT = Observer()
