"""The pandas pipeline: stored runs in, one tidy frame per table out.

Every frame starts with the KEYS columns and is sorted by function, dtype, then target. Bits are hex text of fixed
width; the column without `_bits` beside it is the same value as the shortest decimal that float64 reads back to it.
Every number of our dtypes is one of float64, but the shortest decimal in its own dtype is not that number: -0.0001163
is 0.01 % from the float16 that it names, and a difference of two such decimals is wrong. Columns are part of the public
contract (`columns.py`, reports/README.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

import pandas as pd

from ..attribution.witness import witness_parts
from ..formats import get_format
from ..functions import FUNCTIONS
from ..functions.regions import REGIONS
from ..inputs.special import SPECIALS
from ..own_faults import guarded
from ..records.asking import ask_command
from ..records.claims import claim_text
from ..records.parts import FindingRecord, Witness
from ..records.result import Record
from ..truth.distance import distance
from . import columns
from .columns import TAIL_CHECKS, ColumnTable
from .text import exact_text, ulp_text
from .verdicts import dtype_rank, function_rank, target_order

Row = dict[str, Any]

PANDAS = {"count": "Int64", "rank": "UInt64", "number": "float64"}
ENDS = {
    region.name: (
        -math.inf if region.lower is None else float(region.lower),
        math.inf if region.upper is None else float(region.upper),
    )
    for region in REGIONS
}


class RunLike(Protocol):
    """What the report needs of a stored run."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def results(self) -> Sequence[Record]: ...

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame: ...


def run_letter(index: int) -> str:
    """A, B, ... Z, AA, AB: the name of a run inside one report."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def ordered_results(runs: Sequence[RunLike]) -> list[tuple[int, int, Record]]:
    """(run number, result number, record) of all runs in the order of every table."""
    found = [(r, i, record) for r, run in enumerate(runs) for i, record in enumerate(run.results)]
    return sorted(
        found,
        key=lambda item: (
            function_rank(item[2].function),
            item[2].function,
            dtype_rank(item[2].dtype),
            *target_order(item[2].family, item[2].target),
            item[:2],
        ),
    )


def summary_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result: the grade, the numbers, the witness."""
    return frame_of(runs, summary_rows, columns.SUMMARY)


def tail_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per measured result: where it returns zero, where it may, and the checks on the tail."""
    return frame_of(runs, tail_rows, columns.TAIL)


def special_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per special input: got, want, outcome."""
    return frame_of(runs, _special_rows, columns.SPECIAL)


def throughput_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per timed result, with its error beside it."""
    return frame_of(runs, throughput_rows, columns.THROUGHPUT)


def sizes_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per timed result, level of the memory and number of threads."""
    return frame_of(runs, _size_rows, columns.SIZES)


def attribution_frame(runs: Sequence[RunLike], faults: list[str] | None = None) -> pd.DataFrame:
    """One row per result whose form is known: what makes up its largest error.

    `faults`: where a fault of ours is added, and the result has no row; None: it is raised.
    """
    return frame_of(runs, partial(_attribution_rows, faults=faults), columns.ATTRIBUTION)


def regions_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result and region of x."""
    return frame_of(runs, _region_rows, columns.REGIONS)


def findings_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per failed check: what it found, and the input that shows it."""
    return frame_of(runs, _finding_rows, columns.FINDINGS)


FRAMES: dict[str, Callable[[Sequence[RunLike]], pd.DataFrame]] = {
    "summary": summary_frame,
    "tail": tail_frame,
    "special": special_frame,
    "regions": regions_frame,
    "throughput": throughput_frame,
    "sizes": sizes_frame,
    "attribution": attribution_frame,
    "findings": findings_frame,
}


def frame_of(
    runs: Sequence[RunLike], rows: Callable[[Record, Mapping[str, Any]], Iterator[Row]], table: ColumnTable
) -> pd.DataFrame:
    """The frame of a table: what `rows` yields for each result, between KEYS and the number of the result."""
    found = []
    for run, index, record in ordered_results(runs):
        names = {"family": record.family, "target": record.target, "function": record.function, "dtype": record.dtype}
        keys = {"run": run_letter(run), **names, "result": index}
        found += [{**keys, **row} for row in rows(record, runs[run].manifest)]
    whole = (*columns.KEYS, *table.columns, columns.RESULT)
    frame = pd.DataFrame(found, columns=[column.name for column in whole], dtype=object)
    return frame.astype({column.name: PANDAS[column.kind] for column in whole if column.kind in PANDAS})


def _value(record: Record, name: str, holder: object, key: str = "x_bits") -> Row:
    """Two columns: bits, and their value; empty where `holder` is None."""
    bits = None if holder is None else getattr(holder, key)
    return {f"{name}_bits": bits, name: exact_text(record.dtype, bits)}


def _witness(record: Record, witness: Witness | FindingRecord | None) -> Row:
    found: Row = {}
    for name in ("x", "got", "want"):
        found |= _value(record, name, witness, f"{name}_bits")
    bits = [found["x_bits"], found["got_bits"]]
    known = all(bits) and record.function in FUNCTIONS  # one of a later version may not be
    errors = distance(record.judged_as, record.dtype, *(int(text, 16) for text in bits)) if known else None
    return found | dict(zip(("abs_error", "rel_error"), errors or (None, None), strict=True))


def _pairs(found: Mapping[str, str] | None) -> str:
    return "; ".join(f"{name}={value}" for name, value in (found or {}).items())


_KINDS_BEFORE = {"=": "exhaustive", ">=": "sampled"}  # of runs of earlier versions, which do not say


