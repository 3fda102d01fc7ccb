"""`init` and `gate`: the limits of a project's kernels, and whether they are met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..ci.recipes import RECIPES, write_recipe
from ..errors import UsageError
from .ci_options import Reporter, reports_to_ci
from .options import MIN_GRADES, SEED, WORKERS, Several, check_apart, check_used, naming_options, takes_target
from .program import MISSING, OVER_BUDGET, say

if TYPE_CHECKING:
    from ..gate.project import Project
    from ..gate.verdicts import RowVerdict
    from ..records.parts import Grade

BUDGETS = click.option("--budgets", "file", type=click.Path(path_type=Path), metavar="FILE",
                        help="Default: the file that the project names.")  # fmt: skip
TARGET = click.option("--target", "targets", multiple=True, metavar="TARGET",
                       help="Only the rows of this target, file or family; may be repeated.")  # fmt: skip
ROWS = click.option("--rows", "patterns", multiple=True, metavar="PATTERN",
                     help="Only rows that match, such as '*/gelu/float32'; may be repeated.")  # fmt: skip
_FEW = 3  # results that a note is printed for one by one
NO_PROJECT = "no project is here (`gelu-verify init TARGET` makes one"


@click.command()
@click.argument("named", nargs=-1, metavar="[TARGET]...")
@click.option("--target", "targets", multiple=True, metavar="TARGET",
              help="What to gate, as `gelu-verify run` takes it, also without --target; may be repeated.")  # fmt: skip
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Default: what the name of the target says.")
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Default: every dtype that the target takes.")
@click.option("--ci", "systems", type=click.Choice(tuple(RECIPES)), multiple=True,
              help="Write the file by which this runs the gate, too; may be repeated.")  # fmt: skip
@takes_target()
def init(
    named: tuple[str, ...],
    targets: tuple[str, ...],
    functions: tuple[str, ...],
    dtypes: tuple[str, ...],
    systems: tuple[str, ...],
    **calling: Any,
) -> None:
    """Write a commented configuration of a project whose kernels are gated, or add targets to it.

    It goes to the pyproject.toml of this folder, where there is one, and else to gelu-verify.toml. Where there is a
    configuration, the targets that it does not have are added at its end. Each target is called in each dtype: those
    that it does not return are left out. `gelu-verify budget` measures then and writes the budgets, and `gelu-verify
    gate` checks against them. --ci writes files that run it as they are (docs/ci.md); one that is there is left as it
    is, and what to add to it is printed.
    """
    if not (named or targets or systems):
        raise UsageError("nothing is asked for (accepted: TARGET, --ci SYSTEM)")
    if named or targets:
        _start((*named, *targets), functions, dtypes, calling)
    for system in systems:
        for line in write_recipe(Path.cwd(), RECIPES[system]):
            say(line)


def _start(targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], calling: Mapping[str, Any]) -> None:
    from ..gate.starter import start

    with naming_options():
        started = start(Path.cwd(), targets, functions, dtypes, **calling)
    for line in started.lines:
        say(line)
    if started.has_written:
        say(f"written: {shown(started.file)}")
        say("next: gelu-verify budget, which measures and writes the budgets; commit both files")


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@BUDGETS
@TARGET
@ROWS
@click.option("--own", is_flag=True, help="The kernels that come with gelu-verify, where no project is.")
@click.option("--base", "revision", metavar="REV",
              help="Where conditions or inputs are not those of a budget, measure the code of git revision REV here, "
              "and hold the results against that. Default: of the commit that made the row.")  # fmt: skip
@click.option("--no-base", is_flag=True, help="Measure no earlier code: the budgets have headroom there.")
@click.option("--require", "families", cls=Several, metavar="F,F",
              help="Exit with 3 unless each of these families (such as cuda) was measured here or has an up-to-date "
              "recorded run.")  # fmt: skip
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
    from ..records.asking import in_folder
    from .progress import OnStderr

    project = None if own else project_here(file)
    if not (project or file or own):
        raise UsageError(f"{NO_PROJECT}; --own checks the kernels of gelu-verify)")
    check_apart("--own", "--budgets", "--base", "--no-base")
    check_apart("--no-base", "--base")
    if project and not project.budgets.exists():
        raise UsageError(f"{project.budgets} is not there yet (`gelu-verify budget` makes it)")
    path = file or (project.budgets if project else default_path())
    check_used(not run, "RUN was measured before", "--seed", "--base", "--no-base", "--workers")
    selection = Selection(targets, patterns)
    everything, stored = read_budgets(path), deciding_run(run) if run else None
    budgets = everything.selected(selection)
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
    if not rows and (targets or patterns):
        accepted = ", ".join(dict.fromkeys(key.rsplit("/", 2)[0] for key in everything.keys))
        raise UsageError(f"no row is meant by --target or --rows (accepted: {accepted})")
    if project:
        tell_of_reasons_to_write(project)
    folder = project.folder if project else Path.cwd()
    code, place = _print(rows, seed, folder), path.absolute()
    with chdir(folder):
        cases = cases_of_budgets(rows, place)
    reporter.finish([replace(each, repeat=in_folder(each.repeat, folder, Path.cwd())) for each in cases], code)


def _print(rows: Sequence[RowVerdict], seed: int | None, folder: Path) -> int:
    """What is over, missing or worth a note, and the summary; returns the exit code. Names are relative to `folder`."""
    from ..gate.demands import tried

    for line in _told(rows, folder):
        say(line)
    if seed is not None:
        say(f"seed {seed}")
    counts = Counter(row.verdict for row in rows)
    summary = f"{counts['ok']} of {len(rows)} within budget, {counts['over']} over, {counts['missing']} not measured"
    on = tried(rows)
    say(summary + (f"; {on}" if on else ""))
    return OVER_BUDGET if counts["over"] else MISSING if counts["missing"] or not rows else 0


def tell_of_reasons_to_write(project: Project) -> None:
    """A note of the checks that `budget --accept-existing` accepted, and nobody has given a reason for."""
    from ..gate.reasons import TODO, to_write

    if checks := to_write(project):
        many = "reason" if len(checks) == 1 else "reasons"
        say(f"note  {len(checks)} {many} still {TODO} in {shown(project.file)}: {', '.join(checks)}")


def shown(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def project_here(file: Path | None) -> Project | None:
    """The project of this folder, with those budgets; none where a file of them has nothing that it names."""
    from ..gate.budgets import read_budgets
    from ..gate.project import find_project
    from ..gate.rows import key_of

    found = find_project(Path.cwd())
    if found is None or file is None or file.resolve() == found.budgets.resolve():
        return found
    rows = read_budgets(file).rows if file.exists() else {}
    is_its_own = not rows or any(found.has(row.record(key_of(name, row))) for name, row in rows.items())
    return replace(found, budgets=file.resolve()) if is_its_own else None


def _told(rows: Sequence[RowVerdict], folder: Path) -> Iterator[str]:
    """What is to be said of each row; what many that are met have in common, once."""
    many = Counter(note for row in rows if row.verdict == "ok" for note in row.notes)
    for row in rows:
        notes = tuple(note for note in row.notes if row.verdict != "ok" or many[note] <= _FEW)
        if row.verdict != "ok" or notes:
            yield from _lines(replace(row, notes=notes), folder)
    yield from (f"note  {count} results: {note}" for note, count in many.items() if count > _FEW)


def _lines(row: RowVerdict, folder: Path) -> Iterator[str]:
    from ..records.asking import in_folder, repeat_command
    from ..records.claims import grade_text

    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[row.verdict]
    record = row.record if row.verdict == "over" else None
    name = f"{record.target} {record.function} {record.dtype}" if record else row.key
    first, *others = row.reasons if row.verdict == "over" else ("; ".join((*row.reasons, *row.notes)),)
    yield f"{word}  {name}: {first}"
    if row.verdict != "ok" and row.record is not None:
        for name in ("x", "got", "want"):
            bits = (row.witness or {}).get(f"{name}_bits")
            if bits is not None:
                yield f"  {name:6s} {_value(row.record.dtype, bits)}"
        command = repeat_command(row.record, (row.witness or {}).get("x_bits"))
        yield f"  repeat {in_folder(command, folder, Path.cwd())}"
    if row.verdict == "over":
        yield from (f"  also   {each}" for each in others)
        yield from (f"  note   {each}" for each in row.notes)
        if record and record.grade:
            yield f"  grade  {grade_text(record.grade, record.grade_bound)}"


def _value(dtype: str, bits: str) -> str:
    from ..formats import get_format
    from ..report.text import value_text

    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"
