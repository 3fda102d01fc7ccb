"""The approximation error: how far results are from the function that theirs approximates, `gelu` for `gelu_tanh`."""

from __future__ import annotations

import numpy as np

from ..formats import Format, is_finite, is_negative, ordinals, spacing
from ..truth.values import judge
from .table import LARGEST, NOISE, Facts


def without_overflow(fmt: Format, got: np.ndarray, want: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Errors of finite results that are too large for a double, as the largest double."""
    far = np.flatnonzero(np.isinf(error))
    far = far[is_finite(fmt, got[far]) & is_finite(fmt, want[far])]
    found = error.copy()
    found[far] = np.copysign(LARGEST, error[far])
    return found


def approximation(fmt: Format, exact: str, x: np.ndarray, got: np.ndarray) -> Facts:
    """Largest error against the function that is approximated, in ulp and absolute."""
    want, error, _ = judge(exact, fmt.name, x, got)
    absolute = np.abs(without_overflow(fmt, got, want, error))
    scored = np.flatnonzero(np.isfinite(absolute))
    if not len(scored):
        return Facts()
    return approximation_facts(fmt, exact, x[scored], want[scored], absolute[scored])


def approximation_facts(fmt: Format, exact: str, x: np.ndarray, want: np.ndarray, absolute: np.ndarray) -> Facts:
    """The largest of some errors |E| against the function that is approximated, in ulp and absolute."""
    x_ord, absolute = ordinals(fmt, x), np.where(absolute < NOISE, 0.0, absolute)
    with np.errstate(over="ignore"):
        distance = absolute * _unit(fmt, exact, x, want)
    worst, farthest = int(np.argmax(absolute)), int(np.argmax(distance))
    return Facts(
        approximation_ulp=(-float(absolute[worst]), int(x_ord[worst])),
        approximation_abs=(-min(float(distance[farthest]), LARGEST), int(x_ord[farthest])),
    )


def _unit(fmt: Format, exact: str, x: np.ndarray, want: np.ndarray) -> np.ndarray:
    """u(y), float64: that of the rounded y, or half of it where y was rounded up to a power of two.

    The definition is that of src/truth/judge.h, where y itself is known; here only its rounding and its error are.
    """
    unit, is_power = spacing(fmt, want)
    power = np.flatnonzero(is_power)
    error = judge(exact, fmt.name, x[power], want[power]).error
    grown = np.where(is_negative(fmt, want[power]), error < 0, error > 0)
    unit[power[grown]] /= 2
    return unit
