"""When a result is worse than an earlier one, or than its budget: the one table, which docs/compare.md prints.

A rule compares one measure of two records. A budget is a record that was condensed to limits, so `compare`, `gate`,
`budget`, `--max-ulp` and the assertions read the same rules and differ only in the tolerance (`Tolerance`). A value
that is missing is neither smaller nor equal: where one side is None, or NaN, the verdict is "unknown".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from ..records.parts import Severity
from ..records.result import Record

RuleVerdict = Literal["worse", "better", "neither", "unknown"]
Tolerance = Literal["none", "known", "headroom"]
"""How far a number may be beyond another and count as equal: not at all, where both are limits; as far as errors are
known; or by the headroom of a rule, where a budget was measured on another machine or on other inputs."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # of failed checks, the worst first
KNOWN_TO = 2.0**-16  # ULP: a stored error is known to within that
RELATIVE = 2.0**-20  # and to that of itself: two ways of judging a float32 result may differ by so much
SMALL = 0.5  # ULP: what another rounding of the last operation may do to an error
COARSE = 2.0**-3  # what the absolute error of a bucket's worst input may miss, where buckets have several inputs
LAST_BIT_CHECKS = frozenset({"monotone", "range"})  # on another machine, a last bit may decide them

Shown = Any  # what has bits of an input, and perhaps of its output and of what is due
Number = tuple[float | None, Shown]


@dataclass(frozen=True)
class Measure:
    """A number of a record, or one of each part of x, of which more is worse, or (`sign` -1) less.

    Parameters
    ----------
    read : {place: number and what shows it}; the place of the whole result is ""
    headroom : the limit that a budget sets on another machine or on other inputs
    known : absolute and relative difference below which two numbers are equal, by the width of the dtype
    absent : what a missing number counts as; None: it is not known
    least : what all smaller numbers count as
    is_maximum : on other inputs, too, it is worse than one of all inputs, or better
    of_scored : NaN has no error, so where more results are NaN, less may be that of fewer results
    said : the new number in a line of the gate, which ends with the limit
    """

    read: Callable[[Record], Mapping[str, Number]]
    headroom: Callable[[float], float]
    unit: str = ""
    sign: int = 1
    known: Callable[[int], tuple[float, float]] = lambda width: (0.0, 0.0)
    absent: float | None = None
    least: float = -math.inf
    is_maximum: bool = False
    of_scored: bool = False
    said: str = "{number}"


@dataclass(frozen=True)
class Rule:
    """What is compared, and when the new value is worse; better is the reverse.

    `elsewhere`: what a budget allows that was measured on another machine or on other inputs. `key`: of the record; no
    limit where that lacks it.
    """

    title: str
    worse: str
    elsewhere: str = "the same"
    measure: Measure | None = None
    key: str = ""


def _ratio(ratio: float, ulp: float = 0.0) -> Callable[[float], float]:
    return lambda limit: max(ratio * limit, limit + ulp)


def _whole(name: str, record: Record) -> Mapping[str, Number]:
    """A field that is a number."""
    return {"": (getattr(record, name), None)}


def _of(name: str, number: str, record: Record) -> Mapping[str, Number]:
    """A number of a field, which shows its input."""
    found = getattr(record, name)
    return {"": (getattr(found, number) if found else None, found)}


def _errors(width: int) -> tuple[float, float]:
    return KNOWN_TO, RELATIVE


def _regions(record: Record) -> Mapping[str, Number]:
    return {part.region: (part.max_ulp, part.witness) for part in record.regions or ()}


def _intervals(record: Record) -> Mapping[str, Number]:
    return {part.interval: (part.max_ulp, part) for part in record.intervals or () if part.max_ulp is not None}


ULP_ERROR: dict[str, Any] = {  # up to 1/2 it is that of correctly rounded results, whatever their inputs are
    "unit": "ULP", "known": _errors, "least": 0.5, "is_maximum": True, "of_scored": True,
}  # fmt: skip
_PART = _ratio(2.0, 2.0)  # libms differ more in a part of x than in the largest error of all
_TWICE = "max(2 e, e + 2 ULP)"

