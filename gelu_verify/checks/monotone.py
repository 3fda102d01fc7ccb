"""Between turning points the result moves only as the function does, but for one float of rounding."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, steps = evidence.fmt, evidence.plan.size - 1
    if steps == 0:
        return Finding("not applicable", "a single input has no neighbour")
    if evidence.function.turning_points is None:
        return Finding("not applicable", f"where {evidence.function.name} rises and falls is not stated")
    if evidence.target.executions:
        return Finding("not applicable", "neighbours may have the outputs of two executions")
    key = evidence.table.facts.rises
    if key is None:
        return Finding("pass")
    _, x, got, x_below, got_below = key
    inputs, outputs = (fmt.from_ordinal(x_below), fmt.from_ordinal(x)), (got_below, got)
    texts = zip(evidence.texts(*inputs, digits=9), evidence.texts(*outputs, digits=9), strict=True)
    pairs = ", ".join(f"f({a}) = {b}" for a, b in texts)
    count = evidence.table.total("rises")
    detail = f"{count} of {steps} steps between neighbours go the wrong way by more than one float, nearest to zero: "
    return evidence.shown(detail + pairs, *zip(inputs[::-1], outputs[::-1], strict=True))


CHECK = Check(
    "monotone",
    "cancellation makes the tail oscillate (tt-metal#56490)",
    run,
    of_inputs_tried=True,
    remedy=(
        "Avoid the subtraction that cancels: `erfc(-x / sqrt(2))` in the place of `1 + erf(x / sqrt(2))`, "
        "`sigmoid(2 u)` in the place of `1 + tanh(u)`."
    ),
)
