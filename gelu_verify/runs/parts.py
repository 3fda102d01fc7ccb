"""Parts of a run, measured anywhere, and the run that they make together.

A part is a sealed journal of some chunks of every plan. Parts belong together when all is the same that decides
results, each implementation gives the same outputs for some inputs, and each chunk is in exactly one of them; the
processors may differ. What is joined is then continued as an interrupted run is: only the checks call the
implementations once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from ..atomic_files import is_free
from ..errors import ResultsError, TargetFailure, UsageError
from ..machine import cores
from ..measure.elsewhere import Elsewhere, RemoteSweep
from ..measure.identity import PROCESSOR, ProbeOutputs, another, only_by_version
from ..measure.jobs import Job, find_jobs, selecting
from ..measure.kept import OUTPUTS, Kept
from ..measure.part_measurer import Range
from ..measure.parts import unpacked
from ..measure.request import Request
from ..measure.sweep import is_judged_on_device, sweep_part
from ..speed.throughput import one_thread_each
from ..work.executors import opening
from ..work.journal import Contents, Journal, contents, differing
from ..work.journals import FILE
from ..work.observer import SILENT, Observer
from .journals import ALL, facts, journal_of_run, request_of
from .measuring import measure_run
from .store import Run

APART = ("chunks", *PROCESSOR)  # what may differ between parts


# ---- measuring one -------------------------------------------------------------------------------


def measure_part(request: Request, chunks: Range, out: Path, *, observer: Observer = SILENT) -> None:
    """Measure chunks `chunks` of each job's plan, as far as it has them, and store them in a new folder `out`.

    Raises
    ------
    ResultsError : the place is taken or cannot be written, or an implementation fails
    UsageError : no plan has these chunks, or a device judges by itself
    """
    if not is_free(out):
        raise ResultsError(f"{out} is already there: name a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    one_thread_each()
    with selecting(request, observer) as select, opening(request.executor, request.workers, observer.warn) as executor:
        jobs = find_jobs(request, select).jobs
        spans = _spans(jobs, chunks)
        here = facts(request, jobs, chunks)
        with journal_of_run(out.parent, out.name, here, observer.warn, keep=out, jobs=jobs) as journal:
            if journal is None:
                raise ResultsError(f"cannot write a part in {out.parent}")
            pool = executor()
            with observer.phase(sum(map(_size, jobs, spans))):
                for job, span in zip(jobs, spans, strict=True):
                    observer.start(job.label)
                    elsewhere = Elsewhere.of(pool, job, request, RemoteSweep, observer.spend) if pool else None
                    _measure(job, span, Kept(journal, job.key), request, observer, elsewhere)
            journal.seal()


def _spans(jobs: Sequence[Job], chunks: Range) -> list[Range]:
    """Which chunks of each plan."""
    most = max(len(job.plan.chunks) for job in jobs)
    if chunks[1] > most:
        raise UsageError(f"chunks {chunks[0]}:{chunks[1]} are not in the plan (accepted: within 0:{most})")
    for job in jobs:
        if is_judged_on_device(job.target, job.plan):
            raise UsageError(f"chunks: the device of {job.target.name} judges all inputs at once")
    return [(min(chunks[0], len(job.plan.chunks)), min(chunks[1], len(job.plan.chunks))) for job in jobs]


def _size(job: Job, span: Range) -> int:
    """How many inputs."""
    return sum(job.plan.chunks[index].size for index in range(*span))


def _measure(
    job: Job, span: Range, kept: Kept, request: Request, observer: Observer, elsewhere: Elsewhere[Range] | None
) -> None:
    if span[0] == span[1]:
        return
    try:
        sweep_part(
            job.target, job.plan, span, kept, workers=request.workers or cores(), progress=observer.advance,
            elsewhere=elsewhere,
        )  # fmt: skip
    except TargetFailure as failure:
        raise ResultsError(f"{job.label} fails, and so has no parts (run it without --chunks): {failure}") from None


# ---- joining -------------------------------------------------------------------------------------


def merge_parts(
    paths: Sequence[Path],
    out: Path | None,
    *,
    command: str,
    observer: Observer = SILENT,
    report: Callable[[Run], object] = lambda run: None,
) -> Run:
    """The run that parts make together, stored and reported as `measure_run` does.

    Raises
    ------
    ResultsError : which part does not belong to the others, and why; which chunk is in two of them, or in none
    """
    parts = [_read(path) for path in paths]
    first = parts[0]
    for other in parts[1:]:
        if reason := differing(first.facts, other.facts, apart_from=APART):
            raise ResultsError(f"{other.folder} does not belong to {first.folder}: {reason}")

    def fill(journal: Journal | None, jobs: Sequence[Job]) -> None:
        here = facts(request, jobs)
        if reason := differing(first.facts, here, apart_from=APART):
            raise ResultsError(f"{first.folder} cannot be continued here: {reason}")
        if journal is None:
            raise ResultsError("the parts cannot be joined without a journal")
        for job in jobs:
            _check_complete(job.key, len(job.plan.chunks), parts)
            if uncertain := _check_outputs(job, parts):
                observer.warn(uncertain)
            for key in (job.key + OUTPUTS, job.key):
                for part in parts:
                    for index, content in part.records.get(key, ()):
                        journal.append(key, index, content)
        journal.check_written()

    request = request_of(first.facts)
    return measure_run(request, out, command=command, observer=observer, fill=fill, report=report)


def request_of_part(folder: Path) -> Request:
    """What a part was measured for."""
    return request_of(_read(folder).facts)


def _read(folder: Path) -> Contents:
    """A part, wholly; ResultsError where it is none, truncated or damaged."""
    found = contents(folder / FILE)
    if found is None or found.facts.get("chunks", ALL) == ALL:
        raise ResultsError(f"{folder} is not a part of a run: gelu-verify run --chunks A:B --out DIR makes one")
    if found.damaged:
        raise ResultsError(f"{folder} is damaged: {found.damaged[0]}")
    if not found.is_whole:
        raise ResultsError(f"{folder} is truncated: its last record is missing")
    return found


def _check_complete(key: str, chunks: int, parts: Sequence[Contents]) -> None:
    """ResultsError where a chunk of a job is in two parts, or in none."""
    spans = sorted((first, end, str(part.folder)) for part in parts for first, end in _spans_in(part, key))
    for (_, end, path), (first, other_end, other) in pairwise([(0, 0, ""), *spans, (chunks, chunks, "")]):
        if first > end:
            raise ResultsError(f"chunks {end}:{first} of {key} are in no part")
        if first < end:
            raise ResultsError(f"chunks {first}:{min(end, other_end)} of {key} are in {path} and in {other}")


def _check_outputs(job: Job, parts: Sequence[Contents]) -> str:
    """ResultsError where parts of a job are of different implementations, or of another one than that which is here.

    What to say where that is not certain.
    """
    name = job.target.name
    known = [(part.folder, found) for part in parts if (found := _outputs(part, job.key))]
    if not known:
        raise ResultsError(f"no outputs of {name} are kept with the parts")
    first, before = known[0]
    for path, other in known[1:]:
        if reason := another(name, before, other):
            raise ResultsError(f"{path} does not belong to {first}: {reason}")
    here = before.again(job.target)
    if reason := another(name, before, here):
        raise ResultsError(f"{first} cannot be continued here: {reason}")
    return only_by_version(name, before, here)


def _outputs(part: Contents, key: str) -> ProbeOutputs | None:
    """By which the implementation of a job is known."""
    return next((ProbeOutputs.unpacked(content) for _, content in part.records.get(key + OUTPUTS, ())), None)


def _spans_in(part: Contents, key: str) -> list[Range]:
    """The chunks of a job that a part has, joined where they touch."""
    joined: list[Range] = []
    for found in sorted(map(_chunks_of, part.records.get(key, ()))):
        if joined and joined[-1][1] == found[0]:
            joined[-1] = joined[-1][0], found[1]
        else:
            joined.append(found)
    return joined


def _chunks_of(record: tuple[int, bytes]) -> Range:
    found = unpacked(record[1])
    return found.first, found.end
