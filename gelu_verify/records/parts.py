"""The objects inside of a RESULT (docs/json.md), each a frozen record; `result.py` has the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from ..functions import FUNCTIONS
from ..functions.regions import INTERVALS, REGIONS
from .fields import Bits, Count, Line, Matching, OneOf, Positive, Sha256, Share, Size, Ulp, about

Bound = Literal["=", ">="]
Grade = Literal[
    "correctly_rounded", "faithful", "accurate", "accurate_range", "absolute", "coarse", "broken"
]  # `grades.py`
Severity = Literal["defect", "loss", "convention"]
FunctionName = Annotated[str, OneOf(FUNCTIONS)]


@dataclass(frozen=True, slots=True)
class Witness:
    """One input, what the implementation returned for it, and the correctly rounded value."""

    x_bits: Bits = field(metadata=about("the input"))
    got_bits: Bits = field(metadata=about("what the implementation returned"))
    want_bits: Bits = field(metadata=about("the correctly rounded value"))


BitRange = Annotated[str, Matching("0x[0-9a-f]+:0x[0-9a-f]+", "a range of bits")]


@dataclass(frozen=True, slots=True)
class Gap:
    """A run of consecutive inputs, none of which was tried."""

    inputs: Positive = field(metadata=about("how many"))
    low_bits: Bits = field(metadata=about("the lowest"))
    low: float = field(metadata=about("its value"))
    high_bits: Bits = field(metadata=about("the highest"))
    high: float = field(metadata=about("its value"))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a dtype was tried."""

    share: Share = field(metadata=about("share of all bit patterns of the dtype"))
    whole: tuple[BitRange, ...] = field(
        metadata=about(
            '`["A:B", ...]`: runs of consecutive buckets (the top 16 bits of x) of which every input was tried; of the '
            "16-bit dtypes, whose buckets have one input, none is listed"
        )
    )
    buckets: Count = field(
        metadata=about("in how many buckets more was tried than the plan's own inputs: `--budget Nbuckets` repeats it")
    )
    gap: Gap | None = field(metadata=about("the longest run of finite inputs that nobody tried", null="for all"))
    core_gap: Gap | None = field(
        metadata=about(
            "the same where the function is not trivial: neither x, x/2, 0, 1/2 nor 1 within the precision",
            null="where all were tried",
        )
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """An output of a call that is not the plan's own, worse than all that the plan shows in one measure or another."""

    x_bits: Bits = field(metadata=about("the input"))
    got_bits: Bits = field(metadata=about("what the implementation returned"))
    want_bits: Bits = field(metadata=about("the correctly rounded value"))
    ulp: Ulp | None = field(
        metadata=about("its error in ULP", null="where it is not scored: NaN or an infinity, or one is due")
    )
    where: Line = field(metadata=about('in which call: `"at index 3 in a call of 100"`'))


@dataclass(frozen=True, slots=True)
class Point:
    """An input as bits and as a number."""

    x_bits: Bits = field(metadata=about("its bits"))
    x: float = field(metadata=about("its value"))


@dataclass(frozen=True, slots=True)
class AccurateRange:
    """The widest interval around 0 in which all inputs tried, but for few, are within 4 ULP (`docs/grades.md`)."""

    low_bits: Bits = field(metadata=about("its lower end, included"))
    low: float = field(metadata=about("its value"))
    high_bits: Bits = field(metadata=about("its upper end, included"))
    high: float = field(metadata=about("its value"))
    bound: Bound | None = field(
        metadata=about(
            '`"="`: every input in it was tried, and some just beyond each end are above 4 ULP; `">="`: from a sample, '
            "it may be narrower",
            omitted=True,
        ),
        default=None,
    )
    exceptions: Count | None = field(
        metadata=about("how many of the inputs tried in it are above 4 ULP", omitted=True), default=None
    )
    exception_x_bits: Bits | None = field(metadata=about("the worst of them", omitted=True), default=None)
    exception_ulp: Ulp | None = field(metadata=about("its error in ULP", omitted=True), default=None)


@dataclass(frozen=True, slots=True)
class AbsoluteError:
    """The largest absolute error of the inputs with the largest error in ULP of each bucket, for abs(x) <= 8."""

    error: Size = field(metadata=about("abs(got - y), of the exact y"))
    x_bits: Bits = field(metadata=about("the input"))
    x: float = field(metadata=about("its value"))
    units: Size = field(
        metadata=about("the largest abs(got - y) of any such input, also beyond 8, in units of u(max(1, abs(y)))")
    )


@dataclass(frozen=True, slots=True)
class MeanBits:
    """Mean number of correct significant bits: the precision of the dtype, less log2 of the error in half ULPs."""

    plan: Size = field(metadata=about("over the finite inputs of the plan"))
    normal: Size | None = field(
        metadata=about("weighted by the normal distribution, x ~ N(0,1)", null="where they do not cover it")
    )


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Finite inputs that gave NaN or an infinity where a finite value is due, or a number where none is (log)."""

    count: Count = field(metadata=about("how many"))
    x_bits: Bits | None = field(metadata=about("the one nearest to zero", null="where there is none"))


@dataclass(frozen=True, slots=True)
class RegionErrors:
    """The inputs of one region of x."""

    region: Annotated[str, OneOf([region.name for region in REGIONS])] = field(metadata=about('its ends: `"[-8,-5)"`'))
    n: Count | None = field(metadata=about("how many inputs", null="in a condensed run"))
    max_ulp: Ulp | None = field(
        metadata=about("largest error in ULP, of the plan's calls", null="where nothing was scored")
    )
    witness: Witness | None = field(metadata=about("its witness", null="where there is none, and in a condensed run"))


@dataclass(frozen=True, slots=True)
class IntervalErrors:
    """The inputs of one interval of x: finer than a region, and made of whole buckets."""

    interval: Annotated[str, OneOf(INTERVALS)] = field(metadata=about('its ends: `"[1,1.5)"`'))
    n: Count = field(metadata=about("how many inputs"))
    correct: Count = field(metadata=about("how many results are correctly rounded"))
    faithful: Count = field(
        metadata=about("how many results are one of the two values of the dtype next to the exact one")
    )
    max_ulp: Ulp | None = field(metadata=about("largest error in ULP", null="where nothing was scored"))
    x_bits: Bits | None = field(metadata=about("the input with the largest error", null=""))
    got_bits: Bits | None = field(metadata=about("what it gave", null=""))
    want_bits: Bits | None = field(metadata=about("the correctly rounded value there", null=""))


@dataclass(frozen=True, slots=True)
class Approximation:
    """Error against the function that the judged one approximates."""

    function: FunctionName = field(metadata=about("name of that function"))
    max_ulp: Ulp = field(metadata=about("largest error in ULP"))
    max_abs: Size = field(metadata=about("largest absolute error"))
    x_bits: Bits = field(metadata=about("the input with the largest error in ULP"))


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """What a check found, and the input that shows it."""

    detail: str = field(metadata=about("one line; may be empty where the check passes"))
    x_bits: Bits | None = field(metadata=about("the input", null=""))
    got_bits: Bits | None = field(metadata=about("what it gave", null=""))
    want_bits: Bits | None = field(metadata=about("what is due", null=""))
    other_bits: Bits | None = field(
        metadata=about("the other output, where one input had two", null="", omitted=True), default=None
    )
    severity: Severity | None = field(
        metadata=about(
            'of a failure: `"defect"`, `"loss"` or `"convention"` (`docs/grades.md`)', null="", omitted=True
        ),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class Flush:
    """Subnormal numbers become zero: all that were tried, or some of them."""

    flushed: str = field(metadata=about('which: `"inputs"` or `"results"`'))
    max_ulp: Ulp | None = field(
        metadata=about("largest error in ULP of the buckets whose worst input is not flushed", null="")
    )
    zeros: Count | None = field(metadata=about("how many of those tried became zero", omitted=True), default=None)
    tried: Count | None = field(metadata=about("how many were tried", omitted=True), default=None)


@dataclass(frozen=True, slots=True)
class Root:
    """The errors near the root of a gradient; no gate looks at them."""

    x_bits: Bits = field(metadata=about("the input with the largest error"))
    max_ulp: Ulp = field(metadata=about("largest error in ULP of the exact value"))
    max_ulp_absolute: Size = field(metadata=about("largest error in ULP of 1/8"))


@dataclass(frozen=True, slots=True)
class PairWitness:
    """The input at which two paths differ most."""

    x_bits: Bits = field(metadata=about("the input"))
    got_bits: Bits = field(metadata=about("what this path gave"))
    other_bits: Bits = field(metadata=about("what the first path gave"))


@dataclass(frozen=True, slots=True)
class Pair:
    """A path through a library beside the first path of the same family, function, dtype and form in the run; at an
    instruction-set level, beside the same path at the first level."""

    first: str = field(metadata=about("target of the first path", key="with"))
    inputs: Count = field(metadata=about("how many fixed inputs both were called with"))
    differ: Count = field(metadata=about("how many of them gave other bits (all NaNs are the same)"))
    floats: Count = field(metadata=about("how far apart at most, counted in floats"))
    witness: PairWitness | None = field(
        metadata=about("where they are farthest apart", null="where they do not differ")
    )
    max_ulp: Ulp | None = field(metadata=about("largest error of the first path, in ULP", null=""))
    alike: bool | None = field(
        metadata=about("whether all results of the plan are the same", null="where the inputs are not", omitted=True),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Which code the library chose for the processor, by the switches that it has and as far as that was seen."""

    level: str | None = field(
        metadata=about('the instruction-set level that it was limited to: `"avx2"`', null="where it chose by itself")
    )
    switches: Mapping[str, str] = field(metadata=about("the environment variables that limited it"))
    seen: Mapping[str, str] | None = field(
        metadata=about(
            'by component, what it was seen to choose, in its own words: `{"ATen": "AVX2"}`',
            null="where that cannot be seen: `level` was requested then, and may not have been used",
        )
    )


@dataclass(frozen=True, slots=True)
class Execution:
    """The largest error of one execution, in the plan's calls."""

    name: str = field(
        metadata=about(
            'which values approximations had within their bounds: `"lowest"`, `"nearest"`, `"highest"`, `"mixed"`; '
            "`-fused` where a product and a sum were one fma"
        )
    )
    max_ulp: Ulp | None = field(metadata=about("largest error in ULP", null="where nothing was scored"), default=None)
    x_bits: Bits | None = field(metadata=about("the input", null=""), default=None)
    got_bits: Bits | None = field(metadata=about("what this execution gave", null=""), default=None)


@dataclass(frozen=True, slots=True)
class Executions:
    """How code was executed whose results its specification leaves open; `docs/gpu.md`."""

    same: Share = field(metadata=about("share of the outputs that were the same in all executions"))
    floats: Count = field(metadata=about("how far apart they were at most, counted in floats"))
    x_bits: Bits | None = field(metadata=about("for which input", null="where all were the same"))
    each: tuple[Execution, ...] = field(metadata=about("the executions"))


@dataclass(frozen=True, slots=True)
class SecondInput:
    """The values of a second input (g of g f(x), b of f(x + b)) with which a target was tried."""

    name: str = field(metadata=about('the parameter: `"g"`, `"b"`'))
    value_bits: Bits = field(metadata=about("the value with which the target is worst: the result is that of it"))
    value: float = field(metadata=about("the same as a number"))
    neutral: float = field(metadata=about("the value that changes nothing: g = 1, b = 0"))
    neutral_grade: Grade | None = field(
        metadata=about("the grade with that one", null="where gelu-verify itself failed with it")
    )
    neutral_ulp: Ulp | None = field(
        metadata=about("the largest error in ULP with that one", null="where nothing was scored with it")
    )
    values: Positive = field(metadata=about("how many were tried"))
    pairs: Positive = field(metadata=about("how many pairs of x and a value"))
    bound: Bound = field(metadata=about('`"="`: all pairs of the dtype; `">="`: a sample'))
    outputs_sha256: Sha256 = field(metadata=about("digest of the results for all these pairs"))
    correctly_rounded: Share = field(metadata=about("share of these pairs with the correctly rounded result"))
    faithful: Share = field(metadata=about("share of them with one of the two values next to the exact one"))
    activation_ulp: Ulp | None = field(
        metadata=about(
            "how large an error in ULP f(x) itself must have had at the witness, at least, where g times it was "
            "rounded once",
            null="of f(x + b), and where that cannot be scored",
        )
    )
    composed_ulp: Ulp | None = field(
        metadata=about(
            "largest error in ULP, for the same pairs, of composing in the dtype: f(x) correctly rounded, then the "
            "product; or the sum, then f",
            null="where one is infinite and should not be",
        )
    )
    like_composed: Share | None = field(
        metadata=about(
            "of the buckets of x in which composing does not always round correctly, the share in which all outputs "
            "are those of composing",
            null="where it always does",
        )
    )
    composed_correctly_rounded: Share = field(metadata=about("share of them that composing rounds correctly"))


@dataclass(frozen=True, slots=True)
class SizeThroughput:
    """Throughput at one size of the arrays, on one number of threads."""

    level: str = field(metadata=about('the memory that the arrays fit into: `"L1"`, `"L2"`, `"L3"`, `"memory"`'))
    n: Count = field(metadata=about("elements"))
    threads: Positive | None = field(metadata=about("how many threads", omitted=True), default=None)
    elements_per_s: Size | None = field(
        metadata=about("median elements per second", null="", omitted=True), default=None
    )
    bytes_per_s: Size | None = field(
        metadata=about("bytes read and written per second", null="", omitted=True), default=None
    )
    spread: Size | None = field(
        metadata=about("interquartile range over median of the times", null="", omitted=True), default=None
    )
    copy_ratio: Size | None = field(
        metadata=about("time of a copy of the same bytes over its own time", null="", omitted=True), default=None
    )
    copy_bytes_per_s: Size | None = field(
        metadata=about("bytes per second of that copy", null="", omitted=True), default=None
    )
    repeats: Count | None = field(metadata=about("how often it was timed", null="", omitted=True), default=None)
    left_out: str | None = field(
        metadata=about("why it was not timed, in the place of the numbers", null="", omitted=True), default=None
    )


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast the target is; it decides nothing."""

    elements_per_s: Size = field(metadata=about("median elements per second"))
    bytes_per_s: Size | None = field(
        metadata=about("bytes read and written per second; of a GPU only", omitted=True), default=None
    )
    spread: Size = field(metadata=about("interquartile range over median of the times"), kw_only=True)
    copy_ratio: Size | None = field(
        metadata=about("time of a memory copy of the same bytes over its own time", null=""), kw_only=True
    )
    copy_bytes_per_s: Size | None = field(
        metadata=about("bytes per second of that copy; of a GPU only", omitted=True), default=None
    )
    n: Positive = field(metadata=about("elements per call"), kw_only=True)
    sizes: tuple[SizeThroughput, ...] | None = field(
        metadata=about("with `--throughput full`: from the first cache to memory", omitted=True), default=None
    )


@dataclass(frozen=True, slots=True)
class SweepTime:
    """How long an exhaustive float32 sweep took, beside the calls that it judged."""

    sweep_s: Size = field(metadata=about("wall-clock seconds of the sweep"))
    target_s: Size = field(metadata=about("seconds inside the target's calls, summed over its threads"))
    threads: Positive = field(metadata=about("how many threads"))
    ratio: Size = field(metadata=about("sweep_s threads / target_s"))
