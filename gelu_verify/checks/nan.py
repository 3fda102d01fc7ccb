"""NaN in, NaN out, whatever its sign and payload."""

from ..points import both_signs, nan_magnitudes
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    x = both_signs(fmt, set(nan_magnitudes(fmt)))
    got = evidence.probe(x)
    for x_bits, got_bits in zip(x, map(int, got), strict=True):
        if not fmt.is_nan(got_bits):
            detail = f"f(NaN with bits {fmt.bits_text(x_bits)}) = {evidence.text(got_bits)}"
            return Finding("fail", detail, x_bits, got_bits, fmt.nan)
    return Finding("pass", "", x[0], int(got[0]), fmt.nan)


CHECK = Check("nan", "clamps by min and max swallow NaN (openvino#35649, openvino#35839, opencv#25147)", run)
