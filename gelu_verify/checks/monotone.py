"""Between turning points the result moves only as the function does, but for one float of rounding."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, steps = evidence.fmt, evidence.plan.size - 1
    if steps == 0:
        return Finding("not applicable", "a single input has no neighbour")
    key = evidence.table.facts.rises
    if key is None:
        return Finding("pass")
    _, x, got, x_below, got_below = key
    inputs, answers = (fmt.from_ordinal(x_below), fmt.from_ordinal(x)), (got_below, got)
    texts = zip(evidence.texts(*inputs, digits=9), evidence.texts(*answers, digits=9), strict=True)
    said = ", ".join(f"f({a}) = {b}" for a, b in texts)
    count = evidence.table.total("rises")
    return evidence.shown(
        f"{count} of {steps} steps between neighbours go the wrong way by more than one float, nearest to zero: {said}",
        inputs[1],
        answers[1],
    )


CHECK = Check("monotone", "cancellation makes the tail oscillate (tt-metal#56490)", run)
