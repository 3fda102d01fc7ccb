"""HTML reports over HTTP: the Content-Security-Policy names their inline scripts by hash."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from starlette.responses import Response

from .jobs import UploadJob

if TYPE_CHECKING:
    from ..report.frames import RunLike


@dataclass(frozen=True)
class Page:
    """A rendered report and its Content-Security-Policy."""

    content: bytes
    policy: str

    def response(self, control: str) -> Response:
        headers = {"Content-Security-Policy": self.policy, "Cache-Control": control}
        return Response(self.content, headers=headers, media_type="text/html")


def render_runs(runs: Sequence[RunLike]) -> Page:
    """The report of `runs`, side by side if there are several."""
    from ..report.frames import FRAMES
    from ..report.page import render  # imports pandas (0.3 s): only when first needed

    page = render(runs, {name: build(runs) for name, build in FRAMES.items()})
    return Page(page.encode(), policy(page))


class ReportCache:
    """The most recently requested reports: rendering one takes seconds if a run has many results."""

    def __init__(self, size: int = 4) -> None:
        self._size, self._lock = size, Lock()
        self._pages: dict[tuple[int, ...], tuple[Sequence[RunLike], Page]] = {}

    def page(self, runs: Sequence[RunLike]) -> Page:
        """The report of `runs`; the same objects have the same page."""
        key = tuple(map(id, runs))
        with self._lock:
            entry = self._pages.pop(key, None)
        if entry is None:
            entry = (runs, render_runs(runs))  # holds the runs too, so that their ids are not reused
        with self._lock:
            self._pages[key] = entry
            while len(self._pages) > self._size:
                del self._pages[next(iter(self._pages))]
        return entry[1]


def render_job(job: UploadJob) -> Page:
    """The report of a finished upload."""
    assert job.run is not None
    return render_runs([job.run])


def policy(page: str) -> str:
    """A Content-Security-Policy that allows the scripts of this page and nothing else."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@lru_cache(maxsize=8)
def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}'"
