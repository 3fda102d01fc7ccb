"""Where the function moves, so do the results: no run of inputs shares one."""

import numpy as np

from ..buckets.flushing import is_subnormal
from ..formats import is_finite, is_zero, ordinals
from .base import Check, Evidence, Finding

LENGTH = 8  # inputs of a run that share one result
MOVED = 8  # floats that the function moves over such a run: half of it is error, whatever the result


# Zeros are for tail_zero; among subnormal numbers steps are coarse by nature.
def run(evidence: Evidence) -> Finding:
    fmt, dense = evidence.fmt, evidence.dense
    same = (dense.got[1:] == dense.got[:-1]) & (np.diff(dense.ordinal) == 1)
    same &= (is_finite(fmt, dense.got) & ~is_zero(fmt, dense.got) & ~is_subnormal(fmt, dense.want))[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
    first, last = edges[::2], edges[1::2]
    want = ordinals(fmt, dense.want)
    moved = np.abs(want[last] - want[first])
    bad = np.flatnonzero((last - first >= LENGTH - 1) & (moved >= MOVED))
    if not len(bad):
        return Finding("pass")
    worst = bad[np.argmax(moved[bad])]
    start, end = int(first[worst]), int(last[worst])
    far = start if abs(dense.error[start]) > abs(dense.error[end]) else end
    ends = " to ".join(evidence.digits(int(dense.x[at])) for at in (start, end))
    detail = f"{end - start + 1} inputs from {ends} give {evidence.digits(int(dense.got[far]))}"
    detail += f", where the function moves by {moved[worst]} floats; {len(bad)} such runs of those tried"
    return Finding("fail", detail, int(dense.x[far]), int(dense.got[far]), int(dense.want[far]))


CHECK = Check(
    "plateau",
    "tables and inputs rounded to 16 bits give stairs (llama.cpp#29252, tt-metal#56490)",
    run,
    remedy=(
        "Interpolate between the entries of a table, and convert the input to a narrower type at the end or not at all."
    ),
)
