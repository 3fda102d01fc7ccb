"""The value at -inf is the limit; policy `formula` accepts the NaN of -inf * 0, and says so."""

from ..formats import Format
from ..functions import Function
from ..records.parts import Severity
from .base import Check, Evidence, Finding
from .infinities import severity, value_at


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    return value_at(evidence, fmt.infinity | fmt.sign_mask, nan_accepted=evidence.policy == "formula")


def _severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """-inf * 0 is NaN, and a zero may have the other sign."""
    got = finding.got_bits or 0
    return severity(fmt, finding, fmt.is_nan(got) or fmt.magnitude(got) == fmt.magnitude(finding.want_bits or 0) == 0)


CHECK = Check(
    "minus_infinity",
    "-inf * 0 is NaN where the limit is -0 (pytorch#187293, pytorch#194278, cumo#427)",
    run,
    severity=_severity,
)
