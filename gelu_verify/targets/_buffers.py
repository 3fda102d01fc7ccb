"""Memory that we lend to a target for its output."""

from __future__ import annotations

import numpy as np


def output_like(x_bits: np.ndarray) -> np.ndarray:
    """Room for as many outputs as `x_bits` has inputs."""
    return np.empty_like(x_bits)
