"""Finite x gives a finite result where the true value rounds to one, NaN outside of the domain, infinity at a pole."""

import numpy as np

from ..formats import Format, is_finite
from ..functions import Function
from ..functions.limits import POLES
from ..inputs.special import large_bits
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, count = evidence.fmt, evidence.table.total("nonfinite")
    nearest = evidence.witness("nonfinite")
    if nearest is not None:
        want = evidence.judge(*(np.array([bits], fmt.uint) for bits in nearest))[0]
        due = "inf or NaN" if is_finite(fmt, want)[0] else f"something else than {evidence.text(int(want[0]))}"
        where = evidence.text(nearest[0])
        return evidence.shown(f"{count} finite inputs give {due}, the nearest to zero is {where}", nearest)
    x = [*large_bits(fmt), *poles(evidence.function, fmt)]
    got, want, error = evidence.judged(x)
    bad = np.flatnonzero(np.isinf(error) & ~(is_finite(fmt, got) & is_finite(fmt, want)))
    if len(bad):
        x_bits, got_bits = x[bad[-1]], int(got[bad[-1]])
        return evidence.shown(f"f({evidence.text(x_bits)}) = {evidence.text(got_bits)}", (x_bits, got_bits))
    return Finding("pass")


def poles(function: Function, fmt: Format) -> list[int]:
    """Bits of the finite inputs at which the function is infinite."""
    found = {fmt.round(x) for x in function.points if fmt.fraction(fmt.round(x)) == x} | {fmt.sign_mask, 0}
    return sorted(bits for bits in found if function.limit(fmt, bits) in POLES)


CHECK = Check(
    "finite",
    "x*(1+erf) and x^3 overflow (candle#1408, llama.cpp#5243, pytorch#186286)",
    run,
    severity="defect",
    of_inputs_tried=True,
    remedy=(
        "Halve before the product, `0.5 * x * (1 + erf)`: `x * (1 + erf)` overflows for the largest x. Clamp x before "
        "a power or an exponential, or choose a form that saturates: `x * sigmoid(u)` or `erfc`."
    ),
)
