"""Finite x gives a finite result wherever the true value rounds to one."""

import numpy as np

from ..formats import is_finite, is_nan
from ..inputs.special import large_bits
from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, count = evidence.fmt, evidence.table.total("nonfinite")
    nearest = evidence.witness("nonfinite")
    if nearest is not None:
        where = evidence.text(nearest[0])
        return evidence.shown(f"{count} finite inputs give inf or NaN, the nearest to zero is {where}", *nearest)
    x = large_bits(fmt)
    got, want, _ = evidence.judged(x)
    bad = np.flatnonzero(~is_finite(fmt, got) & (is_finite(fmt, want) | is_nan(fmt, got)))
    if len(bad):
        x_bits, got_bits = x[bad[-1]], int(got[bad[-1]])
        return evidence.shown(f"f({evidence.text(x_bits)}) = {evidence.text(got_bits)}", x_bits, got_bits)
    return Finding("pass")


CHECK = Check(
    "finite", "x*(1+erf) and x^3 overflow (candle#1408, llama.cpp#5243, pytorch#186286)", run, severity="defect"
)
