"""`gate` and `budget`: compare the accuracy of our kernels with their budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .ci_options import Reporter, reports_to_ci
from .options import WORKERS
from .program import MISSING, OVER_BUDGET, say, warn

if TYPE_CHECKING:
    from ..gate.budgets import Budgets
    from ..gate.compliance import Compliance


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--budgets", "path", type=click.Path(path_type=Path), metavar="FILE", help="Default: data/budgets.toml.")
@click.option("--require", "families", multiple=True, metavar="FAMILY",
              help="Exit with 3 unless FAMILY (such as cuda) was measured here or has an up-to-date recorded run; "
              "may be repeated.")  # fmt: skip
@click.option("--recorded", "root", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder of recorded runs; default data/runs.")  # fmt: skip
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
@reports_to_ci
def gate(
    run: str | None,
    path: Path | None,
    families: tuple[str, ...],
    root: Path | None,
    workers: int | None,
    reporter: Reporter,
) -> None:
    """Check a stored RUN, or our kernels, against the budgets.

    Without RUN, our kernels are measured now. Results that need a GPU that is not here are taken from recorded runs,
    unless the code that was measured has changed since. The exit code is 1 when a result exceeds its budget and 3 when
    one was not measured; each such result is printed with its input and the command that repeats it.
    """
    from ..ci.verdicts import verdicts_of_budgets
    from ..gate.budgets import conditions_of, default_path, read_budgets
    from ..gate.compliance import compliance, required
    from ..gate.measurements import measure_budgeted, stored_measurements, with_committed
    from .progress import OnStderr

    stored = stored_measurements(run) if run else None
    path = path or default_path()
    budgets = read_budgets(path)
    measured = stored or measure_budgeted(budgets, families, workers, OnStderr())
    measured = with_committed(measured, {key.partition(".")[0] for key in budgets.rows}.union(families), root)
    demanded = required(families, measured.records, measured.absent)
    rows = compliance(measured.records, measured.machine, budgets)
    rows += [each for each in demanded if each.key not in budgets.rows]
    for row in rows:
        if row.outcome != "ok" or row.notes:
            for line in _lines(row):
                say(line)
    counts = Counter(row.outcome for row in rows)
    same = conditions_of(measured.machine) == budgets.conditions
    where = "" if same else f" (the budgets were made with {_conditions(budgets)}: headroom applies)"
    summary = f"{counts['ok']} of {len(rows)} within budget, {counts['over']} over, {counts['missing']} not measured"
    say(summary + where)
    code = OVER_BUDGET if counts["over"] else MISSING if counts["missing"] else 0
    reporter.finish(verdicts_of_budgets(rows, path), code)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--budgets", "file", type=click.Path(path_type=Path), default=Path("data/budgets.toml"), metavar="FILE",
              show_default=True, help="The file to compare with and to replace.")  # fmt: skip
@click.option("--allow-looser", is_flag=True, help="Accept budgets that get looser, cover less, or disappear.")
def budget(runs: tuple[str, ...], file: Path, allow_looser: bool) -> None:
    """Regenerate the accuracy budgets from stored runs.

    The first RUN is that of the CPU kernels; others may be recorded runs, such as data/runs/cuda-DATE. Every change is
    printed.
    """
    from ..gate.budgets import make_budgets, read_budgets, write_budgets
    from ..gate.changes import changes
    from ..gate.measurements import dated_results, deciding_run

    stored = [deciding_run(run) for run in runs]
    first = stored[0].manifest
    results = [record for run in stored for record in dated_results(run)]
    fresh = make_budgets(results, first["machine"], str(first["created"])[:10])
    found = changes(read_budgets(file), fresh) if file.exists() else []
    for change in found:
        say(change.text)
    looser = sum(change.looser for change in found)
    if looser and not allow_looser:
        warn(f"error: {looser} budgets get looser; nothing was written (--allow-looser accepts them)")
        raise click.exceptions.Exit(OVER_BUDGET)
    made = f"gelu-verify run kernels --plan {first['plan']} --seed {first['seed']}"
    further = "".join(f" {run}" for run in runs[1:])
    write_budgets(file, fresh, f"{made} && gelu-verify budget reports/latest{further}")
    say(f"written: {file} ({len(fresh.rows)} rows)")


def _conditions(budgets: Budgets) -> str:
    recorded = budgets.conditions
    return f"{recorded.libm}, {recorded.architecture}{', FMA' if recorded.fma else ''}"


def _lines(row: Compliance) -> Iterator[str]:
    from ..records.grades import GRADES

    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[row.outcome]
    graded = f" [{GRADES[row.record.grade].title}]" if row.outcome == "over" and row.record and row.record.grade else ""
    yield f"{word}  {row.key}{graded}: {'; '.join((*row.reasons, *row.notes))}"
    if row.outcome != "ok" and row.record is not None:
        for name in ("x", "got", "want"):
            bits = (row.witness or {}).get(f"{name}_bits")
            if bits is not None:
                yield f"  {name:6s} {_value(row.record.dtype, bits)}"
        yield f"  repeat {row.record.repeat}"


def _value(dtype: str, bits: str) -> str:
    from ..formats import get_format
    from ..report.text import value_text

    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"
