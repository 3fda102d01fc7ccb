"""What the gate judges: results measured now, those of a stored run that may decide, and committed ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..checks import CHECKS
from ..errors import MissingMeasurement, ResultsError, UsageError
from ..gpu.info import device, label
from ..isa import at_level, split_level
from ..machine import machine
from ..measure.jobs import CORRECTLY_ROUNDED, OWN, Job, Selector, find_jobs, selecting
from ..measure.request import Request
from ..measure.run import measured
from ..records.parts import Grade
from ..records.result import Origin, Record, Result
from ..records.schema import check_measured
from ..runs.committed import committed_results, current_versions, stale_reason
from ..runs.integrity import verified
from ..runs.store import Run, read_run
from ..targets import Target
from ..targets import families as all_families
from ..work.observer import SILENT, Observer
from .project import Project
from .rows import ALL_ROWS, Budgets, Selection

ALL_INPUTS_S = 240.0  # for all of float32, of each target whose budget is made


@dataclass(frozen=True)
class Measurements:
    """Results, the machine that those of the CPU come from, and why what was asked for is not among them."""

    records: list[Record]
    machine: Mapping[str, Any]
    absent: Mapping[str, str] = field(default_factory=dict)


def measure_budgeted(
    budgets: Budgets,
    families: Collection[str],
    workers: int | None = None,
    observer: Observer = SILENT,
    project: Project | None = None,
    before: Budgets | None = None,
    demand: Grade | None = None,
    seed: int | None = None,
    selection: Selection = ALL_ROWS,
    making: bool = False,
    keep: Callable[[Result], object] = lambda result: None,
) -> Measurements:
    """What the project names, has a budget, or is of a family that is required, as far as it is here.

    Each is measured on the plan and the seed of its budget, and in as many buckets more, so that the limits are met by
    the same inputs: where the outputs are the same, so are these. `making`: budgets are made, with the buckets of those
    `before`; what has none there gets the time that it gets in a run. `demand`: a grade that all shall
    have; where it, or that of the project, speaks of all inputs, all of float32 are tried. Where budgets are made, they
    are, too, of what is fast enough for that. `seed`: of all instead. `selection`: only these. `keep`: is
    given each result.
    """
    rows = before or budgets
    buckets_of = {key: row.buckets for key in rows.keys for row in rows.of(key)}
    budget, all_s = (None, ALL_INPUTS_S) if making else (0.0, 0.0)
    # a name that is wrong is an error where budgets are made; where they are checked, the others are judged
    survived = (MissingMeasurement,) if making else (MissingMeasurement, UsageError)
    plan_of = {key: (row.plan, row.seed if seed is None else seed) for key in budgets.keys for row in budgets.of(key)}
    found: dict[str, Record] = {}
    absent: dict[str, str] = {}

    def measure(request: Request, meant: Callable[[str], bool] = lambda key: True) -> None:
        request = replace(request, plan_of=plan_of, workers=workers, buckets_of=buckets_of)
        request = replace(request, demand=demand or request.demand, hard_cases=project.cases if project else {})
        request = request if seed is None else replace(request, seed=seed)
        request = replace(request, budget=None if request.demands_all else budget, all_s=all_s)
        request = replace(request, targets=tuple(name for name in request.targets if selection.may_have(str(name))))
        with selecting(request, observer) as select:
            jobs = _here(request, select, lambda target, key: wanted(key) and meant(key), absent, survived)
            for result in measured(jobs, request, observer):
                check_measured(result.record, result.table is not None)
                found[result.record.key] = result.record
                keep(result)

    def wanted(key: str) -> bool:
        return key not in found and selection.has(key)

    for entry in reversed(project.entries if project else ()):  # a [[target]] before what is for all
        measure(entry.request)
    for request in _of_rows([key for key in budgets.keys if wanted(key)]):
        measure(_known(request, absent), plan_of.__contains__)
    measure(_known(Request(targets=tuple(families)), absent))
    origin = Origin(device=label(device()))
    return Measurements([replace(record, origin=origin) for record in found.values()], machine(), absent)


def _of_rows(keys: Collection[str]) -> Iterator[Request]:
    """Requests for what those budget rows are of: all families at once, each callable in its function and dtype."""
    names = {key: key.rsplit("/", 2) for key in keys}
    families = {at_level(_family(name), split_level(name)[1]) for name, *_ in names.values() if ":" not in name}
    if families:
        yield Request(targets=tuple(sorted(families, reverse=True)))
    for name, function, dtype in names.values():
        if ":" in name:
            yield Request(targets=(name,), functions=(function,), dtypes=(dtype,))


def _known(request: Request, absent: dict[str, str]) -> Request:
    """The request without families that are unknown here, which are absent."""
    unknown = [name for name in map(str, request.targets) if ":" not in name and _family(name) not in all_families()]
    absent.update(dict.fromkeys(unknown, "there is no such family here"))
    return replace(request, targets=tuple(name for name in request.targets if name not in unknown))


def _family(name: str) -> str:
    return split_level(name)[0].partition(".")[0]


def _here(
    request: Request,
    select: Selector,
    keep: Callable[[Target, str], bool],
    absent: dict[str, str],
    survived: tuple[type[Exception], ...],
) -> list[Job]:
    """The jobs of what can be measured here of a request; why the rest cannot goes to `absent`."""
    found: list[Job] = []
    for name in map(str, request.targets):
        try:
            found += find_jobs(replace(request, targets=(name,)), select, keep).jobs
        except survived as reason:
            absent[name] = str(reason)
    return list({job.key: job for job in found}.values())


def stored_measurements(
    run: Run, budgets: Budgets, project: Project | None = None, selection: Selection = ALL_ROWS
) -> Measurements:
    """Those of a stored run that may decide.

    Results of a source that has changed since, or cannot be found any more, are stale, where a budget is for them.
    """
    keys = set(budgets.keys)
    meant = (record for record in dated_results(run) if selection.has(record.key))
    records = [fresh(record, project) if record.key in keys else record for record in meant]
    return Measurements(records, run.manifest["machine"])


def fresh(record: Record, project: Project | None) -> Record:
    """The record, stale unless its source is what it was."""
    if record.family == "callable":
        ours: Collection[str] = _sources_now(record, project)
        stale = (
            "" if _source(record.version) in map(_source, ours) else f"stale: {record.target} is not what was measured"
        )
    else:
        stale = stale_reason(record, current_versions({record.family}))
    return replace(record, origin=replace(record.origin, stale=stale))


def _sources_now(record: Record, project: Project | None) -> list[str]:
    """Version of the target that a record of a callable names, as it is now; none where it cannot be found."""
    entry = project.entry(record) if project else None
    request = replace(
        entry.request if entry else Request(),
        targets=(record.target,), functions=(record.function,), dtypes=(record.dtype,),
    )  # fmt: skip
    try:
        with selecting(request) as select:
            return [job.target.version for job in find_jobs(request, select).jobs]
    except (UsageError, MissingMeasurement):
        return []


def _source(version: str) -> str:
    """What a version says of the source, without its compiler."""
    return version.rpartition("sha256:")[2]


def with_committed(found: Measurements, families: Collection[str], root: Path | None = None) -> Measurements:
    """And what committed runs hold of those families of which nothing was measured."""
    there = {record.family for record in found.records}
    return replace(found, records=[*found.records, *committed_results(set(families) - there - {OWN}, root)])


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


def own_results(run: Run) -> list[Record]:
    """The results of a run that budgets are made from: without our kernels that were measured only to compare with."""
    records = dated_results(run)
    asked = [record for record in records if record.family != OWN or not record.target.endswith(CORRECTLY_ROUNDED)]
    return records if all(record.family == OWN for record in records) else asked


def dated_results(run: Run) -> list[Record]:
    """The results of a run with its day and its device."""
    origin = Origin(run.manifest["created"][:10], label(run.manifest.get("device")))
    return [replace(record, origin=origin) for record in run.results]
