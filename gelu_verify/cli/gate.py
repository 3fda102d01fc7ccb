"""`gate` and `budget`: compare the accuracy of our kernels with their budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import WORKERS
from .program import MISSING, OVER_BUDGET, say, warn

if TYPE_CHECKING:
    from ..gate.verdicts import Budgets, Verdict
    from ..measure.sweep import Record
    from ..measure.verification import Job, Selector
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
              help="Exit with 3 unless FAMILY (such as cuda) was measured here or has an up-to-date recorded run; "
              "may be repeated.")  # fmt: skip
@click.option("--recorded", "root", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder of recorded runs; default data/runs.")  # fmt: skip
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
def gate(run: str | None, path: Path | None, families: tuple[str, ...], root: Path | None, workers: int | None) -> None:
    """Check a stored RUN, or our kernels, against the budgets.

    Without RUN, our kernels are measured now. Results that need a GPU that is not here are taken from recorded runs,
    unless the code that was measured has changed since. The exit code is 1 when a result exceeds its budget and 3 when
    one was not measured; each such result is printed with its input and the command that repeats it.
    """
    from ..gate.verdicts import check, conditions_of, default_path, read_budgets, required

    stored = _stored(run) if run else None
    budgets = read_budgets(path or default_path())
    measured = stored or _measured_now(budgets, families, workers)
    _add_recorded(measured, {key.partition(".")[0] for key in budgets.rows}.union(families), root)
    demanded = required(families, measured.records, measured.absent)
    verdicts = check(measured.records, measured.machine, budgets)
    verdicts += [each for each in demanded if each.key not in budgets.rows]
    for verdict in verdicts:
        if verdict.outcome != "ok" or verdict.notes:
            for line in _lines(verdict):
                say(line)
    counts = Counter(verdict.outcome for verdict in verdicts)
    same = conditions_of(measured.machine) == budgets.conditions
    where = "" if same else f" (the budgets were made with {_conditions(budgets)}: headroom applies)"
    said = f"{counts['ok']} of {len(verdicts)} within budget, {counts['over']} over, {counts['missing']} not measured"
    say(said + where)
    if counts["over"]:
        raise click.exceptions.Exit(OVER_BUDGET)
    if counts["missing"]:
        raise click.exceptions.Exit(MISSING)


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
    from ..gate.verdicts import compare, make_budgets, read_budgets, write_budgets

    stored = [_believed(run) for run in runs]
    first = stored[0].manifest
    results = [result for run in stored for result in _told(run)]
    fresh = make_budgets(results, first["machine"], str(first["created"])[:10])
    changes = compare(read_budgets(file), fresh) if file.exists() else []
    for change in changes:
        say(change.text)
    looser = sum(change.looser for change in changes)
    if looser and not allow_looser:
        warn(f"error: {looser} budgets get looser; nothing was written (--allow-looser accepts them)")
        raise click.exceptions.Exit(OVER_BUDGET)
    made = f"gelu-verify run kernels --plan {first['plan']} --seed {first['seed']}"
    further = "".join(f" {run}" for run in runs[1:])
    write_budgets(file, fresh, f"{made} && gelu-verify budget reports/latest{further}")
    say(f"written: {file} ({len(fresh.rows)} rows)")


def _told(run: Run) -> list[Record]:
    """The results of a run with its day and its device."""
    from ..gpu.info import label

    told = {"date": run.manifest["created"][:10], "device": label(run.manifest.get("device"))}
    return [{**result, **told} for result in run.results]


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
    met: set[str] = set()
    for result in run.results:
        key = f"{result['target']}/{result['function']}/{result['dtype']}"
        missing = sorted(CHECKS.keys() - result["checks"].keys()) if result["failure"] is None else []
        if missing:
            raise ResultsError(
                f"{run.path} cannot decide: {key} was not checked for {', '.join(missing)} (measure again)"
            )
        if key in met:
            raise ResultsError(f"{run.path} cannot decide: {key} appears twice")
        met.add(key)
    return verified(run)


def _stored(run: str) -> Measured:
    stored = _believed(run)
    return Measured(_told(stored), stored.manifest["machine"])


def _measured_now(budgets: Budgets, families: Collection[str], workers: int | None) -> Measured:
    """Everything that has a budget, or is required, and that is here: on the plan and seed of its budget, so that the
    limits are met by the same inputs."""
    from ..gate.budgets import FAMILIES
    from ..gpu.info import device, label
    from ..machine import machine
    from ..measure.verification import SEED
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
        told = {"device": label(device())}
        results = list(measured(found, plans, workers=workers))
    for result in results:
        check_measured(result.record, result.table is not None)
    records = [{**result.record, **told} for result in results]
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
            absent[family] = "there is no such family"
            continue
        try:
            found += jobs([family], select=select)[0]
        except MissingMeasurement as reason:
            absent[family] = str(reason)
    return found, absent


def _add_recorded(measured: Measured, families: Collection[str], root: Path | None) -> None:
    """What is recorded of those families of which nothing was measured."""
    from ..gate.budgets import FAMILY
    from ..runs.committed import recorded_results

    met = {record["family"] for record in measured.records}
    measured.records += recorded_results(set(families) - met - {FAMILY}, root)


def _conditions(budgets: Budgets) -> str:
    recorded = budgets.conditions
    return f"{recorded.libm}, {recorded.architecture}{', FMA' if recorded.fma else ''}"


def _lines(verdict: Verdict) -> Iterator[str]:
    word = {"ok": "note", "over": "OVER", "missing": "MISSING"}[verdict.outcome]
    yield f"{word}  {verdict.key}: {'; '.join((*verdict.reasons, *verdict.notes))}"
    record = verdict.result
    if verdict.outcome != "ok" and record is not None:
        for name in ("x", "got", "want"):
            bits = (verdict.witness or {}).get(f"{name}_bits")
            if bits is not None:
                yield f"  {name:6s} {_value(record['dtype'], bits)}"
        yield f"  repeat {record['repeat']}"


def _value(dtype: str, bits: str) -> str:
    from ..formats import get_format
    from ..report.text import value_text

    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"
