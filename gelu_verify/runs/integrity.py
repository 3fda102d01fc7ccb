"""Whether the results of a stored run follow from its buckets: each is derived from them again, as a sweep derives it.

A hash shows what changed after it was written, not who wrote it. So whoever judges by a run asks more: the buckets are
a table that inputs can have given, their worst answers have the errors that they are said to have, and the measures of
the result are those of the table. What a table does not hold is bounded by what it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.reducer import tail_end
from ..buckets.summary import SUMMARY_KEYS, intervals, summary
from ..buckets.table import BITS, HIST_EDGES, NEAREST, SUM_CLIP, SUM_SCALE, SUMS, WITNESS, Columns, Facts, Table
from ..errors import ResultsError
from ..fenv import in_default_environment
from ..formats import Format, buckets, get_format, magnitudes, ordinals
from ..functions import Function, get_function
from ..functions.regions import REGIONS, region_edges
from ..truth.values import judge
from .store import IDENTITY, Run, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ..buckets.summary import Record

HISTOGRAM = tuple(f"hist_{k:02d}" for k in range(len(HIST_EDGES)))
FOLDED = {"bucket": "uint16", "n": "uint32", "nonfinite": "uint32", "max_error": "float"}  # of a recorded run
CLOSE = 2.0**-10  # ulp: what two ways of judging a float32 answer may differ by, here with a margin of 4
COUNTED = {"finite": "nonfinite", "sign": "wrong_sign", "monotone": "rises"}  # checks that fail where one is counted
_EMPTY = {"segments": np.empty((0, 4), np.int64), "samples": np.empty((0, 2), np.uint64)}


@in_default_environment
def verified(run: Run) -> Run:
    """The run, when every result that has buckets follows from them.

    Raises
    ------
    ResultsError : of the first that does not, in one line that names it and what is wrong
    """
    places = [index for index, result in enumerate(run.results) if result["buckets"] is not None]
    with ThreadPoolExecutor(4) as pool:
        for index, wrong in zip(places, pool.map(lambda index: _wrong(run, index), places), strict=True):
            if wrong:
                result = run.results[index]
                key = f"{result['target']}/{result['function']}/{result['dtype']}"
                raise ResultsError(f"{run.path} cannot be trusted: {key}: {wrong}")
    return run


def _wrong(run: Run, index: int) -> str:
    """What is wrong with one result; empty where it follows from its buckets."""
    result, schema, recorded = run.results[index], run.manifest["schema"], "recorded" in run.manifest
    fmt, function = get_format(result["dtype"]), get_function(result["function"])
    try:
        table = arrow_table(run.buckets(index))
    except ResultsError as error:
        return str(error)
    if (schema > 1 or not recorded) and (other := _of_another(table, result, schema)):
        return other
    kinds = FOLDED if recorded else _kinds(fmt, schema)
    found = {field.name: str(field.type) for field in table.schema}
    nulls = [name for name in table.column_names if table.column(name).null_count]
    if found != kinds or set(nulls) - ({"max_error"} if recorded else set()):  # pandas stores NaN as null
        return f"the buckets have not the columns of schema {schema}"
    columns = {name: table.column(name).to_numpy() for name in kinds}
    if not table.num_rows or (np.diff(columns["bucket"].astype(np.int64)) <= 0).any():
        return "the buckets do not ascend"
    rules = _folded_rules(fmt, result, columns) if recorded else _rules(function, fmt, result, columns)
    return next((said for said, is_wrong in rules if is_wrong), "")


def _of_another(table: pa.Table, result: Mapping[str, Any], schema: int) -> str:
    """Whether the file says that it belongs to another result."""
    try:
        told = json.loads((table.schema.metadata or {})[b"gelu_verify"])
        differs = [key for key in IDENTITY if told[key] != result[key]] + ["schema"] * (told["schema"] != schema)
    except (KeyError, TypeError, ValueError, RecursionError):
        return "the buckets do not say what they belong to"
    if not differs:
        return ""
    return f"the buckets belong to another result: their {differs[0]} is {told[differs[0]]!r:.60}"


def _kinds(fmt: Format, schema: int) -> dict[str, str]:
    """Type of each column of a bucket table."""
    kinds = {"bucket": "uint16"}
    kinds |= {name: np.dtype(kind).name for name, kind in SUMS.items() if name != "bits_hash" or schema > 1}
    kinds |= {"max_error": "double", **dict.fromkeys(BITS, fmt.uint.name)}
    return kinds | dict.fromkeys((*NEAREST, *HISTOGRAM), "uint32")


Rules = Iterator[tuple[str, Any]]  # (what is wrong, whether it is)


# ---- a table that inputs can have given ----------------------------------------------------------


def _rules(function: Function, fmt: Format, result: Record, columns: Columns) -> Rules:
    hist = np.stack([columns[name] for name in HISTOGRAM])
    yield from _possible(function, fmt, columns, hist)
    yield from _judged(function, fmt, columns)
    yield from _derived(function, fmt, result, columns, hist)


def _possible(function: Function, fmt: Format, columns: Columns, hist: np.ndarray) -> Rules:
    """What holds of every table, whatever was measured."""
    n, error = columns["n"], columns["max_error"]
    scored = hist.sum(axis=0, dtype=np.uint64)
    yield "a bucket has more inputs than there are", (n > 1 << max(fmt.width - 16, 0)).any() or (n < 1).any()
    for name in ("correct", "faithful", *NEAREST[:3]):
        yield f"a bucket has more {name} than inputs", (columns[name] > n).any()
    yield "a histogram has more errors than inputs", (scored > n).any()
    yield "a largest error is not one", (~np.isnan(error) & ~((error >= 0) & (error < np.inf))).any()
    yield "a histogram does not fit its largest error", (np.isnan(error) != (scored == 0)).any()
    top = len(HISTOGRAM) - 1 - (hist[::-1] > 0).argmax(axis=0)
    lowest, highest = np.array([-1.0, *HIST_EDGES[:-1]])[top], np.array(HIST_EDGES)[top]
    yield "a histogram does not fit its largest error", ((error > highest) | (error <= lowest)).any()
    most = scored * (np.minimum(np.nan_to_num(error), SUM_CLIP) * SUM_SCALE + 1)
    yield "a sum of errors is larger than they are", (np.abs(columns["error_sum"]) > most).any()
    for name in ("max_error", *NEAREST):
        there = np.ones(len(n), bool) if name == "max_error" else columns[name] > 0
        x = columns[f"{name}_x"][there]
        yield f"{name}_x lies in another bucket", (buckets(fmt, x) != columns["bucket"][there]).any()
    if "bits_hash" in columns and function.sign == "x":
        right = columns["correct"] == n
        yield (
            "the hash of a bucket does not fit its count of correct results",
            ((columns["bits_hash"] == 0) != right).any(),
        )


def _judged(function: Function, fmt: Format, columns: Columns) -> Rules:
    """The worst answers again, by the reference."""
    known = ~np.isnan(columns["max_error"])
    x, got, want = (np.ascontiguousarray(columns[name][known]) for name in WITNESS)
    right, error, _ = judge(function.name, fmt.name, x, got)
    error = np.minimum(np.abs(error), np.finfo(np.float64).max)
    told = columns["max_error"][known]
    yield "a worst answer has another correctly rounded one beside it", (right != want).any()
    yield "a worst answer has not the error that is said", (~(np.abs(error - told) <= CLOSE + 2.0**-20 * told)).any()


# ---- the measures of the result ------------------------------------------------------------------


def _derived(function: Function, fmt: Format, result: Record, columns: Columns, hist: np.ndarray) -> Rules:
    """The measures, from the table; those that it does not hold, within what it does."""
    facts, is_certain = _facts(function, fmt, columns)
    wide = {name: column.astype(np.uint64) if name in BITS else column for name, column in columns.items()}
    wide.setdefault("bits_hash", np.zeros(len(columns["n"]), np.uint64))
    regions: Columns = {"region": np.empty(0, np.uint8)}
    again = summary(function, Table(fmt, wide, hist, regions, **_EMPTY, facts=facts))
    bounded = {"max_rank", "regions", "approximation", *([] if is_certain else ["zero_from"])}
    if (result["max_ulp"] or 0) > (again["max_ulp"] or 0):  # of an input that had another answer beside the plan's
        yield from _witnessed(fmt, result, "witness", result["max_ulp"])
        bounded |= {"max_ulp", "witness"}
    for key in ("n", *SUMMARY_KEYS):
        if key in result and key not in bounded:
            said = f"{key} is {_short(result[key])}, and the buckets say {_short(again[key])}"
            yield said, result[key] != again[key]
    for check, count in COUNTED.items():
        counted = int(columns[count].sum(dtype=np.int64))
        applies = check != "sign" or function.sign
        said = f"check {check} is said to pass, and the buckets have {counted} results that do not"
        yield said, counted and applies and result["checks"][check] == "pass"
    yield from _ranks(fmt, result, columns)
    yield from _region_rules(fmt, result, columns)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r:.100}"


def _facts(function: Function, fmt: Format, columns: Columns) -> tuple[Facts, bool]:
    """Facts that buckets hold: the nearest to zero of those that they count; whether that of the tail is certain."""
    ordinal = {name: ordinals(fmt, columns[f"{name}_x"]) for name in ("nonfinite", "zero_lost")}
    found: dict[str, Any] = {}
    size = {name: magnitudes(each) for name, each in ordinal.items()}
    for name, fact, inside in (
        ("nonfinite", "nonfinite", columns["nonfinite"] > 0),
        ("zero_lost", "zero_from", (columns["zero_lost"] > 0) & (ordinal["zero_lost"] <= tail_end(function, fmt))),
    ):
        rows = np.flatnonzero(inside)
        if len(rows):
            first = rows[np.lexsort((ordinal[name][rows], size[name][rows]))[0]]
            found[fact] = int(size[name][first]), int(ordinal[name][first]), 0
    beyond = (columns["zero_lost"] > 0) & (ordinal["zero_lost"] > tail_end(function, fmt))
    edge = int(buckets(fmt, np.array([fmt.from_ordinal(tail_end(function, fmt))], fmt.uint))[0])
    return Facts(**found), not (columns["bucket"][beyond] == edge).any()


def _ranks(fmt: Format, result: Record, columns: Columns) -> Rules:
    known = ~np.isnan(columns["max_error"])
    got, want = (ordinals(fmt, columns[name][known]) for name in WITNESS[1:])
    got, want = got + (got < 0), want + (want < 0)
    away = np.where(got > want, got - want, want - got).view(np.uint64)  # up to 2^64, as C has it
    most = int(away.max()) if len(away) else 0
    said = f"max_rank is {result['max_rank']}, and the worst answers are up to {most} floats away"
    yield said, known.any() and not (result["max_rank"] or 0) >= most


def _region_rules(fmt: Format, result: Record, columns: Columns) -> Rules:
    """The largest error of a region is that of its whole buckets, or one of the two that it shares with a neighbour."""
    edges = region_edges(fmt.name)
    first, last = _spans(fmt, columns["bucket"])
    x, error = ordinals(fmt, columns["max_error_x"]), np.nan_to_num(columns["max_error"], nan=-1.0)
    for k, region in enumerate(result["regions"]):
        inside = (x >= edges[k]) & (x < edges[k + 1])
        overlaps = (first < edges[k + 1]) & (last >= edges[k])
        whole = (first >= edges[k]) & (last < edges[k + 1])
        most, least = (float(error[rows].max()) if rows.any() else -1.0 for rows in (overlaps, inside))
        told = -1.0 if region["max_ulp"] is None else region["max_ulp"]
        said = f"max_ulp in {REGIONS[k].name} is {_short(region['max_ulp'])}, and the buckets say {_short(least)}"
        yield said, not least <= told <= most
        counts = int(columns["n"][whole].sum(dtype=np.int64)), int(columns["n"][overlaps].sum(dtype=np.int64))
        yield f"n in {REGIONS[k].name} does not fit the buckets", not counts[0] <= region["n"] <= counts[1]
        yield from _region_witness(fmt, result, k, told)


def _region_witness(fmt: Format, result: Record, k: int, told: float) -> Rules:
    edges, region = region_edges(fmt.name), result["regions"][k]
    witness, name = region["witness"], REGIONS[k].name
    yield f"the witness in {name} does not fit max_ulp", (witness is None) != (region["max_ulp"] is None)
    if witness is None:
        return
    x = fmt.ordinal(int(witness["x_bits"], 16))
    yield f"the witness in {name} lies elsewhere", not edges[k] <= x < edges[k + 1]
    yield from _witnessed(fmt, {**result, "witness": witness}, f"the witness in {name}", told)


def _witnessed(fmt: Format, result: Record, name: str, told: float) -> Rules:
    """Whether the result's witness has the error that is said, by the reference."""
    witness = result["witness"]
    x, got, want = (np.array([int(witness[key], 16)], fmt.uint) for key in ("x_bits", "got_bits", "want_bits"))
    right, error, _ = judge(result["function"], fmt.name, x, got)
    away = abs(min(abs(float(error[0])), np.finfo(np.float64).max) - told)
    close = away <= CLOSE + 2.0**-20 * told
    yield f"{name} is not one of its error", not (right[0] == want[0] and close)


