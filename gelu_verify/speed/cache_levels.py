"""How fast a target is from the first cache to memory, on one thread and on all, in turns with a copy.

On T threads each works through its own part of the array, call after call. What a call costs beside the work on the
elements is in it: for arrays that fit into the first cache it may be most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from ..formats import get_format
from ..inputs.special import normal_bits as inputs
from ..machine import caches, cores
from ..targets import Target
from ..timing import rate
from .throughput import Watched, failing
from .timer import SAMPLE, Side, interleaved_sides

MEMORY = "memory"
PRIVATE = ("L1", "L2")  # of each core
LEAST_MEMORY, MOST_MEMORY = 1 << 26, 1 << 29  # bytes of input and output
BUDGET = 0.1  # seconds of timed calls at one size, beyond the least number of repeats
TOO_LONG = 3.0  # seconds that one size may take: beyond, it is left out
PROBE = 16  # a call of that part of a long array says how long the whole takes
CALLS = 13  # at least: four to warm up, nine that count
BLOCK = 1 << 20  # inputs; longer arrays repeat them


def measure_sizes(target: Target, dtype: str, budget: float = BUDGET) -> dict[str, Any]:
    """As "sizes" one record for each level of the memory and number of threads (docs/json.md, `sizes`), and as
    "outputs" those of the inputs that all calls repeat.

    On all threads only where the target says that several may call it at once.

    Raises
    ------
    TargetFailure : the target raised
    """
    watched = Watched(target, dtype, BLOCK)
    with failing(target):
        return {"sizes": list(_measured(watched, budget)), "outputs": watched.to_json()}


def _measured(watched: Watched, budget: float) -> Iterator[dict[str, Any]]:
    target, dtype = watched.target, watched.dtype
    for threads in (1, cores()) if target.safe_in_threads and cores() > 1 else (1,):
        for level, n in elements(dtype, threads).items():
            case = {"level": level, "n": n, "threads": threads}
            expected = CALLS * _expected(target, dtype, n)
            if expected > TOO_LONG * threads:
                yield {**case, "left_out": f"it would take about {expected / threads:.0f} s"}
            else:
                yield {**case, **_timed(watched, n, threads, budget)}


def _expected(target: Target, dtype: str, n: int) -> float:
    """Seconds that a call takes, about."""
    if n <= BLOCK // 4:
        return 0.0
    loaded = target.load(dtype, np.resize(inputs(dtype, min(n // PROBE, BLOCK)), n // PROBE))
    target.call(loaded)  # may compile
    start = perf_counter()
    target.call(loaded)
    return PROBE * (perf_counter() - start)


def elements(dtype: str, threads: int = 1) -> dict[str, int]:
    """{level: elements} whose input and output fill half of a cache (of each thread's own), or four times the last."""
    item, sizes = get_format(dtype).width // 8, caches()
    fitting = {
        level: size // 2 * (threads if level in PRIVATE else 1) // (2 * item) // 64 * 64
        for level, size in sizes.items()
    }
    beyond = min(max(4 * max(sizes.values()), LEAST_MEMORY), MOST_MEMORY)
    return {**fitting, MEMORY: beyond // (2 * item)}


@dataclass
class _Call:
    """One thread's call, and what it returned last."""

    target: Target
    loaded: Any
    result: Any = None

    def __call__(self) -> None:
        self.result = self.target.call(self.loaded)


def _timed(watched: Watched, n: int, threads: int, budget: float) -> dict[str, Any]:
    target, dtype = watched.target, watched.dtype
    x = np.resize(inputs(dtype, min(n, BLOCK)), n)
    parts = np.array_split(x, threads)
    copied = np.array_split(np.empty_like(x), threads)
    calls = [_Call(target, target.load(dtype, part)) for part in parts]
    sides: dict[str, Side] = {
        "target": list(calls),
        "copy": [partial(np.copyto, b, a) for a, b in zip(parts, copied, strict=True)],
    }
    times = interleaved_sides(sides, SAMPLE * threads**2, budget)
    got = np.concatenate([target.store(dtype, call.loaded, call.result) for call in calls])
    watched.look(x, got)
    return {
        **rate(times["target"], n, x.itemsize),
        "copy_ratio": median(times["copy"]) / median(times["target"]),
        "copy_bytes_per_s": rate(times["copy"], n, x.itemsize)["bytes_per_s"],
        "repeats": len(times["target"]),
    }
