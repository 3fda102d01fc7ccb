"""What a budget holds: the limits of one target, function and dtype, and what they depend on."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from glob import escape
from typing import Any, get_args

from ..errors import ResultsError
from ..formats import DTYPES, get_format
from ..functions import FUNCTIONS
from ..functions.regions import INTERVALS, REGIONS
from ..inputs.special import SPECIALS
from ..isa import level_of_machine, split_level
from ..records.grades import GRADES
from ..records.parts import (
    AbsoluteError,
    AccurateRange,
    Bound,
    FindingRecord,
    Grade,
    IntervalErrors,
    MeanBits,
    NonFinite,
    Point,
    RegionErrors,
    Severity,
)
from ..records.result import Record

SCHEMA = 4
SCHEMAS = (1, 2, 3, SCHEMA)
COVERAGE = 0.9  # a sampled row is measured by at least this share of its inputs: seeds differ a little in size
FINITE = INTERVALS[1:-1]  # those with errors
_KEYS = {  # of a record: the limit of a row, without which there is none
    **{name: name for name in ("grade", "nonfinite", "faithful", "p99_ulp", "mean_bits", "zero_from", "zero_sign")},
    **{name: name for name in ("regions", "intervals")},
    **{"correctly_rounded": "correct", "max_abs_error": "max_abs", "accurate_range": "accurate", "bits_sha256": "bits"},
}
_COMPILED = re.compile(r"(.*?), (-|no flags, )")  # version of what was compiled: compiler, flags, hash
_SCOPE = re.compile(r" \([^()]*\)$")  # of the name of a row
_WAYS = re.compile(r", (?:products and sums |approximations: )")  # after what executed PTX: how
_FOR_THIS_PROCESSOR = "=native"  # in flags of gcc and clang
SOURCES = ("kernels", "published", "cuda", "callable")  # families whose `version` is a hash of their source


@dataclass(frozen=True)
class Conditions:
    """What decides the last bits of a result beside the source of its target. Empty is what does not concern it."""

    libm: str
    architecture: str
    fma: bool
    compiler: str = ""  # of a source file
    libraries: str = ""  # of Python code, with their versions
    level: str = ""  # instruction-set level, where libraries choose code by it, or a compiler was asked to

    def differences(self, here: Conditions) -> list[str]:
        """What is otherwise here, as far as this says it: "cc 12.2.0 (the budget: cc 14.1.0)"."""
        return [
            _difference(name, old, new)
            for name, old in asdict(self).items()
            if old != "" and old != (new := getattr(here, name))
        ]


def _difference(name: str, old: object, new: object) -> str:
    if name == "fma":
        return "with FMA (the budget: without)" if new else "without FMA (the budget: with it)"
    return f"{new or f'no {name}'} (the budget: {old})"


@dataclass(frozen=True)
class Row:
    """The budget of one target, function and dtype. What a file of an earlier schema does not hold is None."""

    max_ulp: float
    bound: Bound
    n: int
    plan: str
    seed: int
    witness: str
    date: str
    conditions: Conditions
    machine: str = ""  # processor on which it was measured, and its instruction-set level: for people
    fails: Mapping[str, str] = field(default_factory=dict)  # checks that may fail, each with the reason
    grade: Grade | None = None
    library: str = ""  # of a row that holds for one release of a library only: "torch 2.13.0"
    level: str = ""  # and for one instruction-set level of the processor
    device: str = ""  # of a row of a GPU's code: the GPU and its CUDA, or what executed its PTX
    buckets: int = 0  # in which more was tried than the plan's own inputs (`run --budget`)
    max_abs: float | None = None  # largest absolute error for |x| <= 8
    accurate: tuple[str, str] | None = None  # ends (bits) of the accurate range
    correct: int | None = None
    faithful: int | None = None
    nonfinite: int | None = None
    zero_sign: int | None = None
    mean_ulp: float | None = None  # absolute, of the signed error: for people, as it may grow where each error shrinks
    p99_ulp: float | None = None
    mean_bits: float | None = None  # rounded down
    zero_from: str | None = None  # bits; "" where no zero comes too early
    inputs: str | None = None  # digests of the inputs and of the results
    bits: str | None = None
    specials: Mapping[str, str] | None = None  # what -inf, +inf, NaN and -0 give: bits
    severities: Mapping[str, Severity] = field(default_factory=dict)  # of those in `fails`, as far as it is known
    regions: Mapping[str, float] | None = None
    intervals: Mapping[str, float] | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether its results must not change: all were correctly rounded, which leaves no other."""
        return self.correct == self.n

    def record(self, key: str) -> Record:
        """The row as the condensed record that it is: its limits, and nothing that it does not limit."""
        target, function, dtype = key.rsplit("/", 2)
        fmt, limits = get_format(dtype), self.intervals or {}
        specials = self.specials or {}
        found = {check: (self.severities.get(check), specials.get(SPECIALS.get(check, ""))) for check in self.fails}
        zero, ends = self.zero_from, self.accurate
        low, high = (float(fmt.fraction(int(bits, 16))) for bits in ends or (f"0x{0:x}",) * 2)
        return Record(
            target=target, family="", function=function, dtype=dtype, form="", note="", version="", repeat="",
            plan=self.plan, seed=self.seed, n=self.n, bound=self.bound, grade=self.grade, max_ulp=self.max_ulp,
            checks=dict.fromkeys(self.fails, "fail"),
            findings={
                check: FindingRecord("", None, bits, None, severity=severity)
                for check, (severity, bits) in found.items()
                if severity or bits
            },
            nonfinite=NonFinite(self.nonfinite or 0, None),
            zero_sign=self.zero_sign,
            correctly_rounded=None if self.correct is None else self.correct / self.n,
            faithful=None if self.faithful is None else self.faithful / self.n,
            p99_ulp=self.p99_ulp,
            mean_bits=None if self.mean_bits is None else MeanBits(self.mean_bits, None),
            max_abs_error=None if self.max_abs is None else AbsoluteError(self.max_abs, "", 0.0, 0.0),
            accurate_range=AccurateRange(ends[0], low, ends[1], high) if ends else None,
            zero_from=Point(zero, float(fmt.fraction(int(zero, 16)))) if zero else None,
            regions=tuple(RegionErrors(part.name, None, (self.regions or {}).get(part.name), None) for part in REGIONS),
            intervals=tuple(IntervalErrors(name, 0, 0, 0, limits.get(name), None, None, None) for name in FINITE),
            bits_sha256=self.bits, inputs_sha256=self.inputs,
            lacking=frozenset(key for key, name in _KEYS.items() if getattr(self, name) is None),
        )  # fmt: skip

    @property
    def scope(self) -> str:
        """What its name says beside target, function and dtype: empty where it holds everywhere."""
        return f" ({self.library}, {self.level})" if self.library else " (ptx)" if self.is_executed else ""

    @property
    def is_executed(self) -> bool:
        """Whether it is of PTX that was executed on a CPU, of which no GPU's result is said."""
        return self.device.startswith("ptx ")

    def applies(self, record: Record, level: str) -> bool:
        """Whether it limits a result of that library's release, measured on a processor of that level."""
        of_library = not self.library or (self.library, self.level) == library_of(record, level)
        return of_library and self.is_executed == bool(record.executed)


