"""The value of an input does not depend on where it stands: index, lane, neighbours, length, address, which call it is.

Every output that was asked for beside the plan is looked at here: those of this check, of the other checks, of the
calls that were timed, and second outputs that a call gave. Where an input has two outputs, both are judged; where an
output is not faithful, its input is called again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..formats import differ
from ..inputs.special import POSITIONS
from ..targets.extra_outputs import CallOutputs, Differences, differences, pattern
from .base import Check, Evidence, Finding
from .calls import FEW_LENGTHS, PATTERN, make_calls
from .positions import STRIDE
from .two_outputs import TwoOutputs, severity

THE_PLAN = "in the calls of the plan"


def run(evidence: Evidence) -> Finding:
    positions = evidence.positions
    if positions.differ(positions.first, positions.again).any():
        return Finding("not applicable", "equal calls differ: see repeatable")
    make_calls(evidence)
    for each in (*_in_long_calls(evidence), *_in_the_sweep(evidence)):
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
    if evidence.few_calls:
        return f"only calls of up to {PATTERN} elements were compared: nobody asked for this kernel"
    if not evidence.target.compiles_per_length:
        return ""
    lengths = ", ".join(str(n) for n, _ in FEW_LENGTHS)
    return (
        f"only calls of {lengths} and {evidence.length} elements were compared: this library compiles for each length"
    )


# ---- what differs ------------------------------------------------------------


def _in_long_calls(evidence: Evidence) -> Iterator[list[Differences]]:
    """Among outputs of one call, and of one in another order."""
    positions, size = evidence.positions, len(evidence.positions.first)
    for got, stride, also in ((positions.first, 1, ""), (positions.other_order, STRIDE, ", beside other neighbours")):
        inputs = positions.places * stride % POSITIONS
        usual = positions.usual[inputs]
        places = np.flatnonzero(differ(evidence.fmt, usual, got))
        if len(places):
            where = f"at index {{}} in a call of {size}{also} (places affected: {pattern(places, size)})"
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


# ---- outputs that are not faithful ---------------------------------------------------------------


def _asked_again(evidence: Evidence) -> list[Differences]:
    """What differs when the inputs of all outputs that are not faithful are asked once more, in one call."""
    fmt = evidence.fmt
    doubtful = [each for each in (*_unfaithful(evidence), *_of_the_plan(evidence)) if len(each.x)]
    if not doubtful:
        return []
    x, place = np.unique(np.concatenate([each.x for each in doubtful]), return_inverse=True)
    again = np.split(evidence.call(x)[place], np.cumsum([len(each.x) for each in doubtful])[:-1])
    found: list[Differences] = []
    where = f"in a later call of {len(x)}"
    for each, got in zip(doubtful, again, strict=True):
        for bad in differences(fmt, each.x, each.got, got, (each.where, where)):
            found.append(bad._replace(at=each.at[bad.at]))
    return found


def _unfaithful(evidence: Evidence) -> Iterator[CallOutputs]:
    """Of the outputs of calls beside the plan."""
    for (x, got, at, where), judged in zip(evidence.others.calls, evidence.judged_calls(), strict=True):
        bad = ~judged.faithful
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
    remedy=(
        "Use the same code for the body and the tail of the loop (masked or padded vectors), and read only "
        "elements that belong to the call."
    ),
)
