"""HTML reports over HTTP: the Content-Security-Policy names their inline scripts by hash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..runs.store import Run
from .page_bundle import hash_of

if TYPE_CHECKING:
    from ..report.frames import RunLike


def render_runs(runs: Sequence[RunLike]) -> tuple[str, bytes]:
    """The Content-Security-Policy and the report of `runs`, side by side if there are several."""
    from ..report.frames import FRAMES
    from ..report.page import render  # imports pandas (0.3 s): only when first needed

    page = render(runs, {name: build(runs) for name, build in FRAMES.items()})
    return policy(page), page.encode()


def table_of(run: Run, table: str, kind: str) -> bytes:
    """A table of the report as CSV or JSON."""
    from ..report.frames import FRAMES
    from ..report.rows import csv_text, json_text

    text = {"csv": csv_text, "json": json_text}[kind]
    return text(table, FRAMES[table]([run])).encode(errors="backslashreplace")


def policy(page: str) -> str:
    """A Content-Security-Policy that allows the scripts of this page and nothing else."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = " ".join(hash_of(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
