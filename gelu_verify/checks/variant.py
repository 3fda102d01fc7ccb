"""Which function of the family the target really computes."""

from .base import Check, Evidence, Finding
from .variants import named


def run(evidence: Evidence) -> Finding:
    if evidence.function.gradient_of:
        return Finding("not applicable", f"{evidence.function.name} is a derivative: see gradient_variant")
    return named(evidence)


CHECK = Check(
    "variant",
    "the tanh form under the exact name (executorch#22851, vllm#41574, candle#3745)",
    run,
    severity="defect",
    remedy=(
        "Name the function that is computed, or compute the one that is named; `jax.nn.gelu(x)`, for example, "
        "is the tanh form unless `approximate=False` is given."
    ),
)
