"""From stored runs to pandas frames, CSV, Parquet, Markdown, LaTeX and one offline HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .frames import RunLike

__all__ = ["report_text", "write_figures", "write_report"]


def write_report(runs: Sequence[RunLike], out: Path, faults: list[str] | None = None) -> list[Path]:
    """Write index.html, report.md, tables.tex, citation.bib, results.parquet and one CSV per table into `out`.

    Returns the files written.

    Several runs (a live one and a recorded one, two versions of a library) go side by side under
    the letters A, B, ... `out` is created; files of an earlier report in it are replaced. Where a fault of ours keeps a
    result from being shown, it is left out and a line added to `faults`; without that list, the exception is raised.
    """
    from .write import write  # pandas and jinja2 cost a third of a second: only when a report is made

    return write(runs, out, faults)


def report_text(runs: Sequence[RunLike], form: str) -> str:
    """The report as "markdown", or its tables as "latex"."""
    from .write import text_of

    return text_of(runs, form)


def write_figures(runs: Sequence[RunLike], out: Path, form: str) -> list[Path]:
    """Write every figure of the report into `out`, as "svg" or, with the extra `pdf`, as "pdf"; the files written."""
    from .figures import write

    return write(runs, out, form)
