"""What a result is, in a sentence: the cause of its grade first, each with an input that shows it, named once.

Every clause is true of the inputs that it names (`tests/records/test_sentences.py` reads sentences again). What is
said of all inputs after a sample says of how many. An error is written as everywhere else (`numbers.py`): rounded up
where all inputs were tried ("up to"), down where some were ("at least"). Inputs are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..formats import Format, get_format, texts_apart, value_text
from ..functions import get_function
from ..own_faults import KIND as OWN_FAULT
from .accuracy import ACCURATE, BODY, Accuracy, Span
from .bucket_errors import Output
from .numbers import LIMITS, input_text, inward_text, size_text, ulp_text
from .parts import AccurateRange, FindingRecord, Flush, Grade
from .result import Record

SAID = {"=": "up to", ">=": "at least"}
COMPOSED = 0.9  # share of the buckets that tell one from the other, from which on a target rounds each step
HARMLESS = frozenset({"stdout", "left behind"})  # failures that say nothing about the outputs


_TAKEN = re.compile(r"approximations: ([\w, ]+) within their bounds \((.+)\)$")


def sentence_of(record: Record, accuracy: Accuracy, grade: Grade | None, neutral: str = "") -> str:
    """The sentence; `neutral`: what the grade is called that it has with the neutral value of its second input."""
    first, *phrases = _phrases(record, accuracy, grade)
    return "; ".join([with_value(record, first), *phrases, *_of_all_values(record, neutral)]) + "."


def with_value(record: Record, phrase: str) -> str:
    """The phrase, after the value of the second input that it is of, where there is one."""
    second = record.second
    return f"with {second.name} = {_at(record, second.value_bits)}, {phrase}" if second else phrase


def failed(record: Record, severity: str) -> list[str]:
    """Names of the failed checks of that severity; none where a run of an earlier version does not say."""
    findings = record.findings
    return [name for name in record.failed_checks if name in findings and findings[name].severity == severity]


def _phrases(record: Record, accuracy: Accuracy, grade: Grade | None) -> Iterator[str]:
    """What a reader must know, the worst first."""
    fmt = get_format(record.dtype)
    yield from _opened(record)
    if record.failure is not None:
        yield failure_text(record)
    said = _of_random_outputs(record)
    for name in (each for each in failed(record, "defect") if each not in said):
        if name == "finite":
            yield from _nonfinite(record, accuracy)
        else:
            yield DEFECTS[name](record) if name in DEFECTS else record.findings[name].detail
    if accuracy.wrong:
        yield _instead(fmt, accuracy.wrong) + _beside(record, accuracy.wrong)
    if grade == "coarse" and accuracy.farthest:
        yield _coarse(record, accuracy, accuracy.farthest)
    named = _named(record, accuracy, grade)
    yield from _accuracy(record, accuracy, grade, named)
    if accuracy.is_wide or not named:
        yield from _worst(record, accuracy, named)
    losses = [name for name in failed(record, "loss") if name in LOSSES]
    yield from (LOSSES[name](record) for name in losses if name != "sign" or _x_of(record, name) not in named)


def _of_random_outputs(record: Record) -> tuple[str, ...]:
    """Defects that say the same again where equal calls give others, or that those outputs are of no function."""
    if record.failure_kind != "nondeterministic":
        return ()
    return ("repeatable", *VARIANTS) if record.variant == "none" else ("repeatable",)


def _named(record: Record, accuracy: Accuracy, grade: Grade | None) -> set[int]:
    """Inputs whose outputs are too far from the truth for any other grade, which is said before all else."""
    outputs = [accuracy.wrong, accuracy.farthest if grade == "coarse" else None]
    found = {output.x_bits for output in outputs if output is not None}
    return found | {_x_of(record, name) for name in VARIANTS if name in failed(record, "defect")}


def _x_of(record: Record, name: str) -> int:
    """The input of a check that failed."""
    return int(record.findings[name].x_bits or "0", 16)


def _beside(record: Record, output: Output) -> str:
    """Where an output was returned, if that was in another call than those of the plan: " (in a call ...)"."""
    for each in record.beside or ():
        if (int(each.x_bits, 16), int(each.got_bits, 16)) == (output.x_bits, output.got_bits):
            return f" ({each.where})"
    return ""


def _instead(fmt: Format, output: Output) -> str:
    got, want = texts_apart(fmt, output.got_bits, output.want_bits, digits=3)
    return f"{got} instead of {want} at x = {input_text(fmt, output.x_bits)}"


def _opened(record: Record) -> Iterator[str]:
    """What was tried where PTX leaves results open, no more, and how far that matters."""
    taken, executions = _TAKEN.search(record.executed or ""), record.executions
    bounds = f"approximations have the {taken[1]} values within their bounds ({taken[2]})" if taken else ""
    if executions is None:
        yield from [f"no GPU's result: {bounds}"] if taken else []
        return
    also = "products and sums are rounded apart and fused" if "fused" in (record.executed or "") else ""
    how = ", and ".join(filter(None, (bounds, also)))
    yield f"no GPU's result: at each x the worst of {len(executions.each)} executions, in which {how}"
    if executions.x_bits is None:
        yield "all outputs are the same in each"
        return
    floats = f"{executions.floats:,} float{'s' if executions.floats > 1 else ''}"
    apart = f"others up to {floats} apart (at x = {_at(record, executions.x_bits)})"
    errors = sorted(each.max_ulp for each in executions.each if each.max_ulp is not None)
    span = dict.fromkeys(ulp_text(each, record.bound) for each in (*errors[:1], *errors[-1:]))
    largest = f"the largest error is {' to '.join(span)} ULP" if errors else "none can be scored"
    yield f"{inward_text(100 * executions.same)} % of outputs are the same in each, {apart}; {largest}"


def _of_all_values(record: Record, neutral: str) -> Iterator[str]:
    """How a target is with other values of its second input, and how composing in the dtype is."""
    second = record.second
    if second is None or record.failure is not None:
        return
    of = "all values" if second.bound == "=" else f"{second.values} values tried"
    yield f"{second.name} = {_at(record, second.value_bits)} is the worst of {of}"
    if neutral and second.neutral != second.value:
        yield f"with {second.name} = {second.neutral:g} it is {neutral}"
    one, two = (inward_text(100 * each) for each in (second.correctly_rounded, second.composed_correctly_rounded))
    is_composed = second.like_composed is not None and second.like_composed >= COMPOSED
    how = "as where each step is rounded" if is_composed else f"{two} % if each step is rounded"
    yield f"{one} % of {second.pairs:,} pairs are correctly rounded ({how})"


# ---- failures and defects ------------------------------------------------------------------------

FAILURES = {  # by kind, as docs/json.md has them
    "stdout": "prints",
    "left behind": "leaves something behind",
    "environment": "changes the floating-point environment",
    "nondeterministic": "equal calls give other outputs",
    "hang": "does not return",
    "exception": "raises an exception",
    "segfault": "crashes",
    "abort": "aborts",
    "arithmetic": "dies of an arithmetic exception",
    "instruction": "executes an illegal instruction, or a trap",
    "exit": "ends its process",
    "killed": "is killed",
    "memory": "needs too much memory",
    "files": "keeps too many files open",
    "status": "returns an error status",
    "dtype": "returns no array of its dtype",
    "shape": "returns another shape",
    "changed input": "changes its input",
    "partial write": "leaves outputs unwritten",
    "changed code": "its files changed while it was tested",
    "out of bounds": "reads or writes outside of its arrays",
    "interference": "interferes with the process that tests it",
    "illegal address": "uses memory of the device that is not its own",
    "launch": "cannot be launched on the device",
    "assert": "fails an assertion on the device",
    "architecture": "has no code for this device",
    "device": "fails, because the device is broken",
    "cuda": "fails on the device",
    "ptx": "cannot be executed on the CPU",
    "unwritten read": "reads memory that was never written",
    "race": "has a data race",
    "barrier": "does not meet at a barrier",
    "lane": "exchanges values with a lane that does not take part",
    "not determined": "gives what is not determined",
    OWN_FAULT: "not measured, by a fault of gelu-verify",
}
_TOLD = {  # kinds of which the failure says more: what, and the clause that it makes
    "dtype": (re.compile(r" returned ([a-z]+\d+) where ([a-z]+\d+) was expected"), "returns {} for {} arrays"),
    "shape": (
        re.compile(r" returned shape (\([\d, ]*\)) for an input of shape (\([\d, ]*\))"),
        "returns shape {} for {}",
    ),
    "memory": (re.compile(r"(needs more than the memory limit of [\d.]+ [GM]iB \(--memory-limit\))"), "{}"),
}
_WHATEVER_X = frozenset(
    {"stdout", "left behind", "environment", "dtype", "shape", "changed input", "changed code", "nondeterministic"}
)  # kinds that do not depend on the input
ONCE = "not when they were called again"  # of inputs, in a failure that depends on the calls before
_OF_ANY_X = re.compile(r", (?:whatever it is called with|(when it is called with .* elements?\b.*))$")


def failure_text(record: Record) -> str:
    """What it does instead of returning outputs, and for which x."""
    kind = record.failure_kind or "failed"
    told, form = _TOLD.get(kind, (None, ""))
    found = told.search(record.failure or "") if told else None
    clause = form.format(*found.groups()) if found else FAILURES.get(kind, f"dies of {kind}")
    if (record.failure or "").endswith(ONCE):
        return f"{clause}, but not when it is called so again"
    ends = [_at(record, bits) for bits in (record.failure_range or "").split(":") if bits]
    if not ends or kind in _WHATEVER_X:
        return clause
    if of_any_x := _OF_ANY_X.search(record.failure or ""):
        return f"{clause} {of_any_x[1] or ''}".rstrip()
    return f"{clause} at x = {ends[0]}" if ends[0] == ends[-1] else f"{clause} at some x from {ends[0]} to {ends[-1]}"


def _at(record: Record, bits: str | None) -> str:
    """An input, exactly."""
    return input_text(get_format(record.dtype), int(bits or "0", 16))


def _finding_at(record: Record, name: str) -> str:
    """ " at x = ..." of a check that has an input."""
    x_bits = record.findings[name].x_bits
    return f" at x = {_at(record, x_bits)}" if x_bits else ""


def _special(fmt: Format, finding: FindingRecord) -> str:
    """What was given, with as many digits as tell it from what is due."""
    value, due = (int(bits or "0", 16) for bits in (finding.got_bits, finding.want_bits))
    if not fmt.is_finite(value):
        return "NaN" if fmt.is_nan(value) else "infinite"
    texts = (tuple(value_text(fmt, each, digits) for each in (value, due)) for digits in range(3, 18))
    return next((text for text, other in texts if text != other), value_text(fmt, value, 17))


def _infinity(where: str, check: str) -> Callable[[Record], str]:
    return lambda record: f"{_special(get_format(record.dtype), record.findings[check])} at {where}"


VARIANTS = ("gradient_variant", "variant")


def _variant(record: Record) -> str:
    name = next(name for name in VARIANTS if name in failed(record, "defect"))
    finding = record.findings[name]
    if not finding.x_bits:
        return finding.detail.partition(":")[0]
    fmt = get_format(record.dtype)
    got, want = texts_apart(fmt, int(finding.got_bits or "0", 16), int(finding.want_bits or "0", 16), digits=3)
    return f"{finding.detail.partition(':')[0]} ({got} instead of {want}{_finding_at(record, name)})"


def _said(check: str, text: str) -> Callable[[Record], str]:
    return lambda record: text + _finding_at(record, check)


DEFECTS: dict[str, Callable[[Record], str]] = {
    "plus_infinity": _infinity("+inf", "plus_infinity"),
    "minus_infinity": _infinity("-inf", "minus_infinity"),
    "nan": lambda record: "NaN gives a number",
    "variant": _variant,
    "gradient_variant": _variant,
    "lane": _said("lane", "depends on the position in a call"),
    "repeatable": _said("repeatable", "equal calls give other outputs"),
    "lengths": _said("lengths", "depends on the length of a call"),
    "growth": lambda record: "keeps memory, files or threads of every call",
}
SLIGHT = {
    "lane": _said("lane", "depends slightly on the position in a call"),
    "lengths": _said("lengths", "depends slightly on the length of a call"),
}


def _rounding(record: Record) -> str:
    return f"rounds {(record.rounding_mode or 'not to nearest').replace('_', ' ')}{_finding_at(record, 'rounding')}"


def _precision(record: Record) -> str:
    return record.findings["precision"].detail.partition(":")[0]


LOSSES: dict[str, Callable[[Record], str]] = {  # that neither the largest error nor the tail shows
    "minus_infinity": DEFECTS["minus_infinity"],
    "plus_infinity": DEFECTS["plus_infinity"],
    "sign": _said("sign", "wrong sign"),
    "precision": _precision,
    "rounding": _rounding,
    **SLIGHT,
    "in_place": lambda record: record.findings["in_place"].detail.partition(";")[0],
}


def _nonfinite(record: Record, accuracy: Accuracy) -> Iterator[str]:
    """What is given instead of a finite value, or of the NaN or infinity that is due, and for which x."""
    fmt, finding = get_format(record.dtype), record.findings["finite"]
    x, got = int(finding.x_bits or "0", 16), int(finding.got_bits or "0", 16)
    what, found = "NaN or infinite", [side for side in accuracy.nonfinite if side.count]
    count = sum(side.count for side in found)
    if not get_function(record.judged_as).has_value(fmt, x):
        given = "a number" if fmt.is_finite(got) else value_text(fmt, got)
        what = f"{given} instead of {value_text(fmt, int(finding.want_bits or '0', 16))}"
    tried = _tried_word(record)
    if count <= 1:  # beside the plan, where there is none
        yield f"{_special(fmt, finding) if what == 'NaN or infinite' else what} at x = {input_text(fmt, x)}"
        return
    if all(side.is_all for side in found):
        yield from _everywhere(record, what, found)
        return
    if what == "NaN or infinite":
        nearest = input_text(fmt, min((side.x_bits for side in found), key=fmt.magnitude))
        yield f"NaN or infinite at {count:,} finite inputs{tried}, the smallest in size x = {nearest}"
    else:
        nearest = _at(record, (record.nonfinite and record.nonfinite.x_bits) or finding.x_bits)
        yield f"{what} at x = {nearest}, the smallest in size of {count:,} finite inputs{tried} of such a kind"


def _everywhere(record: Record, what: str, found: list[Span]) -> Iterator[str]:
    """That outwards from some x every input gives them."""
    fmt = get_format(record.dtype)
    for side in found:
        relation = "<=" if fmt.is_negative(side.x_bits) else ">="
        start = f"x {relation} {input_text(fmt, side.first_bits)}"
        among = start if side.is_whole else f"all {side.tried:,} tried of {start}"
        nearest = int((record.nonfinite and record.nonfinite.x_bits) or "0", 16)
        first = input_text(fmt, side.x_bits)
        if nearest == side.x_bits and what == "NaN or infinite":
            yield f"{what} for {among} ({_special(fmt, record.findings['finite'])} at x = {first})"
        else:
            yield f"{what} for {among}{'' if side.x_bits == side.first_bits else f', the first at x = {first}'}"


# ---- accuracy ------------------------------------------------------------------------------------


def _accuracy(record: Record, accuracy: Accuracy, grade: Grade | None, named: set[int]) -> Iterator[str]:
    """Where it is accurate; where it is not, what its absolute error is, and why it has no better grade."""
    fmt, tried = get_format(record.dtype), _tried(record, accuracy)
    if not accuracy.is_scored:
        yield "no finite input was tried"
    elif accuracy.correct:
        yield f"correctly rounded at {tried}"
    elif record.zero_sign == accuracy.incorrect and not record.beside:
        yield f"correctly rounded at {tried}, {_but_for_zeros(record)}"
    elif accuracy.worst is None:
        yield "nothing was scored" if accuracy.lost is None else f"subnormal numbers are lost at {tried}"
    elif accuracy.largest_near_root <= ACCURATE:
        yield _within(record, accuracy, tried)
    elif accuracy.range is not None and accuracy.is_wide:
        text = _range(record, accuracy.range, named)
        yield f"within {ACCURATE:g} ULP for {text}{_but(accuracy, 'and' if accuracy.range.exceptions else 'but for')}"
        if grade == "absolute" and accuracy.bits:
            yield f"of {fmt.precision} bits {accuracy.bits.normal:.1f} are right on average for x ~ N(0,1)"
    elif not named and accuracy.absolute is not None:
        at, bound = _at(record, accuracy.absolute.x_bits), accuracy.absolute_bound
        size = size_text(accuracy.absolute.error, bound)
        yield f"absolute error {SAID[bound]} {size} (at x = {at}) for |x| <= {BODY:g}"
        first = accuracy.first_above
        if first is not None and grade == "absolute":
            yield f"above {ACCURATE:g} ULP as near to zero as at x = {input_text(fmt, first.x_bits)}"


def _but_for_zeros(record: Record) -> str:
    """What is said where only zeros of the wrong sign are not correctly rounded."""
    fmt, count = get_format(record.dtype), record.zero_sign or 0
    finding = record.findings["zero_sign" if "zero_sign" in record.failed_checks else "signed_zero"]
    got, want = (value_text(fmt, int(bits or "0", 16)) for bits in (finding.got_bits, finding.want_bits))
    signs = "1 zero" if count == 1 else f"{count:,} zeros"
    return f"but for the sign of {signs} ({got} instead of {want} at x = {_at(record, finding.x_bits)})"


def _within(record: Record, accuracy: Accuracy, tried: str) -> str:
    """The largest error, where it is small."""
    worst, fmt = accuracy.worst, get_format(record.dtype)
    assert worst is not None
    largest, x_bits = worst.error, worst.x_bits
    if set(SLIGHT) & set(record.failed_checks) and record.witness and (record.max_ulp or 0) > largest:
        largest, x_bits = record.max_ulp or 0.0, int(record.witness.x_bits, 16)
    at_root = largest > ACCURATE and worst.error == largest
    if at_root and accuracy.worst_near_root is not None:
        largest, x_bits = accuracy.largest_near_root, accuracy.worst_near_root.x_bits
    root = ", near its root in ULP of 1/8" if at_root else ""
    alone = ", which stands out" if "outlier" in record.failed_checks else ""
    at = f"x = {input_text(fmt, x_bits)}{alone}"
    if record.bound == "=":
        return f"within {ulp_text(largest)} ULP at {tried}{root}, the largest at {at}"
    limit = next((limit for limit in LIMITS if largest <= limit), None)
    shown = ulp_text(largest, ">=")
    return f"within {limit or ulp_text(largest)} ULP at {tried}{root}, the largest {shown} at {at}"


def _tried(record: Record, accuracy: Accuracy) -> str:
    """The inputs that errors are said of."""
    other = "other " if any(side.count for side in accuracy.nonfinite) else ""
    among = "" if record.bound == "=" else f" of {record.n:,} tried"
    return f"every {other}finite input{among}{_but(accuracy)}"


def _but(accuracy: Accuracy, joined: str = "but for") -> str:
    if not accuracy.lost:
        return ""
    if not accuracy.lost_normal:
        return f" {joined} subnormal numbers"
    also = f"subnormal numbers and results up to {size_text(accuracy.lost_normal, '=')}"
    return f", {also}" if joined == "and" else f" {joined} {also}"


def _range(record: Record, found: AccurateRange, named: set[int]) -> str:
    """The range, of how many inputs that is said, and the exceptions, with the worst one if that has no name yet."""
    among = "" if found.bound == "=" else f" of {record.n:,} tried"
    text = f"{interval_text(record.dtype, found)}{among}"
    if not found.exceptions:
        return text
    bound = found.bound or ">="
    few = "1 input" if found.exceptions == 1 else f"{found.exceptions:,} inputs"
    if int(found.exception_x_bits or "0", 16) in named:
        return f"{text}, but for {few}"
    at = f"x = {_at(record, found.exception_x_bits)}{_stands_out(record, found.exception_x_bits)}"
    worst = f"{_size(found.exception_ulp or 0.0, bound)} at {at}"
    return f"{text}, but for {few} ({worst})"


def interval_text(dtype: str, found: AccurateRange) -> str:
    """The interval to three digits, rounded inward: "x >= -1.32"; with exceptions, the very ends between which these
    are counted: "x >= -1.3203125"."""
    if found.exceptions:
        bits = (int(each, 16) for each in (found.low_bits, found.high_bits))
        return _between(dtype, found, *(input_text(get_format(dtype), each) for each in bits))
    return _between(dtype, found, *map(inward_text, (found.low, found.high)))


def _between(dtype: str, found: AccurateRange, low: str, high: str) -> str:
    fmt = get_format(dtype)
    to_lowest = int(found.low_bits, 16) == fmt.max_finite | fmt.sign_mask
    to_highest = int(found.high_bits, 16) == fmt.max_finite
    if to_lowest and to_highest:
        return "every finite x"
    if to_highest:
        return f"x >= {low}"
    return f"x <= {high}" if to_lowest else f"{low} <= x <= {high}"


def _size(error: float, bound: str) -> str:
    """The largest error of some inputs: "up to 189 ULP", "at least 188 ULP"."""
    return f"{SAID[bound]} {ulp_text(error, bound)} ULP"


def _coarse(record: Record, accuracy: Accuracy, output: Output) -> str:
    """The absolute error that is too large."""
    bound, fmt = accuracy.farthest_bound, get_format(record.dtype)
    size, units = size_text(accuracy.farthest_size, bound), ulp_text(accuracy.units, bound, 2)
    also = "" if accuracy.units > 0.75 * output.error else f" of 1, {ulp_text(output.error, bound, 2)} of y"
    alone = _stands_out(record, fmt.bits_text(output.x_bits))
    at = f"{', zero' if fmt.magnitude(output.got_bits) == 0 else ''} at x = {input_text(fmt, output.x_bits)}"
    return f"absolute error {size}{at} ({SAID[bound]} {units} ULP{also}{alone})"


def _tried_word(record: Record) -> str:
    """After a count of inputs: " tried", where others may be so too."""
    return "" if record.bound == "=" else " tried"


# ---- what is worst -------------------------------------------------------------------------------


def _worst(record: Record, accuracy: Accuracy, named: set[int]) -> Iterator[str]:
    """The largest error beyond the range, where it is large, and where results become zero too early."""
    fmt, worst, zeros = get_format(record.dtype), accuracy.beyond_range, accuracy.zeros
    if worst is None or accuracy.largest_near_root <= ACCURATE:
        return
    if not accuracy.is_wide and accuracy.worst is not None:
        worst = accuracy.worst  # of all inputs, near a root too
    is_zero, at = fmt.magnitude(worst.got_bits) == 0, input_text(fmt, worst.x_bits)
    in_tail = is_zero and zeros.count and fmt.ordinal(worst.x_bits) <= fmt.ordinal(zeros.x_bits)
    size, is_named = _size(worst.error, record.bound), worst.x_bits in named
    if not in_tail and not is_named:
        alone = _stands_out(record, fmt.bits_text(worst.x_bits))
        beyond = "outside it " if accuracy.is_wide else ""
        yield f"{beyond}{size} ({'zero ' if is_zero else ''}at x = {at}{alone})"
    if zeros.count:
        also = f" ({size} at x = {at})" if in_tail and not is_named else ""
        yield f"returns 0 {_zeros(record, zeros)}, where the true value is not 0{also}"


def _stands_out(record: Record, x_bits: str | None) -> str:
    alone = record.witness is not None and record.witness.x_bits == x_bits
    return ", which stands out" if alone and "outlier" in record.failed_checks else ""


def _zeros(record: Record, zeros: Span) -> str:
    """For which x of the tail."""
    fmt = get_format(record.dtype)
    nearest = input_text(fmt, zeros.x_bits)
    if zeros.count <= 1:
        return f"at x = {nearest}"
    if not zeros.is_all:
        return f"at {zeros.count:,} x{_tried_word(record)} from {nearest} down"
    first, last = (input_text(fmt, bits) for bits in (zeros.first_bits, zeros.last_bits))
    also = "" if zeros.x_bits == zeros.first_bits else f" and at x = {nearest}"
    if zeros.is_whole:
        return f"for {last} <= x <= {first}{also}"
    return f"at all {zeros.tried:,} x tried from {first} to {last}{also}"


# ---- conventions ---------------------------------------------------------------------------------


def conventions_of(record: Record, accuracy: Accuracy) -> tuple[str, ...]:
    """What differs by convention and changes no grade but the best."""
    return tuple(_conventions(record, accuracy))


def _conventions(record: Record, accuracy: Accuracy) -> Iterator[str]:
    fmt = get_format(record.dtype)
    for name in failed(record, "convention"):
        finding = record.findings[name]
        if name in ("minus_infinity", "plus_infinity"):
            yield f"{_special(fmt, finding)} at {'-' if name == 'minus_infinity' else '+'}inf"
        elif name == "subnormals" and record.flush:
            yield _flush(record.flush)
        elif name == "nan":
            yield "NaNs stay signalling"
        elif name != "subnormals":
            yield finding.detail
    if accuracy.lost and not record.flush:
        yield f"subnormal numbers {_size(accuracy.lost.error, record.bound)} off ({_instead(fmt, accuracy.lost)})"


def _flush(flush: Flush) -> str:
    """No more than was seen."""
    if flush.zeros == flush.tried:
        return f"flushes subnormal {flush.flushed}"
    return f"flushes {flush.zeros} of {flush.tried} subnormal {flush.flushed} tried"
