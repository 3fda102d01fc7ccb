"""Where work runs: on threads, in processes, or on a cluster, each behind a `concurrent.futures.Executor`.

`opened` opens the executor that a user named, and `results` sends items of work through it: a function of a module (or
a method of an object that can be pickled) is called with each item, wherever there is room, and what it returns comes
back as it ends. Work that was lost with its worker is done again. All scheduling is the executor's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache

from ..machine import cores
from .dask_pool import on_dask
from .pools import ON_THREADS, PROCESSES, THREADS, Misfit, Pool, ProcessPool, Where, on_threads, results

__all__ = ["ON_THREADS", "Misfit", "Pool", "Where", "on_threads", "opened", "opened_when_asked", "opening", "results"]


@contextmanager
def opened(
    where: Where, workers: int | None = None, warn: Callable[[str], object] = lambda message: None
) -> Iterator[Pool]:
    """The executor that a user named, with so many workers where they are started here; default: one for each core.

    `warn` is told of workers that cannot be used.

    Raises
    ------
    UsageError : Dask is not installed, or no scheduler answers
    """
    workers = workers or cores()
    if where.name == THREADS:
        with on_threads(workers) as pool:
            yield pool
    elif where.name == PROCESSES:
        processes = ProcessPool(workers)
        try:
            yield processes
        finally:
            processes.close()
    else:
        with on_dask(where, workers, warn) as cluster:
            yield cluster


@contextmanager
def opened_when_asked(where: Where, workers: int, warn: Callable[[str], object]) -> Iterator[Callable[[], Pool]]:
    """The executor, opened when it is asked for first; there may be nothing to do."""
    with ExitStack() as closing:
        yield cache(lambda: closing.enter_context(opened(where, workers, warn)))


@contextmanager
def opening(where: Where, workers: int | None, warn: Callable[[str], object]) -> Iterator[Callable[[], Pool | None]]:
    """The executor once it is asked for, which takes seconds to open beside other things; None for threads."""
    if where.shares_memory:
        yield lambda: None
        return
    with ExitStack() as closing, ThreadPoolExecutor(1) as thread:
        yield thread.submit(lambda: closing.enter_context(opened(where, workers, warn))).result
