"""From stored runs to pandas frames, CSV, Markdown and one offline HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .frames import RunLike

__all__ = ["write_report"]


def write_report(runs: Sequence[RunLike], out: Path) -> list[Path]:
    """Write index.html, report.md and one CSV per table into `out`; the files written.

    Several runs (a live one and a recorded one, two versions of a library) go side by side under
    the letters A, B, ... `out` is created; files of an earlier report in it are replaced.
    """
    from .write import write  # pandas and jinja2 cost a third of a second: only when a report is made

    return write(runs, out)
