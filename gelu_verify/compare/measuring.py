"""The same targets measured at two revisions, one after the other, by `gelu-verify run` in a process of its own.

Each runs in the folder of its revision: paths, headers and modules are found there, and nothing of one is left over
for the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import GeluVerifyError, MissingMeasurement, UsageError
from ..runs.integrity import verified
from ..runs.store import Run, read_run
from .comparison import Comparison, ResultComparison
from .revisions import Repository, Revision
from .runs import compare_runs
from .witnesses import Outputs, completed, outputs_of

_FAILED = 1  # exit code of a run with a target that failed: a result
_MISSING = 3
_ERROR = "gelu-verify: error: "


@dataclass(frozen=True)
class Sides:
    """Two revisions, and how their targets are called: further words of the command line of `run`.

    `scratch`: a folder for what is asked again; `say` is told what is measured.
    """

    repository: Repository
    old: Revision
    new: Revision
    calls: Sequence[str]
    scratch: Path
    say: Callable[[str], object]


def compare_revisions(sides: Sides, targets: Sequence[str], inputs: Sequence[str], out: Path) -> Comparison:
    """What changed, with what both revisions give at the inputs that show it; the runs are stored in `out`.

    Parameters
    ----------
    targets : as `Repository.relative` has them; those whose file a revision lacks are left out there
    inputs : words of the command line of `run` that say which inputs, functions and dtypes

    Raises
    ------
    MissingMeasurement : a revision has none of the files, or there is nothing in common
    UsageError : it cannot be measured: a function that is not there, an error of the compiler
    """
    runs = []
    for revision, name in ((sides.old, "old"), (sides.new, "new")):
        sides.say(f"measuring {', '.join(targets)} at {revision.label}")
        runs.append(measured_at(sides, revision, targets, inputs, out / name))
    found = compare_runs(*runs, names=(sides.old.label, sides.new.label))
    return completed(found, *(_asking(sides, revision) for revision in (sides.old, sides.new)))


def _asking(sides: Sides, revision: Revision) -> Callable[[ResultComparison, list[str]], Outputs]:
    """What measures single inputs of a result again."""

    def ask(result: ResultComparison, x_bits: list[str]) -> Outputs:
        sides.say(f"asking {result.target} at {revision.label} for {len(x_bits)} outputs that were not kept")
        words = ["--function", result.function, "--dtype", result.dtype, "--plan", "landmarks", "--throughput", "none"]
        words += [word for x in x_bits for word in ("--bits", x)]
        with tempfile.TemporaryDirectory(dir=sides.scratch) as folder:
            return outputs_of(measured_at(sides, revision, [result.target], words, Path(folder) / "run"), x_bits)

    return ask


def measured_at(sides: Sides, revision: Revision, targets: Sequence[str], inputs: Sequence[str], out: Path) -> Run:
    """The run of a revision, stored in `out`; errors as of `compare_revisions`."""
    with sides.repository.checked_out(revision) as (place, variables):
        there = [name for name in targets if sides.repository.has(name, place)]
        if not there:
            raise MissingMeasurement(f"{revision.label} has no file of {', '.join(targets)}")
        command = [sys.executable, "-P", "-m", "gelu_verify", "run", *inputs, *sides.calls]
        done = subprocess.run(
            [*command, "--no-own", "--out", str(out), "--", *there],
            cwd=place,
            env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1", "PWD": str(place)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if done.returncode not in (0, _FAILED) or not out.exists():
        raise _error(done.returncode, revision, done.stderr)
    return verified(read_run(out))


def _error(code: int, revision: Revision, printed: str) -> GeluVerifyError:
    """What the run said, with its revision before it."""
    lines = [line for line in printed.splitlines() if line.strip()] or ["it ended without a word"]
    said = next((line.removeprefix(_ERROR) for line in reversed(lines) if line.startswith(_ERROR)), lines[-1])
    kind = MissingMeasurement if code == _MISSING else UsageError
    return kind(f"at {revision.label}: {said}")
