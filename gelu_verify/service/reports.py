"""HTML reports over HTTP: their one inline script is named in the policy by its hash."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.responses import Response

from .jobs import Job, UnstoredRun

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


def render_job(job: Job) -> Page:
    """The report of an upload that is done."""
    assert job.result is not None
    return render_runs([UnstoredRun(job.manifest, job.result)])


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
