"""`compare`: what changed between two stored runs, or between two revisions of code."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..calling import OPTIONS
from ..errors import UsageError
from .ci_options import Reporter, reports_to_ci
from .forms import show, takes_form
from .options import Typed, naming_options
from .program import MISSING, OVER_BUDGET, say, warn
from .run import run

if TYPE_CHECKING:
    from ..compare.comparison import Comparison
    from ..measure.request import Request

SCREEN = 36  # lines
_NAMED = 5  # results that a line names
_MEASURING = (  # options of `run` with which revisions are measured
    *("functions", "dtypes", "plan", "seed", "ranges", "policy", "throughput", "workers"),
    *OPTIONS,
)
_FAIL_ON = re.compile(r"(?P<alone>worse|change)|(?:(?P<what>worse|change),)?slower:(?P<percent>\d{1,4}(?:\.\d+)?)%")
_OPTIONS = [parameter for parameter in run.params if parameter.name in _MEASURING]


@dataclass(frozen=True)
class FailOn:
    """What ends a comparison with 1: other results, or calls that take longer by more than a share."""

    typed: str
    what: str | None = None
    slower: float | None = None


def _fail_on(option: str, text: str) -> FailOn:
    """worse, change, slower:10%, or worse,slower:10%."""
    match = _FAIL_ON.fullmatch(text)
    if match is None:
        raise UsageError(f"{option} {text[:40]!r}: accepted are worse, change, slower:10%, and worse,slower:10%")
    percent = match["percent"]
    return FailOn(text, match["alone"] or match["what"], float(percent) / 100 if percent else None)


def _measuring_options(command: click.Command) -> click.Command:
    """The options of `run` that say how revisions are measured, after those of `command`."""
    command.params += _OPTIONS
    return command


@_measuring_options
@click.command()
@click.argument("words", nargs=-1, metavar="[OLD [NEW]] | OLD..NEW TARGET...")
@click.option("--target", "targets", multiple=True, metavar="NAME",
              help="Of stored runs: compare only this family or target; may be repeated.")  # fmt: skip
@click.option("--fail-on", type=Typed("what", _fail_on), metavar="W",
              help="Exit with 1 if something is worse, or anything changed (change); with 3 if that is not known. Of "
              "revisions also slower:10%: both are timed in turns, and calls may take so much longer; "
              "worse,slower:10% is both.")  # fmt: skip
@takes_form(text="text: one screen, the worst first.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write that form to FILE; default: print it.")  # fmt: skip
@click.option("--details", is_flag=True, help="Print every change, however many there are.")
@click.option("--runs", "root", type=click.Path(path_type=Path), default=Path("reports"), show_default=True,
              metavar="DIR", help="Where names such as latest~1 are looked up.")  # fmt: skip
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Of revisions: keep both runs in the new folder DIR, as old and new.")  # fmt: skip
@click.pass_context
@reports_to_ci
def compare(
    context: click.Context, /, words: tuple[str, ...], targets: tuple[str, ...], fail_on: FailOn | None, form: str,
    out: Path | None, details: bool, root: Path, keep: Path | None, reporter: Reporter, **measuring: Any,
) -> None:  # fmt: skip
    """Say what changed between two runs, or between two revisions of your code.

    OLD and NEW are stored runs: a folder, latest, latest~1 (the run before the latest), a name in reports/ or that of a
    recorded run in data/runs. The default is latest~1 and latest.

    OLD..NEW are revisions of the git repository around the current folder, and TARGET is a file of it, named as in run
    (kernel.c:gelu). Each revision is checked out into a temporary folder and measured there, with the same plan, seed
    and options; your checkout is not touched. OLD.. compares with the working tree, OLD...NEW begins where NEW parted
    from OLD. The options after --keep are those of run.

    docs/compare.md says what counts as worse. The exit code is 0 whatever changed, unless --fail-on is given.
    """
    from ..atomic_files import in_use
    from ..ci.changes import cases_of_comparison
    from ..compare.revisions import is_range
    from ..compare.runs import compare_runs, decisive
    from ..report.comparison import LEFT_OUT, comparison_document
    from ..runs.integrity import verified
    from ..runs.store import read_run
    from .comparison import comparison_lines

    given = [
        p for p in _OPTIONS if context.get_parameter_source(p.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if words and is_range(words[0]):
        if targets:
            raise UsageError("--target is for stored runs: after revisions, name what to measure (kernel.c:gelu)")
        found = _of_revisions(words[0], words[1:], measuring, keep, fail_on.slower if fail_on else None)
    else:
        if fail_on and fail_on.slower is not None:
            raise UsageError(
                "--fail-on slower is for revisions (OLD..NEW TARGET), which are timed in turns: the times of stored "
                "runs were not taken side by side"
            )
        if given or keep:
            option = given[0].opts[0] if given else "--keep"
            raise UsageError(f"{option} is for revisions, which are measured: stored runs are compared as they are")
        places = _places(words, root)
        with in_use(*places):
            first, second = (verified(read_run(place)) for place in places)
            found = compare_runs(first, second, targets=targets)
    show(
        found,
        form,
        out,
        lines=lambda width: comparison_lines(found, width=width, height=SCREEN, details=details),
        document=comparison_document,
        left_out=LEFT_OUT,
    )
    what = fail_on.what if fail_on else None
    over, missing = decisive(found, what)
    if fail_on and (over or missing):
        from ..report.comparison_text import names

        why = "" if over else "not known to be no worse: "
        warn(f"--fail-on {fail_on.typed}: {why}{names(over or missing, _NAMED)}")
    reporter.finish(cases_of_comparison(found, what), OVER_BUDGET if over else MISSING if missing else 0)


# ---- the two runs --------------------------------------------------------------------------------


def _places(words: tuple[str, ...], root: Path) -> list[Path]:
    """The folders of two stored runs."""
    from ..runs.references import find_run

    if len(words) > 2:
        raise UsageError(f"compare takes two runs, not {len(words)} (accepted: OLD NEW, or OLD..NEW TARGET...)")
    old, new = (*words, *("latest~1", "latest")[len(words) :])
    places = [find_run(name, root) for name in (old, new)]
    if places[0].resolve() == places[1].resolve():
        raise UsageError(f"{old} and {new} are the same run")
    return places


def _of_revisions(
    revisions: str, targets: tuple[str, ...], measuring: dict[str, Any], keep: Path | None, slower: float | None
) -> Comparison:
    """Both revisions measured, and compared."""
    from ..compare.measuring import Measuring, compare_revisions
    from ..compare.revisions import Repository

    if not targets:
        raise UsageError(f"name what to measure at {revisions} (accepted: {revisions} kernel.c:gelu)")
    if keep is not None and keep.exists():
        raise UsageError(f"--keep {keep} is already there: name a new folder")
    repository = Repository.around(Path.cwd())
    old, new = repository.range(revisions)
    names = [repository.relative(target) for target in targets]
    inputs, calls, request = _words(measuring, names)
    for word in (*inputs, *calls):
        if str(repository.top) in word:
            raise UsageError(
                f"{word!r} names the working tree, not a revision (accepted: a path relative to this folder)"
            )
    with tempfile.TemporaryDirectory(prefix="gelu-verify-compare-") as scratch:
        if keep is not None:
            keep.mkdir(parents=True)
        out, rest = (keep or Path(scratch)).resolve(), Path(scratch)
        how = Measuring(repository, names, inputs, calls, out, rest, lambda line: say(line, err=True), request, slower)
        found = compare_revisions(how, old, new)
    repeat = shlex.join(["gelu-verify", *sys.argv[1:]])  # `run` would measure the working tree, and shows no time
    is_new_here = new.commit is None
    results = (each if is_new_here and not each.is_slower else replace(each, repeat=repeat) for each in found.results)
    return replace(found, results=tuple(results))


def _words(measuring: dict[str, Any], targets: list[str]) -> tuple[list[str], list[str], Request]:
    """The options of `run` as they are typed, of inputs and of calls, and what they ask for; checked before anything is
    measured."""
    from ..measure.request import Request

    throughput, workers = measuring.pop("throughput"), measuring.pop("workers")
    with naming_options():
        request = Request(targets=tuple(targets), **measuring)
    words = [word for name in request.functions for word in ("--function", name)]
    words += [word for name in request.dtypes for word in ("--dtype", name)]
    words += ["--plan", request.plan, "--seed", str(request.seed), "--throughput", throughput]
    words += ["--budget", "0"]  # both revisions on the same inputs, however fast they are
    words += [word for text in measuring["ranges"] for word in ("--bits", text)]
    words += request.words("inputs")
    words += ["--workers", str(workers)] if workers else []
    return words, shlex.split(request.further_options), request
