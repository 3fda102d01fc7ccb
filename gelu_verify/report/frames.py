"""The pandas pipeline: stored runs in, one tidy frame per table out.

Every frame starts with the KEYS columns and is sorted by function, dtype, then target. Bits are
hex text of fixed width; the column without `_bits` beside it is the same value as a decimal that
reads back to those bits. Columns are part of the public contract (reports/README.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pandas as pd

from ..attribution.witness import witness_parts
from ..formats import get_format
from .text import as_int, value_text
from .verdicts import Result, dtype_rank, failed_checks, function_rank, target_order, verdict

Row = dict[str, Any]

KEYS = ["run", "family", "target", "function", "dtype"]
TAIL_CHECKS = ["tail_zero", "sign", "monotone", "range", "finite"]
SPECIALS = {"plus_infinity": "+inf", "minus_infinity": "-inf", "nan": "NaN", "signed_zero": "-0"}


class RunLike(Protocol):
    """What the report needs of a stored run."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def results(self) -> Sequence[Result]: ...

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame: ...


def run_letter(index: int) -> str:
    """A, B, ... Z, AA, AB: the name of a run inside one report."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def ordered_results(runs: Sequence[RunLike]) -> list[tuple[int, int, Result]]:
    """(run number, result number, RESULT) of all runs in the order of every table."""
    found = [(r, i, result) for r, run in enumerate(runs) for i, result in enumerate(run.results)]
    return sorted(
        found,
        key=lambda item: (
            function_rank(item[2]["function"]),
            item[2]["function"],
            dtype_rank(item[2]["dtype"]),
            *target_order(item[2]),
            item[:2],
        ),
    )


def summary_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result: the numbers, the witness, the verdict."""
    return _frame(runs, _summary_rows, _SUMMARY)


def tail_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per measured result: where it returns zero, where it may, and the checks on the tail."""
    return _frame(runs, _tail_rows, _TAIL)


def special_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per special input: got, want, verdict."""
    return _frame(runs, _special_rows, _SPECIAL)


def throughput_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per timed result, with its error beside it."""
    return _frame(runs, _throughput_rows, _THROUGHPUT)


def sizes_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per timed result, level of the memory and number of threads."""
    return _frame(runs, _size_rows, _SIZES)


def attribution_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result whose form is known: what makes up its largest error."""
    return _frame(runs, _attribution_rows, _ATTRIBUTION)


def regions_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result and region of x."""
    return _frame(runs, _region_rows, _REGIONS)


