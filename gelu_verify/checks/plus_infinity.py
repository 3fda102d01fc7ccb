"""The value at +inf is the limit."""

from ..formats import Format
from ..functions import Function
from ..records.parts import Severity
from .base import Check, Evidence, Finding
from .infinities import severity, value_at


def run(evidence: Evidence) -> Finding:
    return value_at(evidence, evidence.fmt.infinity)


def _severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """A derivative Phi(x) + x phi(x) has inf * 0 at both infinities; a function has none at +inf."""
    return severity(fmt, finding, bool(function.gradient_of) and fmt.is_nan(finding.got_bits or 0))


CHECK = Check(
    "plus_infinity",
    "inf - inf and inf * 0 are NaN (pytorch#185770, openvino#35934, executorch#2046)",
    run,
    severity=_severity,
)
