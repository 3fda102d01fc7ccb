"""HTML reports over HTTP: their one inline script is named in the policy by its hash."""

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

from .jobs import Job

if TYPE_CHECKING:
    from ..report.frames import RunLike


@dataclass(frozen=True)
class Page:
    """A rendered report and the policy that it needs."""

    content: bytes
    policy: str

    def response(self, control: str) -> Response:
        headers = {"Content-Security-Policy": self.policy, "Cache-Control": control}
        return Response(self.content, headers=headers, media_type="text/html")


def render_runs(runs: Sequence[RunLike]) -> Page:
    """The report of `runs`, side by side where there are several."""
    from ..report.frames import FRAMES
    from ..report.page import render  # pandas: a third of a second, when it is first needed

    page = render(runs, {name: build(runs) for name, build in FRAMES.items()})
    return Page(page.encode(), policy(page))


class Shelf:
    """The pages of the runs that were asked for last: making one takes seconds where a run has many results."""

    def __init__(self, room: int = 4) -> None:
        self._room, self._lock = room, Lock()
        self._pages: dict[tuple[int, ...], tuple[Sequence[RunLike], Page]] = {}

    def page(self, runs: Sequence[RunLike]) -> Page:
        """The report of `runs`; the same objects have the same page."""
        key = tuple(map(id, runs))
        with self._lock:
            known = self._pages.pop(key, None)
        if known is None:
            known = (runs, render_runs(runs))  # the runs are kept too, so that their ids are nobody else's
        with self._lock:
            self._pages[key] = known
            while len(self._pages) > self._room:
                del self._pages[next(iter(self._pages))]
        return known[1]


def render_job(job: Job) -> Page:
    """The report of an upload that is done."""
    assert job.run is not None
    return render_runs([job.run])


def policy(page: str) -> str:
    """A Content-Security-Policy that runs the scripts of this very page, and nothing else."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@lru_cache(maxsize=8)
def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}'"
