"""Subnormal inputs and results are kept, not flushed to zero: a finding of its own, so that it hides no other."""

import numpy as np

from ..buckets.flushing import is_subnormal
from .base import Check, Evidence, Finding
from .flushing import flushes

INPUTS, RESULTS = "inputs", "results"


def run(evidence: Evidence) -> Finding:
    lost = flushes(evidence)
    if lost is None:
        return Finding("pass")
    x, got, want = lost
    kind = INPUTS if is_subnormal(evidence.fmt, np.array([x], evidence.fmt.uint))[0] else RESULTS
    got_text, want_text = evidence.texts(got, want)
    detail = f"f({evidence.text(x)}) = {got_text}, must be {want_text}"
    return Finding("fail", f"{detail}: subnormal {kind} are flushed to zero", x, got, want, kind)


CHECK = Check(
    "subnormals",
    "flush to zero: 8.4e6 ulp at 2.3e-38 (tt-metal#45920, tt-metal#56729)",
    run,
    severity="convention",
    of_inputs_tried=True,
)
