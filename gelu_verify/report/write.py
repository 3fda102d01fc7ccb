"""The files of a report: index.html, report.md, tables.tex, citation.bib, results.parquet, and one CSV per frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..fenv import in_default_environment
from .citation import bibtex
from .files import replace_files
from .frames import FRAMES, RunLike
from .latex import latex
from .markdown import markdown
from .page import render
from .results import results_parquet
from .rows import csv_text


@in_default_environment
def write(runs: Sequence[RunLike], out: Path) -> list[Path]:
    """Write all files of the report on `runs` into `out`; each is replaced at once, never half written."""
    frames = _frames(runs)
    files: dict[str, str | bytes] = {"index.html": render(runs, frames), "report.md": markdown(runs, frames)}
    files |= {"tables.tex": latex(runs, frames), "citation.bib": bibtex(runs), "results.parquet": results_parquet(runs)}
    files |= {f"{name}.csv": csv_text(name, frame) for name, frame in frames.items()}
    return replace_files(files, out)


@in_default_environment
def text_of(runs: Sequence[RunLike], form: str) -> str:
    """The report as Markdown or as LaTeX tables."""
    return {"markdown": markdown, "latex": latex}[form](runs, _frames(runs))


def _frames(runs: Sequence[RunLike]) -> Mapping[str, pd.DataFrame]:
    return {name: build(runs) for name, build in FRAMES.items()}
