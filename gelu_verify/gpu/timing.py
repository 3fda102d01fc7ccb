"""How fast something is on a device, by the device's own clock, interleaved with a copy of the same bytes there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from ..timing import interleaved, rate
from .cuda import Device

REPEATS = 21
WARM_UP = 3


def device_throughput(
    device: Device, work: Callable[[], object], copy: Callable[[], object], n: int, itemsize: int
) -> dict[str, Any]:
    """Throughput of `work`, which reads and writes n elements of `itemsize` bytes and does not wait for the device.

    Returns
    -------
    dict : elements_per_s (median), bytes_per_s, spread (interquartile range / median of the times),
        copy_ratio (median time of `copy` / median of its own), copy_bytes_per_s, n
    """
    for _ in range(WARM_UP):
        work()
        copy()
    calls = {"work": work, "copy": copy}
    seconds = interleaved({name: partial(device.seconds, call) for name, call in calls.items()}, repeats=REPEATS)
    return {
        **rate(seconds["work"], n, itemsize),
        "copy_ratio": median(seconds["copy"]) / median(seconds["work"]),
        "copy_bytes_per_s": rate(seconds["copy"], n, itemsize)["bytes_per_s"],
        "n": n,
    }
