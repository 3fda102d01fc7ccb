"""No result of the wrong sign; zeros are judged elsewhere."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    if not evidence.function.sign:
        return Finding("not applicable", f"{evidence.function.name} changes its sign away from zero")
    nearest = evidence.witness("wrong_sign")
    if nearest is None:
        return Finding("pass")
    count = evidence.table.total("wrong_sign")
    where = evidence.text(nearest[0])
    return evidence.shown(f"{count} results of the wrong sign, the nearest to zero at {where}", nearest)


CHECK = Check(
    "sign",
    "tanh or erf beyond 1 turns the tail positive (ncnn#6978, RuVector#761)",
    run,
    of_inputs_tried=True,
    remedy="Clamp erf and tanh to [-1, 1], so that 1 + erf is never negative.",
)
