"""`budget`: the limits of a project's kernels, made from what is measured now, or from stored runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..atomic_files import editing, replace_text
from ..errors import MissingMeasurement, UsageError, cannot, printable
from .gate import BUDGETS, NO_PROJECT, ROWS, TARGET, project_here, shown, tell_of_reasons_to_write
from .options import REASON, WORKERS, check_apart, check_used
from .program import OVER_BUDGET, say, warn

if TYPE_CHECKING:
    from ..gate.project import Project
    from ..gate.rows import Budgets, Selection
    from ..records.result import Record

OWN_BUDGETS = Path("data/budgets.toml")  # of a folder that is no project


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@BUDGETS
@TARGET
@ROWS
@click.option("--resolve", is_flag=True,
              help="Settle a conflict of git in the file, row by row: the row that one branch changed, the stricter of "
              "two, and what is neither is measured.")  # fmt: skip
@click.option("--accept", "accepted", type=REASON, multiple=True, metavar="CHECK=REASON",
              help="Accept that a check fails, and say why; may be repeated.")  # fmt: skip
@click.option("--accept-existing", is_flag=True,
              help="Accept all checks that fail, with dated reasons to be written in the project's file.")  # fmt: skip
@click.option("--allow-looser", is_flag=True, help="Accept budgets that get looser, cover less, or disappear.")
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
def budget(
    runs: tuple[str, ...],
    file: Path | None,
    targets: tuple[str, ...],
    patterns: tuple[str, ...],
    resolve: bool,
    accepted: tuple[tuple[str, str], ...],
    accept_existing: bool,
    allow_looser: bool,
    workers: int | None,
) -> None:
    """Regenerate the accuracy budgets from what is measured now, or from stored runs.

    Without RUN, the targets of the project are measured (see `gelu-verify init`). Of several, the first RUN is that of
    the CPU kernels; others may be recorded runs, such as data/runs/cuda-DATE. Every change is printed. A check that
    fails needs a reason, in the project or by --accept; --accept-existing writes what nobody has looked into yet into
    the project's file, to be replaced by reasons. Where budgets are refused, what was measured is kept as a run, and
    the command is printed that uses it. Rows of other releases of a library, and of other instruction-set levels, are
    kept.
    """
    from ..gate.budgets import make_budgets, merged, write_budgets
    from ..gate.changes import changes
    from ..gate.reasons import with_reasons_to_write
    from ..gate.rows import ALL_ROWS, Selection

    check_apart("--resolve", "RUN", "--target", "--rows", "--accept", "--accept-existing")
    check_used(not runs, "RUN was measured before", "--workers")
    project = project_here(file if runs else None)
    if not runs and project is None:
        raise UsageError(f"no RUN is given, and {NO_PROJECT})")
    if accept_existing and project is None:
        raise UsageError(f"--accept-existing writes reasons into the file of a project, and {NO_PROJECT})")
    given, file = file, file or (project.budgets if project else OWN_BUDGETS)
    if resolve:
        _resolve(file, project, workers, allow_looser)
        return
    selection, reasons = Selection(targets, patterns), dict(accepted)
    content = file.read_bytes() if file.is_file() else b""
    old = _old_budgets(file, allow_looser, bool(targets or patterns)) if file.exists() else None
    with ExitStack() as measuring:
        source = (
            _measured_now(project, workers, old, selection, measuring)
            if project and not runs
            else _from_runs(runs, project)
        )
        records = [record for record in source.records if selection.has(record.key)]
        again = [*(f"--target={each}" for each in targets), *(f"--rows={each}" for each in patterns),
                 *(f"--accept={check}={reason}" for check, reason in accepted),
                 *([f"--budgets={given}"] if given else []), *["--accept-existing"] * accept_existing]  # fmt: skip

        def reason_of(record: Record, check: str) -> str:
            said = reasons.get(check) or (project.reason(record, check) if project else "")
            finding = record.findings.get(check)
            return said or (f"convention: {finding.detail}" if finding and finding.severity == "convention" else "")

        fresh = make_budgets(records, source.machine, source.date, reason_of)
        measuring.enter_context(editing(file))
        if file.is_file() and file.read_bytes() != content:  # others measured meanwhile
            old = _old_budgets(file, allow_looser, bool(targets or patterns))
        text = ""
        if project and accept_existing and (unexplained := _without_reason(fresh, records)):
            checks = dict.fromkeys(check for check, _ in unexplained)
            project, text = with_reasons_to_write(project, checks, f"{datetime.now(UTC):%Y-%m-%d}")
            fresh = make_budgets(records, source.machine, source.date, reason_of)
        if not _have_reasons(fresh, records, project):
            again += ["--allow-looser"] * allow_looser
            source.refuse("checks fail without a reason", "--accept-existing", "accepts all for now", again)
        fresh = merged(old, fresh, selection) if old else fresh
        found = changes(old, fresh) if old else []
        for change in found:
            say(change.text)
        looser = sum(change.looser for change in found)
        if looser and not allow_looser:
            source.refuse(f"{looser} budgets get looser", "--allow-looser", "accepts them", again)
        if project and text:
            _replace(project.file, text)
        is_whole = not old or selection == ALL_ROWS  # else the other rows are not of that command
        write_budgets(file, fresh, _one_line(source.command) if is_whole else "gelu-verify budget")
        say(f"written: {shown(file)} ({len(fresh.rows)} rows)")
    if project:
        tell_of_reasons_to_write(project)


@dataclass(frozen=True)
class _Source:
    """Results, and what a file of budgets says of them; `keep` stores what is not yet, and names the runs."""

    records: Sequence[Record]
    machine: Mapping[str, Any]
    date: str
    command: str
    keep: Callable[[], Sequence[str]]

    def refuse(self, why: str, option: str, does: str, words: Sequence[str]) -> NoReturn:
        """End with 1, and the command that makes budgets of the same results, with the option that permits it."""
        again = shlex.join(["gelu-verify", "budget", *self.keep(), *words, option])
        warn(f"error: {why}; nothing was written ({option} {does})")
        warn(f"what was measured is kept; this makes budgets of it: {again}")
        raise click.exceptions.Exit(OVER_BUDGET)


def _replace(file: Path, text: str) -> None:
    with cannot(f"write {file}"):
        replace_text(file, text)
    say(f"written: {shown(file)} (reasons that are to be written)")


def _resolve(file: Path, project: Project | None, workers: int | None, allow_looser: bool) -> None:
    """Settle a conflict of git; what neither branch can say is measured."""
    from ..compare.revisions import Repository
    from ..gate.budgets import make_budgets, write_budgets
    from ..gate.changes import looser_than_each
    from ..gate.conflicts import settled
    from ..gate.rows import Budgets, Selection

    found = settled(*Repository.around(file.absolute().parent).stages(file), shown(file))
    for line in found.lines:
        say(line)
    rows = dict(found.budgets.rows)
    if found.undecided:
        if project is None:
            raise UsageError(f"{next(iter(found.undecided))} is to be measured, and {NO_PROJECT})")
        with ExitStack() as measuring:
            keys = Selection.of_keys(found.undecided)
            source = _measured_now(project, workers, found.budgets, keys, measuring)
            made = make_budgets(source.records, source.machine, source.date, project.reason)
            if not _have_reasons(made, source.records, project):
                warn("error: checks fail without a reason; nothing was written")
                raise click.exceptions.Exit(OVER_BUDGET)
        if missing := set(found.undecided).difference(made.keys):
            raise MissingMeasurement(f"{min(missing)} was changed on both branches, and could not be measured")
        looser = [
            f"{key}: looser than on both branches: {text}"
            for key, both in found.undecided.items()
            for row in made.of(key)
            for text in looser_than_each(key, both, row)
        ]
        for line in looser:
            say(line)
        if looser and not allow_looser:
            warn("error: budgets get looser than on both branches; nothing was written (--allow-looser accepts them)")
            raise click.exceptions.Exit(OVER_BUDGET)
        rows |= made.rows
    write_budgets(file, Budgets(rows), found.command)
    say(f"written: {shown(file)} ({len(rows)} rows); `git add` it")


def _old_budgets(file: Path, may_replace: bool, keeps_others: bool) -> Budgets | None:
    """What the file has; None where it cannot be read, and may be replaced nevertheless, as a whole."""
    from ..gate.budgets import read_budgets

    try:
        return read_budgets(file)
    except UsageError as error:
        if not may_replace or keeps_others:
            of_all = ", without --target and --rows," if keeps_others else ""
            raise UsageError(f"{error}; --allow-looser{of_all} replaces the file") from None
        warn(f"replaced: {error}")
        return None


def _measured_now(
    project: Project, workers: int | None, before: Budgets | None, selection: Selection, measuring: ExitStack
) -> _Source:
    """What the project names, on its plans, in as many buckets as the rows have that there are already.

    It can be kept, as a run in the folder of the project, until `measuring` is closed.
    """
    from ..gate.measurements import measure_budgeted
    from ..gate.rows import Budgets
    from ..machine import provenance
    from ..runs.store import ROOT, RunWriter
    from .progress import OnStderr

    root, command, request = project.folder / ROOT, "gelu-verify budget", project.entries[0].request
    writer = measuring.enter_context(RunWriter(root=root))
    with chdir(project.folder):
        found = measure_budgeted(
            Budgets({}), (), workers, OnStderr(), project, before, selection=selection, making=True, keep=writer.add
        )
    for name, why in found.absent.items():
        warn(f"not measured: {name}: {why}")

    def keep() -> Sequence[str]:
        facts = provenance((record.family for record in found.records), timed=False)
        run = writer.finish(command=command, seed=request.seed, plan=request.plan, absent=found.absent, facts=facts)
        return [str(shown(run.path))]

    return _Source(found.records, found.machine, f"{datetime.now(UTC):%Y-%m-%d}", command, keep)


def _from_runs(runs: tuple[str, ...], project: Project | None) -> _Source:
    """What stored runs have of the project; where there is none, all that did not fail."""
    from ..gate.measurements import deciding_run, fresh, own_results

    stored = [deciding_run(run) for run in runs]
    first = stored[0].manifest
    further = "".join(f" {run}" for run in runs[1:])
    made = first["command"]
    command = made if made == "gelu-verify budget" else f"{made} && gelu-verify budget reports/latest{further}"
    records = [record for run in stored for record in own_results(run)]
    if project:
        with chdir(project.folder):
            records = [fresh(record, project) for record in records if project.has(record)]
        for stale in (record.origin.stale for record in records if record.family == "callable" and record.origin.stale):
            raise MissingMeasurement(f"{stale}: `gelu-verify budget` measures it again")
    else:
        for record in (record for record in records if record.failure is not None):
            warn(f"no budget for {record.key}: {record.failure}")
        records = [record for record in records if record.failure is None]
    return _Source(records, first["machine"], str(first["created"])[:10], command, lambda: runs)


def _one_line(command: str) -> str:
    """A command as the first line of the file can hold it."""
    return printable(command).replace("`", "'")


def _without_reason(fresh: Budgets, records: Sequence[Record]) -> list[tuple[str, Record]]:
    """Checks that fail and nobody says why, each with its result."""
    rows = {name.removesuffix(row.scope): row for name, row in fresh.rows.items()}
    return [
        (check, record)
        for record in records
        if record.key in rows
        for check, reason in rows[record.key].fails.items()
        if check in record.failed_checks and not reason
    ]


def _have_reasons(fresh: Budgets, records: Sequence[Record], project: Project | None) -> bool:
    """Whether every check that fails has a reason, where a project can have it; elsewhere that is a warning."""
    unexplained = _without_reason(fresh, records)
    checks = dict.fromkeys(check for check, _ in unexplained)
    if checks and project is None:
        warn(f"no reason is recorded why these fail: {', '.join(checks)} (--accept CHECK=REASON)")
    if not checks or project is None:
        return True
    for check, record in unexplained:
        say(f"{record.key}: check {check} fails: {record.findings[check].detail}")
    say(f"Mend them, or accept them under [{project.table}accept] of {project.file.name}, each with your reason:")
    for check in checks:
        say(f'{check} = "..."')
    return False
