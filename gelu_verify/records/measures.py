"""What a table of buckets says of all its inputs: the measures of a record.

A sweep writes them, and whoever reads a stored run derives them again from its buckets (`runs/integrity.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..buckets.table import HIST_EDGES, SUM_SCALE, Columns, Facts, Table
from ..formats import Format
from ..functions import Function, get_function
from ..functions.regions import INTERVALS, REGIONS, interval_edges
from ..truth.values import zero_threshold
from .beside import joined
from .parts import Approximation, Coverage, IntervalErrors, NonFinite, Point, RegionErrors, Witness
from .result import Record

MEASURES = (
    *("beside", "max_ulp", "witness", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "max_rank"),
    *(
        "nonfinite",
        "zero_sign",
        "zero_from",
        "zero_threshold",
        "regions",
        "intervals",
        "bits_sha256",
        "approximation",
        "coverage",
    ),
)  # fields of a record that `measured` sets, beside n


def measured(record: Record, table: Table) -> Record:
    """The record with `n` and all MEASURES of the inputs in a table, and of the outputs `beside` it."""
    fmt, columns, facts, n = table.fmt, table.columns, table.facts, table.total("n")
    function = get_function(record.judged_as)
    scored = int(table.hist.sum(dtype=np.int64))
    max_ulp, _ = _worst(table)
    beside = record.beside or ()
    seen = joined(table, function, beside)
    worst_seen, witness = _worst(seen)
    return replace(
        record,
        n=n,
        beside=beside,
        max_ulp=worst_seen,
        witness=witness,
        mean_ulp=table.total("error_sum") / SUM_SCALE / scored if scored else None,
        p50_ulp=_percentile(table, 0.50, max_ulp),
        p99_ulp=_percentile(table, 0.99, max_ulp),
        correctly_rounded=table.total("correct") / n,
        faithful=table.total("faithful") / n,
        max_rank=None if worst_seen is None else seen.facts.max_rank,
        nonfinite=NonFinite(table.total("nonfinite"), text_of(fmt, _x_of(fmt, facts.nonfinite))),
        zero_sign=table.total("zero_sign"),
        zero_from=_point(fmt, _x_of(fmt, seen.facts.zero_from)),
        zero_threshold=_point(fmt, zero_threshold(function.name, fmt.name)),
        regions=_regions(fmt, table),
        intervals=intervals(fmt, columns),
        bits_sha256=bits_sha256(columns),
        approximation=_approximation(fmt, function, facts),
        coverage=_coverage(record, table),
    )


def _coverage(record: Record, table: Table) -> Coverage | None:
    """What the table says of it: the share, and the buckets that were tried whole."""
    if record.coverage is None:
        return None
    share = table.total("n") / 2.0**table.fmt.width
    return replace(record.coverage, share=min(share, 1.0), whole=tuple(_whole(table)))


def _whole(table: Table) -> Iterator[str]:
    """Runs of buckets of which every input is there, as bits of their ends."""
    fmt = table.fmt
    if fmt.width <= 16:
        return
    bucket = table.columns["bucket"][table.whole].astype(np.int64)
    if not len(bucket):
        return
    last = np.flatnonzero(np.diff(bucket, append=1 << 20) > 1)
    for first, end in zip(bucket[np.append(0, last[:-1] + 1)].tolist(), bucket[last].tolist(), strict=True):
        ends = (first - 0x8000) << (fmt.width - 16), ((end - 0x8000 + 1) << (fmt.width - 16)) - 1
        yield ":".join(fmt.bits_text(fmt.from_ordinal(each)) for each in ends)


def _worst(table: Table) -> tuple[float | None, Witness | None]:
    """The largest error, and its witness."""
    worst = table.worst()
    return (None if worst is None else float(table.columns["max_error"][worst])), _witness(
        table.fmt, table.columns, worst
    )


def text_of(fmt: Format, bits: int | None) -> str | None:
    """Bits as text; None for None."""
    return None if bits is None else fmt.bits_text(bits)


def intervals(fmt: Format, columns: Columns) -> tuple[IntervalErrors, ...]:
    """The sums and the largest error of the buckets of each interval that has inputs."""
    ends = np.searchsorted(columns["bucket"], interval_edges(fmt.name))
    spans = zip(INTERVALS, ends[:-1], ends[1:], strict=True)
    return tuple(_interval(fmt, columns, name, first, end) for name, first, end in spans if first != end)


def _interval(fmt: Format, columns: Columns, name: str, first: int, end: int) -> IntervalErrors:
    error = columns["max_error"][first:end]
    row = None if np.isnan(error).all() else int(first + np.nanargmax(error))
    witness = _witness(fmt, columns, row)
    n, correct, faithful = (int(columns[key][first:end].sum(dtype=np.int64)) for key in ("n", "correct", "faithful"))
    max_ulp = None if row is None else float(columns["max_error"][row])
    if witness is None:
        return IntervalErrors(name, n, correct, faithful, max_ulp, None, None, None)
    return IntervalErrors(name, n, correct, faithful, max_ulp, witness.x_bits, witness.got_bits, witness.want_bits)


def bits_sha256(columns: Columns) -> str:
    """Digest of the results: two runs of the same inputs have the same one where they have the same results."""
    digest = hashlib.sha256()
    for name, kind in (("bucket", "<u2"), ("n", "<u4"), ("bits_hash", "<u8")):
        digest.update(columns[name].astype(kind).tobytes())
    return digest.hexdigest()


def _x_of(fmt: Format, key: tuple[Any, ...] | None) -> int | None:
    """x of a fact's witness."""
    return None if key is None else fmt.from_ordinal(key[1])


def _point(fmt: Format, bits: int | None) -> Point | None:
    return None if bits is None else Point(fmt.bits_text(bits), float(fmt.fraction(bits)))


def _witness(fmt: Format, columns: Columns, row: int | None) -> Witness | None:
    if row is None or np.isnan(columns["max_error"][row]):
        return None
    return Witness(*(fmt.bits_text(int(columns[f"max_error_{name}"][row])) for name in ("x", "got", "want")))


def _percentile(table: Table, share: float, max_ulp: float | None) -> float | None:
    """Upper edge of the histogram bin that holds that share of the scored inputs, not above the maximum."""
    if max_ulp is None:
        return None
    counts = np.cumsum(table.hist.sum(axis=1, dtype=np.int64))
    place = int(np.searchsorted(counts, share * counts[-1]))
    return min(HIST_EDGES[place], max_ulp)


def _regions(fmt: Format, table: Table) -> tuple[RegionErrors, ...]:
    rows = {int(region): row for row, region in enumerate(table.regions["region"])}
    return tuple(_region(fmt, table, region.name, rows.get(index)) for index, region in enumerate(REGIONS))


def _region(fmt: Format, table: Table, name: str, row: int | None) -> RegionErrors:
    if row is None:
        return RegionErrors(name, 0, None, None)
    witness = _witness(fmt, table.regions, row)
    max_ulp = None if witness is None else float(table.regions["max_error"][row])
    return RegionErrors(name, int(table.regions["n"][row]), max_ulp, witness)


def _approximation(fmt: Format, function: Function, facts: Facts) -> Approximation | None:
    if function.approximates is None or facts.approximation_ulp is None or facts.approximation_abs is None:
        return None
    return Approximation(
        function.approximates,
        -facts.approximation_ulp[0],
        -facts.approximation_abs[0],
        fmt.bits_text(fmt.from_ordinal(facts.approximation_ulp[1])),
    )
