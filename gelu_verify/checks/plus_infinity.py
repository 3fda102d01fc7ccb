"""The value at +inf is the limit; policy `formula` accepts NaN where the formula has inf * 0, and says so."""

from .base import Check, Evidence, Finding
from .infinities import severity, value_at


def run(evidence: Evidence) -> Finding:
    return value_at(evidence, evidence.fmt.infinity)


CHECK = Check(
    "plus_infinity",
    "inf - inf and inf * 0 are NaN (pytorch#185770, openvino#35934, executorch#2046)",
    run,
    severity=severity,
    remedy="Return the limit for x = +inf: select it, or choose a form without inf * 0 and inf - inf.",
)
