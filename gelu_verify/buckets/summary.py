"""What a table of buckets says of all its inputs: the measures of a record.

A sweep writes them, and a reader of a stored run derives them again from its buckets (`runs/integrity.py`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..formats import Format
from ..functions import Function
from ..functions.regions import INTERVALS, REGIONS, interval_edges
from ..truth.values import zero_threshold
from .table import HIST_EDGES, SUM_SCALE, Columns, Facts, Table

Record = dict[str, Any]
SUMMARY_KEYS = (
    *("max_ulp", "witness", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "max_rank", "nonfinite"),
    *("zero_from", "zero_threshold", "regions", "intervals", "bits_sha256", "approximation"),
)  # and n


def summary(function: Function, table: Table) -> Record:
    """SUMMARY_KEYS, and n, of all inputs in a table."""
    fmt, columns, facts, n = table.fmt, table.columns, table.facts, table.total("n")
    scored = int(table.hist.sum(dtype=np.int64))
    worst = table.worst()
    max_ulp = None if worst is None else float(columns["max_error"][worst])
    return {
        "n": n,
        "max_ulp": max_ulp,
        "witness": _witness(fmt, columns, worst),
        "mean_ulp": table.total("error_sum") / SUM_SCALE / scored if scored else None,
        "p50_ulp": _percentile(table, 0.50, max_ulp),
        "p99_ulp": _percentile(table, 0.99, max_ulp),
        "correctly_rounded": table.total("correct") / n,
        "faithful": table.total("faithful") / n,
        "max_rank": facts.max_rank if scored else None,
        "nonfinite": {"count": table.total("nonfinite"), "x_bits": text_of(fmt, _x_of(fmt, facts.nonfinite))},
        "zero_from": _point(fmt, _x_of(fmt, facts.zero_from)),
        "zero_threshold": _point(fmt, zero_threshold(function.name, fmt.name)),
        "regions": _regions(fmt, table),
        "intervals": intervals(fmt, columns),
        "bits_sha256": bits_sha256(columns),
        "approximation": _approximation(fmt, function, facts),
    }


def text_of(fmt: Format, bits: int | None) -> str | None:
    """Bits as text; None for None."""
    return None if bits is None else fmt.bits_text(bits)


def intervals(fmt: Format, columns: Columns) -> list[Record]:
    """The sums and the largest error of the buckets of each interval that has inputs."""
    ends = np.searchsorted(columns["bucket"], interval_edges(fmt.name))
    records = []
    for name, first, end in zip(INTERVALS, ends[:-1], ends[1:], strict=True):
        if first == end:
            continue
        error = columns["max_error"][first:end]
        row = None if np.isnan(error).all() else int(first + np.nanargmax(error))
        records.append(
            {
                "interval": name,
                **{key: int(columns[key][first:end].sum(dtype=np.int64)) for key in ("n", "correct", "faithful")},
                "max_ulp": None if row is None else float(columns["max_error"][row]),
                **(_witness(fmt, columns, row) or dict.fromkeys(("x_bits", "got_bits", "want_bits"))),
            }
        )
    return records


def bits_sha256(columns: Columns) -> str:
    """Digest of the results: two runs of the same inputs have the same one where they have the same results."""
    digest = hashlib.sha256()
    for name, kind in (("bucket", "<u2"), ("n", "<u4"), ("bits_hash", "<u8")):
        digest.update(columns[name].astype(kind).tobytes())
    return digest.hexdigest()


def _x_of(fmt: Format, key: tuple[Any, ...] | None) -> int | None:
    """x of a fact's witness."""
    return None if key is None else fmt.from_ordinal(key[1])


def _point(fmt: Format, bits: int | None) -> Record | None:
    return None if bits is None else {"x_bits": fmt.bits_text(bits), "x": float(fmt.fraction(bits))}


def _witness(fmt: Format, columns: Columns, row: int | None) -> Record | None:
    if row is None or np.isnan(columns["max_error"][row]):
        return None
    return {f"{name}_bits": fmt.bits_text(int(columns[f"max_error_{name}"][row])) for name in ("x", "got", "want")}


def _percentile(table: Table, share: float, max_ulp: float | None) -> float | None:
    """Upper edge of the histogram bin that holds that share of the scored inputs, not above the maximum."""
    if max_ulp is None:
        return None
    counts = np.cumsum(table.hist.sum(axis=1, dtype=np.int64))
    place = int(np.searchsorted(counts, share * counts[-1]))
    return min(HIST_EDGES[place], max_ulp)


def _regions(fmt: Format, table: Table) -> list[Record]:
    rows = {int(region): row for row, region in enumerate(table.regions["region"])}
    records = []
    for index, region in enumerate(REGIONS):
        row = rows.get(index)
        witness = None if row is None else _witness(fmt, table.regions, row)
        records.append(
            {
                "region": region.name,
                "n": 0 if row is None else int(table.regions["n"][row]),
                "max_ulp": None if row is None or witness is None else float(table.regions["max_error"][row]),
                "witness": witness,
            }
        )
    return records


def _approximation(fmt: Format, function: Function, facts: Facts) -> Record | None:
    if function.approximates is None or facts.approximation_ulp is None or facts.approximation_abs is None:
        return None
    return {
        "function": function.approximates,
        "max_ulp": -facts.approximation_ulp[0],
        "max_abs": -facts.approximation_abs[0],
        "x_bits": fmt.bits_text(fmt.from_ordinal(facts.approximation_ulp[1])),
    }
