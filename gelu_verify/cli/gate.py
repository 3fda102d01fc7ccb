"""`gate` and `budget`: hold our kernels to their recorded accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .program import MISSING, OVER_BUDGET, warn

if TYPE_CHECKING:
    from ..gate import Budgets, Verdict
    from ..results import Record

Measured = tuple[list["Record"], Mapping[str, Any]]


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--budgets", "path", type=click.Path(path_type=Path), metavar="FILE", help="Default: data/budgets.toml.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Threads; default all cores.")
def gate(run: str | None, path: Path | None, workers: int | None) -> None:
    """Hold the stored RUN, or our kernels measured now, to the accuracy budgets.

    Ends with 1 when a row is over its budget, with 3 when a row was not measured; says which row, at which input,
    and how to repeat it.
    """
    from ..gate import check, conditions_of, default_path, read_budgets

    stored = _stored(run) if run else None
    budgets = read_budgets(path or default_path())
    records, machine = stored or _measured_now(budgets, workers)
    verdicts = check(records, machine, budgets)
    for verdict in verdicts:
        if verdict.outcome != "ok" or verdict.notes:
            click.echo("\n".join(_lines(verdict)))
    counts = Counter(verdict.outcome for verdict in verdicts)
    same = conditions_of(machine) == budgets.conditions
    where = "" if same else f" (budgets of {_conditions(budgets)}: headroom applies)"
    said = f"{counts['ok']} of {len(verdicts)} within budget, {counts['over']} over, {counts['missing']} not measured"
    click.echo(said + where)
    if counts["over"]:
        raise click.exceptions.Exit(OVER_BUDGET)
    if counts["missing"]:
        raise click.exceptions.Exit(MISSING)


@click.command()
@click.argument("run")
@click.option("--budgets", "file", type=click.Path(path_type=Path), default=Path("data/budgets.toml"), metavar="FILE",
              show_default=True, help="What is read, compared and replaced.")  # fmt: skip
@click.option("--allow-looser", is_flag=True, help="Accept rows that allow more, ask less, or are gone.")
def budget(run: str, file: Path, allow_looser: bool) -> None:
    """Regenerate the accuracy budgets from the stored RUN, and print what changes."""
    from ..gate import compare, make_budgets, read_budgets, write_budgets
    from ..results import read_run

    stored = read_run(run)
    day = str(stored.manifest["created"])[:10]
    fresh = make_budgets(stored.results, stored.manifest["machine"], day)
    changes = compare(read_budgets(file), fresh) if file.exists() else []
    for change in changes:
        click.echo(change.text)
    looser = sum(change.looser for change in changes)
    if looser and not allow_looser:
        warn(f"error: {looser} rows get looser; nothing was written (--allow-looser accepts them)")
        raise click.exceptions.Exit(OVER_BUDGET)
    made = f"gelu-verify run kernels --plan {stored.manifest['plan']} --seed {stored.manifest['seed']}"
    write_budgets(file, fresh, f"{made} && gelu-verify budget reports/latest")
    click.echo(f"written: {file} ({len(fresh.rows)} rows)")


def _stored(run: str) -> Measured:
    from ..results import read_run

    stored = read_run(run)
    return stored.results, stored.manifest["machine"]


def _measured_now(budgets: Budgets, workers: int | None) -> Measured:
    """Every kernel on the plan and seed of its budget, so that the limits are met by the same inputs."""
    from ..gate import FAMILY
    from ..machine import machine
    from ..verify import jobs
    from .measuring import measured

    rows = budgets.rows
    found = [job for job in jobs([FAMILY])[0] if job.key in rows]
    plans = [job.plan(rows[job.key].plan, rows[job.key].seed) for job in found]
    return [result.record for result in measured(found, plans, workers=workers)], machine()


def _conditions(budgets: Budgets) -> str:
    recorded = budgets.conditions
    return f"{recorded.libm}, {recorded.architecture}{', FMA' if recorded.fma else ''}"


def _lines(verdict: Verdict) -> Iterator[str]:
    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[verdict.outcome]
    yield f"{word}  {verdict.key}: {'; '.join((*verdict.reasons, *verdict.notes))}"
    record = verdict.result
    if verdict.outcome == "over" and record is not None:
        for name in ("x", "got", "want"):
            bits = (verdict.witness or {}).get(f"{name}_bits")
            if bits is not None:
                yield f"  {name:6s} {_value(record['dtype'], bits)}"
        yield f"  repeat {record['repeat']}"


def _value(dtype: str, bits: str) -> str:
    from ..formats import get_format
    from ..report.text import value_text

    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"
