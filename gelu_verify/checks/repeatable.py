"""An equal call gives equal bits: the next time, and from several threads where the target says that it may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..inputs.special import POSITIONS
from ..targets.extra_outputs import differences
from ._endurance import EACH, calls_at_once
from ._endurance import THREADS as STRESSED
from .base import Check, Evidence, Finding

TIMES = 4  # equal calls, beside the long ones
THREADS = 4


def run(evidence: Evidence) -> Finding:
    seen, short = evidence.positions, not evidence.target.compiles_per_length
    cycle = seen.x[seen.places % POSITIONS]
    repeats = [(cycle, seen.first, seen.again)]
    if short:
        answers = [evidence.evaluate(seen.x) for _ in range(TIMES)]
        evidence.others.give(seen.x, answers[0], f"at index {{}} in a call of {len(seen.x)}")
        repeats += [(seen.x, answers[0], answer) for answer in answers[1:]]
    for x, once, again in repeats:
        if (places := np.flatnonzero(seen.differ(once, again))).size:
            return _differs(evidence, int(places[0]), len(places), x, once, again, "an equal call")
    found = _threads(evidence, cycle) if evidence.target.safe_in_threads else Finding("pass")
    return _endured(evidence) if evidence.plan.stress and found.verdict == "pass" else found


def _endured(evidence: Evidence) -> Finding:
    """Very many calls in a row, and from many threads."""
    seen = evidence.endurance
    if seen.failure is not None:
        raise seen.failure
    if seen.first is not None:
        call, _, x, once, again, count = seen.first
        said = f"f({evidence.told(x)}) = {evidence.told(once)}, but {evidence.told(again)} in call {call:,}"
        said += f" of equal calls; differing outputs: {count}; differing calls: {seen.different:,} of {seen.made[-1]:,}"
        return evidence.two_answers(said, x, (once, again))
    if not evidence.target.safe_in_threads:
        return Finding("pass")
    found = evidence.target.apply(calls_at_once, evidence.fmt.name, evidence.function.name)
    if found["first"] is None:
        return Finding("pass")
    _, x, once, again, count = found["first"]
    said = f"f({evidence.told(x)}) = {evidence.told(once)}, but {evidence.told(again)} in {STRESSED} threads at once"
    said += f"; differing outputs: {count}; differing calls: {found['different']:,} of {STRESSED * EACH:,}"
    return evidence.two_answers(said, x, (once, again))


def _threads(evidence: Evidence, cycle: np.ndarray) -> Finding:
    """Calls at the same time, each with inputs of its own order, against the same calls one after the other."""
    seen = evidence.positions
    calls = [np.roll(cycle, 31 * k)[: len(cycle) // THREADS | 1] for k in range(THREADS)]
    alone = [evidence.evaluate(x) for x in calls]
    for x, got in zip(calls, alone, strict=True):
        evidence.others.give(x, got, f"at index {{}} in a call of {len(x)}")
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(evidence.evaluate, calls))
    for x, once, again in zip(calls, alone, together, strict=True):
        if (places := np.flatnonzero(seen.differ(once, again))).size:
            return _differs(evidence, int(places[0]), len(places), x, once, again, f"{THREADS} threads at once")
    return Finding("pass")


def _differs(
    evidence: Evidence, place: int, count: int, x: np.ndarray, once: np.ndarray, again: np.ndarray, by: str
) -> Finding:
    got, x_bits = (int(once[place]), int(again[place])), int(x[place])
    said = f"f({evidence.told(x_bits)}) = {evidence.told(got[0])}, then {evidence.told(got[1])} in {by}"
    where = f"at index {{}} in a call of {len(x)}"
    evidence.others.differences += differences(evidence.fmt, x, once, again, (where, f"{where}, {by}"))
    return evidence.two_answers(f"{said}; differing outputs: {count} of {len(x)}", x_bits, got)


CHECK = Check("repeatable", "the same call, other bits: races, uninitialized memory (llama.cpp#10172, ggml#748)", run)
