"""`run`: measure, store, report."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..atomic_files import claimed, in_use, remove_partial
from ..errors import UsageError
from .ci_options import Reporter, reports_to_ci
from .executor_options import takes_executor
from .options import (
    MIN_GRADES,
    PARAMETERS,
    SEED,
    SPAN,
    WORKERS,
    Several,
    check_apart,
    check_used,
    naming_options,
    real_number,
    takes_target,
    with_parameters,
)
from .program import MISSING, NOT_FOR_GATES, OVER_BUDGET, say, stdout_for_results, warn

if TYPE_CHECKING:
    from ..ci.cases import Case
    from ..judge.demands import Demands
    from ..measure.request import Own, Request
    from ..records.parts import Grade, Severity, SweepTime
    from ..records.result import Record
    from ..runs.store import Run


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--all", "everything", is_flag=True, help="Also run the opt-in families: slow ones, and re-implementations."
)
@click.option(
    "--function", "functions", cls=Several, metavar="F,F", help="Test only implementations of these functions."
)
@PARAMETERS
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Test only these dtypes.")
@click.option(
    "--plan",
    default="default",
    show_default=True,
    metavar="P",
    help="Which inputs: quick, landmarks, default, fixed, strata, stress or exhaustive; see `gelu-verify list`.",
)
@click.option("--budget", metavar="S", help="Seconds for each result in which more inputs are tried than plan default "
              "or fixed has, where they decide most (float32: buckets whole); 0: none; default 1 at most, half of it "
              "where nothing is named, of one named target 10. Nbuckets: in so many buckets. Our kernels that nobody "
              "named have none.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N",
              help="Seed of the sampled inputs; today: the date, 20261123, for a scheduled run.")  # fmt: skip
@click.option(
    "--bits", "ranges", multiple=True, metavar="A:B", help="Only inputs from A to B, or only A; may be repeated."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder to create for the run; default reports/TIME."
)
@click.option("--record", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Also store a condensed copy in DIR, small enough to commit (data/runs).")  # fmt: skip
@click.option("--max-ulp", type=real_number(), metavar="N", help="Exit with 1 when an error is larger than N ULP.")
@click.option("--min-grade", type=click.Choice(MIN_GRADES), metavar="G",
              help=f"Exit with 1 when a grade is worse than G: {', '.join(MIN_GRADES)} (docs/grades.md).")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["defect", "loss", "convention"]), metavar="S",
              help="Exit with 1 when a check fails with severity S or worse: defect, loss, convention.")  # fmt: skip
@click.option("--strict", is_flag=True, help="The same as --fail-on loss: every failed check but conventions "
              "(NaN at -inf, the sign of a zero, flushing).")  # fmt: skip
@click.option("--policy", type=click.Choice(["limit", "formula"]), default="limit", show_default=True,
              help="What to accept at -inf: only the limit, or also the NaN that the formula gives.")  # fmt: skip
@click.option("--throughput", type=click.Choice(["quick", "full", "none"]), default="quick", show_default=True,
              help="full: array sizes from L1 to memory, on one thread and on all; none: no timing.")  # fmt: skip
@click.option("--no-throughput", is_flag=True, help="The same as --throughput none.")
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
@click.option("--own/--no-own", default=None, help="Our kernels: the correctly rounded ones beside what is named, to "
              "compare with, or where nothing is named all as if they were; or none. Default: those that are named; "
              "where nothing is, all, on few inputs.")  # fmt: skip
@click.option("--chunks", type=SPAN, metavar="A:B", help="Only chunks A to B - 1 of each plan, as a part "
              "in --out DIR, which `gelu-verify merge` joins with the others (docs/scale.md).")  # fmt: skip
@click.option(
    "--no-report", is_flag=True, help="Store the run alone: `gelu-verify report RUN` writes its report later."
)
@click.option("--details", is_flag=True, help="Print every result with its failed checks and its sentence.")
@click.option("--json", "as_json", is_flag=True, help="Print only JSON, the list of results, on stdout.")
@takes_target()
@takes_executor()
@reports_to_ci
def run(
    out: Path | None,
    chunks: tuple[int, int] | None,
    record: Path | None,
    max_ulp: float | None,
    min_grade: Grade | None,
    fail_on: Severity | None,
    strict: bool,
    own: bool | None,
    no_report: bool,
    details: bool,
    as_json: bool,
    reporter: Reporter,
    **typed: Any,
) -> None:
    """Measure targets, store the run and write its report.

    TARGET is a family (torch), one of its implementations (torch.gelu), or your own code: module:function,
    path/file.py:function, ./libfoo.so:symbol, kernel.c:symbol, kernel.cu:symbol, model.onnx, "pipe:./program --flag".
    The default is every library that is installed. `gelu-verify list` shows what is found here and all ways to name a
    target. NAME@avx2 is limited to AVX2, by the switches that the library has.

    Python code that is not called as f(x) needs --call: "f(x, out=y)", "f(x); x" where it changes x in place,
    "f(dy, x)" for a gradient; docs/targets.md describes them all. Your own code is tested as the function and dtype in
    its name (gelu_tanh_f32: gelu_tanh in float32), or as --function and --dtype.

    Each family, and each target that is named, is called in its own process. The exit code is 1 when a target failed
    (raised, crashed, hung ...) or a result does not meet --max-ulp, --min-grade, --fail-on or --strict; each such limit
    is printed, the worst result first. Without these it is 0 however large the errors are. A --min-grade of
    correctly_rounded or faithful speaks of all inputs: all of float32 are tried, and where a --budget does not suffice
    for that the exit code is 3.

    With --own our correctly rounded kernels are measured beside what is named, for comparison: neither the exit code
    nor --json depends on them.
    """
    from ..measure.jobs import was_added
    from ..runs.measuring import measure_run, without_garbage_collection
    from .progress import OnStderr

    check_apart("TARGET", "--all")
    check_apart("--no-throughput", "--throughput")
    check_apart("--strict", "--fail-on")
    check_used(not typed["executor"].shares_memory, "threads have no items (see --executor)", "--item-seconds")
    if chunks is not None:
        if typed["budget"] not in (None, "0"):
            raise UsageError("--chunks takes the inputs of the plan alone: --budget is not for it")
        typed["budget"] = "0"
    request = _request(**typed, demand=min_grade, max_ulp=max_ulp, own=_own(own, typed["targets"], record))
    if chunks is not None:
        _measure_part(request, chunks, out)
        return
    say(f"plan {request.plan}, seed {request.seed}", err=as_json)
    command = shlex.join(["gelu-verify", *sys.argv[1:]])
    with stdout_for_results():
        measured = (None if no_report else _without_report(out, command)) or measure_run(
            request,
            out,
            command=command,
            observer=OnStderr(),
            prepare=load_printing if no_report else load_report,
            report=(lambda run: None) if no_report else write_all,
        )
    judged = [each for each in measured.results if not was_added(each.target, request)]
    with without_garbage_collection():
        print_run(measured, judged, as_json, asked=bool(request.targets or request.device), details=details)
    if record is not None:
        _commit(measured, record)
    from ..ci.cases import cases_of_run
    from ..judge.demands import Demands

    limits = Demands(fail_on or ("loss" if strict else None), min_grade, max_ulp)
    cases = cases_of_run(judged, limits, measured.manifest["absent"] if request.targets else {})
    is_over = bool(limits) and _warn_of_exceeded(judged, limits, cases)
    of_samples = _warn_of_samples(judged, limits)
    reporter.finish(cases, code_of(judged, is_over, of_samples))


def code_of(judged: Sequence[Record], is_over: bool = False, is_missing: bool = False) -> int:
    """The exit code: a target failed or is over a limit, else what gelu-verify itself failed to measure is missing, or
    what only a sample shows."""
    if is_over or any(each.has_failed for each in judged):
        return OVER_BUDGET
    return MISSING if is_missing or _report_faults or any(each.own_faults for each in judged) else 0


def _without_report(out: Path | None, command: str) -> Run | None:
    """The run of the same command that was interrupted when all but its report was stored."""
    from ..runs.store import MANIFEST, read_run

    if out is None or not (out / MANIFEST).is_file():
        return None
    from ..report.columns import FILES
    from ..runs.journals import discard

    if all((out / name).exists() for name in FILES):
        return None
    found = read_run(out)
    if found.manifest["command"] != command:
        return None
    with claimed(out) as is_ours:
        if is_ours:
            remove_partial(out)
    write_all(found)
    discard(out)
    return found


def write_all(run: Run) -> None:
    """The report of a run, beside it; what is left out of it by a fault of ours is said, and MISSING."""
    from ..report import write_report

    with in_use(run.path):
        try:
            write_report([run], run.path, _report_faults)
        except ModuleNotFoundError as missing:
            if missing.name not in NOT_FOR_GATES:
                raise
            warn(f"no report is written: {missing.name} is not installed")
    for fault in _report_faults:
        warn(fault)


_report_faults: list[str] = []  # of this command


def _measure_part(request: Request, chunks: tuple[int, int], out: Path | None) -> None:
    """Some chunks, which are not judged yet."""
    from ..runs.parts import measure_part
    from .progress import OnStderr

    if out is None:
        raise UsageError("--chunks needs --out: the folder of the part")
    with stdout_for_results():
        measure_part(request, chunks, out, observer=OnStderr())
    say(f"written: {out} (a part: gelu-verify merge PART... joins it with the others)", err=True)


def _warn_of_exceeded(records: Sequence[Record], limits: Demands, cases: Sequence[Case]) -> bool:
    """Print every limit that a result does not meet, after the first the input that shows it; whether there is one."""
    from ..judge.demands import check_reachable, exceeded

    check_reachable(records, limits)
    found = exceeded(records, limits)
    if not found:
        return False
    from ..gate.keeping import keep_commands  # here: most runs exceed no limit, and do without the gate

    results = len({record.key for record, _ in found})
    warn(f"{results} of {len(records)} results do not meet the limits, the worst first:")
    shown = {case.key: case.input_lines() for case in cases}
    for record, what in found:
        warn(f"over the limit: {record.target} {record.function} {record.dtype}: {what}")
        for line in shown[record.key]:
            say(f"  {line}", err=True)
    for command in keep_commands({record.key: record for record, _ in found}.values()):
        warn(f"to try it in every later run: {command}")
    return True


def _warn_of_samples(records: Sequence[Record], limits: Demands) -> bool:
    """Print which results meet --min-grade in a sample only; whether all inputs of one of them can be tried."""
    from ..judge.demands import can_be_tried, of_a_sample

    found = of_a_sample(records, limits)
    for record, what in found:
        how = "not shown" if can_be_tried(record) else "searched"
        warn(f"{how}: {record.target} {record.function} {record.dtype}: {what}")
    return any(can_be_tried(record) for record, _ in found)


def _own(asked: bool | None, names: tuple[str, ...], record: Path | None) -> Own:
    """What is recorded is measured as all else is."""
    if asked is None:
        return "none" if names else "briefly" if record is None else "found"
    return "none" if not asked else "beside" if names else "found"


def _request(*, parameters: tuple[tuple[str, str], ...], no_throughput: bool, **typed: Any) -> Request:
    """What was typed, as the library takes it; options are named as its fields are."""
    from ..gate.project import hard_cases_here
    from ..measure.request import Request

    typed["functions"] = with_parameters(typed["functions"], parameters)
    if no_throughput:
        typed["throughput"] = "none"
    with naming_options():
        return Request(**typed, hard_cases=hard_cases_here())


def load_printing() -> None:
    """What printing needs."""
    for module in ("gelu_verify.cli.terminal", "gelu_verify.ci.cases"):
        import_module(module)


def load_report() -> None:
    """What printing and reporting need."""
    load_printing()
    with suppress(ModuleNotFoundError):  # then none is written
        import_module("pandas")
        from ..report import page

        page.load()


def _commit(measured: Run, root: Path) -> None:
    from ..runs.committed import commit

    say(f"recorded: {commit(measured, root)}", err=True)


def print_run(measured: Run, judged: Sequence[Record], as_json: bool, *, asked: bool, details: bool) -> None:
    from ..records.asking import as_computed_command
    from ..records.serialize import to_json
    from ..report.levels import level_lines

    records = measured.results
    if as_json:
        click.echo(json.dumps([to_json(record) for record in judged], indent=1, allow_nan=False))
    else:
        from .terminal import print_results

        print_results(records, absent=measured.manifest["absent"], asked=asked, details=details)
        for line in level_lines(records):
            say(line)
    for record in judged:
        if record.family == "callable" and (command := as_computed_command(record)):
            say(f"{record.target} as what it computes: {command}", err=as_json)
    for record in records:
        if record.time:
            say(_times(record, record.time), err=as_json)
    has_report = (measured.path / "report.md").exists()
    for name in ("index.html", "report.md") if has_report else ():
        say(f"written: {measured.path / name}", err=as_json)
    files = "manifest.json, buckets/, and a CSV of every table" if has_report else "manifest.json, buckets/"
    say(f"written: {measured.path} (the run: {files})", err=as_json)


def _times(record: Record, time: SweepTime) -> str:
    """How long an exhaustive sweep took, beside the calls that it judged."""
    return (
        f"{record.target} {record.function} {record.dtype}: {record.n:,} inputs in {time.sweep_s:.1f} s, "
        f"{time.ratio:.2f} times the {time.target_s / time.threads:.1f} s that the calls alone take on "
        f"{time.threads} threads"
    )
