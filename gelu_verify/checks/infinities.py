"""The value at an infinity, shared by the two checks that ask for it."""

from __future__ import annotations

import numpy as np

from ..formats import Format
from ..functions import Function
from ..records.parts import Severity
from .base import Evidence, Finding
from .two_outputs import are_far_apart


def value_at(evidence: Evidence, x_bits: int) -> Finding:
    """Pass where the target gives the limit; a zero may have either sign where the function says so.

    Policy `formula` accepts a NaN that the formula of the function gives, and says so.
    """
    fmt, function = evidence.fmt, evidence.function
    got, want = int(evidence.probe([x_bits])[0]), function.limit_bits(fmt, x_bits)
    both_zero = fmt.magnitude(got) == fmt.magnitude(want) == 0
    if got == want or (fmt.is_nan(got) and fmt.is_nan(want)) or (both_zero and function.either_zero):
        return Finding("pass", "", x_bits, got, want)
    got_text, want_text = evidence.texts(got, want)
    detail = f"f({evidence.text(x_bits)}) = {got_text}, the limit is {want_text}"
    if evidence.policy == "formula" and fmt.is_nan(got) and function.may_be_nan(fmt, x_bits):
        return Finding("pass", f"{detail}; NaN is accepted by policy formula", x_bits, got, want)
    return Finding("fail", detail, x_bits, got, want)


def severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """A convention where the formula of the function gives that NaN, or a zero has the other sign; a loss where it is
    as near to the limit as the absolute accuracy that grades ask for, as of an input that is clamped; else a defect."""
    x_bits, got_bits, want_bits = finding.x_bits or 0, finding.got_bits or 0, finding.want_bits or 0
    if fmt.is_nan(got_bits) and function.may_be_nan(fmt, x_bits):
        return "convention"
    if fmt.magnitude(got_bits) == fmt.magnitude(want_bits) == 0:
        return "convention"
    got, want = (np.array([bits], fmt.uint) for bits in (got_bits, want_bits))
    return "defect" if are_far_apart(fmt, want, got, want, want)[0] else "loss"
