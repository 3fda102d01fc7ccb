"""Results lie between the bounds of the function (rounded outward), and |f(x)| <= |x| where that holds."""

from fractions import Fraction

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt, function, facts = evidence.fmt, evidence.function, evidence.table.facts
    if function.lower is None and function.upper is None and not function.at_most_x:
        return Finding("not applicable", f"{function.name} has no bounds")
    if function.lower is not None and facts.lowest_got is not None:
        got, bound = facts.lowest_got[0], fmt.round(Fraction(function.lower), "down")
        if fmt.rank(fmt.from_ordinal(got)) < fmt.rank(bound):
            return _outside(evidence, got, facts.lowest_got[1], f"is below the least value {evidence.text(bound, 17)}")
    if function.upper is not None and facts.highest_got is not None:
        got, bound = -facts.highest_got[0], fmt.round(Fraction(function.upper), "up")
        if fmt.rank(fmt.from_ordinal(got)) > fmt.rank(bound):
            return _outside(
                evidence, got, facts.highest_got[1], f"is above the largest value {evidence.text(bound, 17)}"
            )
    beyond = evidence.witness("beyond_x")
    if beyond is not None:
        return _outside(evidence, fmt.ordinal(beyond[1]), fmt.ordinal(beyond[0]), "is beyond x")
    return Finding("pass")


def _outside(evidence: Evidence, got: int, x: int, detail: str) -> Finding:
    """The finding for ordinals `got` at `x`."""
    x_bits, got_bits = evidence.fmt.from_ordinal(x), evidence.fmt.from_ordinal(got)
    detail = f"f({evidence.text(x_bits, 17)}) = {evidence.text(got_bits, 17)} {detail}"
    return evidence.shown(detail, (x_bits, got_bits))


CHECK = Check(
    "range",
    "a bounded function that leaves its bounds (stablehlo#1238, ncnn#6978)",
    run,
    of_inputs_tried=True,
    remedy="Clamp erf and tanh to [-1, 1] and the probability to [0, 1] before they are used.",
)
