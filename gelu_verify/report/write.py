"""The files of a report: index.html, report.md, and one CSV per frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ResultsError
from .frames import FRAMES, RunLike
from .markdown import markdown
from .page import render


def write(runs: Sequence[RunLike], out: Path) -> list[Path]:
    """Write all files of the report on `runs` into `out`; each is replaced at once, never half written."""
    frames = {name: build(runs) for name, build in FRAMES.items()}
    texts = {"index.html": render(runs, frames), "report.md": markdown(runs, frames)}
    texts |= {f"{name}.csv": frame.to_csv(index=False, lineterminator="\n") for name, frame in frames.items()}
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [_replace(out / name, text) for name, text in texts.items()]
    except OSError as error:
        raise ResultsError(f"cannot write the report to {out}: {error.strerror or error}") from error


def _replace(path: Path, text: str) -> Path:
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
