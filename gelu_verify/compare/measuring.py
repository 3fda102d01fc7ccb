"""The same targets measured at two revisions, one after the other, by `gelu-verify run` in a process of its own.

Each runs in the folder of its revision: paths, headers and modules are found there, and nothing of one is left over
for the other.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import GeluVerifyError, MissingMeasurement, UsageError
from ..measure.request import Request
from ..runs.integrity import verified
from ..runs.store import Run, read_run
from .comparison import Comparison, ResultComparison
from .in_turns import ROUNDS, Times, timed_in_turns
from .revisions import Repository, Revision
from .runs import compare_runs
from .witnesses import Outputs, completed, outputs_of

_FAILED = 1  # exit code of a run with a target that failed: a result
_MISSING = 3
_ERROR = "gelu-verify: error: "


@dataclass(frozen=True)
class Measuring:
    """How targets are measured at any revision.

    Parameters
    ----------
    targets : as `Repository.relative` has them; those whose file a revision lacks are left out there
    inputs, calls : words of the command line of `run`: which inputs, functions and dtypes; how it is called
    out : folder for both runs
    scratch : folder for what is asked again
    say : is told what is measured
    request : the same as an object; its targets are timed in turns where there is a limit
    slower : share by which the new revision may take longer
    """

    repository: Repository
    targets: Sequence[str]
    inputs: Sequence[str]
    calls: Sequence[str]
    out: Path
    scratch: Path
    say: Callable[[str], object]
    request: Request
    slower: float | None = None


def compare_revisions(how: Measuring, old: Revision, new: Revision) -> Comparison:
    """What changed, with what both revisions give at the inputs that show it.

    Raises
    ------
    MissingMeasurement : a revision has none of the files, a file is in neither, or there is nothing in common
    UsageError : it cannot be measured: a function that is not there, an error of the compiler
    """
    with ExitStack() as checkouts:
        sides = [_Side(how, each, *checkouts.enter_context(how.repository.checked_out(each))) for each in (old, new)]
        for target in how.targets:
            if not any(how.repository.has(target, side.place) for side in sides):
                raise MissingMeasurement(f"neither {old.label} nor {new.label} has the file of {target}")
        runs = [side.run(how.out / name) for side, name in zip(sides, ("old", "new"), strict=True)]
        found = compare_runs(*runs, names=(old.label, new.label))
        found = completed(found, *(side.ask for side in sides))
        if how.slower is None:
            return found
        how.say(f"timing {', '.join(how.targets)} at both in turns, in {ROUNDS} rounds")
        return timed_in_turns(found, [side.times for side in sides], how.slower)


@dataclass(frozen=True)
class _Side:
    """A revision in the folder where it is checked out, and the environment variables of that."""

    how: Measuring
    revision: Revision
    place: Path
    variables: Mapping[str, str]

    def run(self, out: Path) -> Run:
        """The run of all targets whose file is there."""
        if not self._there:
            raise MissingMeasurement(f"{self.revision.label} has no file of {', '.join(self.how.targets)}")
        self.how.say(f"measuring {', '.join(self._there)} at {self.revision.label}")
        return self._measured(self._there, self.how.inputs, out)

    @property
    def _there(self) -> list[str]:
        return [name for name in self.how.targets if self.how.repository.has(name, self.place)]

    def ask(self, result: ResultComparison, x_bits: list[str]) -> Outputs:
        """What it gives at single inputs."""
        self.how.say(f"asking {result.target} at {self.revision.label} for {len(x_bits)} outputs that were not kept")
        words = ["--function", result.function, "--dtype", result.dtype, "--plan", "landmarks", "--throughput", "none"]
        words += ["--no-report", *(word for x in x_bits for word in ("--bits", x))]
        with TemporaryDirectory(dir=self.how.scratch) as folder:
            return outputs_of(self._measured([result.target], words, Path(folder) / "run"), x_bits)

    def times(self) -> Times:
        """Seconds an element of each result, in a process that ends with this."""
        request = replace(self.how.request, targets=tuple(self._there), own="none")
        with TemporaryDirectory(dir=self.how.scratch) as folder:
            out = Path(folder) / "times.json"
            words, given = ["gelu_verify.compare.timed", str(out)], pickle.dumps(request)
            _called_at(self.place, self.variables, words, out, self.revision.label, given)
            found = json.loads(out.read_text(encoding="utf-8"))
        return {key: {int(n): seconds for n, seconds in lengths.items()} for key, lengths in found.items()}

    def _measured(self, targets: Sequence[str], inputs: Sequence[str], out: Path) -> Run:
        words = [*inputs, *self.how.calls, "--", *targets]
        return measured_at(self.place, self.variables, words, out, self.revision.label)


def measured_at(place: Path, variables: Mapping[str, str], words: Sequence[str], out: Path, label: str) -> Run:
    """The run that `gelu-verify run` with these words makes in the folder of a revision, `label` of which errors name.

    Raises
    ------
    MissingMeasurement, UsageError : what that says
    """
    _called_at(place, variables, ["gelu_verify", "run", "--no-own", "--out", str(out), *words], out, label)
    return verified(read_run(out))


def _called_at(
    place: Path, variables: Mapping[str, str], words: Sequence[str], out: Path, label: str, given: bytes = b""
) -> None:
    """A module with arguments, in the folder of a revision, that makes `out`."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", *words],
        cwd=place,
        env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1", "PWD": str(place)},
        capture_output=True,
        input=given,
        check=False,
    )
    if done.returncode not in (0, _FAILED) or not out.exists():
        raise _error(done.returncode, label, done.stderr.decode(errors="replace").replace(f"{place}/", ""))


def _error(code: int, label: str, printed: str) -> GeluVerifyError:
    """What the run said, with its revision before it."""
    lines = [line for line in printed.splitlines() if line.strip()] or ["it ended without a word"]
    said = next((line.removeprefix(_ERROR) for line in reversed(lines) if line.startswith(_ERROR)), lines[-1])
    kind = MissingMeasurement if code == _MISSING else UsageError
    return kind(f"at {label}: {said}")
