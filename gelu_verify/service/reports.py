"""HTML reports over HTTP: the Content-Security-Policy names their inline scripts by hash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..runs.store import Run
from .jobs import UploadJob
from .page_bundle import Page, hash_of

if TYPE_CHECKING:
    from ..report.frames import RunLike


def render_runs(runs: Sequence[RunLike]) -> Page:
    """The report of `runs`, side by side if there are several."""
    from ..report.frames import FRAMES
    from ..report.page import render  # imports pandas (0.3 s): only when first needed

    page = render(runs, {name: build(runs) for name, build in FRAMES.items()})
    return Page(page.encode(), policy(page))


@lru_cache(maxsize=4)
def stored_report(*runs: Run) -> Page:
    """The same, kept for the runs asked for last: rendering takes seconds if a run has many results."""
    return render_runs(runs)


def render_job(job: UploadJob) -> Page:
    """The report of a finished upload."""
    assert job.run is not None
    return render_runs([job.run])


def policy(page: str) -> str:
    """A Content-Security-Policy that allows the scripts of this page and nothing else."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = " ".join(hash_of(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
