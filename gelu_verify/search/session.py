"""From a request to the record of a search: its target found, its state restored and kept."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import UsageError
from ..measure.elsewhere import Elsewhere
from ..measure.identity import identity, implementation
from ..measure.jobs import Job, Selector, narrowed_to, one_target
from ..measure.request import Request
from ..runs.journals import facts_of_request
from ..targets import Target
from ..work.executors import Pool
from ..work.journal import Facts
from ..work.observer import SILENT, Observer
from .answers import RemoteBatches
from .kept import KeptSearch
from .record import SearchRecord, record_of
from .search import SearchBudget, search
from .seeds import worst_elsewhere
from .state import SearchAsked, State

DTYPE = "float64"  # of a target that is there in several dtypes


def searched(
    request: Request,
    select: Selector,
    budget: SearchBudget,
    *,
    seeds: bool = True,
    kept: KeptSearch | None = None,
    workers: int = 1,
    executor: Callable[[], Pool | None] = lambda: None,
    observer: Observer = SILENT,
    progress: Callable[[State], object] = lambda state: None,
) -> SearchRecord:
    """Search for the worst input of the one target of a request, in its function and dtype.

    Parameters
    ----------
    seeds : start from the worst inputs of other implementations
    kept : keeps the state; what is there is gone on with
    workers : threads
    executor : gives the executor whose workers find the target by themselves; None: threads of this process
    progress : told after every batch

    Raises
    ------
    UsageError : unknown names, or several targets
    ResultsError : another search is kept, or nothing can be written
    """
    target = one_target(request, select)
    asked = _asked(target, request, seeds)
    narrowed = narrowed_to(request, target, asked.function, asked.dtype)
    facts = _facts(target, narrowed)
    state, known, spent = (kept and kept.restored(facts, asked)) or (State.start(asked), (), 0.0)
    job = Job(target, narrowed.inputs("", asked.function, asked.dtype))
    if kept is not None:
        kept.begin(target, job.plan)
    pool = executor()
    ended = search(
        target, state, budget, workers=workers, length=request.length, spent=spent, known=known, progress=progress,
        save=None if kept is None else lambda *found: kept.save(facts, *found),
        elsewhere=Elsewhere.of(pool, job, request, RemoteBatches, observer.spend) if pool else None,
    )  # fmt: skip
    return record_of(target, state, ended, request, pool)


def _facts(target: Target, request: Request) -> Facts:
    """All that decides the answers, beside what is asked."""
    return {**facts_of_request(request), **implementation(target), **identity([target.family])}


def _asked(target: Target, request: Request, seeds: bool) -> SearchAsked:
    function = request.functions[0] if request.functions else target.function
    if not function:
        raise UsageError(f"--function: {target.name} does not say which function it computes")
    dtype = request.dtypes[0] if request.dtypes else DTYPE if DTYPE in target.dtypes else target.dtypes[0]
    if dtype not in target.dtypes:
        raise UsageError(f"{target.name} does not take {dtype} (accepted: {', '.join(target.dtypes)})")
    return SearchAsked(function, dtype, request.seed, worst_elsewhere(function, dtype) if seeds else ())
