"""The value at -inf is the limit; policy `formula` accepts NaN where the formula has -inf * 0, and says so."""

from .base import Check, Evidence, Finding
from .infinities import severity, value_at


def run(evidence: Evidence) -> Finding:
    return value_at(evidence, evidence.fmt.infinity | evidence.fmt.sign_mask)


CHECK = Check(
    "minus_infinity",
    "-inf * 0 is NaN where the limit is -0 (pytorch#187293, pytorch#194278, cumo#427)",
    run,
    severity=severity,
    remedy=(
        "Return -0 for x = -inf: select it, or clamp x from below before the product. If NaN is wanted, say "
        "so by policy `formula` or accept the check."
    ),
)