@dataclass(frozen=True)
class Selection:
    """Which rows are meant: of these targets, files or families, that match one of these patterns; empty: all."""

    targets: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @classmethod
    def of_keys(cls, keys: Iterable[str]) -> Selection:
        """Exactly these rows."""
        return cls(patterns=tuple(map(escape, keys)))

    def has(self, key: str) -> bool:
        """Whether a target/function/dtype is among them."""
        named = not self.targets or any(is_of(name, key) for name in self.targets)
        keys = (_SCOPE.sub("", pattern) for pattern in self.patterns)
        return named and (not self.patterns or any(fnmatchcase(key, pattern) for pattern in keys))

    def may_have(self, name: str) -> bool:
        """Whether a target, file or family can have such rows."""
        named = not self.targets or any(is_of(each, f"{name}/") or is_of(name, f"{each}/") for each in self.targets)
        begins = (pattern[:end] for pattern in self.patterns for end in range(len(pattern) + 1))
        return named and (not self.patterns or any(fnmatchcase(name, begin) for begin in begins))


ALL_ROWS = Selection()


def is_of(name: str, key: str) -> bool:
    """Whether a target/function/dtype is of a target, a file or a family."""
    return re.match(rf"{re.escape(name)}[/:.@]", key) is not None


@dataclass(frozen=True)
class Budgets:
    """All rows: by target/function/dtype, and the scope of those that have one."""

    rows: Mapping[str, Row]
    schema: int = SCHEMA

    def selected(self, selection: Selection) -> Budgets:
        """Only those rows."""
        rows = {name: row for name, row in self.rows.items() if selection.has(key_of(name, row))}
        return replace(self, rows=rows)

    def of(self, key: str) -> list[Row]:
        """The rows of a target/function/dtype, whatever they apply to."""
        return [row for name, row in self.rows.items() if key_of(name, row) == key]

    @property
    def keys(self) -> list[str]:
        """target/function/dtype of each row, each once."""
        return list(dict.fromkeys(key_of(name, row) for name, row in self.rows.items()))


