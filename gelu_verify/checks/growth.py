"""Half a million calls leave as much memory, as many open files and threads as the first thousands did."""

from __future__ import annotations

import numpy as np

from .base import Check, Evidence, Finding

LEAST = {"resident memory": 4 << 20, "private data": 16 << 20, "open files": 16, "threads": 16}  # growth that counts
WARM = 0.25  # of the calls: caches fill, pools grow
PARTS = 4  # of the rest; in each it grows by at least EVEN of what it should by the whole
EVEN = 0.5


def run(evidence: Evidence) -> Finding:
    if not evidence.plan.stress:
        return Finding("not applicable", "asked by plan stress")
    endurance = evidence.endurance
    calls = np.array(endurance.made)
    for name, least in LEAST.items():
        by = _growth(calls, np.array(endurance.held.get(name, ())), least)
        if by is not None:
            each = f"{by:,.0f} bytes" if name in ("resident memory", "private data") else f"{by:.3g}"
            return Finding("fail", f"{name} grows by {each} a call, in {calls[-1]:,} calls")
    return Finding("pass")


def _growth(calls: np.ndarray, held: np.ndarray, least: int) -> float | None:
    """How much a call adds, where that is steady and adds up to `least`; else None."""
    if len(held) < 2 * PARTS:
        return None
    warm = calls >= WARM * calls[-1]
    calls, held = calls[warm], held[warm]
    total, span = int(held[-1] - held[0]), int(calls[-1] - calls[0])
    if total < least:
        return None
    ends = np.interp(np.linspace(calls[0], calls[-1], PARTS + 1), calls, held)
    return total / span if (np.diff(ends) >= EVEN * total / PARTS).all() else None


CHECK = Check(
    "growth",
    "a buffer, a file or a thread is kept for every call",
    run,
    severity="defect",
    remedy=(
        "Free each buffer, file and thread in the call that makes it, or make it once; the finding says what "
        "grows, and by how much per call."
    ),
)
