"""The process that times targets once: `python -m gelu_verify.compare.timed FILE`, a pickled request on stdin.

It writes {key: {elements of a call: seconds an element}} to FILE as JSON.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

from ..errors import GeluVerifyError, TargetFailure
from ..measure.jobs import Job, find_jobs, selecting
from ..measure.request import Request
from ..speed.throughput import measure, one_thread_each

LENGTHS = (1 << 10, 1 << 14)  # what a call costs, and what an element costs
SECONDS = 0.25  # of timed calls, for each length


def main() -> None:
    request: Request = pickle.load(sys.stdin.buffer)
    one_thread_each()
    try:
        with selecting(request) as select:
            found = {job.key: {n: _seconds(job, n) for n in LENGTHS} for job in find_jobs(request, select).jobs}
    except GeluVerifyError as error:
        sys.exit(f"gelu-verify: error: {error}")
    Path(sys.argv[1]).write_text(json.dumps(found))


def _seconds(job: Job, n: int) -> float | None:
    """Of an element, in the median call; None where the target fails, which its accuracy tells."""
    try:
        found = job.target.apply(measure, job.plan.dtype, n, SECONDS)
    except TargetFailure:
        return None
    return 1 / float(found["throughput"]["elements_per_s"])


if __name__ == "__main__":
    main()
