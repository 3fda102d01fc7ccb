"""The columns of the report's frames and CSV files: their names in order, what they hold, and how pandas keeps it.

The tables of reports/README.md are made from this (`python tools/make_key_tables.py`). What a column shares with a key
of a result is described there, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..checks import own_checks
from ..records.parts import SizeThroughput, Throughput
from ..records.result import Record
from ..records.serialize import keys_of

Kind = Literal["text", "count", "rank", "number", "value"]
TAIL_CHECKS = ["tail_zero", "sign", "monotone", "range", "finite"]


UNITS = {
    **dict.fromkeys(("max_ulp", "mean_ulp", "p50_ulp", "p99_ulp", "approximation_max_ulp"), "ULP"),
    **dict.fromkeys(("constants_ulp", "formula_ulp", "rest_ulp"), "ULP"),
    **dict.fromkeys(("correctly_rounded", "faithful"), "fraction of n"),
    **dict.fromkeys(("mean_bits_plan", "mean_bits_normal"), "bits"),
    "max_abs_error_units": "u(max(1, abs(y)))",
    **dict.fromkeys(("rel_error", "spread", "copy_ratio"), "ratio"),
    **dict.fromkeys(("bytes_per_s", "copy_bytes_per_s"), "bytes/s"),
    "elements_per_s": "elements/s",
    "timed_n": "elements",
    "max_rank": "floats",
}


@dataclass(frozen=True)
class Column:
    """A column; pandas keeps a count as Int64, a number as float64, and anything else as it is.

    A value is a number of the result's dtype: text that float64 reads back exactly, so that it can be NaN and is not
    missing. A rank is a count that may pass 2^63.
    """

    name: str
    text: str
    kind: Kind = "text"

    @property
    def unit(self) -> str:
        """What it is counted in; empty for text, counts of what the text says, and numbers without a unit."""
        return UNITS.get(self.name, "")


@dataclass(frozen=True)
class ColumnTable:
    """The columns of a frame between KEYS and `result`."""

    rows: str  # what has a row
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def _same(key: str, kind: Kind = "text", of: Any = Record) -> Column:
    """A column that is what a result has under that key."""
    (found,) = (each for each in keys_of(of) if each.key == key)
    return Column(key, found.described("empty"), kind)


def _value(name: str, text: str) -> tuple[Column, Column]:
    """The two columns of a value: bits, and the number."""
    return Column(f"{name}_bits", text), Column(name, "the same as a number", "value")


_WITNESS = (
    *_value("x", "the input"),
    *_value("got", "what it gave"),
    *_value("want", "the correctly rounded value"),
    Column("abs_error", "abs(got - y), y the exact value, not `want`; empty where x or got is not finite", "number"),
    Column("rel_error", "abs(got - y) / abs(y)", "number"),
)
_ERROR = (_same("bound"), Column("max_ulp", "largest error of the result, in ULP", "number"))

KEYS = (
    Column("run", "A, B, ...: which of the runs of the report"),
    _same("family"),
    _same("target"),
    _same("function"),
    _same("dtype"),
)
RESULT = Column("result", "number of the result in the `manifest.json` of its run", "count")

SUMMARY = ColumnTable(
    "result",
    (
        Column(
            "grade",
            "how good it is: `correctly_rounded`, `faithful`, `accurate`, `accurate_range`, `absolute`, `coarse`, "
            "`broken` (docs/grades.md); empty in a condensed run of an earlier version",
        ),
        _same("grade_bound"),
        Column("claim", "the grade, or the range that it is of; ●: of all inputs, ○: of a sample"),
        _same("sentence"),
        Column("conventions", "what differs by convention and changes no grade, separated by `; `"),
        _same("bound"),
        _same("bound_kind"),
        _same("max_ulp", "number"),
        *_WITNESS,
        *_value("accurate_range_low", "lower end, included, of the widest interval around 0 with all errors <= 4 ULP"),
        *_value("accurate_range_high", "its upper end, included"),
        Column("accurate_range_bound", "`=`: all of it was tried; `>=`: from a sample, it may be narrower"),
        Column("accurate_range_exceptions", "how many of the inputs tried in it are above 4 ULP", "count"),
        Column("max_abs_error", "largest abs(got - y) for abs(x) <= 8", "number"),
        *_value("max_abs_error_x", "the input with that error"),
        Column("max_abs_error_units", "the largest abs(got - y) of all x, in units of u(max(1, abs(y)))", "number"),
        Column("mean_bits_plan", "mean of the correct significant bits over the finite inputs of the plan", "number"),
        Column("mean_bits_normal", "the same weighted by the normal distribution, x ~ N(0,1)", "number"),
        Column("failed_checks", "names of the checks that failed, separated by spaces"),
        _same("n", "count"),
        *(_same(key, "number") for key in ("mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful")),
        _same("max_rank", "rank"),
        Column("nonfinite", "how many finite x gave NaN or an infinity where a finite value is due", "count"),
        *_value("nonfinite_x", "the one of them nearest to zero"),
        _same("zero_sign", "count"),
        _same("variant"),
        Column("approximates", "the function that this one approximates"),
        Column("approximation_max_ulp", "largest error against that function, in ULP", "number"),
        Column("approximation_max_abs", "largest absolute error against it", "number"),
        *_value("approximation_x", "the input with the largest error against it, in ULP"),
        *(_same(key) for key in ("form", "note", "expression", "version", "executed")),
        Column(
            "second_input",
            "of a function with one: the value with which the target is worst; its measures are of it",
        ),
        Column("pairs", "how many pairs of x and a second input were tried", "count"),
        Column("pairs_correctly_rounded", "share of them with the correctly rounded result", "number"),
        Column("pairs_composed_correctly_rounded", "the same where each step is rounded to the dtype", "number"),
        Column(
            "executions",
            "where PTX leaves results open, the largest error of each execution, separated by `; `",
        ),
        Column("executions_same", "share of the outputs that were the same in all of them", "number"),
        Column("executions_floats", "how far apart they were at most, counted in floats", "count"),
        Column(
            "dispatch_level",
            "the instruction-set level that the library was limited to (docs/isa.md); empty where it chose by itself",
        ),
        Column("dispatch_switches", "the environment variables that limited it, `NAME=VALUE` separated by `; `"),
        Column(
            "dispatch_seen",
            "what it was seen to choose, `COMPONENT=CHOICE` separated by `; `; empty where that cannot be seen",
        ),
        _same("plan"),
        _same("seed", "rank"),
        Column("ranges", "of bits, separated by spaces, where the plan was narrowed"),
        Column("failure", "what a target that failed did"),
        *(_same(key) for key in ("failure_kind", "failure_range")),
        _same("failure_length", "count"),
        Column("recorded", "when and on what, of a result that is not of this machine"),
        Column("stale", "why such a result no longer counts"),
        _same("repeat"),
        Column("ask", "the command that shows the input with the largest error again"),
    ),
)
TAIL = ColumnTable(
    "measured result",
    (
        *_value("zero_from_x", "the x nearest to zero, below -1, that gives zero though the reference is not zero"),
        *_value("zero_threshold_x", "where zero becomes right"),
        *(
            column
            for check in TAIL_CHECKS
            for column in (
                Column(check, f"outcome of the check `{check}`"),
                *_value(f"{check}_x", "the input that shows it"),
            )
        ),
    ),
)
SPECIAL = ColumnTable(
    "special input",
    (
        Column("input", "`+inf`, `-inf`, `NaN`, `-0`"),
        Column("outcome", "of its check: `pass`, `fail`, `not applicable`"),
        Column("severity", "of a failure: `defect`, `loss`, `convention` (docs/grades.md)"),
        *_WITNESS,
        Column("detail", "what the check found"),
    ),
)
REGIONS = ColumnTable(
    "result and region of x",
    (
        Column("region", "its name"),
        Column("lower", "its lower end, which belongs to it; -inf where it has none", "number"),
        Column("upper", "its upper end, which does not; inf where it has none", "number"),
        Column("n", "how many inputs", "count"),
        _same("bound"),
        Column(
            "max_ulp",
            "largest error in the region, in ULP, of the plan's calls: that of a result counts others, too",
            "number",
        ),
        *_WITNESS,
    ),
)
THROUGHPUT = ColumnTable(
    "timed result",
    (
        *(_same(key, "number", Throughput) for key in ("elements_per_s", "spread", "copy_ratio")),
        _same("n", "count", Throughput),
        Column("bytes_per_s", "bytes read and written per second", "number"),
        Column("copy_bytes_per_s", "of a plain memory copy in that run", "number"),
        *_ERROR,
    ),
)
_RATES = ("elements_per_s", "bytes_per_s", "spread", "copy_ratio", "copy_bytes_per_s")
SIZES = ColumnTable(
    "timed result, level of the memory and number of threads",
    (
        _same("level", "text", SizeThroughput),
        *(_same(key, "count", SizeThroughput) for key in ("n", "threads")),
        *(_same(key, "number", SizeThroughput) for key in _RATES),
        _same("repeats", "count", SizeThroughput),
        _same("left_out", "text", SizeThroughput),
    ),
)
ATTRIBUTION = ColumnTable(
    "result whose form is known",
    (
        Column("form", "name of the form"),
        Column("working", "the dtype that its operations are rounded to"),
        *_ERROR,
        *_value("x", "the input with the largest error"),
        Column("constants_ulp", "what rounded constants add to the error there, signed", "number"),
        Column("formula_ulp", "what its operations add, each rounded correctly", "number"),
        Column("flushing_ulp", "what subnormals that became zeros add", "number"),
        Column("rest_ulp", "what building blocks, and all else, add", "number"),
        Column("known", "kernel of ours with the same bits at the worst inputs of all parts of x; empty: none"),
        Column("main", "the largest of the four"),
    ),
)
FINDINGS = ColumnTable(
    "failed check",
    (
        Column("check", "its name"),
        Column("severity", "`defect`, `loss` or `convention` (docs/grades.md); empty in a run of an earlier version"),
        Column("detail", "what it found"),
        *_WITNESS,
        Column("ask", "the command that shows that input again"),
    ),
)
_TIMING = tuple(column for column in THROUGHPUT.columns[:-2] if column.name != "n")
RESULTS = ColumnTable(
    "result",
    (
        *SUMMARY.columns,
        *TAIL.columns[:4],
        *(_same(key) for key in ("computes_in", "rounding", "rounding_mode", "inputs_sha256", "bits_sha256")),
        _same("buckets"),
        *_TIMING,
        Column("timed_n", "elements per call of that timing", "count"),
        *(Column(f"check_{name}", f"outcome of the check `{name}`") for name in own_checks()),
        Column("created", "when the run was made"),
        Column("gelu_verify", "version of gelu-verify that made it"),
        Column("commit", "git commit of its source, where it was run from a checkout"),
        Column("cpu", "processor of the run"),
        Column("device", "its GPU, where it has one"),
    ),
)  # every fact of a result that is one number or text: `results.parquet`
TABLES = {
    "summary": SUMMARY,
    "tail": TAIL,
    "special": SPECIAL,
    "regions": REGIONS,
    "throughput": THROUGHPUT,
    "sizes": SIZES,
    "attribution": ATTRIBUTION,
    "findings": FINDINGS,
}

FILES = (  # what a report writes into its folder
    *("index.html", "report.md", "tables.tex", "citation.bib", "results.parquet"),
    *(f"{name}.csv" for name in TABLES),
)
