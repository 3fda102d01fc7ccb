"""Which buckets decide what a result says: those in which more inputs are tried next, from what was found so far.

In this order: both ends of the accurate range; buckets whose errors are at least half of a limit that is kept so far
(below 1 ULP, 4 ULP, 8 units of u(max(1, |y|)), one that the user set); neighbours of the worst inputs; every bucket
where the function is not analytically x, x/2, 0 or 1; all others. It follows from the outputs alone, so the same
outputs give the same choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property

import numpy as np

from ..buckets.analytic_spans import spans_of
from ..buckets.table import Table
from ..formats import Format, get_format, to_float64
from ..functions import Function, get_function
from ..inputs.plans import core
from ..records.accuracy import ACCURATE, Accuracy
from ..records.bucket_errors import bucket_of
from ..records.grades import UNITS
from ..records.parts import Grade

FEW, SOME, MANY = 256, 512, 8192  # buckets of one choice: where each decides, of the core, of the rest
WORST = 4  # inputs whose neighbours are looked at
BELOW_1 = 1 - 2.0**-20


def next_buckets(function: Function, table: Table, done: np.ndarray, max_ulp: float | None = None) -> list[int]:
    """Numbers of the buckets that decide most, ascending; empty where all are done.

    Parameters
    ----------
    table : what was found so far
    done : of each of the 65,536 buckets, whether nothing more can be tried in it
    max_ulp : a limit that the user set
    """
    view = _View(function, table)
    ends = _chosen(view.range_ends(), done, FEW)
    if ends:
        return ends
    most = min(FEW, max(FEW // 8, int(done.sum())))
    near = _chosen([*view.near_limits(max_ulp), *view.beside_the_worst()], done, most)
    return (
        near or _chosen(core_buckets(function.name, table.fmt.name), done, SOME) or _chosen(range(1 << 16), done, MANY)
    )


def next_fixed(function: Function, fmt: Format, done: np.ndarray) -> list[int]:
    """The same, whatever was found: those where the function is not trivial, then all others."""
    most = min(SOME, max(FEW // 8, int(done.sum())))  # few first: how long they take is not known
    return _chosen(core_buckets(function.name, fmt.name), done, most) or _chosen(range(1 << 16), done, MANY)


def refutes(function: Function, table: Table, demand: Grade | None) -> bool:
    """Whether an input shows that not all have that grade."""
    if demand is None:
        return False
    accuracy = Accuracy.of_errors(table, function, is_whole=True)
    if demand == "correctly_rounded":
        return not accuracy.correct
    return demand == "faithful" and not accuracy.faithful


def _chosen(buckets: Iterable[int], done: np.ndarray, most: int) -> list[int]:
    """The first of them that are not done, each once; then by number."""
    found: dict[int, None] = {}
    for bucket in buckets:
        if 0 <= bucket <= 0xFFFF and not done[bucket]:
            found[bucket] = None
            if len(found) == most:
                break
    return sorted(found)


class _View:
    """The rows of the finite numbers of a table."""

    def __init__(self, function: Function, table: Table) -> None:
        self._function, self._table, self._fmt = function, table, table.fmt
        bucket = table.columns["bucket"].astype(np.int64)
        last = bucket_of(self._fmt, self._fmt.max_finite)
        rows = np.flatnonzero((bucket <= last) & (bucket >= 0xFFFF - last))
        self._bucket = bucket[rows]
        self._error = np.nan_to_num(table.columns["max_error"][rows], nan=-1.0)
        got, want = (
            to_float64(self._fmt, table.columns[f"max_error_{name}"][rows].astype(self._fmt.uint))
            for name in ("got", "want")
        )
        with np.errstate(all="ignore"):
            size = np.abs(got - want) / np.maximum(1.0, np.abs(want))
        self._units = np.where(self._error >= 0, np.nan_to_num(size, nan=-1.0), -1.0) * 2.0 ** (self._fmt.precision - 1)

    def range_ends(self) -> Iterator[int]:
        """The last accurate bucket on either side, the next one outwards that has inputs, and what lies between."""
        most = self._bucket[[0, -1]].tolist()
        for low, high in self._ranges:
            for end, outwards in ((low, -1), (high, 1)):
                if end in most:
                    continue
                place = int(np.searchsorted(self._bucket, end)) + outwards
                other = int(self._bucket[place])
                yield from (end, other, end + outwards, (end + other) // 2, end - outwards)

    @cached_property
    def _ranges(self) -> set[tuple[int, int]]:
        """Buckets at the ends of the accurate range, where there is one."""
        found = [Accuracy.of_errors(self._table, self._function, is_whole=True).range]
        ends = ((int(each.low_bits, 16), int(each.high_bits, 16)) for each in found if each)
        return {(bucket_of(self._fmt, low), bucket_of(self._fmt, high)) for low, high in ends}

    def near_limits(self, max_ulp: float | None) -> list[int]:
        """Those that use at least half of a limit that is kept so far, the nearest to it first."""
        most, share = float(self._error.max(initial=0.0)), np.zeros(len(self._error))
        kept = [limit for limit in (BELOW_1, ACCURATE) if most <= limit][:1]
        for limit in (*kept, *([max_ulp] if max_ulp and most <= max_ulp else [])):
            share = np.maximum(share, self._error / limit)
        for low, high in self._ranges:
            inside = (self._bucket >= low) & (self._bucket <= high)
            share = np.maximum(share, np.where(inside, self._error / ACCURATE, 0.0))
        if float(self._units.max(initial=0.0)) <= UNITS:
            share = np.maximum(share, self._units / UNITS)
        order = np.argsort(-share, kind="stable")
        near: list[int] = self._bucket[order[share[order] >= 0.5]].tolist()
        return near

    def beside_the_worst(self) -> Iterator[int]:
        for size in (self._error, self._units):
            for row in np.argsort(-size, kind="stable")[:WORST]:
                bucket = int(self._bucket[row])
                yield from (bucket, bucket - 1, bucket + 1)


@cache
def core_buckets(function: str, dtype: str) -> list[int]:
    """Buckets with inputs where the function is not trivial, the nearest to 1 in size first."""
    entry, fmt = get_function(function), get_format(dtype)
    inside = np.zeros(1 << 16, dtype=bool)
    spans = spans_of(function) if dtype == "float32" else ()
    if spans:
        last = bucket_of(fmt, fmt.max_finite)
        inside[0xFFFF - last : last + 1] = True
        for span in spans:
            first, end = (-(-edge // (1 << 16)) + 0x8000 for edge in (span.first, span.last + 1))
            inside[first:end] = False
    else:
        tiny, left, right = core(entry, fmt)
        for low, high in ((-1 - left, -1 - tiny), (tiny, right)):
            low_bucket, high_bucket = (bucket_of(fmt, fmt.from_ordinal(edge)) for edge in (low, high))
            inside[low_bucket : high_bucket + 1] = True
    found = np.flatnonzero(inside)
    one = bucket_of(fmt, fmt.one)
    distance = np.minimum(np.abs(found - one), np.abs(found - (0xFFFF - one)))
    ordered: list[int] = found[np.argsort(distance, kind="stable")].tolist()
    return ordered
