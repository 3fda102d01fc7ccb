"""How fast a target is: elements per second, beside a memory copy timed in the same breath.

Only `Target.call` is timed: its input is loaded and its output placed before. Numbers are reported
with their spread and never decide a verdict.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import TargetFailure
from .formats import get_format, numpy_dtype
from .interrupts import is_from_user
from .plans import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .targets.base import Target

ELEMENTS = 1 << 18
LEAST = 1 << 10  # elements, however slow the target is
REPEATS = 9
MOST = 31
HOPELESS = 2.0  # seconds: a first call that takes longer is not repeated
BUDGET = 0.03  # seconds of timed calls for one result


def one_thread_each() -> None:
    """Have frameworks run on one thread, unless the user's environment says otherwise: before the first import.

    Throughput is per core then, and no thread barrier waits for a core that a sweep is using.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        os.environ.setdefault(name, "1")


def measure(target: Target, dtype: str, n: int = ELEMENTS, budget: float = BUDGET, seed: int = 0) -> dict[str, Any]:
    """Throughput of `target` in `dtype` on normal(0, 2) inputs.

    Returns
    -------
    dict : elements_per_s (median), spread (interquartile range / median of the times),
        copy_ratio (time of a copy of the same bytes / its own), n (fewer than asked for where nine
        calls with all would not fit into the budget)

    Raises
    ------
    TargetFailure : the target raised
    """
    with failing(target):
        own = target.own_throughput(dtype, inputs(dtype, n, seed))
        return own or _timed(target, dtype, inputs(dtype, n, seed).copy(), budget)


@contextmanager
def failing(target: Target) -> Iterator[None]:
    """What a target raises while it is timed, as a TargetFailure."""
    try:
        yield
    except TargetFailure:
        raise
    except BaseException as error:  # someone else's code: whatever it raises is a result
        if is_from_user(error):
            raise
        raise TargetFailure(f"{target.name} raised {type(error).__name__} while it was timed") from error


@lru_cache(maxsize=8)
def inputs(dtype: str, n: int, seed: int) -> np.ndarray:
    """Bits of normal(0, 2) numbers, which all callers share."""
    return np.random.default_rng(seed).normal(0.0, 2.0, n).astype(numpy_dtype(dtype)).view(get_format(dtype).uint)


def _timed(target: Target, dtype: str, x: np.ndarray, budget: float) -> dict[str, Any]:
    loaded, x = _affordable(target, dtype, x, budget)
    copied = np.empty_like(x)
    calls: list[float] = []
    copies: list[float] = []
    end = time.perf_counter() + budget
    while len(calls) < REPEATS or (time.perf_counter() < end and len(calls) < MOST):
        calls.append(_seconds(partial(target.call, loaded)))
        copies.append(_seconds(partial(np.copyto, copied, x)))
    low, median, high = np.percentile(calls, (25, 50, 75))
    return {
        "elements_per_s": float(len(x) / median),
        "spread": float((high - low) / median),
        "copy_ratio": float(np.median(copies) / median),
        "n": len(x),
    }


def _affordable(target: Target, dtype: str, x: np.ndarray, budget: float) -> tuple[Any, np.ndarray]:
    """The loaded input, warmed up, of as many elements as nine calls within the budget can do."""
    part = x[: CHUNKS[get_format(dtype).width] + 1]  # as long as the calls of the sweep, which may be compiled
    loaded, possible = _tried(target, dtype, part, budget)
    if len(part) < len(x) <= 8 * possible:  # most of a short call may be overhead: see what a long one takes
        part = x
        loaded, possible = _tried(target, dtype, part, budget)
    if 2 * possible < len(part):
        part = x[: max(LEAST, possible)]
        loaded, _ = _tried(target, dtype, part, budget)
    return loaded, part


def _tried(target: Target, dtype: str, x: np.ndarray, budget: float) -> tuple[Any, int]:
    """The loaded input, and how many elements nine calls within the budget could do."""
    loaded = target.load(dtype, x)
    seconds = _seconds(partial(target.call, loaded))  # may compile
    if seconds < HOPELESS:
        seconds = _seconds(partial(target.call, loaded))
    return loaded, int(budget / REPEATS / max(seconds, 1e-9) * len(x))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
