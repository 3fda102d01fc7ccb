"""f(x) is x/2 within 1 ulp for tiny |x|, subnormals among them."""

import numpy as np

from ..points import tiny_bits
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, function = evidence.fmt, evidence.function
    if function.family != "gelu" or function.gradient_of:
        return Finding("not applicable", f"{function.name} does not start as x/2")
    x = np.array(tiny_bits(fmt), dtype=fmt.uint)
    got, want, error = evidence.judged(x)
    bad = np.flatnonzero(~(np.abs(error) <= 1))
    if not len(bad):
        return Finding("pass")
    smallest_normal = fmt.uint.type(1 << (fmt.precision - 1))
    magnitude = fmt.uint.type(fmt.sign_mask - 1)
    flushed = ((got[bad] & magnitude) == 0) & ((want[bad] & magnitude) < smallest_normal)
    worst = int(bad[0]) if flushed.all() else int(bad[~flushed][0])
    said = f"f({evidence.text(int(x[worst]))}) = {evidence.text(int(got[worst]))} is off by {abs(error[worst]):.3g} ulp"
    if flushed.all():
        said += "; only subnormal results are lost (flush to zero)"
    return Finding("fail", said, int(x[worst]), int(got[worst]), int(want[worst]))


CHECK = Check("half_slope", "x instead of x/2, or noise, near zero (tt-metal#56616, ncnn#6979, llama.cpp#29252)", run)
