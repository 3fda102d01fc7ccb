"""A backward pass is linear in the gradient that comes in, dy: bit for bit for 2, -1/2, 0 and other powers of two.

It is asked for 2^-6 <= |x| <= 8, where nothing on the way to an ordinary result overflows, and in 16 bits to one
float: there a small term may be subnormal. Where no dy can be given, nothing is asked.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..formats import is_zero, to_float64
from ..inputs.special import POSITIONS
from ..targets import incoming
from ..work.packing import array_of_text
from .base import Check, Evidence, Finding

FEW = 3  # random powers of two, and so many of different ones beside each other
LARGEST = 6  # their exponent
NEAREST, FARTHEST = 2.0**-6, 8.0  # |x|
MARGIN = 2.0**6  # from the ends of the normal numbers, within which nothing underflows or overflows


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    if not evidence.function.gradient_of:
        return Finding("not applicable", f"{evidence.function.name} is not a derivative")
    seconds = np.array(evidence.target.given, fmt.uint)
    if not (_is_ordinary(evidence, seconds) | is_zero(fmt, seconds)).all():
        return Finding("not applicable", f"products with this {evidence.target.second} overflow or underflow")
    x = np.resize(evidence.positions.x, evidence.length if evidence.target.compiles_per_length else POSITIONS)
    powers = (2.0 ** np.random.default_rng(evidence.plan.seed).integers(-LARGEST, LARGEST + 1, 2 * FEW)).tolist()
    gradients = [[1.0], [2.0], [-0.5], [0.0], *([each] for each in powers[:FEW]), [1.0, *powers]]
    answered = evidence.target.applied(len(gradients), incoming.outputs, fmt.name, x.tolist(), gradients)
    if answered[0] is None or answered[1] is None:
        return Finding("not applicable", "no incoming gradient can be given")
    ones = array_of_text(answered[0], fmt.uint)
    if not evidence.target.executed:  # of several executions these are not the worst outputs
        evidence.others.add_call(x, ones, f"at index {{}} in a call of {len(x)}")
    for values, text in zip(gradients[1:], answered[1:], strict=True):
        if text is not None:
            got, dy = array_of_text(text, fmt.uint), np.resize(values, len(x))
            wrong = np.flatnonzero(_is_not_linear(evidence, x, ones, got, dy))
            if len(wrong):
                return _found(evidence, int(x[wrong[0]]), int(ones[wrong[0]]), int(got[wrong[0]]), float(dy[wrong[0]]))
    return Finding("pass")


def _is_not_linear(evidence: Evidence, x: np.ndarray, ones: np.ndarray, got: np.ndarray, dy: np.ndarray) -> np.ndarray:
    fmt = evidence.fmt
    one, result, value = (np.nan_to_num(to_float64(fmt, bits), nan=np.inf) for bits in (ones, got, x))
    inside = (np.abs(value) >= NEAREST) & (np.abs(value) <= FARTHEST) & _is_ordinary(evidence, ones)
    due = np.where(inside, one, 0.0) * dy
    allowed = np.abs(due) * 2.0 ** (1 - fmt.precision) if fmt.width <= 16 else 0.0
    return np.asarray(inside & ~(np.abs(result - due) <= allowed))


def _is_ordinary(evidence: Evidence, bits: np.ndarray) -> np.ndarray:
    """Whether numbers are so far from the ends that nothing overflows or underflows."""
    fmt = evidence.fmt
    size = np.abs(np.nan_to_num(to_float64(fmt, bits), nan=np.inf))
    return np.asarray((size >= 2.0**fmt.emin * MARGIN) & (size <= float(fmt.fraction(fmt.max_finite)) / MARGIN))


def _found(evidence: Evidence, x: int, one: int, got: int, dy: float) -> Finding:
    fmt = evidence.fmt
    due = fmt.round(fmt.fraction(one) * Fraction(dy))
    detail = f"with {dy:g} as the incoming gradient it gives {evidence.digits(got)} at x = {evidence.digits(x)}, "
    detail += f"and with 1 {evidence.digits(one)}: it is not linear in it"
    return Finding("fail", detail, x, got, due)


CHECK = Check(
    "incoming_gradient",
    "a backward that ignores the gradient of the result, or takes its first element for all",
    run,
    severity="defect",
    remedy="Multiply the derivative by dy, element by element, as the last step.",
)
