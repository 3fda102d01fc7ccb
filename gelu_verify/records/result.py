"""What a measurement found: the RESULT of docs/json.md as one frozen record, from which all else derives.

JSON (`serialize.py`), what is refused on reading (`schema.py`) and the key tables of docs/json.md (tools/key_tables.py)
follow from these declarations: the order of the fields is that of the keys. A record is never changed;
`dataclasses.replace` makes another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..buckets.table import Table
from ..formats import FORMATS
from ..functions import named
from ..own_faults import KIND as OWN_FAULT
from .fields import LATER, Count, Line, Matching, Name, OneOf, Positive, Sha256, Share, Ulp, about
from .parts import (
    AbsoluteError,
    AccurateRange,
    Approximation,
    Beside,
    BitRange,
    Bound,
    Coverage,
    Dispatch,
    Executions,
    FindingRecord,
    Flush,
    FunctionName,
    Grade,
    IntervalErrors,
    MeanBits,
    NonFinite,
    Pair,
    Point,
    RegionErrors,
    Root,
    SecondInput,
    SweepTime,
    Throughput,
    Witness,
)

if TYPE_CHECKING:
    import pandas as pd

BoundKind = Literal["exhaustive", "sampled", "searched"]
Status = Literal["pass", "fail", "not applicable"]  # of a check
DtypeName = Annotated[str, OneOf(FORMATS)]
CheckName = Annotated[str, Matching("[a-z][a-z0-9_]*", "a name")]


@dataclass(frozen=True, slots=True)
class Origin:
    """When and on what a result was measured that does not come from this machine now; not part of its JSON."""

    date: str = ""
    device: str = ""  # of a GPU with its CUDA; of a committed run, the processor where there was no GPU
    recorded: str = ""  # who says so: "recorded 2026-11-21 on NVIDIA H100"; empty for a live result
    stale: str = ""  # why a committed result of our own code no longer counts; empty where it does


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was found of one target, function and dtype: a RESULT of docs/json.md."""

    target: Name = field(metadata=about('name of the implementation: `"torch.gelu"`; for a callable what was typed'))
    family: Name = field(metadata=about('what it belongs to: `"torch"`'))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    form: str = field(metadata=about("how it computes"))
    note: str = field(metadata=about("how it is called"))
    expression: Line | None = field(
        metadata=about(
            'what users of the library write for it, of an array `x`: `"torch.nn.functional.gelu(x)"`',
            null="where there is no such expression",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    version: str = field(metadata=about("version of the library, or hash of the source"))
    executed: Line | None = field(
        metadata=about(
            'on what its code was executed, where that is not the device that it was written for: `"ptx on CPU, sm_90, '
            "nvcc 13.0.88\"` is nvcc's PTX on the CPU, and no GPU's result",
            null="otherwise",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    executions: Executions | None = field(
        metadata=about(
            "the executions of which, at each input, the worst output was judged, where PTX leaves results open: no "
            "measure is better than that of any of them",
            null="where there was one",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    dispatch: Dispatch | None = field(
        metadata=about(
            "which code the library chose for the processor",
            null="where it has no switch, and its choice cannot be seen",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    plan: str = field(metadata=about("which inputs: name of the plan"))
    seed: Count = field(metadata=about("seed of the plan"))
    ranges: tuple[BitRange, ...] | None = field(
        metadata=about(
            '`["A:B", ...]`: the ranges of bits that the plan was narrowed to', null="for all", always_since=2
        ),
        default=None,
    )
    n: Positive = field(metadata=about("how many inputs"))
    inputs_sha256: Sha256 | None = field(
        metadata=about(
            "digest of the inputs: a plan of the same name and seed may choose others in another version", since=2
        ),
        default=None,
    )
    coverage: Coverage | None = field(
        metadata=about(
            "how much of the dtype was tried",
            null="where nothing was measured",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    bound: Bound = field(
        metadata=about('`"="` every input of the dtype was tried; `">="` the largest error found among `n` inputs')
    )
    bound_kind: BoundKind | None = field(
        metadata=about(
            'how it was looked for: `"exhaustive"`; `"sampled"`, in the inputs of the plan; or `"searched"`, in '
            "2^28 more that a device drew and judged, and from the worst of them on (float64 on a GPU, plan "
            "`strata`; `n` counts each input that was drawn). The largest error of a device is asked for again: "
            "from the kernel and from the oracle",
            always_since=2,
        ),
        default=None,
    )
    repeat: str = field(
        metadata=about(
            "the command that repeats this result; of a callable that no command can name, the call of `verify`"
        )
    )
    max_ulp: Ulp | None = field(
        metadata=about(
            "largest error in ULP, abs(got - y)/u(y) against the exact y, of all outputs of all calls, also of those "
            "beside the plan's own (`beside`): it may be above those of all buckets and regions",
            null="if nothing could be scored",
        ),
        default=None,
    )
    witness: Witness | None = field(
        metadata=about("the input with the error `max_ulp`", null="where nothing was scored"), default=None
    )
    beside: tuple[Beside, ...] | None = field(
        metadata=about(
            "outputs of other calls than the plan's own (timed, of other lengths, with other neighbours, by checks) "
            "that are worse than all that the plan shows in some measure: with the buckets they decide `max_ulp`, "
            "grade, range and sentence. Most often there are none. Counts, shares and means are of the plan's calls",
            null="where nothing was measured",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    mean_ulp: float | None = field(
        metadata=about("mean of the signed error in ULP", null="where nothing was scored"), default=None
    )
    p50_ulp: Ulp | None = field(
        metadata=about(
            "median of the absolute error in ULP, as the upper edge of a histogram", null="where nothing was scored"
        ),
        default=None,
    )
    p99_ulp: Ulp | None = field(
        metadata=about("its 99th percentile, likewise", null="where nothing was scored"), default=None
    )
    correctly_rounded: Share | None = field(
        metadata=about(
            "fraction of the inputs whose result is the correctly rounded one", null="where nothing was measured"
        ),
        default=None,
    )
    faithful: Share | None = field(
        metadata=about(
            "fraction of the inputs whose result is one of the two values of the dtype next to the exact one",
            null="where nothing was measured",
        ),
        default=None,
    )
    max_rank: Count | None = field(
        metadata=about("largest distance between got and want, counted in floats", null="where nothing was scored"),
        default=None,
    )
    nonfinite: NonFinite | None = field(
        metadata=about(
            "finite x that gave NaN or an infinity where a finite value is due, or outside of the domain and at a pole "
            "of the function something else than the NaN or infinity that is due",
            null="where nothing was measured",
        ),
        default=None,
    )
    zero_sign: Count | None = field(
        metadata=about(
            "how many finite x gave a zero of the wrong sign (the findings `signed_zero` and `zero_sign` have one of "
            "them each); 0 of a function that may give either",
            null="where nothing was measured",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    zero_from: Point | None = field(
        metadata=about(
            "the x nearest to zero, below -1, that gives zero although the reference is not zero",
            null="where there is none",
        ),
        default=None,
    )
    zero_threshold: Point | None = field(
        metadata=about("the same for the reference itself", null="where it never rounds to zero"), default=None
    )
    regions: tuple[RegionErrors, ...] | None = field(
        metadata=about("the regions of x, each with its errors", null="where nothing was measured"), default=None
    )
    intervals: tuple[IntervalErrors, ...] | None = field(
        metadata=about(
            "finer intervals of x, made of whole buckets; those without inputs are left out, infinities and NaN "
            "have their own",
            null="where nothing was measured",
            since=2,
        ),
        default=None,
    )
    bits_sha256: Sha256 | None = field(
        metadata=about(
            "digest of the results: of two runs of the same inputs it is the same where the results are. sha256 "
            "of the columns `bucket`, `n` (16 and 32 bits) and `bits_hash` of the buckets, little-endian, one "
            "after the other",
            null="where nothing was measured",
            since=2,
        ),
        default=None,
    )
    approximation: Approximation | None = field(
        metadata=about("error against the function that this one approximates", null="where it approximates none"),
        default=None,
    )
    variant: str | None = field(
        metadata=about(
            'name of the function that the target really computes, or `"none"`', null="where that is not asked"
        ),
        default=None,
    )
    checks: Mapping[CheckName, Status] = field(
        metadata=about('`{name: "pass" \\| "fail" \\| "not applicable"}`'), default_factory=dict
    )
    findings: Mapping[str, FindingRecord] = field(
        metadata=about("`{name: finding}` of the checks that apply"), default_factory=dict
    )
    computes_in: str | None = field(
        metadata=about(
            "the dtype whose precision the results have (check `precision`)",
            null="where too few results are rounded",
            always_since=2,
        ),
        default=None,
    )
    rounding: str | None = field(
        metadata=about(
            '16 bits: `"once"` (wider arithmetic, rounded at the end) or `"composed"` (each step is rounded)',
            null="otherwise",
            always_since=2,
        ),
        default=None,
    )
    rounding_mode: str | None = field(
        metadata=about(
            'which way results are rounded, as far as they show it (check `rounding`): `"nearest_even"`, '
            '`"nearest_away"` (ties away from zero), `"nearest"` (no tie shows it), `"toward_zero"`, '
            '`"away_from_zero"`, `"up"`, `"down"`, `"to_odd"`, `"stochastic"`',
            null="otherwise",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    flush: Flush | None = field(
        metadata=about("subnormal numbers that become zero", null="where none do", always_since=2), default=None
    )
    root: Root | None = field(
        metadata=about("of a gradient: the errors near its root", null="otherwise", always_since=2), default=None
    )
    tolerances: Mapping[str, bool] | None = field(
        metadata=about(
            "`{name: true \\| false}`: would a tolerance in use elsewhere have noticed (`docs/checks.md`)",
            null="where every result is faithful",
            always_since=2,
        ),
        default=None,
    )
    second: SecondInput | None = field(
        metadata=about(
            "of a function with a second input that was tried with many values of it: the one whose result this is, "
            "because the target is worst with it, and how it was with all",
            null="otherwise",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    pair: Pair | None = field(
        metadata=about(
            "what differs from the first path of the same form in the run", null="for that one", always_since=2
        ),
        default=None,
    )
    grade: Grade | None = field(
        metadata=about(
            "how good it is, in one word (`docs/grades.md`)",
            null="in a condensed run of an earlier version, where gelu-verify itself failed, and where no finite input "
            "was tried and nothing is broken",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    grade_bound: Bound | None = field(
        metadata=about(
            '`"="`: every input of the dtype was tried, or the grade is `broken`, which nothing can make worse; '
            '`">="`: from a sample, other inputs may make it worse',
            null="in a run of an earlier version, and where there is no grade",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    sentence: str | None = field(
        metadata=about("the same in a sentence: defects, accuracy, tail", null="likewise", since=2, always_since=LATER),
        default=None,
    )
    conventions: tuple[str, ...] | None = field(
        metadata=about(
            "what differs by convention and changes no grade: `NaN at -inf`, `flushes subnormal results`, ...",
            null="likewise",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    accurate_range: AccurateRange | None = field(
        metadata=about(
            "where it is accurate: the widest interval around 0 in which every input tried is within 4 ULP",
            null="where zero is not, and where the plan was narrowed",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    max_abs_error: AbsoluteError | None = field(
        metadata=about("largest absolute error", null="where nothing was scored", since=2, always_since=LATER),
        default=None,
    )
    mean_bits: MeanBits | None = field(
        metadata=about("mean bits of accuracy", null="where nothing was measured", since=2, always_since=LATER),
        default=None,
    )
    throughput: Throughput | None = field(metadata=about("how fast it is", null="where it was not timed"), default=None)
    time: SweepTime | None = field(
        metadata=about("of an exhaustive float32 sweep: how long it took", null="otherwise", always_since=2),
        default=None,
    )
    buckets: (
        Annotated[str, Matching(r"buckets/[0-9]{3,8}\.(parquet|npz)", "buckets/NNN.parquet or buckets/NNN.npz")] | None
    ) = field(
        metadata=about("file of the error per bucket of x, relative to the run", null="where there are no measures"),
        default=None,
    )
    sha256: Sha256 | None = field(metadata=about("sha256 of that file", null="where there is none"), default=None)
    failure: Line | None = field(
        metadata=about(
            "one line: the target failed; all measures are null then and `checks` is empty, but for the kinds "
            "`stdout`, `nondeterministic`, `environment`, `left behind`, a crash that did not repeat and a "
            "failure in a call that a check made, which spoil none",
            null="where nothing failed",
        ),
        default=None,
    )
    failure_kind: str | None = field(
        metadata=about("one of the kinds below", null="where nothing failed", always_since=2), default=None
    )
    failure_range: BitRange | None = field(
        metadata=about(
            '`"A:B"` as `--bits` takes it: the smallest range of the failing call\'s inputs that was found to '
            "show it; where the failure does not depend on the inputs, one input",
            null="where nothing failed, and where the call did not fail when it was made again",
            always_since=2,
        ),
        default=None,
    )
    failure_length: Positive | None = field(
        metadata=about(
            "the smallest number of inputs in a call, as `--length` takes it, where the failure depends on it",
            null="where nothing failed, or does not depend on it",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    own_faults: tuple[Line, ...] | None = field(
        metadata=about(
            "faults of gelu-verify itself while this was judged, one line each: what failed is not known of the "
            "implementation, and no fault of it; the exit code is 3",
            null="where there was none",
            since=2,
            always_since=LATER,
        ),
        default=None,
    )
    # ---- not part of the documented object ----
    origin: Origin = Origin()
    lacking: frozenset[str] = frozenset()  # keys that a stored run of an earlier version does not have
    unknown: Mapping[str, Any] = field(default_factory=dict)  # keys of a later version, kept as they are

    @property
    def key(self) -> str:
        """What names it in a run: target/function/dtype."""
        return f"{self.target}/{self.function}/{self.dtype}"

    @property
    def judged_as(self) -> str:
        """The function of x that its measures are of: with the value of the second input, where there is one."""
        if self.second is None:
            return self.function
        value = FORMATS[self.dtype].fraction(int(self.second.value_bits, 16))
        return named(self.function, {self.second.name: value})

    @property
    def outputs_sha256(self) -> str | None:
        """Digest of all results: with every value of a second input, where there is one."""
        return self.second.outputs_sha256 if self.second and self.bits_sha256 else self.bits_sha256

    @property
    def failed_checks(self) -> list[str]:
        """Names of the checks that failed."""
        return [name for name, outcome in self.checks.items() if outcome == "fail"]

    @property
    def has_failed(self) -> bool:
        """Whether the target did, and not gelu-verify."""
        return self.failure is not None and self.failure_kind != OWN_FAULT


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds that a sweep took, seconds inside the target (summed over threads), and on how many threads."""

    sweep_s: float
    target_s: float
    threads: int

    @property
    def ratio(self) -> float:
        """What the sweep took over what the calls alone would, spread over the same threads."""
        return self.sweep_s * self.threads / self.target_s

    def recorded(self) -> SweepTime:
        """The same as a record has it."""
        return SweepTime(self.sweep_s, self.target_s, self.threads, self.ratio)


@dataclass(frozen=True, slots=True)
class Result:
    """What one sweep found: the record, and the buckets that it follows from (None on failure)."""

    record: Record
    table: Table | None
    time: Time | None = None

    def __repr__(self) -> str:
        record = self.record
        scored = "nothing was scored" if record.max_ulp is None else f"max_ulp {record.bound} {record.max_ulp:.6g}"
        checks = f", failed checks: {', '.join(record.failed_checks)}" if record.failed_checks else ""
        what = f"{record.target}, {record.function} in {record.dtype}"
        return f"<Result of {what}: {record.failure or scored}{checks}>"

    @property
    def max_ulp(self) -> float | None:
        """Largest |E|; None where the target failed or nothing was scored."""
        return self.record.max_ulp

    @property
    def failure(self) -> str | None:
        """What the target did: raised, crashed, broke its contract; there are measures only where that spoiled none."""
        return self.record.failure

    @property
    def failed_checks(self) -> list[str]:
        """Names of the checks that failed."""
        return self.record.failed_checks

    def updated(self, **fields: Any) -> Result:
        """The same measurement with other fields of its record."""
        return replace(self, record=replace(self.record, **fields))

    def frame(self) -> pd.DataFrame:
        """The bucket table, one row per bucket that has inputs."""
        import pandas as pd

        return pd.DataFrame({} if self.table is None else self.table.flat)