def key_of(name: str, row: Row) -> str:
    """target/function/dtype of a row, of its name."""
    return name.removesuffix(row.scope)


def conditions_of(machine: Mapping[str, Any], record: Record) -> Conditions:
    """Those of a result, from the machine in its run's manifest; ResultsError where that does not tell."""
    missing = [name for name in ("libm", "architecture", "isa") if name not in machine]
    if missing:
        raise ResultsError(f"the run does not record the {', '.join(missing)} of its machine, on which budgets depend")
    tunables = machine.get("switches", {}).get("GLIBC_TUNABLES")  # chooses other code in libm
    libm = f"{machine['libm']}{f' ({tunables})' if tunables else ''}"
    compiler, libraries = compiler_of(record), libraries_of(record)
    by_level = libraries or (compiler and _FOR_THIS_PROCESSOR in record.version)
    return Conditions(
        libm=libm, architecture=str(machine["architecture"]), fma="fma" in machine["isa"],
        compiler=compiler, libraries=libraries,
        level=split_level(record.target)[1] or level_of_machine(machine) if by_level else "",
    )  # fmt: skip


def library_of(record: Record, level: str) -> tuple[str, str]:
    """The release of the library that it measured, and the level at which it ran; two empty texts of a source.

    `level` is that of the processor, which a library chooses where its target is at none.
    """
    if record.family in SOURCES:
        return "", ""
    return f"{record.family} {record.version}", split_level(record.target)[1] or level


def row_for(budgets: Budgets, record: Record, machine: Mapping[str, Any]) -> Row | None:
    """The row that limits a result of a machine; None where there is none."""
    level = level_of_machine(machine)
    return next((row for row in budgets.of(record.key) if row.applies(record, level)), None)


def differences_here(row: Row, record: Record, machine: Mapping[str, Any]) -> list[str]:
    """What decides last bits and is not as it was where the row was made."""
    if record.executed or on_gpu(record):
        here, there = device_of(record) or "no GPU", row.device
        return [] if here == there else [f"{here} (the budget: {there})"]
    return row.conditions.differences(conditions_of(machine, record))


def is_exact(row: Row, record: Record) -> bool:
    """Whether the row is of the inputs of the result: all, or by plan and seed, and by what these choose in this
    version, where that is known."""
    named = (row.plan, row.seed) == (record.plan, record.seed)
    of_all = row.bound == "=" and record.second is None
    return of_all or (named and (row.inputs is None or row.inputs == record.inputs_sha256))


def compiler_of(record: Record) -> str:
    """The compiler of a source file, without flags, which belong to the source; empty of anything else."""
    is_compiled = record.family == "callable" and not record.executed  # what made PTX is in its device
    match = _COMPILED.match(record.version) if is_compiled else None
    return match[1] if match else ""


def libraries_of(record: Record) -> str:
    """What a target of the user's calls or runs in: "numpy 2.4.6, scipy 1.17.1"; empty of what is compiled."""
    if record.family != "callable" or record.executed or compiler_of(record):
        return ""
    return ", ".join(part for part in record.version.split(", ") if " " in part)


