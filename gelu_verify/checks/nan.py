"""NaN in, NaN out, whatever its sign and payload: all of them in 16 bits."""

import numpy as np

from ..formats import is_nan
from ..points import both_signs, nan_magnitudes
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    x = np.array(both_signs(fmt, set(nan_magnitudes(fmt))), dtype=fmt.uint)
    got = evidence.probe(x)
    if fmt.width <= 16:
        every = np.array(both_signs(fmt, set(range(fmt.infinity + 1, fmt.sign_mask))), dtype=fmt.uint)
        x, got = np.append(x, every), np.append(got, evidence.call(every))
    lost = np.flatnonzero(~is_nan(fmt, got))
    if not len(lost):
        return Finding("pass", "", int(x[0]), int(got[0]), fmt.nan)
    x_bits, got_bits = int(x[lost[0]]), int(got[lost[0]])
    detail = (
        f"f(NaN with bits {fmt.bits_text(x_bits)}) = {evidence.text(got_bits)}; so for {len(lost)} of {len(x)} NaNs"
    )
    return Finding("fail", detail, x_bits, got_bits, fmt.nan)


CHECK = Check("nan", "clamps by min and max swallow NaN (openvino#35649, openvino#35839, opencv#25147)", run)
