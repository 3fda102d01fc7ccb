"""The files of a report: index.html, report.md, tables.tex, citation.bib, results.parquet, and one CSV per frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..fenv import in_default_environment
from ..own_faults import guarded
from ..records.result import Record
from .citation import bibtex
from .files import replace_files
from .frames import FRAMES, RunLike, attribution_frame
from .latex import latex
from .markdown import markdown
from .page import render
from .results import results_parquet
from .rows import csv_text


@in_default_environment
def write(runs: Sequence[RunLike], out: Path, faults: list[str] | None = None) -> list[Path]:
    """Write all files of the report on `runs` into `out`; each is replaced at once, never half written.

    `faults`: where a fault of ours is added, and the results that cannot be shown are left out, or the attribution that
    cannot be made; None: it is raised.
    """
    if faults is None:
        return replace_files(_contents(runs), out)
    found, contents = list[str](), dict[str, str | bytes]()
    left_out = list[str]()
    with guarded("report", found):
        contents = _contents(runs, left_out)
    if found:
        shown = [_Part(run, tuple(_that_can_be_shown(run, faults))) for run in runs]
        with guarded("report", found):
            contents = _contents(shown, left_out)
        faults += [] if contents else found
    faults += dict.fromkeys(left_out)
    return replace_files(contents, out)


@dataclass(frozen=True)
class _Part:
    """A run with some of its results."""

    run: RunLike
    indices: tuple[int, ...]

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.run.manifest

    @property
    def results(self) -> Sequence[Record]:
        return [self.run.results[index] for index in self.indices]

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        return self.run.table(self.indices[index], columns)


def _that_can_be_shown(run: RunLike, faults: list[str]) -> Iterator[int]:
    for index, record in enumerate(run.results):
        found: list[str] = []
        with guarded(f"report on {record.key}, which is left out,", found):
            _contents([_Part(run, (index,))], [])
        faults += found
        if not found:
            yield index


def _contents(runs: Sequence[RunLike], faults: list[str] | None = None) -> dict[str, str | bytes]:
    """`faults`: of attributions alone."""
    frames = _frames(runs, faults)
    files: dict[str, str | bytes] = {"index.html": render(runs, frames), "report.md": markdown(runs, frames)}
    files |= {"tables.tex": latex(runs, frames), "citation.bib": bibtex(runs), "results.parquet": results_parquet(runs)}
    files |= {f"{name}.csv": csv_text(name, frame) for name, frame in frames.items()}
    return files


def text_of(runs: Sequence[RunLike], form: str) -> str:
    """The report as Markdown or as LaTeX tables."""
    return {"markdown": markdown, "latex": latex}[form](runs, _frames(runs))


def _frames(runs: Sequence[RunLike], faults: list[str] | None = None) -> Mapping[str, pd.DataFrame]:
    return {
        name: attribution_frame(runs, faults) if build is attribution_frame else build(runs)
        for name, build in FRAMES.items()
    }
