"""The value at -inf is the limit; policy `formula` accepts the NaN of -inf * 0, and says so."""

from .base import Check, Evidence, Finding
from .infinities import value_at


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    return value_at(evidence, fmt.infinity | fmt.sign_mask, nan_accepted=evidence.policy == "formula")


CHECK = Check("minus_infinity", "-inf * 0 is NaN where the limit is -0 (pytorch#187293, pytorch#194278, cumo#427)", run)
