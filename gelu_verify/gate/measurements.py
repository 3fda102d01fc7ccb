"""What the gate judges: results measured now, those of a stored run that may decide, and committed ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..checks import CHECKS
from ..errors import MissingMeasurement, ResultsError
from ..fenv import in_default_environment
from ..gpu.info import device, label
from ..isa import at_level, split_level
from ..machine import machine
from ..measure.jobs import Job, Selector, find_jobs, selecting
from ..measure.observer import SILENT, Observer
from ..measure.request import Request
from ..measure.run import measured
from ..records.result import Origin, Record
from ..records.schema import check_measured
from ..runs.committed import committed_results
from ..runs.integrity import verified
from ..runs.store import Run, read_run
from ..targets import Target
from ..targets import families as all_families
from .budgets import FAMILIES, FAMILY, Budgets


@dataclass(frozen=True)
class Measurements:
    """Results, the machine that those of the CPU come from, and why families are not among them."""

    records: list[Record]
    machine: Mapping[str, Any]
    absent: Mapping[str, str]


@in_default_environment
def measure_budgeted(
    budgets: Budgets, families: Collection[str], workers: int | None = None, observer: Observer = SILENT
) -> Measurements:
    """What has a budget, or is of a family that is required, as far as it is here.

    Each is measured on the plan and the seed of its budget, so that the limits are met by the same inputs.
    """
    rows = budgets.rows
    request = Request(plan_of={key: (row.plan, row.seed) for key, row in rows.items()}, workers=workers)

    def is_budgeted(target: Target, key: str) -> bool:
        return key in rows or target.family in families

    budgeted = sorted({_asked_for(key) for key in rows if key.partition(".")[0] in FAMILIES}, reverse=True)
    with selecting(request, observer) as select:
        jobs, absent = _here(dict.fromkeys([*budgeted, *families]), request, select, is_budgeted)
        results = list(measured(jobs, request, observer))
    for result in results:
        check_measured(result.record, result.table is not None)
    origin = Origin(device=label(device()))
    return Measurements([replace(result.record, origin=origin) for result in results], machine(), absent)


def _asked_for(key: str) -> str:
    """The family of a budget row, at the level that the name of its target ends in."""
    target = key.partition("/")[0]
    return at_level(target.partition(".")[0], split_level(target)[1])


def _here(
    asked: Collection[str], request: Request, select: Selector, keep: Callable[[Target, str], bool]
) -> tuple[list[Job], dict[str, str]]:
    """The jobs of those families that can be measured, and why others cannot."""
    found: list[Job] = []
    absent: dict[str, str] = {}
    for family in asked:
        if split_level(family)[0] not in all_families():
            absent[family] = "there is no such family here"
            continue
        try:
            found += find_jobs(replace(request, targets=(family,)), select, keep).jobs
        except MissingMeasurement as reason:
            absent[family] = str(reason)
    return found, absent


@in_default_environment
def stored_measurements(place: str) -> Measurements:
    """Those of a stored run; ResultsError where it may not decide."""
    run = deciding_run(place)
    return Measurements(dated_results(run), run.manifest["machine"], {})


@in_default_environment
def with_committed(found: Measurements, families: Collection[str], root: Path | None = None) -> Measurements:
    """And what committed runs hold of those families of which nothing was measured."""
    there = {record.family for record in found.records}
    return replace(found, records=[*found.records, *committed_results(set(families) - there - {FAMILY}, root)])


@in_default_environment
def deciding_run(place: str) -> Run:
    """A stored run that may decide: sealed, following from its buckets, each result once, and no check left out.

    Raises
    ------
    ResultsError : why it may not, in one line
    """
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


def dated_results(run: Run) -> list[Record]:
    """The results of a run with its day and its device."""
    origin = Origin(run.manifest["created"][:10], label(run.manifest.get("device")))
    return [replace(record, origin=origin) for record in run.results]
