"""A result that rounds to zero has the sign of the function there, unless the function says that either zero serves."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    if evidence.function.either_zero:
        return Finding("not applicable", f"{evidence.function.name} may give either zero")
    nearest = evidence.witness("zero_sign")
    if nearest is None:
        return Finding("pass")
    count = evidence.table.total("zero_sign")
    few = "1 zero" if count == 1 else f"{count:,} zeros"
    where = evidence.digits(nearest[0])
    return evidence.shown(f"{few} of the wrong sign, the nearest to zero (x = 0 apart) at x = {where}", nearest)


CHECK = Check(
    "zero_sign",
    "a sum 1 + erf(x), a clamp or a select ends the left tail in +0 (webnn-polyfill#144)",
    run,
    severity="convention",
    of_inputs_tried=True,
    remedy="Keep the product with x as the last step, so that a result that rounds to zero has the sign of x.",
)
