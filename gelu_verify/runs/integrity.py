"""Whether the results of a stored run follow from its buckets: each is derived from them again, as a sweep derives it.

A hash shows what changed after it was written, not who wrote it. So whoever judges by a run asks more: the buckets are
a table that inputs can have given, their worst outputs have the errors that stand beside them, and the measures of
the result are those of the table. What a table does not hold is bounded by what it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..buckets.bins import FOLDED, is_folded, rounded_up
from ..buckets.reducer import tail_end
from ..buckets.table import BITS, HIST_EDGES, NEAREST, SUM_CLIP, SUM_SCALE, SUMS, Columns, Facts, Table
from ..buckets.table import WITNESS as WORST
from ..checks import CHECKS, Finding
from ..errors import ResultsError
from ..formats import Format, buckets, get_format, magnitudes, ordinals
from ..functions import Function, get_function
from ..functions.regions import REGIONS, region_edges
from ..records.beside import judged
from ..records.grades import GRADED, graded, is_graded_so
from ..records.measures import MEASURES, intervals, measured
from ..records.parts import RegionErrors, Severity, Witness
from ..records.result import Record
from ..targets import is_shipped
from ..truth.values import judge
from .bucket_files import identity_of, read_buckets, read_columns
from .store import Run

HISTOGRAM = tuple(f"hist_{k:02d}" for k in range(len(HIST_EDGES)))
CLOSE = 2.0**-10  # ulp: what two ways of judging a float32 output may differ by, here with a margin of 4
LAST_BITS = 2.0**-20  # of an error, relative: as another version of the native code may derive it from 16-bit outputs
# Checks that fail where one is counted.
COUNTED = {"finite": "nonfinite", "sign": "wrong_sign", "monotone": "rises", "zero_sign": "zero_sign"}
_EMPTY = {"segments": np.empty((0, 4), np.int64), "samples": np.empty((0, 2), np.uint64)}


def verified(run: Run) -> Run:
    """The run, when every result that has buckets follows from them; older ones graded by the definitions of now.

    Raises
    ------
    ResultsError : of the first that does not, in one line that names it and what is wrong
    """
    if run.manifest.get("recorded", {}).get("condensed"):
        _check_witnesses(run)
    places = [index for index, record in enumerate(run.results) if record.buckets is not None]
    with ThreadPoolExecutor(4) as pool:
        for index, wrong in zip(places, pool.map(lambda index: _wrong(run, index), places), strict=True):
            if wrong:
                raise ResultsError(f"{run.path} cannot be trusted: {run.results[index].key}: {wrong}")
    if "recorded" in run.manifest or all(map(is_graded_so, run.results)):
        return run
    return replace(run, results=[_graded_again(run, index) for index in range(len(run.results))])


def _graded_again(run: Run, index: int) -> Record:
    """The result with its grade; of a run that was graded by earlier definitions, by those of now, unless its buckets
    are folded."""
    record = run.results[index]
    if is_graded_so(record) or "grade" in record.lacking:
        return record
    record = replace(record, lacking=record.lacking - {"grade_bound"})
    if record.buckets is None:
        return graded(record, None)
    fmt, function = get_format(record.dtype), get_function(record.judged_as)
    findings = {
        name: replace(each, severity=_severity(function, fmt, record, name)) if each.severity else each
        for name, each in record.findings.items()
    }
    columns = read_columns(run.buckets(index))
    if is_folded(columns):
        return run.results[index]
    return graded(replace(record, findings=findings), table_of(function, fmt, columns)[0])


def _check_witnesses(run: Run) -> None:
    """Of a condensed run: each largest error is that of its witness."""
    for record in run.results:
        if record.witness is not None:
            rules = _witnessed(get_format(record.dtype), record, record.witness, "witness", record.max_ulp)
            for line in (line for line, is_wrong in rules if is_wrong):
                raise ResultsError(f"{run.path} cannot be trusted: {record.key}: {line}")


def _wrong(run: Run, index: int) -> str:
    """What is wrong with one result; empty where it follows from its buckets."""
    record, schema, committed = run.results[index], run.manifest["schema"], "recorded" in run.manifest
    fmt, function = get_format(record.dtype), get_function(record.judged_as)
    try:
        columns, facts = read_buckets(run.buckets(index))
    except ResultsError as error:
        return str(error)
    if (schema > 1 or not committed) and (other := _of_another(facts, record, schema)):
        return other
    folded = committed or (is_shipped(record.family) and is_folded(columns))
    kinds = FOLDED if folded else _kinds(fmt, schema, "zero_sign" not in record.lacking)
    if {name: str(column.dtype) for name, column in columns.items()} != kinds:
        return f"the buckets have not the columns of schema {schema}"
    if not len(columns["bucket"]) or (np.diff(columns["bucket"].astype(np.int64)) <= 0).any():
        return "the buckets do not ascend"
    rules = _folded_rules(fmt, record, columns) if folded else _rules(function, fmt, record, columns)
    return next((line for line, is_wrong in rules if is_wrong), "")


def _of_another(said: bytes, record: Record, schema: int) -> str:
    """Whether the file says that it belongs to another result."""
    try:
        facts = json.loads(said)
        differs = [name for name, value in identity_of(record).items() if facts[name] != value]
        differs += ["schema"] * (facts["schema"] != schema)
    except (KeyError, TypeError, ValueError, RecursionError):
        return "the buckets do not say what they belong to"
    if not differs:
        return ""
    return f"the buckets belong to another result: their {differs[0]} is {facts[differs[0]]!r:.60}"


def _kinds(fmt: Format, schema: int, counts_zeros: bool) -> dict[str, str]:
    """Type of each column of a bucket table; runs of an earlier version do not count zeros of the wrong sign."""
    lacking = {*([] if schema > 1 else ["bits_hash"]), *([] if counts_zeros else ["zero_sign"])}
    kinds = {"bucket": "uint16"}
    kinds |= {name: np.dtype(kind).name for name, kind in SUMS.items() if name not in lacking}
    kinds |= {"max_error": "float64", **dict.fromkeys(BITS, fmt.uint.name)}
    return kinds | dict.fromkeys((*NEAREST, *HISTOGRAM), "uint32")


Rules = Iterator[tuple[str, Any]]  # (what is wrong, whether it is)


# ---- a table that inputs can have given ----------------------------------------------------------


def _rules(function: Function, fmt: Format, record: Record, columns: Columns) -> Rules:
    hist = np.stack([columns[name] for name in HISTOGRAM])
    yield from _possible(function, fmt, columns, hist)
    yield from _judged(function, fmt, columns)
    yield from _derived(function, fmt, record, columns)


def _possible(function: Function, fmt: Format, columns: Columns, hist: np.ndarray) -> Rules:
    """What holds of every table, whatever was measured."""
    n, error = columns["n"], columns["max_error"]
    scored = hist.sum(axis=0, dtype=np.uint64)
    yield "a bucket has more inputs than there are", (n > 1 << max(fmt.width - 16, 0)).any() or (n < 1).any()
    for name in ("correct", "faithful", *NEAREST[:3], "zero_sign"):
        yield f"a bucket has more {name} than inputs", name in columns and (columns[name] > n).any()
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
    if "bits_hash" in columns and function.sign in ("x", "-x") and not function.either_zero:
        right = columns["correct"] == n
        yield (
            "the hash of a bucket does not fit its count of correct results",
            ((columns["bits_hash"] == 0) != right).any(),
        )


def _judged(function: Function, fmt: Format, columns: Columns) -> Rules:
    """The worst outputs again, by the reference."""
    scored = ~np.isnan(columns["max_error"])
    x, got, want = (np.ascontiguousarray(columns[name][scored]) for name in WORST)
    right, error, _ = judge(function.name, fmt.name, x, got)
    error = np.minimum(np.abs(error), np.finfo(np.float64).max)
    stored = columns["max_error"][scored]
    yield "a worst output has another correctly rounded value beside it", (right != want).any()
    yield (
        "a worst output does not have the error beside it",
        (~(np.abs(error - stored) <= CLOSE + 2.0**-20 * stored)).any(),
    )


# ---- the measures of the result ------------------------------------------------------------------


def _derived(function: Function, fmt: Format, record: Record, columns: Columns) -> Rules:
    """The measures, from the table; those that it does not hold, within what it does."""
    table, is_certain = table_of(function, fmt, columns)
    again = measured(record, table)
    bounded = {"max_rank", "regions", "approximation", *([] if is_certain else ["zero_from"])}
    yield from _beside(function, fmt, record)
    if "beside" in record.lacking and (record.max_ulp or 0) > (again.max_ulp or 0):  # an input that had two outputs
        yield from _witnessed(fmt, record, record.witness, "witness", record.max_ulp)
        bounded |= {"max_ulp", "witness"}
    for name in ("n", *MEASURES):
        if name not in record.lacking and name not in bounded:
            value, derived = getattr(record, name), getattr(again, name)
            yield (
                f"{name} is {_short(value)}, and the buckets say {_short(derived)}",
                not _alike(value, derived, _slack(fmt)),
            )
    yield from _severities(function, fmt, record)
    if is_graded_so(record):
        again = graded(record, table)
        for name in GRADED:
            value, derived = getattr(record, name), getattr(again, name)
            yield (
                f"{name} is {_short(value)}, and the measures say {_short(derived)}",
                not _alike(value, derived, _slack(fmt)),
            )
    for check, count in COUNTED.items():
        counted = int(columns[count].sum(dtype=np.int64)) if count in columns else 0
        applies = check != "sign" or function.sign
        counted -= 2 * (check == "zero_sign")  # those at x = 0 are not its own
        line = f"check {check} passes, and the buckets have {counted} results that do not"
        yield line, counted > 0 and applies and record.checks.get(check) == "pass"
    yield from _ranks(fmt, record, columns)
    yield from _region_rules(fmt, record, columns)


def table_of(function: Function, fmt: Format, columns: Columns) -> tuple[Table, bool]:
    """The table that the buckets are of, without what they do not hold; whether the start of its tail is certain."""
    facts, is_certain = _facts(function, fmt, columns)
    wide = {name: column.astype(np.uint64) if name in BITS else column for name, column in columns.items()}
    for name in ("bits_hash", "zero_sign"):
        wide.setdefault(name, np.zeros(len(columns["n"]), SUMS[name]))
    hist = np.stack([columns[name] for name in HISTOGRAM])
    regions: Columns = {"region": np.empty(0, np.uint8)}
    return Table(fmt, wide, hist, regions, **_EMPTY, facts=facts), is_certain


def _beside(function: Function, fmt: Format, record: Record) -> Rules:
    """The outputs beside the plan again, by the reference."""
    for each in record.beside or ():
        x, got = (np.array([int(bits, 16)], fmt.uint) for bits in (each.x_bits, each.got_bits))
        again = judged(function, fmt.name, x, got)
        error = abs(float(again.error[0]))
        ulp = error if np.isfinite(error) else None
        line = f"an output beside the plan, for {each.x_bits}, is {_short(each)}"
        yield line, int(again.want[0]) != int(each.want_bits, 16) or (ulp is None) != (each.ulp is None)
        yield line, ulp is not None and not abs(ulp - (each.ulp or 0.0)) <= CLOSE + 2.0**-20 * ulp


def _slack(fmt: Format) -> float:
    """What an error may differ by, relative: only where none is stored, and another version may derive another."""
    return LAST_BITS if fmt.width == 16 else 0.0


def _alike(stored: Any, derived: Any, slack: float) -> bool:
    """Whether they are the same, but for the last bits of errors."""
    if isinstance(stored, float) and isinstance(derived, float):
        return stored == derived or abs(stored - derived) <= slack * max(abs(stored), 1.0)
    if is_dataclass(stored) and type(stored) is type(derived):
        return all(_alike(getattr(stored, each.name), getattr(derived, each.name), slack) for each in fields(stored))
    if isinstance(stored, tuple) and isinstance(derived, tuple) and len(stored) == len(derived):
        return all(_alike(*each, slack) for each in zip(stored, derived, strict=True))
    return bool(stored == derived)


def _severities(function: Function, fmt: Format, record: Record) -> Rules:
    """What a failed check means, again from its finding."""
    for name in record.failed_checks if is_graded_so(record) else ():
        if name in CHECKS:
            stored, derived = record.findings[name].severity, _severity(function, fmt, record, name)
            yield f"check {name} fails by a {stored}, and that is a {derived}", stored != derived


def _severity(function: Function, fmt: Format, record: Record, name: str) -> Severity | None:
    """What a failed check means, from its finding; of a check that is not known here, as it is stored."""
    finding = record.findings[name]
    if name not in CHECKS:
        return finding.severity
    texts = (finding.x_bits, finding.got_bits, finding.want_bits, finding.other_bits)
    x, got, want, other = (None if text is None else int(text, 16) for text in texts)
    again = Finding("fail", finding.detail, x, got, want, other_bits=other)
    return CHECKS[name].severity_of(function, fmt, again)


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


def _ranks(fmt: Format, record: Record, columns: Columns) -> Rules:
    scored = ~np.isnan(columns["max_error"])
    got, want = (ordinals(fmt, columns[name][scored]) for name in WORST[1:])
    got, want = got + (got < 0), want + (want < 0)
    away = np.where(got > want, got - want, want - got).view(np.uint64)  # up to 2^64, as C has it
    most = int(away.max()) if len(away) else 0
    line = f"max_rank is {record.max_rank}, and the worst outputs are up to {most} floats away"
    yield line, scored.any() and not (record.max_rank or 0) >= most


def _region_rules(fmt: Format, record: Record, columns: Columns) -> Rules:
    """The largest error of a region is that of its whole buckets, or one of the two that it shares with a neighbour."""
    edges = region_edges(fmt.name)
    first, last = _spans(fmt, columns["bucket"])
    x, error = ordinals(fmt, columns["max_error_x"]), np.nan_to_num(columns["max_error"], nan=-1.0)
    for k, region in enumerate(record.regions or ()):
        inside = (x >= edges[k]) & (x < edges[k + 1])
        overlaps = (first < edges[k + 1]) & (last >= edges[k])
        whole = (first >= edges[k]) & (last < edges[k + 1])
        most, least = (float(error[rows].max()) if rows.any() else -1.0 for rows in (overlaps, inside))
        stored = -1.0 if region.max_ulp is None else region.max_ulp
        line = f"max_ulp in {REGIONS[k].name} is {_short(region.max_ulp)}, and the buckets say {_short(least)}"
        slack = _slack(fmt) * max(stored, 1.0)
        yield line, not least - slack <= stored <= most + slack
        counts = int(columns["n"][whole].sum(dtype=np.int64)), int(columns["n"][overlaps].sum(dtype=np.int64))
        yield f"n in {REGIONS[k].name} does not fit the buckets", not counts[0] <= (region.n or 0) <= counts[1]
        yield from _region_witness(fmt, record, region, edges[k : k + 2])


def _region_witness(fmt: Format, record: Record, region: RegionErrors, ends: np.ndarray) -> Rules:
    witness, name = region.witness, f"the witness in {region.region}"
    yield f"{name} does not fit max_ulp", (witness is None) != (region.max_ulp is None)
    if witness is None:
        return
    yield f"{name} lies elsewhere", not ends[0] <= fmt.ordinal(int(witness.x_bits, 16)) < ends[1]
    yield from _witnessed(fmt, record, witness, name, region.max_ulp)


def _witnessed(fmt: Format, record: Record, witness: Witness | None, name: str, max_ulp: float | None) -> Rules:
    """Whether a witness has that error, by the reference."""
    if witness is None or max_ulp is None:
        yield f"{name} does not fit max_ulp", True
        return
    x, got, want = (np.array([int(bits, 16)], fmt.uint) for bits in astuple(witness))
    right, error, _ = judge(record.judged_as, fmt.name, x, got)
    away = abs(min(abs(float(error[0])), np.finfo(np.float64).max) - max_ulp)
    close = away <= CLOSE + 2.0**-20 * max_ulp
    yield f"{name} is not one of its error", not (right[0] == want[0] and close)


def _spans(fmt: Format, bucket: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ordinals of the first and the last input of each bucket."""
    shift = max(fmt.width - 16, 0)
    first = (bucket.astype(np.int64) - 0x8000) << shift
    return first, first + (1 << shift) - 1


