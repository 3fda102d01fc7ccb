"""The same targets measured at two revisions, one after the other, by `gelu-verify run` in a process of its own.

Each runs in the folder of its revision: paths, headers and modules are found there, and nothing of one is left over
for the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import GeluVerifyError, MissingMeasurement, UsageError
from ..runs.integrity import verified
from ..runs.store import Run, read_run
from .revisions import Repository, Revision

_FAILED = 1  # exit code of a run with a target that failed: a result
_ERROR = "gelu-verify: error: "


def measured_at(
    repository: Repository, revision: Revision, targets: Sequence[str], options: Sequence[str], out: Path,
    say: Callable[[str], object],
) -> Run:  # fmt: skip
    """The run of a revision, stored in `out`.

    Parameters
    ----------
    targets : as `Repository.relative` has them; those whose file the revision lacks are left out
    options : further words of the command line of `run`
    say : is told what is measured

    Raises
    ------
    MissingMeasurement : the revision has none of the files
    UsageError : it cannot be measured: a function that is not there, an error of the compiler
    """
    with repository.checked_out(revision) as (place, variables):
        there = [name for name in targets if repository.has(name, place)]
        if not there:
            raise MissingMeasurement(f"{revision.label} has no file of {', '.join(targets)}")
        say(f"measuring {', '.join(there)} at {revision.label}")
        command = [
            sys.executable,
            "-P",
            "-m",
            "gelu_verify",
            "run",
            *options,
            "--no-own",
            "--out",
            str(out),
            "--",
            *there,
        ]
        environment = {**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1", "PWD": str(place)}
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode not in (0, _FAILED) or not out.exists():
        raise _error(done.returncode, revision, done.stderr)
    return verified(read_run(out))


def _error(code: int, revision: Revision, printed: str) -> GeluVerifyError:
    """What the run said, with its revision before it."""
    lines = [line for line in printed.splitlines() if line.strip()]
    said = next(
        (line.removeprefix(_ERROR) for line in reversed(lines) if line.startswith(_ERROR)), (lines or ["no word"])[-1]
    )
    kind = MissingMeasurement if code == 3 else UsageError
    return kind(f"at {revision.label}: {said}")
