"""For large |x| the result is the limit to the last float: x, 1, 0, or the value at that infinity."""

import numpy as np

from ..inputs.special import large_bits
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, magnitude = evidence.fmt, evidence.fmt.uint.type(evidence.fmt.sign_mask - 1)
    x = np.array(large_bits(fmt), dtype=fmt.uint)
    got, want, error = evidence.judged(x)
    size = want & magnitude
    limits = [evidence.function.limit_bits(fmt, fmt.infinity | int(sign)) for sign in x & fmt.uint.type(fmt.sign_mask)]
    at_limit = (want == x) | (size == 0) | (size == fmt.uint.type(fmt.one)) | (want == np.array(limits, fmt.uint))
    bad = np.flatnonzero(at_limit & np.isfinite(error) & (np.abs(error) > 1))
    if not len(bad):
        return Finding("pass")
    first = int(bad[-1])  # the largest come first
    detail = f"f({evidence.digits(int(x[first]))}) = {evidence.digits(int(got[first]))}, the limit is reached there"
    return Finding("fail", detail, int(x[first]), int(got[first]), int(want[first]))


CHECK = Check(
    "saturation",
    "tanh that ends at 1.044: GELU(-100) = 2.2 (ncnn#6978, opencv#28836, fairseq#2235)",
    run,
    remedy=(
        "For large |x| return x, 0 or 1 by a comparison, or clamp the argument of tanh, erf or exp where it saturates."
    ),
)
