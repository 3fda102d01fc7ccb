"""Where the target first returns zero, going left, against where the true value rounds to zero."""

import numpy as np

from ..truth.values import judge, zero_threshold
from .base import Check, Evidence, Finding
from .flushing import flushes


def run(evidence: Evidence) -> Finding:
    fmt, name = evidence.fmt, evidence.function.name
    threshold = zero_threshold(name, fmt.name)
    if threshold is None:
        return Finding("not applicable", f"{name} has no tail that rounds to zero at -inf")
    lost = evidence.witness("zero_from")
    if lost is None:
        return Finding("pass", f"zero from {evidence.text(threshold)}, where zero is correct")
    x, got = (np.array([bits], dtype=fmt.uint) for bits in lost)
    want, error, _ = judge(name, fmt.name, x, got)
    first, limit = evidence.texts(lost[0], threshold)
    detail = f"zero from {first}, the true value rounds to zero from {limit}"
    if abs(error[0]) < 1:  # the last subnormal: zero is the other neighbour of the true value
        return Finding("pass", f"{detail}; faithful", *lost, int(want[0]))
    if fmt.magnitude(int(want[0])) < 1 << (fmt.precision - 1):
        detail += "; only subnormal results are lost"
        if flushes(evidence) is not None:
            return Finding("pass", f"{detail}, where subnormal results are lost: see subnormals", *lost, int(want[0]))
    return Finding("fail", detail, *lost, int(want[0]))


CHECK = Check(
    "tail_zero",
    "1 + erf(x) is zero long before the tail is (pytorch#187806, tt-metal#35290)",
    run,
    of_inputs_tried=True,
    remedy=(
        "Use `0.5 * x * erfc(-x / sqrt(2))` in the place of `1 + erf`, and `x * sigmoid(2 u)`, computed as `x "
        "* exp(2 u) / (1 + exp(2 u))` for u < 0, in the place of `1 + tanh(u)`; or compute in a wider type."
    ),
)
