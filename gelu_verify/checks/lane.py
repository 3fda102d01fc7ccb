"""The value of an input does not depend on where it stands: index, lane, neighbours, length, address, which call it is.

Every output that was asked for beside the plan is looked at here: those of this check, of the other checks, of the
calls that were timed, and second outputs that a call gave. Where an input has two outputs, both are judged; where an
output is not faithful, its input is called again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..formats import is_finite, is_zero, ordinals
from ..inputs.special import POSITIONS
from ..targets import short_calls
from ..targets.extra_outputs import CallOutputs, Differences, differ, differences
from ..truth.values import reference_bits
from .base import Check, Evidence, Finding
from .positions import STRIDE
from .two_outputs import TwoOutputs, severity

LANES = (2, 4, 8, 16, 32, 64)
POWERS = range(7, 17)  # of two: calls of one less, as many, and one more
ENDS = 64  # elements at the end of a long call, which a loop that is unrolled may treat by themselves
LEAST = 1 << 12  # inputs: calls are up to so long, whatever the plan
FEW_LENGTHS = ((1, 4), (17, 17))  # and how many inputs lie between the first ones of two calls
THE_PLAN = "in the calls of the plan"


def run(evidence: Evidence) -> Finding:
    positions = evidence.positions
    if positions.differ(positions.first, positions.again).any():
        return Finding("not applicable", "equal calls differ: see repeatable")
    for each in _calls(evidence):
        evidence.others.differences.extend(each)
    evidence.others.differences.extend(_asked_again(evidence))
    found = TwoOutputs.judged(evidence)
    if found is None:
        return Finding("pass", _not_tried(evidence))
    worst = found.worst(evidence.fmt)
    detail = _detail(evidence, found, worst)
    if found.faithful[:, worst].all():
        return Finding("pass", f"{detail}; both are faithful")
    detail = f"the result depends on the position in the array, on the number of elements, or on the call: {detail}"
    return evidence.two_outputs(detail, int(found.x[worst]), (int(found.got[0, worst]), int(found.got[1, worst])))


def _detail(evidence: Evidence, found: TwoOutputs, worst: int) -> str:
    outputs = (
        f"{evidence.digits(int(got))} {where} ({_ulps(error)})"
        for got, where, error in zip(found.got[:, worst], found.places(worst), found.error[:, worst], strict=True)
    )
    return f"{evidence.function.name}({evidence.digits(int(found.x[worst]))}) = {', but '.join(outputs)}"


def _ulps(error: float) -> str:
    return f"off by {error:.3g} ulp" if np.isfinite(error) else "wrong"


def _not_tried(evidence: Evidence) -> str:
    if not evidence.target.compiles_per_length:
        return ""
    lengths = ", ".join(str(n) for n, _ in FEW_LENGTHS)
    return (
        f"only calls of {lengths} and {evidence.length} elements were compared: this library compiles for each length"
    )


# ---- calls whose outputs are compared ------------------------------------------------------------


def _calls(evidence: Evidence) -> Iterator[list[Differences]]:
    """What differs in long calls, in the sweep, in short ones, in those of other lengths."""
    evidence.others.add_call(evidence.positions.x, evidence.positions.usual, "in most places of one call")
    yield from _in_long_calls(evidence)
    yield from _in_the_sweep(evidence)
    if evidence.target.compiles_per_length:
        yield from _of_few_lengths(evidence)
    else:
        yield from _in_short_calls(evidence)
        yield from _of_other_lengths(evidence)


def _in_long_calls(evidence: Evidence) -> Iterator[list[Differences]]:
    """Among outputs of one call, and of one in another order."""
    positions, size = evidence.positions, len(evidence.positions.first)
    for got, stride, also in ((positions.first, 1, ""), (positions.other_order, STRIDE, ", beside other neighbours")):
        inputs = positions.places * stride % POSITIONS
        usual = positions.usual[inputs]
        places = np.flatnonzero(differ(evidence.fmt, usual, got))
        if len(places):
            where = f"at index {{}} in a call of {size}{also} (places affected: {_pattern(places, size)})"
            yield differences(evidence.fmt, positions.x[inputs], usual, got, ("at most indices", where))


def _in_the_sweep(evidence: Evidence) -> Iterator[list[Differences]]:
    """Against what the sweep saw, where inputs of all kinds stood beside each other."""
    positions = evidence.positions
    sampled, got = evidence.table.samples.T.astype(evidence.fmt.uint)
    if len(sampled):
        place = np.minimum(np.searchsorted(sampled, positions.x), len(sampled) - 1)
        both = sampled[place] == positions.x
        where = (THE_PLAN, f"at most indices of a call of {len(positions.first)}")
        yield differences(evidence.fmt, positions.x[both], got[place[both]], positions.usual[both], where)


def _in_short_calls(evidence: Evidence) -> Iterator[list[Differences]]:
    """Each length from 1 to 64, flush with the guards of an isolated target; then at several addresses."""
    fmt, positions = evidence.fmt, evidence.positions
    order, ordinary = _ordinary_first(evidence)
    x, usual, most = positions.x[order], positions.usual[order], f"at most indices of a call of {len(positions.first)}"
    twice, start = np.resize(np.arange(ordinary), ordinary + short_calls.LENGTHS), 0
    for n in range(1, short_calls.LENGTHS + 1):  # first: a failure says with which inputs
        part = twice[start : start + n]
        yield _lent(evidence, x[part], usual[part])
        start = (start + n) % ordinary
    calls, inputs, ends = short_calls.schedule(fmt.width // 8, len(x), ordinary)
    with evidence.listening():
        answered = evidence.target.applied(len(calls), short_calls.outputs, fmt.name, x.tolist(), ordinary)
    got = short_calls.outputs_from_text(fmt.name, answered)
    bad = np.flatnonzero(differ(fmt, usual[inputs], got))
    for index in np.unique(np.searchsorted(ends, bad, side="right")):
        call, whole = calls[index], slice(ends[index] - len(calls[index].inputs), ends[index])
        yield differences(fmt, x[call.inputs], usual[call.inputs], got[whole], (most, call.where))


def _of_few_lengths(evidence: Evidence) -> Iterator[list[Differences]]:
    """Where each length is compiled: one element, of every fourth input, and a vector with a remainder, of all."""
    positions = evidence.positions
    for n, step in FEW_LENGTHS:
        for start in range(0, POSITIONS, step):
            part = np.arange(start, start + n) % POSITIONS
            yield _lent(evidence, positions.x[part], positions.usual[part])


def _of_other_lengths(evidence: Evidence) -> Iterator[list[Differences]]:
    """Calls around powers of two, up to the size of the plan; the inputs nearest to 1 and -1 are at their ends."""
    positions, longest = evidence.positions, max(evidence.plan.size + 1, LEAST + 1)
    lengths = [n for k in POWERS for n in ((1 << k) + 1, (1 << k) - 1, 1 << k) if n <= longest]
    order, ordinary = _ordinary_first(evidence)
    for offset, n in enumerate(lengths):
        part = np.resize(np.roll(order[:ordinary], -offset), n)
        part[-ENDS:] = np.roll(order[:ENDS], -offset)
        yield _lent(evidence, positions.x[part], positions.usual[part])


def _lent(evidence: Evidence, x: np.ndarray, usual: np.ndarray) -> list[Differences]:
    """One call with inputs where they lie."""
    with evidence.listening():
        got = evidence.lent(x)
    return differences(evidence.fmt, x, usual, got, ("at most indices", f"at index {{}} in a call of {len(x)}"))


def _ordinary_first(evidence: Evidence) -> tuple[np.ndarray, int]:
    """Indices of the inputs, and how many of the first of them have results that are not x, 0 or 1.

    Those nearest to 1 and -1, by ratio, come first.
    """
    fmt, x = evidence.fmt, evidence.positions.x
    want = reference_bits(evidence.function.name, fmt.name, x)
    magnitude = want & fmt.uint.type(fmt.sign_mask - 1)
    plain = is_finite(fmt, want) & ~is_zero(fmt, want) & (want != x) & (magnitude != fmt.uint.type(fmt.one))
    plain &= magnitude >= fmt.uint.type(1 << (fmt.precision - 1))
    if plain.sum() < short_calls.LENGTHS:  # relu
        plain = is_finite(fmt, x) & ~is_zero(fmt, x)
    near = np.abs(ordinals(fmt, x & fmt.uint.type(fmt.sign_mask - 1)) - fmt.one)
    return np.lexsort((near, ~plain)), int(plain.sum())


def _pattern(places: np.ndarray, size: int) -> str:
    """In what those places are alike."""
    if places[0] >= size - LANES[-1]:
        return f"{len(places)} of the last {size - places[0]}"
    shared = [lanes for lanes in LANES if (places % lanes == places[0] % lanes).all()]
    if len(places) == 1 or not shared:
        return f"{len(places)}"
    return f"{len(places)}, all in lane {places[0] % shared[-1]} of {shared[-1]}"


# ---- outputs that are not faithful ---------------------------------------------------------------


def _asked_again(evidence: Evidence) -> list[Differences]:
    """What differs when the inputs of all outputs that are not faithful are asked once more, in one call."""
    fmt = evidence.fmt
    doubtful = [each for each in (*_unfaithful(evidence), *_of_the_plan(evidence)) if len(each.x)]
    if not doubtful:
        return []
    x = np.unique(np.concatenate([each.x for each in doubtful]))
    again = evidence.call(x)
    found: list[Differences] = []
    where = f"in a later call of {len(x)}"
    for each in doubtful:
        place = np.searchsorted(x, each.x)
        for bad in differences(fmt, each.x, each.got, again[place], (each.where, where)):
            found.append(bad._replace(at=each.at[bad.at]))
    return found


def _unfaithful(evidence: Evidence) -> Iterator[CallOutputs]:
    """Of the outputs of calls beside the plan."""
    for x, got, at, where in evidence.others.calls:
        bad = ~evidence.judgement(x, got).faithful
        yield CallOutputs(x[bad], got[bad], at[bad], where)


def _of_the_plan(evidence: Evidence) -> Iterator[CallOutputs]:
    """The worst output of each bucket, where it is off by more than 1 ulp, and one that is not finite."""
    fmt, columns = evidence.fmt, evidence.table.columns
    bad = columns["max_error"] > 1
    x, got = (columns[f"max_error_{name}"][bad].astype(fmt.uint) for name in ("x", "got"))
    yield CallOutputs(x, got, np.zeros(len(x), np.int64), THE_PLAN)
    if witness := evidence.witness("nonfinite"):
        x, got = (np.array([bits], fmt.uint) for bits in witness)
        yield CallOutputs(x, got, np.zeros(1, np.int64), THE_PLAN)


CHECK = Check(
    "lane",
    "bodies and tails of SIMD loops differ (RuVector#761, AiDotNet.Tensors#83, pytorch#98212)",
    run,
    severity=severity,
    last=True,
)
