"""From a request to the record of a search: its target found, its state restored and kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .. import __version__
from ..errors import UsageError
from ..measure.jobs import Selector, one_target
from ..measure.request import Request
from ..targets import Target
from .kept import restored, save
from .record import SearchRecord, record_of
from .search import Budget, search
from .seeds import worst_elsewhere
from .state import Asked, State

DTYPE = "float64"  # of a target that is there in several dtypes


def searched(
    request: Request,
    select: Selector,
    budget: Budget,
    *,
    seeds: bool = True,
    out: Path | None = None,
    workers: int = 1,
    progress: Callable[[State], object] = lambda state: None,
) -> SearchRecord:
    """Search for the worst input of the one target of a request, in its function and dtype.

    Parameters
    ----------
    seeds : start from the worst inputs of other implementations
    out : a folder that keeps the state; what is there is gone on with
    progress : told after every batch

    Raises
    ------
    UsageError : unknown names, or several targets
    ResultsError : `out` holds another search, or cannot be written
    """
    target = one_target(request, select)
    asked = _asked(target, request, seeds)
    identity = {"target": target.name, "version": target.version, "gelu-verify": __version__}
    kept = None if out is None else restored(out, asked, identity)
    state, spent = kept or (State.start(asked), 0.0)
    ended = search(
        target, state, budget, workers=workers, spent=spent, progress=progress,
        save=None if out is None else lambda state, seconds: save(out, state, seconds, identity),
    )  # fmt: skip
    return record_of(target, state, ended, request)


def _asked(target: Target, request: Request, seeds: bool) -> Asked:
    function = request.functions[0] if request.functions else target.function
    if not function:
        raise UsageError(f"--function: {target.name} does not say which function it computes")
    dtype = request.dtypes[0] if request.dtypes else DTYPE if DTYPE in target.dtypes else target.dtypes[0]
    if dtype not in target.dtypes:
        raise UsageError(f"{target.name} does not take {dtype} (accepted: {', '.join(target.dtypes)})")
    return Asked(function, dtype, request.seed, worst_elsewhere(function, dtype) if seeds else ())