def on_gpu(record: Record) -> bool:
    """Whether its results come from a GPU: its rows hold for that GPU."""
    return not record.executed and (record.family == "cuda" or ".cu:" in record.target)


def device_of(record: Record) -> str:
    """The GPU and its CUDA, or what executed its PTX ("ptx on CPU, sm_90, nvcc 13.0.88"); empty of other results."""
    if record.executed:
        return _WAYS.split(record.executed)[0]
    return record.origin.device if on_gpu(record) else ""


# ---- what a row can be -----------------------------------------------------------------------------


def check_row(name: str, row: Row) -> None:
    """ValueError with the key and the value of the row that cannot be."""
    *_, function, dtype = ("", "", *key_of(name, row).split("/"))
    if function not in FUNCTIONS or dtype not in DTYPES or not name.endswith(row.scope):
        raise ValueError(f"the row {name!r} is not one of a target/function/dtype")
    wrong = [key for key, holds in conditions_of_a_row(row, dtype).items() if not holds]
    if wrong:
        raise ValueError(f"{name}: {wrong[0]} = {getattr(row, wrong[0])!r} cannot be")


def conditions_of_a_row(row: Row, dtype: str) -> dict[str, bool]:
    """{key: whether its value can be}. NaN compares with nothing, so every limit is asked to be a number."""
    bits = re.compile(rf"0x[0-9a-f]{{{get_format(dtype).width // 4}}}")
    n = row.n if type(row.n) is int else -1

    def is_bits(value: Any) -> bool:
        return type(value) is str and bits.fullmatch(value) is not None

    optional: dict[str, Callable[[Any], bool]] = {
        "grade": lambda v: v in GRADES,
        **dict.fromkeys(("max_abs", "mean_ulp", "p99_ulp", "mean_bits"), _is_limit),
        "accurate": lambda v: type(v) is tuple and len(v) == 2 and all(map(is_bits, v)),
        **{
            name: lambda v: type(v) is int and 0 <= v <= n for name in ("correct", "faithful", "nonfinite", "zero_sign")
        },
        "zero_from": lambda v: v == "" or is_bits(v),
        **dict.fromkeys(("inputs", "bits"), lambda v: type(v) is str and re.fullmatch("[0-9a-f]{64}", v) is not None),
        "specials": lambda v: (
            isinstance(v, Mapping) and set(v) <= {*SPECIALS.values()} and all(map(is_bits, v.values()))
        ),
        "regions": lambda v: _are_limits(v, [region.name for region in REGIONS]),
        "intervals": lambda v: _are_limits(v, FINITE),
    }
    return {
        "max_ulp": _is_limit(row.max_ulp),
        "bound": row.bound in ("=", ">="),
        "n": n > 0 and (row.bound != "=" or n == 1 << get_format(dtype).width),
        "plan": type(row.plan) is str,
        "seed": type(row.seed) is int and row.seed >= 0,
        "buckets": type(row.buckets) is int and 0 <= row.buckets <= 1 << 16,
        "witness": row.witness == "" or is_bits(row.witness),
        "date": type(row.date) is str and re.fullmatch(r"\d{4}-\d\d-\d\d", row.date) is not None,
        "fails": isinstance(row.fails, Mapping) and all(type(each) is str for each in row.fails.values()),
        "severities": (
            isinstance(row.severities, Mapping)
            and set(row.severities) <= set(row.fails)
            and set(row.severities.values()) <= set(get_args(Severity))
        ),
        "library": type(row.library) is str and bool(row.library) == bool(row.level),
        "level": type(row.level) is str,
        "conditions": _are_conditions(row.conditions),
        "machine": type(row.machine) is str,
        "device": type(row.device) is str,
        **{name: getattr(row, name) is None or holds(getattr(row, name)) for name, holds in optional.items()},
    }


def _are_conditions(value: Conditions) -> bool:
    return all(type(each) is (bool if name == "fma" else str) for name, each in asdict(value).items())


def _is_limit(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _are_limits(value: Any, names: Iterable[str]) -> bool:
    return isinstance(value, dict) and set(value) <= set(names) and all(map(_is_limit, value.values()))
