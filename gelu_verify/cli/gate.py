"""`init`, `budget` and `gate`: the limits of a project's kernels, and whether they are met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import MissingMeasurement, UsageError, printable
from .ci_options import Reporter, reports_to_ci
from .options import MIN_GRADES, SEED, WORKERS, Reason, naming_options, takes_target
from .program import MISSING, OVER_BUDGET, say, warn

if TYPE_CHECKING:
    from ..gate.project import Project
    from ..gate.rows import Budgets, Selection
    from ..gate.verdicts import RowVerdict
    from ..records.result import Grade, Record

    Source = tuple[list[Record], Mapping[str, Any], str, str]  # results, machine, date and the command that made them

OWN_BUDGETS = Path("data/budgets.toml")  # of a folder that is no project

_BUDGETS = click.option("--budgets", "file", type=click.Path(path_type=Path), metavar="FILE",
                        help="Default: the file that the project names.")  # fmt: skip
_TARGET = click.option("--target", "targets", multiple=True, metavar="TARGET",
                       help="Only the rows of this target, file or family; may be repeated.")  # fmt: skip
_ROWS = click.option("--rows", "patterns", multiple=True, metavar="PATTERN",
                     help="Only rows that match, such as '*/gelu/float32'; may be repeated.")  # fmt: skip
_FEW = 3  # results that a note is printed for one by one
_NO_PROJECT = "no project is here (`gelu-verify init --target TARGET` makes one"


@click.command()
@click.option("--target", "targets", multiple=True, required=True, metavar="TARGET",
              help="What to gate, as `gelu-verify run` takes it; may be repeated.")  # fmt: skip
@click.option("--function", "functions", multiple=True, metavar="F", help="Default: what the name of the target says.")
@click.option("--dtype", "dtypes", multiple=True, metavar="D", help="Default: every dtype that the target takes.")
@takes_target()
def init(targets: tuple[str, ...], functions: tuple[str, ...], dtypes: tuple[str, ...], **calling: Any) -> None:
    """Write a commented configuration of a project whose kernels are gated, or add targets to it.

    It goes to the pyproject.toml of this folder, where there is one, and else to gelu-verify.toml. Where there is a
    configuration, the targets that it does not have are added at its end. Each target is called in each dtype: those
    that it does not return are left out. `gelu-verify budget` measures then and writes the budgets, and `gelu-verify
    gate` checks against them.
    """
    from ..gate.starter import start

    with naming_options():
        started = start(Path.cwd(), targets, functions, dtypes, **calling)
    for line in started.lines:
        say(line)
    if started.has_written:
        say(f"written: {_shown(started.file)}")
        say("next: gelu-verify budget, which measures and writes the budgets; commit both files")


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@_BUDGETS
@_TARGET
@_ROWS
@click.option("--own", is_flag=True, help="The kernels that come with gelu-verify, where no project is.")
@click.option("--base", "revision", metavar="REV",
              help="Where conditions or inputs are not those of a budget, measure the code of git revision REV here, "
              "and hold the results against that. Default: of the commit that made the row.")  # fmt: skip
@click.option("--no-base", is_flag=True, help="Measure no earlier code: the budgets have headroom there.")
@click.option("--require", "families", multiple=True, metavar="FAMILY",
              help="Exit with 3 unless FAMILY (such as cuda) was measured here or has an up-to-date recorded run; "
              "may be repeated.")  # fmt: skip
@click.option("--recorded", "root", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder of recorded runs; default data/runs.")  # fmt: skip
@click.option("--unchanged", is_flag=True,
              help="Exit with 1 when any result differs from that of the budget's run, even if none is "
              "worse, and with 3 where that cannot be compared.")  # fmt: skip
@click.option("--min-grade", type=click.Choice(MIN_GRADES), metavar="G",
              help="Exit with 1 when a grade is worse than G, whatever the project says. correctly_rounded and "
              "faithful speak of all inputs: all of float32 are tried, and of a RUN of fewer it is 3.")  # fmt: skip
@click.option("--seed", type=SEED, metavar="N",
              help="Seed of the sampled inputs, instead of that of each budget; today: the date, 20261123, for a "
              "scheduled gate. The inputs are not those of the budgets then: see --base.")  # fmt: skip
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
@reports_to_ci
def gate(
    run: str | None,
    file: Path | None,
    targets: tuple[str, ...],
    patterns: tuple[str, ...],
    own: bool,
    revision: str | None,
    no_base: bool,
    families: tuple[str, ...],
    root: Path | None,
    unchanged: bool,
    min_grade: Grade | None,
    seed: int | None,
    workers: int | None,
    reporter: Reporter,
) -> None:
    """Check a stored RUN, or what the project names, against the budgets.

    A project is a folder with `[tool.gelu-verify]` in its pyproject.toml, or with a gelu-verify.toml (`gelu-verify
    init` writes one).

    Without RUN, everything is measured now. Results that need a GPU that is not here are taken from recorded runs,
    unless the code that was measured has changed since. The exit code is 1 when a result exceeds its budget and 3 when
    one was not measured, or has no budget; each such result is printed with its input and the command that repeats it.
    A budget is exact under its conditions: compiler, libm, libraries, instruction set. Under others, and on other
    inputs, the code that it is of is measured here too, from git, and limits what is there now. A budget holds for the
    inputs that it was made with; the last line says which. Where other runs may miss an input that fails, the command
    is printed by which every plan takes it.
    """
    from ..ci.cases import cases_of_budgets
    from ..gate.base import NO_BASES, measure_bases
    from ..gate.budgets import default_path, read_budgets
    from ..gate.demands import with_demands
    from ..gate.measurements import deciding_run, measure_budgeted, stored_measurements, with_committed
    from ..gate.rows import Selection
    from ..gate.verdicts import judged
    from .progress import OnStderr

    project = None if own else _project(file)
    if not (project or file or own):
        raise UsageError(f"{_NO_PROJECT}; --own checks the kernels of gelu-verify)")
    if own and file:
        raise UsageError("--own has its own budgets, so --budgets FILE is not used with it")
    if project and not project.budgets.exists():
        raise UsageError(f"{project.budgets} is not there yet (`gelu-verify budget` makes it)")
    path = file or (project.budgets if project else default_path())
    for given, what in ((seed is not None, "--seed"), (revision is not None, "--base")):
        if run and given:
            raise UsageError(f"{what} is of what is measured now, and RUN was measured before")
    selection = Selection(targets, patterns)
    budgets, stored = _selected(read_budgets(path), selection, project), deciding_run(run) if run else None
    bases, on_stderr = NO_BASES, OnStderr()
    with chdir(project.folder if project else "."):
        if stored:
            found = stored_measurements(stored, budgets, project, selection)
        else:
            found = measure_budgeted(
                budgets, families, workers, on_stderr, project, demand=min_grade, seed=seed, selection=selection
            )
            if project and not no_base:
                bases = measure_bases(found, budgets, project, revision, on_stderr.warn)
    found = with_committed(found, {key.partition(".")[0] for key in budgets.keys}.union(families), root)
    rows = with_demands(
        judged(found, budgets, families, project, unchanged=unchanged, bases=bases),
        lambda record: min_grade or (project.demand(record) if project else None),
    )
    code, place = _print(rows, seed), path.absolute()
    with chdir(project.folder if project else "."):
        cases = cases_of_budgets(rows, place)
    reporter.finish(cases, code)


def _selected(budgets: Budgets, selection: Selection, project: Project | None) -> Budgets:
    """The rows that are meant; UsageError where none can be."""
    found = budgets.selected(selection)
    names = [str(name) for entry in (project.entries if project else ()) for name in entry.request.targets]
    if (selection.targets or selection.patterns) and not found.rows and not any(map(selection.may_have, names)):
        accepted = ", ".join(dict.fromkeys(key.rsplit("/", 2)[0] for key in budgets.keys))
        raise UsageError(f"no row is meant by --target or --rows (accepted: {accepted})")
    return found


def _print(rows: Sequence[RowVerdict], seed: int | None) -> int:
    """What is over, missing or worth a note, and the summary; returns the exit code."""
    from ..gate.demands import tried

    for line in _told(rows):
        say(line)
    if seed is not None:
        say(f"seed {seed}")
    counts = Counter(row.verdict for row in rows)
    summary = f"{counts['ok']} of {len(rows)} within budget, {counts['over']} over, {counts['missing']} not measured"
    on = tried(rows)
    say(summary + (f"; {on}" if on else ""))
    return OVER_BUDGET if counts["over"] else MISSING if counts["missing"] or not rows else 0


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@_BUDGETS
@_TARGET
@_ROWS
@click.option("--resolve", is_flag=True,
              help="Settle a conflict of git in the file, row by row: the row that one branch changed, the stricter of "
              "two, and what is neither is measured.")  # fmt: skip
@click.option("--accept", "accepted", type=Reason(), multiple=True, metavar="CHECK=REASON",
              help="Accept that a check fails, and say why; may be repeated.")  # fmt: skip
@click.option("--allow-looser", is_flag=True, help="Accept budgets that get looser, cover less, or disappear.")
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
def budget(
    runs: tuple[str, ...],
    file: Path | None,
    targets: tuple[str, ...],
    patterns: tuple[str, ...],
    resolve: bool,
    accepted: tuple[tuple[str, str], ...],
    allow_looser: bool,
    workers: int | None,
) -> None:
    """Regenerate the accuracy budgets from what is measured now, or from stored runs.

    Without RUN, the targets of the project are measured (see `gelu-verify init`). Of several, the first RUN is that of
    the CPU kernels; others may be recorded runs, such as data/runs/cuda-DATE. Every change is printed. A check that
    fails needs a reason, in the project or by --accept. Rows of other releases of a library, and of other
    instruction-set levels, are kept.
    """
    from ..gate.budgets import make_budgets, merged, write_budgets
    from ..gate.changes import changes
    from ..gate.rows import Selection

    project = _project(file if runs else None)
    if not runs and project is None:
        raise UsageError(f"no RUN is given, and {_NO_PROJECT})")
    file = file or (project.budgets if project else OWN_BUDGETS)
    if resolve:
        _resolve(file, project, workers)
        return
    selection = Selection(targets, patterns)
    old = _old_budgets(file, allow_looser) if file.exists() else None
    records, machine, date, command = (
        _measured_now(project, workers, old, selection) if project and not runs else _from_runs(runs, project)
    )
    records = [record for record in records if selection.has(record.key)]
    reasons = dict(accepted)

    def reason_of(record: Record, check: str) -> str:
        said = reasons.get(check) or (project.reason(record, check) if project else "")
        finding = record.findings.get(check)
        return said or (f"convention: {finding.detail}" if finding and finding.severity == "convention" else "")

    fresh = make_budgets(records, machine, date, reason_of)
    _check_reasons(fresh, records, project)
    fresh = merged(old, fresh, selection) if old else fresh
    found = changes(old, fresh) if old else []
    for change in found:
        say(change.text)
    looser = sum(change.looser for change in found)
    if looser and not allow_looser:
        warn(f"error: {looser} budgets get looser; nothing was written (--allow-looser accepts them)")
        raise click.exceptions.Exit(OVER_BUDGET)
    write_budgets(file, fresh, _one_line(command))
    say(f"written: {_shown(file)} ({len(fresh.rows)} rows)")


def _shown(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def _resolve(file: Path, project: Project | None, workers: int | None) -> None:
    """Settle a conflict of git; what neither branch can say is measured."""
    from ..compare.revisions import Repository
    from ..gate.budgets import make_budgets, write_budgets
    from ..gate.conflicts import settled
    from ..gate.rows import Budgets, Selection

    found = settled(*Repository.around(file.absolute().parent).stages(file), _shown(file))
    for line in found.lines:
        say(line)
    rows = dict(found.budgets.rows)
    if found.undecided:
        if project is None:
            raise UsageError(f"{found.undecided[0]} is to be measured, and {_NO_PROJECT})")
        records, machine, date, _ = _measured_now(project, workers, found.budgets, Selection.of_keys(found.undecided))
        made = make_budgets(records, machine, date, project.reason)
        if missing := set(found.undecided).difference(made.keys):
            raise MissingMeasurement(f"{min(missing)} was changed on both branches, and could not be measured")
        _check_reasons(made, records, project)
        rows |= made.rows
    write_budgets(file, Budgets(rows), found.command)
    say(f"written: {_shown(file)} ({len(rows)} rows); `git add` it")


def _project(file: Path | None) -> Project | None:
    """The project of this folder, unless its budgets are not those that are asked for."""
    from ..gate.project import find_project

    found = find_project(Path.cwd())
    return found if found and (file is None or file.resolve() == found.budgets.resolve()) else None


def _old_budgets(file: Path, may_replace: bool) -> Budgets | None:
    """What the file has; None where it cannot be read, and may be replaced nevertheless."""
    from ..gate.budgets import read_budgets

    try:
        return read_budgets(file)
    except UsageError as error:
        if not may_replace:
            raise UsageError(f"{error}; --allow-looser replaces it") from None
        warn(f"replaced: {error}")
        return None


def _measured_now(project: Project, workers: int | None, before: Budgets | None, selection: Selection) -> Source:
    """What the project names, on its plans, in as many buckets as the rows have that there are already."""
    from datetime import UTC, datetime

    from ..gate.measurements import measure_budgeted
    from ..gate.rows import Budgets
    from .progress import OnStderr

    with chdir(project.folder):
        found = measure_budgeted(Budgets({}), (), workers, OnStderr(), project, before, selection=selection)
    for name, why in found.absent.items():
        warn(f"not measured: {name}: {why}")
    return found.records, found.machine, f"{datetime.now(UTC):%Y-%m-%d}", "gelu-verify budget"


def _from_runs(runs: tuple[str, ...], project: Project | None) -> Source:
    """What stored runs have of the project; where there is none, all that did not fail."""
    from ..gate.measurements import deciding_run, own_results

    stored = [deciding_run(run) for run in runs]
    first = stored[0].manifest
    further = "".join(f" {run}" for run in runs[1:])
    command = f"{first['command']} && gelu-verify budget reports/latest{further}"
    records = [record for run in stored for record in own_results(run)]
    if project:
        records = [record for record in records if project.has(record)]
    else:
        for record in (record for record in records if record.failure is not None):
            warn(f"no budget for {record.key}: {record.failure}")
        records = [record for record in records if record.failure is None]
    return records, first["machine"], str(first["created"])[:10], command


def _one_line(command: str) -> str:
    """A command as the first line of the file can hold it."""
    return printable(command).replace("`", "'")


def _check_reasons(fresh: Budgets, records: Sequence[Record], project: Project | None) -> None:
    """Every check that fails needs a reason where a project can have it; elsewhere that is a warning."""
    rows = {name.removesuffix(row.scope): row for name, row in fresh.rows.items()}
    unexplained = [
        (check, record)
        for record in records
        for check, reason in rows[record.key].fails.items()
        if check in record.failed_checks and not reason
    ]
    checks = dict.fromkeys(check for check, _ in unexplained)
    if not checks:
        return
    if project is None:
        warn(f"no reason is recorded why these fail: {', '.join(checks)} (--accept CHECK=REASON)")
        return
    for check, record in unexplained:
        say(f"{record.key}: check {check} fails: {record.findings[check].detail}")
    say(f"Mend them, or accept them under [{project.table}accept] of {project.file.name}, each with your reason:")
    for check in checks:
        say(f'{check} = "..."')
    warn("error: checks fail without a reason; nothing was written")
    raise click.exceptions.Exit(OVER_BUDGET)


def _told(rows: Sequence[RowVerdict]) -> Iterator[str]:
    """What is to be said of each row; what many that are met have in common, once."""
    many = Counter(note for row in rows if row.verdict == "ok" for note in row.notes)
    for row in rows:
        notes = tuple(note for note in row.notes if row.verdict != "ok" or many[note] <= _FEW)
        if row.verdict != "ok" or notes:
            yield from _lines(replace(row, notes=notes))
    yield from (f"note  {count} results: {note}" for note, count in many.items() if count > _FEW)


def _lines(row: RowVerdict) -> Iterator[str]:
    from ..records.asking import ask_command
    from ..records.claims import grade_text

    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[row.verdict]
    record = row.record if row.verdict == "over" else None
    graded = f" [{grade_text(record.grade, record.grade_bound)}]" if record and record.grade else ""
    first, *others = row.reasons if row.verdict == "over" else ("; ".join((*row.reasons, *row.notes)),)
    yield f"{word}  {row.key}{graded}: {first}"
    yield from (f"  also   {each}" for each in others)
    yield from (f"  note   {each}" for each in (row.notes if row.verdict == "over" else ()))
    if row.verdict != "ok" and row.record is not None:
        for name in ("x", "got", "want"):
            bits = (row.witness or {}).get(f"{name}_bits")
            if bits is not None:
                yield f"  {name:6s} {_value(row.record.dtype, bits)}"
        x_bits = (row.witness or {}).get("x_bits")
        yield f"  repeat {ask_command(row.record, x_bits) if x_bits else row.record.repeat}"


def _value(dtype: str, bits: str) -> str:
    from ..formats import get_format
    from ..report.text import value_text

    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"
