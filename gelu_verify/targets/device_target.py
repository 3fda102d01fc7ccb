"""A library's path on a CUDA device: timed by the device's own clock, in the primary context that all libraries use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import TargetUnavailable
from ..gpu import cuda
from ..gpu.timing import device_throughput
from .library_target import LibraryTarget

TIMED_BYTES = 1 << 28  # of the input: beyond every cache


@dataclass(frozen=True, kw_only=True)
class DeviceTarget(LibraryTarget):
    """A path that starts its work in the legacy default stream, which events of ours wait for."""

    def own_throughput(self, dtype: str, inputs: np.ndarray) -> dict[str, Any]:
        """By device events, in turns with a copy; nothing where PyCUDA is not there to time."""
        try:
            device = cuda.device()
        except TargetUnavailable:
            return {}
        x_bits = np.resize(inputs, TIMED_BYTES // inputs.itemsize)
        a, b = device.alloc(x_bits.nbytes), device.alloc(x_bits.nbytes)
        with self.arrays.session(dtype):
            arguments = self.prepare(self.arrays.from_bits(dtype, x_bits))
            work, copy = partial(self.compute, *arguments), partial(device.copy, b, a, x_bits.nbytes)
            return device_throughput(device, work, copy, x_bits.size, x_bits.itemsize)
