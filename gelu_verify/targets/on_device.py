"""What GPU frameworks share: a device that is there, and time by its own clock, in the primary context that all use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TargetUnavailable
from ..formats import get_format
from ..gpu import cuda
from ..gpu import timing as cuda_timing
from .library import LibraryTarget

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
            return cuda_timing.measured(
                device,
                lambda: self.compute(*arguments),
                lambda: device.copy(b, a, x_bits.nbytes),
                x_bits.size,
                get_format(dtype).width // 8,
            )