def _spans(fmt: Format, bucket: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ordinals of the first and the last input of each bucket."""
    shift = max(fmt.width - 16, 0)
    first = (bucket.astype(np.int64) - 0x8000) << shift
    return first, first + (1 << shift) - 1


# ---- recorded runs -------------------------------------------------------------------------------


@in_default_environment
def rounded_up(error: np.ndarray) -> np.ndarray:
    """As float32, never smaller; an error beyond float32 is infinite."""
    with np.errstate(over="ignore"):
        near = error.astype(np.float32)
    return np.where(near < error, np.nextafter(near, np.float32(np.inf)), near)


def _folded_rules(fmt: Format, result: Record, columns: Columns) -> Rules:
    """Of the bins of a recorded run: each has whole buckets of finite inputs, and the largest error as float32."""
    error = columns["max_error"]
    yield "a largest error is not one", (~np.isnan(error) & ~(error >= 0)).any()
    counted = int(columns["nonfinite"].sum(dtype=np.int64))
    yield "nonfinite is not what the buckets say", counted != result["nonfinite"]["count"]
    parts = result.get("intervals")
    if parts is None:
        parts = [{"interval": None, "n": None, "max_ulp": result["max_ulp"]}]
        yield "n is not what the buckets say", int(columns["n"].sum(dtype=np.int64)) > result["n"]
    zeros = dict.fromkeys(("correct", "faithful", *WITNESS), np.zeros(len(error), np.uint64))
    bins = {each["interval"]: each for each in intervals(fmt, {**columns, **zeros})}
    if result.get("intervals") is None:
        scored = error[~np.isnan(error)]
        bins = {None: {"n": None, "max_ulp": float(scored.max()) if len(scored) else None}}
    for part in parts:
        told = bins.get(part["interval"], {"n": None, "max_ulp": None})
        largest = None if part["max_ulp"] is None else float(rounded_up(np.array([part["max_ulp"]]))[0])
        if part["interval"] is None or "NaN" not in part["interval"]:
            said = f"{part['interval'] or 'max_ulp'} is not what the buckets say"
            yield said, (part["n"], largest) != (told["n"], told["max_ulp"])
    finite = [part["max_ulp"] for part in parts if part["max_ulp"] is not None]
    if (result["max_ulp"] or 0) > max(finite, default=0):  # of an input that had another answer beside the plan's
        yield from _witnessed(fmt, result, "witness", result["max_ulp"])
    else:
        yield "max_ulp is not the largest of its intervals", max(finite, default=None) != result["max_ulp"]
