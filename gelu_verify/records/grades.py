"""How good a result is, in one word and in one sentence: from measured facts alone, here and nowhere else.

docs/grades.md has the same definitions (`python tools/make_grades.py` writes its table).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_UP, Decimal

from ..buckets.table import Table
from ..fenv import in_default_environment
from ..formats import Format, get_format, texts_apart, value_text
from ..functions import get_function
from .accuracy import ACCURATE, BODY, Accuracy
from .parts import AccurateRange
from .result import Grade, Record

UNITS = 8.0  # of u(max(1, |y|)): what x (1 + erf)/2 and its relatives lose where erf is good to an ULP
NEEDED = 0.5  # |x| up to which a range must reach to be worth a grade
HARMLESS = frozenset({"stdout", "left behind"})  # failures that say nothing about the outputs
GRADED = ("grade", "sentence", "conventions", "accurate_range", "max_abs_error", "mean_bits")  # what `graded` sets


@dataclass(frozen=True)
class Definition:
    """A grade: what it is called on a page, and when a result has it."""

    title: str
    text: str


GRADES: dict[Grade, Definition] = {  # the best first; a result has the first that holds
    "correctly_rounded": Definition("correctly rounded", "every output at a finite input is the correctly rounded one"),
    "faithful": Definition("faithful", "every error at a finite input is below 1 ULP"),
    "accurate": Definition("accurate", f"every error is at most {ACCURATE:g} ULP"),
    "accurate_range": Definition(
        "accurate on a range",
        f"every error is at most {ACCURATE:g} ULP on an interval around 0 that reaches beyond {NEEDED:g} on both sides "
        "(`accurate_range`), and elsewhere the absolute error is small, as for the next grade",
    ),
    "absolute": Definition(
        "absolutely accurate",
        f"every absolute error is at most {UNITS:g} units in the last place of max(1, abs(y)); some near zero are "
        f"above {ACCURATE:g} ULP",
    ),
    "coarse": Definition("coarse", "some absolute error is larger than that"),
    "broken": Definition(
        "broken",
        "a defect, whatever the errors are: it computes another function, gives NaN or infinity for finite x (outside "
        "of the domain of log: anything but NaN) or a "
        "wrong value at an infinity, turns NaN into a number, gives an output without a correct bit (an absolute error "
        "of more than half of the power of two at max(1, abs(y))), gives outputs that differ by more than "
        f"{UNITS:g} such units at other positions or lengths of a call, gives equal calls other outputs, changes the "
        "floating-point environment, or fails",
    ),
}
ORDER: dict[str, int] = {grade: place for place, grade in enumerate(GRADES)}


@in_default_environment
def graded(record: Record, table: Table | None) -> Record:
    """The record with GRADED: of its measures and checks, and of the buckets that they come from.

    `table` is None where nothing was measured.
    """
    if table is None:
        return replace(record, grade="broken", sentence=f"{_failure(record)}.", conventions=())
    flushes = record.flush is not None
    accuracy = Accuracy.of(table, get_function(record.function), flushes, is_whole=not record.ranges)
    return replace(
        record,
        grade=grade_of(record, accuracy),
        sentence="; ".join(_phrases(record, accuracy)) + ".",
        conventions=tuple(_conventions(record)),
        accurate_range=accuracy.range,
        max_abs_error=accuracy.absolute,
        mean_bits=accuracy.bits,
    )


def grade_of(record: Record, accuracy: Accuracy) -> Grade:
    """The first of GRADES that holds."""
    spoiled = record.failure is not None and record.failure_kind not in HARMLESS
    nonfinite = any(side.count for side in accuracy.nonfinite)
    if spoiled or nonfinite or accuracy.wrong or failed(record, "defect"):
        return "broken"
    witness, elsewhere = record.witness, _elsewhere(record)
    if accuracy.correct and (witness is None or witness.got_bits == witness.want_bits):
        return "correctly_rounded"
    if accuracy.faithful and elsewhere < 1:
        return "faithful"
    if max(accuracy.largest_near_root, elsewhere) <= ACCURATE:
        return "accurate"
    if accuracy.units > UNITS:
        return "coarse"
    return "accurate_range" if _is_wide(accuracy) else "absolute"


def failed(record: Record, severity: str) -> list[str]:
    """Names of the failed checks of that severity; none where a run of an earlier version does not say."""
    findings = record.findings
    return [name for name in record.failed_checks if name in findings and findings[name].severity == severity]


def _elsewhere(record: Record) -> float:
    """The largest error of outputs beside those of the plan, where that is larger."""
    return (record.max_ulp or 0.0) if set(SLIGHT) & set(failed(record, "loss")) else 0.0


def _is_wide(accuracy: Accuracy) -> bool:
    return accuracy.range is not None and accuracy.range.low <= -NEEDED and accuracy.range.high >= NEEDED


# ---- the sentence --------------------------------------------------------------------------------


def _phrases(record: Record, accuracy: Accuracy) -> Iterator[str]:
    """What a reader must know, the worst first."""
    if record.failure is not None:
        yield _failure(record)
    for name in failed(record, "defect"):
        if name == "finite":
            yield _nonfinite(record, accuracy)
        else:
            yield DEFECTS[name](record) if name in DEFECTS else record.findings[name].detail
    if accuracy.wrong:
        fmt, wrong = get_format(record.dtype), accuracy.wrong
        got, want = texts_apart(fmt, wrong.got_bits, wrong.want_bits, digits=3)
        yield f"{got} instead of {want} at x = {value_text(fmt, wrong.x_bits, 4)}"
    yield from _accuracy(record, accuracy)
    yield from _tail(record, accuracy)
    yield from (LOSSES[name](record) for name in failed(record, "loss") if name in LOSSES)


def _failure(record: Record) -> str:
    kind = record.failure_kind or "failed"
    where = f" at x = {_end_of(record)}" if record.failure_range else ""
    return f"{FAILURES.get(kind, kind)}{where}"


def _end_of(record: Record) -> str:
    first = (record.failure_range or "").partition(":")[0]
    return value_text(get_format(record.dtype), int(first, 16))


FAILURES = {
    "stdout": "prints",
    "left behind": "leaves something behind",
    "environment": "changes the floating-point environment",
    "nondeterministic": "equal calls give other outputs",
    "hang": "does not return",
    "exception": "raises an exception",
    "segfault": "crashes",
    "abort": "aborts",
    "memory": "needs too much memory",
}


def _nonfinite(record: Record, accuracy: Accuracy) -> str:
    """What is given instead of a finite value, or of the NaN or infinity that is due, and for which x."""
    fmt, finding = get_format(record.dtype), record.findings["finite"]
    what, x, got = _special(fmt, finding.got_bits), int(finding.x_bits or "0", 16), int(finding.got_bits or "0", 16)
    has_value = get_function(record.function).has_value(fmt, x)
    if not has_value:
        given = "a number" if fmt.is_finite(got) else value_text(fmt, got)
        what = f"{given} instead of {value_text(fmt, int(finding.want_bits or '0', 16))}"
    below, above = accuracy.nonfinite
    count = below.count + above.count
    if not count:  # beside the plan
        return f"{what} at finite x"
    found = [(sign, side) for sign, side in (("<=", below), (">=", above)) if side.count]
    if count == 1 or not all(side.is_all for _, side in found):
        nearest = _text(fmt, (record.nonfinite and record.nonfinite.x_bits) or finding.x_bits)
        if count == 1:
            return f"{what} at x = {nearest}"
        if not has_value:
            return (
                f"{what} at x = {nearest}, the nearest to zero of {count:,} finite inputs with another kind of result"
            )
        return f"NaN or infinite at {count:,} finite inputs, the nearest to zero x = {nearest}"
    ends = [value_text(fmt, side.x_bits, 4) for _, side in found]
    if len(found) == 1:
        return f"{what} for x {found[0][0]} {ends[0]}"
    if ends[0] == f"-{ends[1]}":
        return f"NaN or infinite for |x| >= {ends[1]}"
    return f"NaN or infinite for x <= {ends[0]} and for x >= {ends[1]}"


def _special(fmt: Format, bits: str | None) -> str:
    value = int(bits or "0", 16)
    return "NaN" if fmt.is_nan(value) else "infinite" if not fmt.is_finite(value) else value_text(fmt, value, 3)


def _at(where: str, check: str) -> Callable[[Record], str]:
    return lambda record: f"{_special(get_format(record.dtype), record.findings[check].got_bits)} at {where}"


def _variant(record: Record) -> str:
    name = "gradient_variant" if "gradient_variant" in failed(record, "defect") else "variant"
    return record.findings[name].detail.partition(":")[0]


DEFECTS: dict[str, Callable[[Record], str]] = {
    "plus_infinity": _at("+inf", "plus_infinity"),
    "minus_infinity": _at("-inf", "minus_infinity"),
    "nan": lambda record: "NaN gives a number",
    "variant": _variant,
    "gradient_variant": _variant,
    "lane": lambda record: "depends on the position in a call",
    "repeatable": lambda record: "equal calls give other outputs",
    "lengths": lambda record: "depends on the length of a call",
    "growth": lambda record: "keeps memory, files or threads of every call",
}


SLIGHT = {
    "lane": "depends slightly on the position in a call",
    "lengths": "depends slightly on the length of a call",
}


def _precision(record: Record) -> str:
    return record.findings["precision"].detail.partition(":")[0]


def _sign(record: Record) -> str:
    return f"wrong sign at x = {_text(get_format(record.dtype), record.findings['sign'].x_bits)}"


def _rounding(record: Record) -> str:
    return f"rounds {(record.rounding_mode or 'not to nearest').replace('_', ' ')}"


LOSSES: dict[str, Callable[[Record], str]] = {  # that neither the largest error nor the tail shows
    "minus_infinity": DEFECTS["minus_infinity"],
    "plus_infinity": DEFECTS["plus_infinity"],
    "sign": _sign,
    "precision": _precision,
    "rounding": _rounding,
    "lane": lambda record: SLIGHT["lane"],
    "lengths": lambda record: SLIGHT["lengths"],
}


def _accuracy(record: Record, accuracy: Accuracy) -> Iterator[str]:
    """The largest error, where it is small; else where it is."""
    tried = _tried(record, accuracy)
    if accuracy.correct:
        yield f"correctly rounded at {tried}"
    elif accuracy.largest_ulp is None:
        yield "nothing was scored"
    elif accuracy.largest_near_root <= ACCURATE:
        largest = max(accuracy.largest_ulp, 0.0 if record.flush else record.max_ulp or 0.0)
        if largest <= ACCURATE:
            alone = f", the largest at x = {_alone(record)}" if "outlier" in record.failed_checks else ""
            yield f"within {up_text(largest)} ULP at {tried}{alone}"
        else:
            yield f"within {up_text(accuracy.largest_near_root)} ULP at {tried}, near its root in ULP of 1/8"
    elif accuracy.range is not None and _is_wide(accuracy):
        yield f"within {ACCURATE:g} ULP for {interval_text(record.dtype, accuracy.range)}"
    elif accuracy.absolute is not None:
        at = f"{accuracy.absolute.x:.3g}"
        yield f"absolute error up to {up_text(accuracy.absolute.error)} (at x = {at}) for |x| <= {BODY:g}"


def _alone(record: Record) -> str:
    """The input with the largest error, which no neighbour shares."""
    bits = record.witness.x_bits if record.witness else None
    return f"{_text(get_format(record.dtype), bits)}, which stands out"


def _tried(record: Record, accuracy: Accuracy) -> str:
    """The inputs that errors are said of."""
    other = "other " if any(side.count for side in accuracy.nonfinite) else ""
    among = "" if record.bound == "=" else f" of {record.n:,} tried"
    kept = " that is not flushed" if record.flush and not accuracy.correct else ""
    return f"every {other}finite input{among}{kept}"


def interval_text(dtype: str, found: AccurateRange) -> str:
    """The interval to three digits, rounded inward: "x >= -1.32"."""
    fmt = get_format(dtype)
    low, high = (inward_text(value) for value in (found.low, found.high))
    if int(found.high_bits, 16) == fmt.max_finite:
        return f"x >= {low}"
    if int(found.low_bits, 16) == fmt.max_finite | fmt.sign_mask:
        return f"x <= {high}"
    return f"{low} <= x <= {high}"


def _tail(record: Record, accuracy: Accuracy) -> Iterator[str]:
    """The largest error, where it is large, and where results become zero too early."""
    if accuracy.largest_near_root <= ACCURATE:
        return
    fmt, worst = get_format(record.dtype), record.witness
    largest = "" if record.max_ulp is None else f"{up_text(record.max_ulp)} ULP"
    is_lost = worst is not None and fmt.magnitude(int(worst.got_bits, 16)) == 0
    start = record.zero_from
    is_tail = is_lost and start is not None and worst is not None and _value(fmt, worst.x_bits) <= start.x
    if worst is not None and not is_tail:
        at = _alone(record) if "outlier" in record.failed_checks else _text(fmt, worst.x_bits)
        yield f"up to {largest} ({'zero ' if is_lost else ''}at x = {at})"
    if start is not None:
        due = record.zero_threshold
        right = f", right from {_text(fmt, due.x_bits)} on" if due else ", which is never right"
        where = f"from {_text(fmt, start.x_bits)} on"
        if not accuracy.zeros.is_all:
            one = accuracy.zeros.count == 1
            where = f"at x = {_text(fmt, start.x_bits)}" if one else f"at some x {where}"
        yield f"zero {where}{f' ({largest})' if is_tail else ''}{right}"


def _conventions(record: Record) -> Iterator[str]:
    fmt = get_format(record.dtype)
    for name in failed(record, "convention"):
        finding = record.findings[name]
        if name in ("minus_infinity", "plus_infinity"):
            yield f"{_special(fmt, finding.got_bits)} at {'-' if name == 'minus_infinity' else '+'}inf"
        elif name == "signed_zero":
            yield "zeros lose their sign"
        elif name == "subnormals":
            yield f"flushes subnormal {record.flush.flushed if record.flush else 'numbers'}"
        elif name == "nan":
            yield "NaNs stay signalling"
        else:
            yield finding.detail


def _value(fmt: Format, bits: str) -> float:
    return float(fmt.fraction(int(bits, 16)))


def _text(fmt: Format, bits: str | None) -> str:
    return value_text(fmt, int(bits or "0", 16), 4)


def inward_text(value: float) -> str:
    """The end of an interval around zero to three digits, rounded toward zero: what is said of it stays true."""
    exact = Decimal(value)
    unit = Decimal(1).scaleb((exact.adjusted() if exact else 0) - 2)
    return f"{float(exact.quantize(unit, ROUND_DOWN)):g}"


def up_text(value: float, digits: int = 3) -> str:
    """An error to so many digits, rounded up: what is said of it stays true."""
    exact = Decimal(value)
    unit = Decimal(1).scaleb((exact.adjusted() if exact else 0) - digits + 1)
    return f"{float(exact.quantize(unit, ROUND_UP)):.{digits}g}"
