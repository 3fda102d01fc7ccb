"""For tiny |x|, subnormals among them, f(x) is f'(0) x within 1 ulp, and a derivative is f'(0): x/2, 1/2 of a GELU."""

import numpy as np

from ..buckets.flushing import flushed
from ..functions import Function, get_function
from ..inputs.special import tiny_bits
from .base import Check, Evidence, Finding
from .flushing import flushes


def run(evidence: Evidence) -> Finding:
    fmt, function = evidence.fmt, evidence.function
    if slope_at_zero(function) is None:
        return Finding("not applicable", f"{function.name} is not x/2 near zero")
    x = np.array(tiny_bits(fmt), dtype=fmt.uint)
    got, want, error = evidence.judged(x)
    lost = flushed(fmt, x, got, want) & (function.is_zero_at_zero and flushes(evidence) is not None)
    bad = np.flatnonzero(~(np.abs(error) <= 1) & ~lost)
    if not len(bad):
        return Finding("pass", "only subnormal numbers are lost (flush to zero)" if lost.any() else "")
    worst = int(bad[0])
    detail = f"f({evidence.digits(int(x[worst]))}) = {evidence.digits(int(got[worst]))}"
    detail += f" is off by {abs(error[worst]):.9g} ulp"
    return Finding("fail", detail, int(x[worst]), int(got[worst]), int(want[worst]))


def slope_at_zero(function: Function) -> str | None:
    """As stated of a function, or of what it is the derivative of."""
    return (get_function(function.gradient_of) if function.gradient_of else function).slope_at_zero


CHECK = Check(
    "half_slope",
    "x instead of x/2, or noise, near zero (tt-metal#56616, ncnn#6979, llama.cpp#29252)",
    run,
    remedy=(
        "Let the factor of x tend to exactly 1/2 at 0: write `0.5 * x * (1 + erf(...))`, and do not look up "
        "or quantize the factor near 0."
    ),
)