def findings_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per failed check: what it found, and the input that shows it."""
    return _frame(runs, _finding_rows, _FINDINGS)


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


def _frame(
    runs: Sequence[RunLike], rows: Callable[[Result, Mapping[str, Any]], Iterator[Row]], columns: list[str]
) -> pd.DataFrame:
    records = []
    for run, index, result in ordered_results(runs):
        keys = {"run": run_letter(run), **{name: result[name] for name in KEYS[1:]}, "result": index}
        records += [{**keys, **row} for row in rows(result, runs[run].manifest)]
    frame = pd.DataFrame(records, columns=[*KEYS, *columns, "result"], dtype=object)
    kinds = {**dict.fromkeys(_COUNTS, "Int64"), **dict.fromkeys(_FLOATS, "float64")}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def _bits(result: Result, prefix: str, holder: Mapping[str, Any] | None, key: str = "") -> Row:
    """Two columns, `<prefix>_bits` and `<prefix>`, from the key `<prefix>_bits` (or `key`) of `holder`."""
    text = (holder or {}).get(key or f"{prefix}_bits")
    return {f"{prefix}_bits": text, prefix: value_text(result["dtype"], text)}


def _witness(result: Result, holder: Mapping[str, Any] | None) -> Row:
    return {**_bits(result, "x", holder), **_bits(result, "got", holder), **_bits(result, "want", holder)}


_COUNTS = ["n", "nonfinite", "result", "threads", "repeats"]  # max_rank and seed stay Python ints: they may pass 2^63
_FLOATS = [
    "max_ulp", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "approximation_max_ulp",
    "approximation_max_abs", "elements_per_s", "bytes_per_s", "spread", "copy_ratio", "copy_bytes_per_s",
    "constants_ulp", "formula_ulp", "rest_ulp",
]  # fmt: skip
_WITNESS = ["x_bits", "x", "got_bits", "got", "want_bits", "want"]

_SUMMARY = [
    "verdict", "bound", "bound_kind", "max_ulp", *_WITNESS, "failed_checks", "n", "mean_ulp", "p50_ulp", "p99_ulp",
    "correctly_rounded", "faithful", "max_rank", "nonfinite", "nonfinite_x_bits", "nonfinite_x", "variant",
    "approximates", "approximation_max_ulp", "approximation_max_abs", "approximation_x_bits", "approximation_x",
    "form", "note", "version", "plan", "seed", "ranges", "failure", "failure_kind",
    "failure_range", "failure_length", "recorded", "stale", "repeat",
]  # fmt: skip


_KINDS_BEFORE = {"=": "exhaustive", ">=": "sampled"}  # of runs that do not tell


def _summary_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    nonfinite, approximation = result["nonfinite"], result["approximation"] or {}
    copied = [
        "bound", "max_ulp", "n", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "variant",
        "form", "note", "version", "plan", "seed", "failure", "repeat",
    ]  # fmt: skip
    yield {
        **{name: result[name] for name in copied},
        **_witness(result, result["witness"]),
        "bound_kind": result.get("bound_kind") or _KINDS_BEFORE.get(result["bound"]),
        "verdict": verdict(result),
        "failed_checks": " ".join(failed_checks(result)),
        "ranges": " ".join(result.get("ranges") or ()),
        "failure_kind": result.get("failure_kind"),  # runs of before have none
        "failure_range": result.get("failure_range"),
        "failure_length": as_int(result.get("failure_length")),
        "recorded": result.get("recorded", ""),
        "stale": result.get("stale", ""),
        "max_rank": as_int(result["max_rank"]),
        "nonfinite": (nonfinite or {}).get("count"),
        **_bits(result, "nonfinite_x", nonfinite, "x_bits"),
        "approximates": approximation.get("function"),
        "approximation_max_ulp": approximation.get("max_ulp"),
        "approximation_max_abs": approximation.get("max_abs"),
        **_bits(result, "approximation_x", approximation, "x_bits"),
    }


_TAIL = [
    "zero_from_x_bits", "zero_from_x", "zero_threshold_x_bits", "zero_threshold_x",
    *(column for check in TAIL_CHECKS for column in (check, f"{check}_x_bits", f"{check}_x")),
]  # fmt: skip


def _tail_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    if result["failure"] is not None:
        return
    row = {
        **_bits(result, "zero_from_x", result["zero_from"], "x_bits"),
        **_bits(result, "zero_threshold_x", result["zero_threshold"], "x_bits"),
    }
    for check in TAIL_CHECKS:
        row[check] = result["checks"].get(check)
        row |= _bits(result, f"{check}_x", result["findings"].get(check), "x_bits")
    yield row


_SPECIAL = ["input", "verdict", *_WITNESS, "detail"]


def _special_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for check, shown in SPECIALS.items():
        if check in (result["checks"] or {}):
            finding = result["findings"].get(check) or {}
            yield {
                "input": shown,
                "verdict": result["checks"][check],
                **_witness(result, finding),
                "detail": finding.get("detail"),
            }


_TIMED = ["elements_per_s", "spread", "copy_ratio", "n"]
_THROUGHPUT = [*_TIMED, "bytes_per_s", "copy_bytes_per_s", "bound", "max_ulp"]


def _throughput_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    timing = result["throughput"]
    if timing is not None:
        yield {
            **{name: timing[name] for name in _TIMED},
            "bytes_per_s": timing["elements_per_s"] * 2 * get_format(result["dtype"]).width / 8,
            "copy_bytes_per_s": manifest.get("copy_bytes_per_s"),
            "bound": result["bound"],
            "max_ulp": result["max_ulp"],
        }


_TIMES = ["elements_per_s", "bytes_per_s", "spread", "copy_ratio", "copy_bytes_per_s", "repeats"]
_SIZES = ["level", "n", "threads", *_TIMES, "left_out"]


def _size_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for each in (result["throughput"] or {}).get("sizes") or ():
        yield {name: each.get(name) for name in _SIZES}


_ATTRIBUTION = [
    "form", "working", "bound", "max_ulp", "x_bits", "x", "constants_ulp", "formula_ulp", "rest_ulp", "main",
]  # fmt: skip


def _attribution_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    parts = witness_parts(result)
    if parts is not None:
        yield {
            **{name: parts[name] for name in ("form", "working", "main")},
            **{f"{name}_ulp": parts[name] for name in ("constants", "formula", "rest")},
            "bound": result["bound"],
            "max_ulp": result["max_ulp"],
            **_bits(result, "x", result["witness"]),
        }


_REGIONS = ["region", "n", "bound", "max_ulp", *_WITNESS]


def _region_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for region in result["regions"] or ():
        yield {
            "region": region["region"],
            "n": region["n"],
            "bound": result["bound"],
            "max_ulp": region["max_ulp"],
            **_witness(result, region["witness"]),
        }


_FINDINGS = ["check", "detail", *_WITNESS]


def _finding_rows(result: Result, manifest: Mapping[str, Any]) -> Iterator[Row]:
    for check in failed_checks(result):
        finding = result["findings"].get(check) or {}
        yield {"check": check, "detail": finding.get("detail"), **_witness(result, finding)}
