"""Which function the target's results are the derivative of."""

from .base import Check, Evidence, Finding
from .variants import named


def run(evidence: Evidence) -> Finding:
    if not evidence.function.gradient_of:
        return Finding("not applicable", f"{evidence.function.name} is not a derivative")
    return named(evidence)


CHECK = Check(
    "gradient_variant",
    "a backward of another form than the forward, or half of it (cs249r_book#1399, nnabla#690, oneflow#9397)",
    run,
    severity="defect",
    remedy=(
        "Derive the backward from the formula of the forward, or select both by one argument, such as `approximate`."
    ),
)
