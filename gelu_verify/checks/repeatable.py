"""An equal call gives equal bits: the next time, and from several threads where the target says that it may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..inputs.special import POSITIONS
from ..targets.extra_outputs import Differences, differences
from .base import Check, Evidence, Finding
from .endurance import EACH, calls_at_once, calls_together
from .endurance import THREADS as STRESSED

TIMES = 4  # equal calls, beside the long ones
THREADS = 4
ROUNDS = 8  # how often each of them makes a call that is to overlap


def run(evidence: Evidence) -> Finding:
    positions, short = evidence.positions, not evidence.target.compiles_per_length
    cycle = positions.x[positions.places % POSITIONS]
    repeats = [(cycle, positions.first, positions.again)]
    if short:
        outputs = [evidence.evaluate(positions.x) for _ in range(TIMES)]
        evidence.others.add_call(positions.x, outputs[0], f"at index {{}} in a call of {len(positions.x)}")
        repeats += [(positions.x, outputs[0], output) for output in outputs[1:]]
    for x, once, again in repeats:
        if (places := np.flatnonzero(positions.differ(once, again))).size:
            return _differs(evidence, int(places[0]), len(places), x, once, again, "an equal call")
    if evidence.few_calls:
        return Finding("pass", "no calls at once were compared: nobody asked for this kernel")
    found = _threads(evidence, cycle) if evidence.target.safe_in_threads else Finding("pass")
    return _endured(evidence) if evidence.plan.stress and found.status == "pass" else found


def _endured(evidence: Evidence) -> Finding:
    """Very many calls in a row, and from many threads."""
    endurance = evidence.endurance
    if endurance.failure is not None:
        raise endurance.failure
    if endurance.first is not None:
        call, _, x, once, again, count = endurance.first
        detail = f"f({evidence.digits(x)}) = {evidence.digits(once)}, but {evidence.digits(again)} in call {call:,}"
        detail += f" of equal calls; differing outputs: {count}; "
        detail += f"differing calls: {endurance.different:,} of {endurance.made[-1]:,}"
        return evidence.two_outputs(detail, x, (once, again))
    if not evidence.target.safe_in_threads:
        return Finding("pass")
    found = evidence.target.apply(calls_at_once, evidence.fmt.name, evidence.function.name)
    if found["first"] is None:
        return Finding("pass")
    _, x, once, again, count = found["first"]
    detail = (
        f"f({evidence.digits(x)}) = {evidence.digits(once)}, but {evidence.digits(again)} in {STRESSED} threads at once"
    )
    detail += f"; differing outputs: {count}; differing calls: {found['different']:,} of {STRESSED * EACH:,}"
    return evidence.two_outputs(detail, x, (once, again))


def _threads(evidence: Evidence, cycle: np.ndarray) -> Finding:
    """Calls at the same time, each with inputs of its own order, against the same calls one after the other."""
    positions = evidence.positions
    calls = [np.roll(cycle, 31 * k)[: len(cycle) // THREADS | 1] for k in range(THREADS)]
    alone = [evidence.evaluate(x) for x in calls]
    for x, got in zip(calls, alone, strict=True):
        evidence.others.add_call(x, got, f"at index {{}} in a call of {len(x)}")
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(evidence.evaluate, calls))
    for x, once, again in zip(calls, alone, together, strict=True):
        if (places := np.flatnonzero(positions.differ(once, again))).size:
            return _differs(evidence, int(places[0]), len(places), x, once, again, f"{THREADS} threads at once")
    return _long_calls(evidence)


def _long_calls(evidence: Evidence) -> Finding:
    """The same with calls that are long enough to overlap, again and again."""
    length = evidence.length if evidence.target.compiles_per_length else None
    asked = evidence.fmt.name, evidence.function.name, length, ROUNDS, THREADS
    found = evidence.target.applied((ROUNDS + 1) * THREADS + 2, calls_together, *asked)
    if found is None:
        return Finding("pass")
    at, x, once, again, count, length = found
    where = f"at index {{}} in a call of {length}"
    each, first, second = np.array([[x], [once], [again]], evidence.fmt.uint)
    different = Differences(each, first, second, np.array([at]), (where, f"{where}, {THREADS} threads at once"))
    evidence.others.differences.append(different)
    detail = f"f({evidence.digits(x)}) = {evidence.digits(once)}, then {evidence.digits(again)} in {THREADS} threads "
    return evidence.two_outputs(f"{detail}at once; differing outputs: {count} of {length}", x, (once, again))


def _differs(
    evidence: Evidence, place: int, count: int, x: np.ndarray, once: np.ndarray, again: np.ndarray, by: str
) -> Finding:
    got, x_bits = (int(once[place]), int(again[place])), int(x[place])
    detail = f"f({evidence.digits(x_bits)}) = {evidence.digits(got[0])}, then {evidence.digits(got[1])} in {by}"
    where = f"at index {{}} in a call of {len(x)}"
    evidence.others.differences += differences(evidence.fmt, x, once, again, (where, f"{where}, {by}"))
    return evidence.two_outputs(f"{detail}; differing outputs: {count} of {len(x)}", x_bits, got)


CHECK = Check(
    "repeatable",
    "the same call, other bits: races, uninitialized memory (llama.cpp#10172, ggml#748)",
    run,
    severity="defect",
    remedy=(
        "Initialize every buffer, and share no scratch memory between threads; a memory checker and a thread "
        "sanitizer find both."
    ),
)
