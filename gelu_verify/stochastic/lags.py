"""The lag at which two masks are most alike, of all lags, by a Fourier transform."""

from __future__ import annotations

import numpy as np

MOST = 2  # lags, each way


def farthest(one: np.ndarray, other: np.ndarray, same: bool) -> list[int]:
    """Lags d for which one[i] and other[i + d] agree most, and least often: 0 <= d; not 0 where it is the `same` array.

    Both are differences from what they are in the mean. Only where to look: other elements must show that it is so.
    """
    size = 1 << int(len(one) + len(other) - 1).bit_length()
    product = np.fft.irfft(np.conj(np.fft.rfft(one, size)) * np.fft.rfft(other, size), size)
    lags = product[: len(other) - len(one) // 2].copy()
    if same:
        lags[0] = 0.0
    order = np.argsort(np.abs(lags))[::-1][:MOST]
    return [int(lag) for lag in order]