RULES: dict[str, Rule] = {  # the most serious first: the order of the changes of a result
    "failure": Rule("failure", "the target failed (raised, crashed, hung, ...), and did not before"),
    "grade": Rule("grade", "it comes later in the table of docs/grades.md", "any but broken, with a note", key="grade"),
    "check": Rule(
        "check",
        "it fails and did not before, whatever its severity, or fails with a worse severity than before; a wrong value "
        "at -inf, +inf, NaN or -0 is farther from the right one, or a number where it was NaN",
        f"{', '.join(sorted(LAST_BIT_CHECKS))} may fail, with a note",
    ),
    "nonfinite": Rule(
        "NaN or infinity",
        "more finite inputs give NaN or infinity where a finite value is due",
        "1.25 n",
        Measure(
            partial(_of, "nonfinite", "count"), _ratio(1.25), "inputs", absent=0.0,
            said="{number} finite inputs give inf or NaN",
        ),
        "nonfinite",
    ),
    "zero_sign": Rule(
        "sign of zero",
        "more zeros have the wrong sign",
        "1.25 n",
        Measure(
            partial(_whole, "zero_sign"), _ratio(1.25), "inputs", absent=0.0, said="{number} zeros of the wrong sign"
        ),
        "zero_sign",
    ),
    "max_ulp": Rule(
        "largest error",
        "the largest error in ULP is larger, or nothing can be scored any more",
        "max(1.25 e, e + 2 ULP)",
        Measure(
            lambda record: {"": (record.max_ulp, record.witness)}, _ratio(1.25, 2.0), absent=math.inf,
            said="largest error {number} ULP", **ULP_ERROR,
        ),
        "max_ulp",
    ),
    "region": Rule(
        "region",
        "the largest error in ULP in this region of x is larger",
        _TWICE,
        Measure(_regions, _PART, said="{number} ULP in {place}", **ULP_ERROR),
        "regions",
    ),
    "interval": Rule(
        "interval",
        "in this interval of x the largest error is larger, fewer results are correctly rounded or faithful, or a "
        "bucket (the top 16 bits of x) has a larger error, more errors above one of the edges of its histogram, fewer "
        "correctly rounded or faithful results, or more that are not finite or have the wrong sign",
        _TWICE,
        Measure(_intervals, _PART, said="{number} ULP in {place}", **ULP_ERROR),
        "intervals",
    ),
    "special": Rule("special values", "fewer results at infinities and NaNs are right", "no limit"),
    "accurate_range": Rule(
        "accurate range", "it ends nearer to 0 on either side, or is gone", "no limit", key="accurate_range"
    ),
    "zero_from": Rule(
        "zero from",
        "the tail becomes zero nearer to 0, or does so only now",
        "0.9 x",
        Measure(
            partial(_of, "zero_from", "x"), lambda x: 0.9 * x, absent=-math.inf, said="zero from {number}"
        ),
        "zero_from",
    ),
    "correctly_rounded": Rule(
        "correctly rounded",
        "a smaller share of the results is",
        "10 % of the results less, but none where all were",
        Measure(
            partial(_whole, "correctly_rounded"), lambda share: share if share == 1 else share - 0.1, "share", -1,
            said="{number} results correctly rounded",
        ),
        "correctly_rounded",
    ),
    "faithful": Rule(
        "faithful",
        "a smaller share of the results is",
        "10 % of the results less",
        Measure(
            partial(_whole, "faithful"), lambda share: share - 0.1, "share", -1, said="{number} results faithful"
        ),
        "faithful",
    ),
    "p99_ulp": Rule(
        "99th percentile",
        "it is larger",
        _TWICE,
        Measure(
            partial(_whole, "p99_ulp"), _PART, "ULP", known=_errors, of_scored=True,
            said="99th percentile of the errors {number} ULP",
        ),
        "p99_ulp",
    ),
    "max_abs_error": Rule(
        "largest absolute error",
        "it is larger (beyond 16 bits by more than 1/8: only the worst input of each bucket in ULP is kept)",
        "2 e",
        Measure(
            partial(_of, "max_abs_error", "error"), _ratio(2.0), of_scored=True, said="absolute error {number}",
            known=lambda width: (0.0, RELATIVE if width <= 16 else COARSE),
        ),
        "max_abs_error",
    ),
    "mean_bits": Rule(
        "mean bits",
        "there are fewer correct bits on average",
        "1 bit less",
        Measure(
            partial(_of, "mean_bits", "plan"), lambda bits: bits - 1, sign=-1, said="{number} correct bits on average"
        ),
        "mean_bits",
    ),
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
}  # fmt: skip
ORDER = {name: place for place, name in enumerate(RULES)}


def larger_is_worse(
    old: float | None, new: float | None, *, known_to: float = KNOWN_TO, relative: float = RELATIVE
) -> RuleVerdict | None:
    """Of an error; None where it is as large, as far as it is known, or there is none on either side."""
    if old is None and new is None:
        return None
    if old is None or new is None or math.isnan(old) or math.isnan(new):
        return "unknown"
    if old == new or abs(new - old) <= known_to + relative * min(abs(old), abs(new)):
        return None
    return "worse" if new > old else "better"


def less_is_worse(old: float | None, new: float | None) -> RuleVerdict | None:
    """Of a share, or of a count of something good."""
    return larger_is_worse(*(None if each is None else -each for each in (old, new)), known_to=0.0, relative=0.0)


def verdict_of_measure(
    measure: Measure, old: float | None, new: float | None, tolerance: Tolerance, width: int
) -> RuleVerdict | None:
    """Of a number of a dtype of that many bits; with headroom nothing is better."""
    before, after = (measure.absent if each is None else each for each in (old, new))
    if tolerance == "headroom":
        if after is None:
            return None
        before = measure.headroom(before or 0.0)
    least = -math.inf if tolerance == "none" else measure.least
    values = (None if each is None else measure.sign * max(each, least) for each in (before, after))
    known_to, relative = (0.0, 0.0) if tolerance == "none" else measure.known(width)
    found = larger_is_worse(*values, known_to=known_to, relative=relative)
    return None if tolerance == "headroom" and found == "better" else found


def as_far_as_tried(
    verdict: RuleVerdict | None, *, old_is_exact: bool, new_is_exact: bool, same_inputs: bool
) -> RuleVerdict | None:
    """The verdict, or "unknown" where other inputs may be the reason.

    What is found among some inputs is a lower bound. So on other inputs a result is certainly worse only where the old
    one is that of every input of the dtype, and certainly better only where the new one is.
    """
    is_certain = same_inputs or {"worse": old_is_exact, "better": new_is_exact}.get(verdict or "", True)
    return verdict if is_certain else "unknown"