def summary_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    """The facts of a result that its measures and its plan give."""
    nonfinite, approximation = record.nonfinite, record.approximation
    interval, largest, bits = record.accurate_range, record.max_abs_error, record.mean_bits
    dispatch, executions, second = record.dispatch, record.executions, record.second
    copied = (
        *(
            "grade",
            "grade_bound",
            "sentence",
            "bound",
            "max_ulp",
            "n",
            "mean_ulp",
            "p50_ulp",
            "p99_ulp",
            "correctly_rounded",
        ),
        *("faithful", "max_rank", "zero_sign"),
        *(
            "variant",
            "form",
            "note",
            "expression",
            "version",
            "executed",
            "plan",
            "seed",
            "failure",
            "failure_kind",
            "failure_range",
        ),
        *("failure_length", "repeat"),
    )
    yield {
        **{name: getattr(record, name) for name in copied},
        "claim": claim_text(record),
        **_witness(record, record.witness),
        "ask": record.witness and ask_command(record, record.witness.x_bits),
        "conventions": "; ".join(record.conventions or ()),
        **_value(record, "accurate_range_low", interval, "low_bits"),
        **_value(record, "accurate_range_high", interval, "high_bits"),
        "accurate_range_bound": interval and (interval.bound or record.bound),
        "accurate_range_exceptions": interval and interval.exceptions,
        "executions": "; ".join(
            f"{each.name} {ulp_text(each.max_ulp, record.bound)} ULP"
            for each in (executions.each if executions else ())
        ),
        "second_input": second and f"{second.name}={second.value:.17g}",
        "pairs": second and second.pairs,
        "pairs_correctly_rounded": second and second.correctly_rounded,
        "pairs_composed_correctly_rounded": second and second.composed_correctly_rounded,
        "executions_same": executions and executions.same,
        "executions_floats": executions and executions.floats,
        "dispatch_level": dispatch and dispatch.level,
        "dispatch_switches": _pairs(dispatch.switches if dispatch else None),
        "dispatch_seen": _pairs(dispatch.seen if dispatch else None),
        "max_abs_error": largest and largest.error,
        **_value(record, "max_abs_error_x", largest),
        "max_abs_error_units": largest and largest.units,
        "mean_bits_plan": bits and bits.plan,
        "mean_bits_normal": bits and bits.normal,
        "bound_kind": record.bound_kind or _KINDS_BEFORE[record.bound],
        "failed_checks": " ".join(record.failed_checks),
        "ranges": " ".join(record.ranges or ()),
        "recorded": record.origin.recorded,
        "stale": record.origin.stale,
        "nonfinite": nonfinite and nonfinite.count,
        **_value(record, "nonfinite_x", nonfinite),
        "approximates": approximation and approximation.function,
        "approximation_max_ulp": approximation and approximation.max_ulp,
        "approximation_max_abs": approximation and approximation.max_abs,
        **_value(record, "approximation_x", approximation),
    }


def tail_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    """Where a measured result is zero, and the checks on its tail."""
    if record.failure is not None:
        return
    row = {
        **_value(record, "zero_from_x", record.zero_from),
        **_value(record, "zero_threshold_x", record.zero_threshold),
    }
    for check in TAIL_CHECKS:
        row[check] = record.checks.get(check)
        row |= _value(record, f"{check}_x", record.findings.get(check))
    yield row


def _special_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for check, shown in SPECIALS.items():
        if check in record.checks:
            finding = record.findings.get(check)
            yield {
                "input": shown,
                "outcome": record.checks[check],
                "severity": finding and finding.severity,
                **_witness(record, finding),
                "detail": finding and finding.detail,
            }


def throughput_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    """The timing of a result, where it has one."""
    timing = record.throughput
    if timing is not None:
        yield {
            "elements_per_s": timing.elements_per_s,
            "spread": timing.spread,
            "copy_ratio": timing.copy_ratio,
            "n": timing.n,
            "bytes_per_s": timing.elements_per_s * 2 * get_format(record.dtype).width / 8,
            "copy_bytes_per_s": timing.copy_bytes_per_s or manifest.get("copy_bytes_per_s"),
            "bound": record.bound,
            "max_ulp": record.max_ulp,
        }


def _size_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    if record.throughput is not None:
        yield from map(asdict, record.throughput.sizes or ())


def _attribution_rows(record: Record, manifest: Mapping[str, Any], faults: list[str] | None) -> Iterator[Row]:
    parts = None
    with nullcontext() if faults is None else guarded(f"attribution of {record.key}", faults):
        parts = witness_parts(record)
    if parts is not None:
        yield {
            **{name: parts[name] for name in ("form", "working", "known", "main")},
            **{f"{name}_ulp": parts[name] for name in ("constants", "formula", "flushing", "rest")},
            "bound": record.bound,
            "max_ulp": record.max_ulp,
            **_value(record, "x", record.witness),
        }


def _region_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for part in record.regions or ():
        yield {
            "region": part.region,
            **dict(zip(("lower", "upper"), ENDS[part.region], strict=True)),
            "n": part.n,
            "bound": record.bound,
            "max_ulp": part.max_ulp,
            **_witness(record, part.witness),
        }


def _finding_rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for check in record.failed_checks:
        finding = record.findings.get(check)
        facts = {"severity": finding and finding.severity, "detail": finding and finding.detail}
        facts["ask"] = ask_command(record, finding.x_bits) if finding and finding.x_bits else None
        yield {"check": check, **facts, **_witness(record, finding)}
