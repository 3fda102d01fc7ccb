"""Every number of elements gives the same outputs: 1 to 1,100, about powers of two, and 2^24 (plan `stress`)."""

from __future__ import annotations

import numpy as np

from ..inputs.special import POSITIONS
from .base import Check, Evidence, Finding
from .two_outputs import severity

SMALL = 1100
LARGE = (*(length for k in range(11, 24) for length in ((1 << k) - 1, 1 << k, (1 << k) + 1)), 1 << 24)
COMPILED = (1, 2, 7, 33, 1000, 1 << 20)  # where each is compiled


def run(evidence: Evidence) -> Finding:
    if not evidence.plan.stress:
        return Finding("not applicable", "asked by plan stress")
    positions = evidence.positions
    lengths = COMPILED if evidence.target.compiles_per_length else (*range(1, SMALL + 1), *LARGE)
    for length in lengths:
        places = np.arange(length) % POSITIONS
        got, usual = evidence.target.evaluate(evidence.fmt.name, positions.x[places]), positions.usual[places]
        for at in np.flatnonzero(positions.differ(got, usual)):
            x, pair = int(positions.x[places[at]]), (int(usual[at]), int(got[at]))
            error = [
                evidence.judge(positions.x[places[at : at + 1]], np.array([y], evidence.fmt.uint))[1] for y in pair
            ]
            if not np.abs(error).max() <= 1:
                detail = f"f({evidence.digits(x)}) = {evidence.digits(pair[0])}, but {evidence.digits(pair[1])}"
                return evidence.two_outputs(f"{detail} at index {at} in a call of {length:,}", x, pair)
        evidence.progress(1)
    return Finding("pass")


CHECK = Check(
    "lengths",
    "loops and threads take over at other lengths than those tried (openxla/xla#41122)",
    run,
    severity=severity,
    remedy=(
        "Compare the paths that take over at the length of the finding (vector body, tail, threads): they "
        "must compute the same formula."
    ),
)
