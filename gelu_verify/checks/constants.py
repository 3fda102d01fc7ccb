"""The numbers in the formula have the precision of the dtype: fitted to the errors, and named if they explain them.

All of them are fitted together, and every smaller set of them; the smallest set is named that explains the errors as
well as all do. One number alone may explain most of what two did, with a value that neither has.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, log10

import numpy as np

from ..formats import FORMATS, Format, get_format, to_float64
from ..functions import get_function
from ..functions.base import Constant
from .base import Check, Evidence, Finding
from .dense import dense_bits
from .variants import NONE, classify

FEW = 64  # points that must show it
ROUNDED = 1.25  # 2^-p: what rounding a number to the dtype may do to it, and some headroom
EXPLAINED = 1 / 3  # of the median error may be left where the fit predicts an error
VISIBLE = 1.0  # ulp
EVERY = 4  # of the dense points
ROUNDS = 8  # of reweighting: 5 are enough for three digits
WORSE = 1.25  # times the residual of all constants: fewer explain the errors as well
FARTHEST = 1 / 8  # relative change of a constant beyond which its effect is far from linear: another function, not it
LINEAR = 1e-5  # of the errors: effects are known to 9 digits, and to first order


def run(evidence: Evidence) -> Finding:
    function, fmt, dense = evidence.function, evidence.fmt, evidence.dense
    if not function.constants:
        return Finding("not applicable", f"{function.name} has no constants")
    every = np.arange(0, len(dense.x), EVERY)
    every = every[dense.ordinary[every]]
    if len(every) < FEW:
        return Finding("not applicable", "too few results that are finite and normal")
    error = dense.error[every]
    if np.abs(error).max() <= VISIBLE or classify(evidence) not in (function.name, NONE):
        return Finding("pass")
    effects = _effects(function.name, fmt.name)[:, every // EVERY] / _ulp(fmt, dense.want[every])
    scale = _noise(dense.ordinal[every], error)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs are anything
        chosen, off = _smallest(effects / scale, error / scale)
    shown = _explained(fmt, effects[chosen], error, off)
    if shown is None:
        return Finding("pass")
    pairs = [(k, float(e)) for k, e in zip(chosen, off, strict=True) if abs(e) > _rounding(fmt)]
    detail = " and ".join(_described(function.constants[k], e) for k, e in pairs)
    worst = every[int(np.argmax(np.where(shown, np.abs(error), 0)))]
    return Finding("fail", f"behaves as if {detail}", *dense.bits(int(worst)))


def _smallest(effects: np.ndarray, error: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The fewest constants that explain the errors about as well as all of them, and their relative changes."""
    fits = []
    for size in range(1, len(effects) + 1):
        for chosen in combinations(range(len(effects)), size):
            off = _fitted(effects[list(chosen)], error)
            fits.append((list(chosen), off, np.abs(error - _sum(off, effects[list(chosen)])).mean()))
    enough = max(WORSE * min(residual for _, _, residual in fits), LINEAR * np.abs(error).mean())
    size = next(len(chosen) for chosen, _, residual in fits if residual <= enough)
    best = min((fit for fit in fits if len(fit[0]) == size), key=lambda fit: fit[2])
    return best[0], best[1]


@cache
def _effects(function: str, dtype: str) -> np.ndarray:
    """Of every constant (rows) at the dense points that are looked at."""
    fmt = get_format(dtype)
    x = to_float64(fmt, dense_bits(function, dtype)[::EVERY])
    return np.array([constant.effect(x) for constant in get_function(function).constants])


def _ulp(fmt: Format, want: np.ndarray) -> np.ndarray:
    """u(want) of normal numbers."""
    _, exponent = np.frexp(to_float64(fmt, want))
    return np.asarray(np.ldexp(1.0, exponent - fmt.precision))


def _noise(ordinal: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Typical error about each point, that of its run, so that no region outweighs the others."""
    run = np.concatenate([[0], np.cumsum(np.diff(ordinal) > EVERY)])
    order = np.lexsort((np.abs(error), run))
    starts = np.searchsorted(run, np.arange(run[-1] + 1))
    counts = np.diff(np.append(starts, len(run)))
    medians = np.abs(error)[order][starts + counts // 2]
    return np.asarray(np.maximum(medians, 0.25)[run])


def _fitted(effects: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Relative changes of the constants with the least sum of absolute residuals."""
    weight = np.ones(len(error))
    off: np.ndarray = np.zeros(len(effects))
    for _ in range(ROUNDS):
        weighted = effects * weight
        normal = np.einsum("in,jn->ij", weighted, effects)
        off = np.linalg.lstsq(normal, np.einsum("in,n->i", weighted, error), rcond=None)[0]
        weight = 1 / np.maximum(np.abs(error - _sum(off, effects)), 1e-3)
    return off


def _sum(off: np.ndarray, effects: np.ndarray) -> np.ndarray:
    """off @ effects, without the threads of BLAS, which would wait for work beside all that follows."""
    return np.asarray(np.einsum("i,in->n", off, effects))


def _explained(fmt: Format, effects: np.ndarray, error: np.ndarray, off: np.ndarray) -> np.ndarray | None:
    """Where the changes are visible, if they are more than rounding and explain the errors there; else None."""
    predicted = _sum(off, effects)
    visible = np.abs(predicted) >= VISIBLE
    if not _rounding(fmt) < np.abs(off).max() <= FARTHEST or visible.sum() < FEW:
        return None
    left = np.median(np.abs(error - predicted)[visible])
    return visible if left <= EXPLAINED * np.median(np.abs(error[visible])) else None


def _rounding(fmt: Format) -> float:
    return ROUNDED * 2.0**-fmt.precision


def _described(constant: Constant, off: float) -> str:
    """The number that it is, as far as the fit tells, and where that is from if it is a rounded one."""
    exact = Fraction(constant.value)
    for fmt in sorted(FORMATS.values(), key=lambda fmt: -fmt.precision):
        rounded = fmt.fraction(fmt.round(exact)) / exact - 1
        if rounded and abs(float(rounded) / off - 1) < 0.02:
            return f"{constant.name} were {float(exact * (1 + rounded)):.17g}, its value in {fmt.name}"
    digits = max(ceil(-log10(abs(off))) + 2, 3)
    return f"{constant.name} were {float(exact) * (1 + off):.{min(digits, 17)}g}"


CHECK = Check(
    "constants",
    "truncated or swapped constants (transformers#9163, candle#1160, oneflow#9343)",
    run,
    remedy=(
        "Write every constant with 17 digits or as a hex float, and compute it in the dtype of the formula; "
        "the finding names the constant and the value that was found."
    ),
)
