"""A request measured and stored: targets found, results in order, one run."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from ..machine import copy_bytes_per_s, provenance
from ..measure.identity import code_sha256
from ..measure.jobs import FoundJobs, Job, find_jobs, is_brief, selecting
from ..measure.request import Request
from ..measure.run import measured
from ..measure.unsupported import is_unsupported, with_unsupported
from ..records.result import Record
from ..speed.throughput import one_thread_each
from ..work.executors import Pool, opening
from ..work.journal import Journal
from ..work.observer import SILENT, Observer
from .journals import discard, facts, journal_of_run
from .store import MANIFEST, ROOT, Run, RunWriter


def measure_run(
    request: Request,
    out: Path | None = None,
    *,
    command: str,
    observer: Observer = SILENT,
    prepare: Callable[[], object] = lambda: None,
    fill: Callable[[Journal | None, Sequence[Job]], object] = lambda journal, jobs: None,
    report: Callable[[Run], object] = lambda run: None,
) -> Run:
    """Measure what `request` asks for, and store it in a new folder: `out`, or one named by the time.

    Parameters
    ----------
    command : the line that is kept in the manifest
    prepare : what the caller needs afterwards and can load meanwhile, while implementations are looked for
    fill : adds what was measured elsewhere to the journal
    report : called with the stored run; the journal is kept until it returns

    Raises
    ------
    ResultsError : when the place is taken, cannot be written, or is full; nothing is left there
    UsageError, MissingMeasurement : as `find_jobs`
    """
    one_thread_each()
    if out is not None and (out / MANIFEST).is_file():
        discard(out)
    where = request.executor, request.workers, observer.warn
    with RunWriter(out) as writer, selecting(request, observer) as select, opening(*where) as executor:
        with observer.phase(1), without_garbage_collection(), _loading(request, prepare):
            observer.start("looking for implementations")
            found = find_jobs(request, select)
        _say_what_is_left_out(found, observer)
        root, name = (ROOT, "") if out is None else (out.parent, out.name)
        with journal_of_run(root, name, facts(request, found.jobs), observer.warn, jobs=found.jobs) as journal:
            fill(journal, found.jobs)
            pool, unsupported = executor(), []
            left = Counter(job.target.family for job in found.jobs)
            done: dict[str, list[Record]] = {family: [] for family in left}
            results = measured(found.jobs, request, observer, pool=pool, journal=journal, alone=True)
            for job, result in zip(found.jobs, results, strict=True):
                family = result.record.family
                done[family].append(result.record)
                if len(left) > 1 and len(done[family]) == left[family]:
                    observer.finish(family, done[family])
                if is_unsupported(result.record, request):
                    unsupported.append(result.record)
                else:
                    writer.add(result, fold=is_brief(job.target, request) and not job.plan.exhaustive)
            run = writer.finish(
                command=command,
                seed=request.seed,
                plan=request.plan,
                absent=with_unsupported(found.absent, unsupported),
                facts=_facts(request, found.jobs, pool),
            )
            report(run)
            return run


def _facts(request: Request, jobs: Sequence[Job], pool: Pool | None) -> dict[str, Any]:
    """What the manifest says of where the run was measured."""
    found = provenance((job.target.family for job in jobs), timed=request.measures_throughput)
    where = {} if pool is None else {"executor": {"name": request.executor.name, "workers": pool.described()}}
    return found | where


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Importing a framework makes a million objects that stay: looking for garbage among them takes half a second."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _loading(request: Request, prepare: Callable[[], object]) -> Iterator[None]:
    """Load what storing and reporting need on another thread: other processes load implementations meanwhile.

    Where only one of them does, the speed of a copy is measured, too: other cores are idle, and nothing disturbs it.
    """

    def load() -> None:
        with suppress(ModuleNotFoundError):  # buckets are written without it
            import_module("pyarrow.parquet")
        code_sha256()
        prepare()
        if request.measures_throughput and len(request.targets) == 1:
            copy_bytes_per_s()

    thread = Thread(target=load, name="loading", daemon=True)
    thread.start()
    yield
    thread.join()


def _say_what_is_left_out(found: FoundJobs, observer: Observer) -> None:
    if found.left_out:
        names = ", ".join(found.left_out)
        observer.warn(f"2^32 inputs are for paths that are named, and for each family's first: not for {names}")
