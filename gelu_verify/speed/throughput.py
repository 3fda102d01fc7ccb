"""How fast a target is: elements per second, in turns with a memory copy.

Only `Target.call` is timed: its input is loaded and its output preallocated. Numbers are reported with their spread
and never decide a verdict; the outputs do. All calls begin with the same inputs: their outputs are compared outside of
the timed part, and passed on to be judged. Calls that are longer than those of a sweep repeat its inputs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TargetFailure
from ..fenv import left
from ..formats import get_format
from ..inputs.plans import CHUNKS
from ..inputs.special import normal_bits as inputs
from ..interrupts import is_from_user
from ..targets import under_way
from ..targets.extra_outputs import Differences, ExtraOutputs, differences, differences_from_json, differences_to_json
from ..timing import REPEATS, interleaved, rate
from ..work.packing import array_of_text, text_of_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..targets.base import Target

ELEMENTS = 1 << 18
LEAST = 1 << 10  # elements, however slow the target is
HOPELESS = 2.0  # seconds: a first call that takes longer is not repeated
BUDGET = 0.03  # seconds of timed calls for one result


def one_thread_each() -> None:
    """Have frameworks run on one thread, unless the user's environment says otherwise: before the first import.

    Throughput is per core then, and no thread barrier waits for a core that a sweep is using.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        os.environ.setdefault(name, "1")


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """The same for a torch that the caller has imported: put back afterwards.

    Each small call would wake all of its threads, which wait for cores that the sweep is using: 80 times slower.
    """
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 1
    if torch and threads > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch and threads > 1:
            torch.set_num_threads(threads)


def measure(target: Target, dtype: str, n: int = ELEMENTS, budget: float = BUDGET) -> dict[str, Any]:
    """Throughput of `target` in `dtype` on normal(0, 2) inputs.

    Returns
    -------
    dict : as "throughput" elements_per_s (median), spread (interquartile range / median of the times),
        copy_ratio (time of a copy of the same bytes / its own), n (fewer than asked for where nine
        calls with all would not fit into the budget); as "outputs" what `Watched` saw, none where the target has a
        clock of its own

    Raises
    ------
    TargetFailure : the target raised
    """
    with failing(target):
        if own := target.own_throughput(dtype, inputs(dtype, n)):
            return {"throughput": own, "outputs": None}
        watched = Watched(target, dtype, CHUNKS[get_format(dtype).width] + 1)
        x = np.resize(inputs(dtype, min(n, watched.period)), n)
        return {"throughput": _timed(watched, x, budget), "outputs": watched.to_json()}


class Watched:
    """A target whose outputs are compared, call by call: all inputs are the same ones, `period` of them in a cycle."""

    def __init__(self, target: Target, dtype: str, period: int) -> None:
        self.target, self.dtype, self.period = target, dtype, period
        self._first = np.empty(0, get_format(dtype).uint)
        self._differences: list[Differences] = []

    def seconds(self, loaded: Any, x: np.ndarray) -> float:
        """Of one call; what it returns is looked at after."""
        under_way.began(self.dtype)
        try:
            start = time.perf_counter()
            result = self.target.call(loaded)
            seconds = time.perf_counter() - start
            got = self.target.store(self.dtype, loaded, result)
        finally:
            under_way.ended()
        self.look(x, got)
        return seconds

    def look(self, x: np.ndarray, got: np.ndarray) -> None:
        """Compare outputs with the first of each input, and store those of inputs that are new."""
        if got.shape != x.shape:
            message = f"{self.target.name} returned shape {got.shape} for {x.shape} while it was timed"
            raise TargetFailure(message, "shape")
        if len(self._first) < min(self.period, len(x)):
            self._first = np.concatenate([self._first, got[len(self._first) : self.period]])
        where = f"at index {{}} of {self.period} in a first call", f"there in a call of {len(x)} that was timed"
        for start in range(0, len(x), self.period):
            part = slice(start, start + self.period)
            both = self._first[: len(x) - start], got[part]
            self._differences += differences(get_format(self.dtype), x[part], *both, where)

    def to_json(self) -> dict[str, Any]:
        """The outputs and the differences."""
        found = differences_to_json(get_format(self.dtype), self._differences)
        return {"got": text_of_array(self._first), "differences": found}


def outputs_from_json(dtype: str, watched: dict[str, Any] | None, into: ExtraOutputs) -> None:
    """Add what `Watched.to_json` returned."""
    if watched is None:
        return
    fmt = get_format(dtype)
    got = array_of_text(watched["got"], fmt.uint)
    into.add_call(inputs(dtype, len(got)), got, "at index {} in a call that was timed")
    into.differences.extend(differences_from_json(fmt, watched["differences"]))


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


def _timed(watched: Watched, x: np.ndarray, budget: float) -> dict[str, Any]:
    loaded, x = _affordable(watched, x, budget)
    copied = np.empty_like(x)
    copy = partial(_seconds, partial(np.copyto, copied, x))
    seconds = interleaved({"target": partial(watched.seconds, loaded, x), "copy": copy}, budget=budget)
    found = rate(seconds["target"], len(x), x.itemsize)
    return {
        "elements_per_s": found["elements_per_s"],
        "spread": found["spread"],
        "copy_ratio": median(seconds["copy"]) / median(seconds["target"]),
        "n": len(x),
    }


def _affordable(watched: Watched, x: np.ndarray, budget: float) -> tuple[Any, np.ndarray]:
    """The loaded input, warmed up, of as many elements as nine calls within the budget can do."""
    part = x[: CHUNKS[get_format(watched.dtype).width] + 1]  # as long as the calls of the sweep, which may be compiled
    loaded, possible = _tried(watched, part, budget)
    if len(part) < len(x) <= 8 * possible:  # most of a short call may be overhead: see what a long one takes
        part = x
        loaded, possible = _tried(watched, part, budget)
    if 2 * possible < len(part):
        part = x[: max(LEAST, possible)]
        loaded, _ = _tried(watched, part, budget)
    return loaded, part


def _tried(watched: Watched, x: np.ndarray, budget: float) -> tuple[Any, int]:
    """The loaded input, and how many elements nine calls within the budget could do."""
    loaded = watched.target.load(watched.dtype, x)
    seconds = watched.seconds(loaded, x)  # may compile
    if seconds < HOPELESS:
        seconds = watched.seconds(loaded, x)
    return loaded, int(budget / REPEATS / max(seconds, 1e-9) * len(x))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    left()  # what it did to the floating-point environment is reported by the sweep
    return time.perf_counter() - start
