"""Subnormal inputs and results are kept, not flushed to zero: a finding of its own, so that it hides no other."""

from .base import Check, Evidence, Finding
from .flushing import flushed_of_tried, flushes, kind_of


def run(evidence: Evidence) -> Finding:
    lost = flushes(evidence)
    if lost is None:
        return Finding("pass")
    x, got, want = lost
    kind, (zeros, tried) = kind_of(evidence, x), flushed_of_tried(evidence, x)
    got_text, want_text = evidence.texts(got, want)
    if len(zeros) == tried:
        how = f"all {tried} tried subnormal {kind} are flushed to zero"
    else:
        how = f"{len(zeros)} of {tried} tried subnormal {kind} are flushed to zero, {evidence.span(zeros)}"
    detail = f"f({evidence.text(x)}) = {got_text}, must be {want_text}: {how}"
    return Finding("fail", detail, x, got, want, kind, counted=(len(zeros), tried))


CHECK = Check(
    "subnormals",
    "flush to zero: 8.4e6 ulp at 2.3e-38 (tt-metal#45920, tt-metal#56729)",
    run,
    severity="convention",
    of_inputs_tried=True,
    remedy=(
        "Do not set flush-to-zero (`-ffast-math`, `_MM_SET_FLUSH_ZERO_MODE`), or accept the check where the "
        "library sets it on purpose."
    ),
)
