"""The second input is taken element by element; where it is infinite or NaN the result is what IEEE 754 makes of it.

Asked of functions with a second input (g of g f(x), b of f(x + b)) that is passed as an array: values beside each other
give what each gives alone, and not what x and g exchanged would. inf * f(x) is infinite also where f(x) is below every
number of the dtype.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..formats import Format, differ, to_float64
from ..functions import Function
from ..inputs.special import POSITIONS
from ..records.parts import Severity
from ..targets.base import Target
from ..targets.recorded import Recorded
from ..truth.second_input import judge_pair, of_two_inputs
from .base import Check, Evidence, Finding

VALUES = (1.0, -0.5, 3.0, 0.75, -2.0, 1.5, 0.3125)  # beside each other: no divisor of a vector's width
EXCHANGED = 16  # pairs that are asked whether both are exchanged


def run(evidence: Evidence) -> Finding:
    target = evidence.target.inner if isinstance(evidence.target, Recorded) else evidence.target
    if not target.second:
        return Finding("not applicable", "it takes no second input as data")
    fmt, x = evidence.fmt, np.resize(evidence.positions.x, evidence.length if target.compiles_per_length else POSITIONS)
    function = evidence.function.name.partition("[")[0]
    values = [fmt.round(Fraction(each)) for each in VALUES]
    if (found := _beside_each_other(evidence, target, function, x, values)).status == "fail":
        return found
    for bits in (fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.nan):
        got = target.with_second(function, (bits,)).evaluate(fmt.name, x)
        want, _, faithful = judge_pair(function, fmt.name, bits, x, got)
        if len(wrong := np.flatnonzero(~faithful)):
            at = int(wrong[0])
            detail = f"with {target.second} = {evidence.digits(bits)} it gives {evidence.digits(int(got[at]))} at x = "
            detail += f"{evidence.digits(int(x[at]))}, where {evidence.digits(int(want[at]))} is due"
            return Finding("fail", detail, int(x[at]), int(got[at]), int(want[at]))
    return found


def _beside_each_other(evidence: Evidence, target: Target, function: str, x: np.ndarray, values: list[int]) -> Finding:
    if target.one_second:
        return Finding("pass", f"it takes one {target.second} for all x")
    fmt = evidence.fmt
    alone = np.stack([target.with_second(function, (bits,)).evaluate(fmt.name, x) for bits in values])
    due = alone[np.arange(len(x)) % len(values), np.arange(len(x))]
    got = target.with_second(function, tuple(values)).evaluate(fmt.name, x)
    if len(wrong := np.flatnonzero(differ(fmt, got, due))):
        at = int(wrong[0])
        value = evidence.digits(values[at % len(values)])
        detail = f"beside other values, {target.second} = {value} gives {evidence.digits(int(got[at]))} at x = "
        detail += f"{evidence.digits(int(x[at]))}, and alone {evidence.digits(int(due[at]))}"
        one, bits = (np.array([each[at]], fmt.uint) for each in (x, got))
        want = judge_pair(function, fmt.name, values[at % len(values)], one, bits).want_bits
        return Finding("fail", detail, int(x[at]), int(got[at]), int(want[0]), other_bits=int(due[at]))
    return _exchanged(evidence, function, target.second, x, np.resize(np.array(values, fmt.uint), len(x)), got)


def _exchanged(
    evidence: Evidence, function: str, second: str, x: np.ndarray, g: np.ndarray, got: np.ndarray
) -> Finding:
    """Whether outputs are those of g and x, to half of their digits, and not those of x and g."""
    fmt = evidence.fmt
    size = np.abs(to_float64(fmt, x))
    chosen = np.flatnonzero((size > 0.25) & (size < 6) & (x != g))[:: max(1, len(x) // EXCHANGED)]
    if not of_two_inputs(function).is_factor or not len(chosen):
        return Finding("pass")

    def judged(one: np.ndarray, other: np.ndarray, at: int) -> tuple[int, bool]:
        """What is due, and whether the output is near it."""
        found = judge_pair(function, fmt.name, int(other[at]), one[at : at + 1], got[at : at + 1])
        return int(found.want_bits[0]), bool(abs(found.error[0]) <= 2.0 ** (fmt.precision / 2))

    wrong = next((at for at in chosen.tolist() if not judged(x, g, at)[1]), None)
    if wrong is None or not all(judged(g, x, at)[1] for at in chosen.tolist()):
        return Finding("pass")
    at, want, due = wrong, judged(x, g, wrong)[0], judged(g, x, wrong)[0]
    detail = f"x and {second} are exchanged: with {second} = {evidence.digits(int(g[at]))} it gives "
    detail += f"{evidence.digits(int(got[at]))} at x = {evidence.digits(int(x[at]))}, which is due with both exchanged"
    return Finding("fail", detail, int(x[at]), int(got[at]), want, other_bits=due)


def _severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    return "convention" if finding.other_bits is None else "defect"


CHECK = Check(
    "second_input",
    "a gate that is read at another index, or of which the first element is taken for all; x and the gate exchanged, "
    "as of packed halves; 0 * inf, where the activation underflowed before the product",
    run,
    severity=_severity,
    remedy="Read both inputs at the same index (--call says which is x); compute the product from an activation that "
    "has not been rounded.",
)
