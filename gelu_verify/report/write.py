"""The files of a report: index.html, report.md, and one CSV per frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..fenv import in_default_environment
from .files import replace_files
from .frames import FRAMES, RunLike
from .markdown import markdown
from .page import render


@in_default_environment
def write(runs: Sequence[RunLike], out: Path) -> list[Path]:
    """Write all files of the report on `runs` into `out`; each is replaced at once, never half written."""
    frames = {name: build(runs) for name, build in FRAMES.items()}
    texts = {"index.html": render(runs, frames), "report.md": markdown(runs, frames)}
    texts |= {f"{name}.csv": frame.to_csv(index=False, lineterminator="\n") for name, frame in frames.items()}
    return replace_files(texts, out)
