"""When a result is worse than an earlier one: the one definition, which docs/compare.md has as a table.

A value that is missing is neither smaller nor equal: where one side is None, or NaN, the direction is "unknown".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Direction = Literal["worse", "better", "neither", "unknown"]

KNOWN_TO = 2.0**-16  # ULP: a stored error is known to within that
RELATIVE = 2.0**-20  # and to that of itself: two ways of judging a float32 result may differ by so much
COARSE = 2.0**-3  # what the absolute error of a bucket's worst input may miss, where buckets have several inputs


@dataclass(frozen=True)
class Rule:
    """What is compared, and when the new value is worse; better is the reverse."""

    title: str
    worse: str


RULES: dict[str, Rule] = {  # the most serious first: the order of the changes of a result
    "failure": Rule("failure", "the target failed (raised, crashed, hung, ...), and did not before"),
    "grade": Rule("grade", "it comes later in the table of docs/grades.md"),
    "check": Rule(
        "check", "it fails and did not before, whatever its severity, or fails with a worse severity than before"
    ),
    "nonfinite": Rule("NaN or infinity", "more finite inputs give NaN or infinity where a finite value is due"),
    "max_ulp": Rule("largest error", "the largest error in ULP is larger"),
    "region": Rule("region", "the largest error in ULP in this region of x is larger"),
    "interval": Rule(
        "interval",
        "in this interval of x the largest error is larger, fewer results are correctly rounded or faithful, or a "
        "bucket (the top 16 bits of x) has a larger error, more errors above one of the edges of its histogram, fewer "
        "correctly rounded or faithful results, or more that are not finite or have the wrong sign",
    ),
    "special": Rule("special values", "fewer results at infinities and NaNs are right"),
    "accurate_range": Rule("accurate range", "it ends nearer to 0 on either side, or is gone"),
    "zero_from": Rule("zero from", "the tail becomes zero nearer to 0, or does so only now"),
    "correctly_rounded": Rule("correctly rounded", "a smaller share of the results is"),
    "faithful": Rule("faithful", "a smaller share of the results is"),
    "p99_ulp": Rule("99th percentile", "it is larger"),
    "max_abs_error": Rule(
        "largest absolute error",
        "it is larger (beyond 16 bits by more than 1/8: only the worst input of each bucket in ULP is kept)",
    ),
    "mean_bits": Rule("mean bits", "there are fewer correct bits on average"),
    "variant": Rule("variant", "never: what the target is found to compute is reported where it changes"),
    "precision": Rule(
        "precision", "never: the precision and the rounding of the results are reported where they change"
    ),
    "flush": Rule("flushing", "never: it is a convention, which check `subnormals` looks at"),
    "conditions": Rule(
        "measured otherwise", "never: other inputs, another policy or missing checks are reported, and leave it unknown"
    ),
    "dispatch": Rule("dispatch", "never: which code the library chose for the processor is reported where it changes"),
    "bits": Rule("bits", "never by itself: how many results differ is reported"),
}
ORDER = {name: place for place, name in enumerate(RULES)}


def larger_is_worse(
    old: float | None, new: float | None, *, known_to: float = KNOWN_TO, relative: float = RELATIVE
) -> Direction | None:
    """Of an error; None where it is as large, as far as it is known, or there is none on either side."""
    if old is None and new is None:
        return None
    if old is None or new is None or math.isnan(old) or math.isnan(new):
        return "unknown"
    if abs(new - old) <= known_to + relative * max(abs(old), abs(new)):
        return None
    return "worse" if new > old else "better"


def as_far_as_tried(
    direction: Direction | None, *, old_is_exact: bool, new_is_exact: bool, same_inputs: bool
) -> Direction | None:
    """The direction, or "unknown" where other inputs may be the reason.

    What is found among some inputs is a lower bound. So on other inputs a result is certainly worse only where the old
    one is that of every input of the dtype, and certainly better only where the new one is.
    """
    is_certain = same_inputs or {"worse": old_is_exact, "better": new_is_exact}.get(direction or "", True)
    return direction if is_certain else "unknown"


def more_is_worse(old: int | None, new: int | None) -> Direction | None:
    """Of a count of something bad."""
    if old is None and new is None:
        return None
    if old is None or new is None:
        return "unknown"
    return None if old == new else "worse" if new > old else "better"


def less_is_worse(old: float | None, new: float | None) -> Direction | None:
    """Of a share, or of a count of something good."""
    if old is None and new is None:
        return None
    if old is None or new is None or math.isnan(old) or math.isnan(new):
        return "unknown"
    return None if old == new else "worse" if new < old else "better"
