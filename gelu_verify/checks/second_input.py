"""The second input is taken element by element; where it is infinite or NaN the result is what IEEE 754 makes of it.

Asked of functions with a second input (g of g f(x), b of f(x + b)) that is passed as an array: values beside each other
give what each gives alone. inf * f(x) is infinite also where f(x) is below every number of the dtype.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..formats import Format, differ
from ..functions import Function
from ..inputs.special import POSITIONS
from ..records.parts import Severity
from ..targets.base import Target
from ..targets.recorded import Recorded
from ..truth.second_input import judge_pair
from .base import Check, Evidence, Finding

VALUES = (1.0, -0.5, 3.0, 0.75, -2.0, 1.5, 0.3125)  # beside each other: no divisor of a vector's width


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
    return Finding("pass")


def _severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    return "convention" if finding.other_bits is None else "defect"


CHECK = Check(
    "second_input",
    "a gate that is read at another index, or of which the first element is taken for all; 0 * inf, where the "
    "activation underflowed before the product",
    run,
    severity=_severity,
    remedy="Read both inputs at the same index; compute the product from an activation that has not been rounded.",
)
