"""How fast something is on a device, by the device's own clock, interleaved with a copy of the same bytes there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .cuda import Device

REPEATS = 21
WARM_UP = 3


def measured(
    device: Device, work: Callable[[], object], copy: Callable[[], object], n: int, nbytes: int
) -> dict[str, float]:
    """Throughput of `work`, which reads and writes n elements of `nbytes` and does not wait for the device.

    Returns
    -------
    dict : elements_per_s (median), bytes_per_s, spread (interquartile range / median of the times),
        copy_ratio (median time of `copy` / median of its own), copy_bytes_per_s, n
    """
    for _ in range(WARM_UP):
        work()
        copy()
    times = np.array([[device.seconds(call) for call in (work, copy)] for _ in range(REPEATS)])
    low, median, high = np.percentile(times[:, 0], (25, 50, 75))
    copied = float(np.median(times[:, 1]))
    return {
        "elements_per_s": float(n / median),
        "bytes_per_s": float(2 * n * nbytes / median),
        "spread": float((high - low) / median),
        "copy_ratio": float(copied / median),
        "copy_bytes_per_s": 2 * n * nbytes / copied,
        "n": n,
    }