# ---- folded buckets ------------------------------------------------------------------------------


def _folded_rules(fmt: Format, record: Record, columns: Columns) -> Rules:
    """Of bins: each has whole buckets of finite inputs, and the largest error as float32."""
    error = columns["max_error"]
    yield "a largest error is not one", (~np.isnan(error) & ~(error >= 0)).any()
    counted = int(columns["nonfinite"].sum(dtype=np.int64))
    yield "nonfinite is not what the buckets say", record.nonfinite is None or counted != record.nonfinite.count
    if record.intervals is None:
        yield "n is not what the buckets say", int(columns["n"].sum(dtype=np.int64)) > record.n
        scored = error[~np.isnan(error)]
        largest = float(scored.max()) if len(scored) else None
        yield "max_ulp is not what the buckets say", _rounded_up(record.max_ulp) != largest
        parts = [record.max_ulp]
    else:
        parts = [part.max_ulp for part in record.intervals]
        yield from _folded_intervals(fmt, record, columns)
    finite = [ulp for ulp in parts if ulp is not None]
    if (record.max_ulp or 0) > max(finite, default=0):  # of an input that had another output beside the plan's
        yield from _witnessed(fmt, record, record.witness, "witness", record.max_ulp)
    else:
        yield "max_ulp is not the largest of its intervals", max(finite, default=None) != record.max_ulp


def _folded_intervals(fmt: Format, record: Record, columns: Columns) -> Rules:
    zeros = dict.fromkeys(("correct", "faithful", *WORST), np.zeros(len(columns["n"]), np.uint64))
    bins = {each.interval: (each.n, each.max_ulp) for each in intervals(fmt, {**columns, **zeros})}
    for part in record.intervals or ():
        if "NaN" not in part.interval:
            stored = part.n, _rounded_up(part.max_ulp)
            yield f"{part.interval} is not what the buckets say", stored != bins.get(part.interval, (None, None))


def _rounded_up(error: float | None) -> float | None:
    return None if error is None else float(rounded_up(np.array([error]))[0])
