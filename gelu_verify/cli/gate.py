"""`gate` and `budget`: hold our kernels to their recorded accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import WORKERS
from .program import MISSING, OVER_BUDGET, say, warn

if TYPE_CHECKING:
    from ..gate.budgets import Budgets
    from ..gate.compliance import Compliance
    from ..measure.verification import Job, Selector
    from ..records.result import Record
    from ..runs.store import Run


@dataclass
class Measured:
    """Results, the machine that those of the CPU come from, and why families are not among them."""

    records: list[Record]
    machine: Mapping[str, Any]
    absent: dict[str, str] = field(default_factory=dict)


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--budgets", "path", type=click.Path(path_type=Path), metavar="FILE", help="Default: data/budgets.toml.")
@click.option("--require", "families", multiple=True, metavar="FAMILY",
              help="End with 3 unless FAMILY (cuda) is measured, or freshly recorded; may repeat.")  # fmt: skip
@click.option("--recorded", "root", type=click.Path(path_type=Path), metavar="DIR",
              help="Where runs are recorded; default data/runs.")  # fmt: skip
@click.option("--workers", type=WORKERS, metavar="N", help="Threads; default all cores.")
def gate(run: str | None, path: Path | None, families: tuple[str, ...], root: Path | None, workers: int | None) -> None:
    """Hold the stored RUN, or our kernels measured now, to the accuracy budgets.

    What cannot be measured here, because there is no GPU, is taken from recorded runs, unless the code that they
    measured has changed. Ends with 1 when a row is over its budget, with 3 when a row was not measured; says which row,
    at which input, and how to repeat it.
    """
    from ..gate.budgets import conditions_of, default_path, read_budgets
    from ..gate.compliance import compliance, required

    stored = _stored(run) if run else None
    budgets = read_budgets(path or default_path())
    measured = stored or _measured_now(budgets, families, workers)
    _add_committed(measured, {key.partition(".")[0] for key in budgets.rows}.union(families), root)
    demanded = required(families, measured.records, measured.absent)
    rows = compliance(measured.records, measured.machine, budgets)
    rows += [each for each in demanded if each.key not in budgets.rows]
    for row in rows:
        if row.outcome != "ok" or row.notes:
            for line in _lines(row):
                say(line)
    counts = Counter(row.outcome for row in rows)
    same = conditions_of(measured.machine) == budgets.conditions
    where = "" if same else f" (budgets of {_conditions(budgets)}: headroom applies)"
    summary = f"{counts['ok']} of {len(rows)} within budget, {counts['over']} over, {counts['missing']} not measured"
    say(summary + where)
    if counts["over"]:
        raise click.exceptions.Exit(OVER_BUDGET)
    if counts["missing"]:
        raise click.exceptions.Exit(MISSING)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--budgets", "file", type=click.Path(path_type=Path), default=Path("data/budgets.toml"), metavar="FILE",
              show_default=True, help="What is read, compared and replaced.")  # fmt: skip
@click.option("--allow-looser", is_flag=True, help="Accept rows that allow more, ask less, or are gone.")
def budget(runs: tuple[str, ...], file: Path, allow_looser: bool) -> None:
    """Regenerate the accuracy budgets from stored RUNs, and print what changes.

    The first is that of the CPU kernels; further ones may be recorded runs, data/runs/cuda-DATE.
    """
    from ..gate.budgets import make_budgets, read_budgets, write_budgets
    from ..gate.changes import changes

    stored = [_believed(run) for run in runs]
    first = stored[0].manifest
    records = [record for run in stored for record in _with_origin(run)]
    fresh = make_budgets(records, first["machine"], str(first["created"])[:10])
    found = changes(read_budgets(file), fresh) if file.exists() else []
    for change in found:
        say(change.text)
    looser = sum(change.looser for change in found)
    if looser and not allow_looser:
        warn(f"error: {looser} rows get looser; nothing was written (--allow-looser accepts them)")
        raise click.exceptions.Exit(OVER_BUDGET)
    made = f"gelu-verify run kernels --plan {first['plan']} --seed {first['seed']}"
    further = "".join(f" {run}" for run in runs[1:])
    write_budgets(file, fresh, f"{made} && gelu-verify budget reports/latest{further}")
    say(f"written: {file} ({len(fresh.rows)} rows)")


def _with_origin(run: Run) -> list[Record]:
    """The results of a run with its day and its device."""
    from ..gpu.info import label
    from ..records.result import Origin

    origin = Origin(run.manifest["created"][:10], label(run.manifest.get("device")))
    return [replace(record, origin=origin) for record in run.results]


def _believed(place: str) -> Run:
    """A stored run that may decide: sealed, following from its buckets, each result once, and no check left out.

    Raises
    ------
    ResultsError : why it may not, in one line
    """
    from ..checks import CHECKS
    from ..errors import ResultsError
    from ..runs.integrity import verified
    from ..runs.store import read_run

    run = read_run(place)
    if run.manifest["schema"] == 1:
        raise ResultsError(f"{run.path} cannot decide: schema 1 has no content hash (measure again)")
    keys: set[str] = set()
    for record in run.results:
        missing = sorted(CHECKS.keys() - record.checks.keys()) if record.failure is None else []
        if missing:
            raise ResultsError(
                f"{run.path} cannot decide: {record.key} was not checked for {', '.join(missing)} (measure again)"
            )
        if record.key in keys:
            raise ResultsError(f"{run.path} cannot decide: {record.key} is there twice")
        keys.add(record.key)
    return verified(run)


def _stored(run: str) -> Measured:
    stored = _believed(run)
    return Measured(_with_origin(stored), stored.manifest["machine"])


def _measured_now(budgets: Budgets, families: Collection[str], workers: int | None) -> Measured:
    """Everything that has a budget, or is required, and that is here: on the plan and seed of its budget, so that the
    limits are met by the same inputs."""
    from ..gate.budgets import FAMILIES
    from ..gpu.info import device, label
    from ..machine import machine
    from ..measure.verification import SEED
    from ..records.result import Origin
    from ..records.schema import check_measured
    from .children import selector
    from .measuring import measured

    rows = budgets.rows
    asked = [
        each for each in (*FAMILIES, *families) if each in families or any(key.startswith(f"{each}.") for key in rows)
    ]
    with selector() as select:
        found, absent = _here(dict.fromkeys(asked), select)
        found = [job for job in found if job.key in rows or job.target.family in families]
        plans = [job.plan(*((rows[job.key].plan, rows[job.key].seed) if job.key in rows else ("default", SEED)))
                 for job in found]  # fmt: skip
        origin = Origin(device=label(device()))
        results = list(measured(found, plans, workers=workers))
    for result in results:
        check_measured(result.record, result.table is not None)
    records = [replace(result.record, origin=origin) for result in results]
    return Measured(records, machine(), absent)


def _here(asked: Collection[str], select: Selector) -> tuple[list[Job], dict[str, str]]:
    """The jobs of those families that can be measured, and why others cannot."""
    from ..errors import MissingMeasurement
    from ..measure.verification import jobs
    from ..targets import families

    found: list[Job] = []
    absent: dict[str, str] = {}
    for family in asked:
        if family not in families():
            absent[family] = "there is no such family here"
            continue
        try:
            found += jobs([family], select=select)[0]
        except MissingMeasurement as reason:
            absent[family] = str(reason)
    return found, absent


def _add_committed(measured: Measured, families: Collection[str], root: Path | None) -> None:
    """What is committed of those families of which nothing was measured."""
    from ..gate.budgets import FAMILY
    from ..runs.committed import committed_results

    here = {record.family for record in measured.records}
    measured.records += committed_results(set(families) - here - {FAMILY}, root)


def _conditions(budgets: Budgets) -> str:
    recorded = budgets.conditions
    return f"{recorded.libm}, {recorded.architecture}{', FMA' if recorded.fma else ''}"


def _lines(row: Compliance) -> Iterator[str]:
    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[row.outcome]
    yield f"{word}  {row.key}: {'; '.join((*row.reasons, *row.notes))}"
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
