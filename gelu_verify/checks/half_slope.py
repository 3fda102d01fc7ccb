"""f(x) is x/2 within 1 ulp for tiny |x|, subnormals among them; a derivative is 1/2."""

import numpy as np

from ..inputs.special import tiny_bits
from ._flush import flushed, flushes
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, function = evidence.fmt, evidence.function
    if function.family != "gelu":
        return Finding("not applicable", f"{function.name} is not x/2 near zero")
    x = np.array(tiny_bits(fmt), dtype=fmt.uint)
    got, want, error = evidence.judged(x)
    lost = flushed(fmt, x, got, want) & (function.at_zero == "x" and flushes(evidence) is not None)
    bad = np.flatnonzero(~(np.abs(error) <= 1) & ~lost)
    if not len(bad):
        return Finding("pass", "only subnormal numbers are lost (flush to zero)" if lost.any() else "")
    worst = int(bad[0])
    said = f"f({evidence.told(int(x[worst]))}) = {evidence.told(int(got[worst]))} is off by {abs(error[worst]):.9g} ulp"
    return Finding("fail", said, int(x[worst]), int(got[worst]), int(want[worst]))


CHECK = Check("half_slope", "x instead of x/2, or noise, near zero (tt-metal#56616, ncnn#6979, llama.cpp#29252)", run)
