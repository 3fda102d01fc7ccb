"""The inputs that are hardest to round: docs/hardest.md says how they are found, and what is complete.

What decides a rounding is a boundary: a number of the format (for "up", "down", "zero" and "odd") or the midpoint of
two (for "nearest"). The offset of an input is (f(x) - boundary)/u(f(x)) for the nearest boundary, in units in the last
place; the smaller it is, the more digits of f(x) it takes to round it. Hard are inputs whose offset is below a limit,
and not 0: a function may be exact somewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import MissingMeasurement, OracleError, one_of
from ..formats import DTYPES, Dyadic, Format, from_ordinals, get_format, is_finite, is_zero, ordinals
from ..functions import Function, get_function
from ..functions.enclosures import Enclosure, endpoints, fraction
from ..paths import resource
from . import _core
from .oracle import PRECISIONS
from .values import _values

LIMITS = {16: 2.0**-10, 32: 2.0**-20}
"""Offsets that are hard, by the width of the dtype: some hundred inputs of the former, some thousand of the latter."""
LONG = 32
"""Consecutive hard inputs that are no coincidence: f(x) runs beside x, x/2 or a constant there. They are told as a run,
by first and last input."""
SPREAD = 8
"""Hard inputs no farther from each other are no coincidence either, where they are many: every fifth beside 3/5 x."""
SMALLEST = 2.0**-1000
"""An offset below this is told as this."""


class Hardest(NamedTuple):
    """Hard inputs of a function in a dtype, by ordinal; arrays of one length but `runs`."""

    limit: float
    x_bits: np.ndarray
    offset: np.ndarray
    """In ulp, positive where f(x) lies above the boundary."""
    is_midpoint: np.ndarray
    """Whether the boundary is the midpoint of two numbers; else it is a number."""
    runs: np.ndarray
    """First and last bits of the runs of hard inputs, whose inputs are not listed."""
    intervals: tuple[Interval, ...] | None = None
    """What was searched, of float64; None: every input of the dtype."""


class Interval(NamedTuple):
    """Consecutive float64 inputs, all of which were examined: those with an offset below `limit` are listed."""

    first_bits: int
    last_bits: int
    limit: float


@lru_cache(maxsize=64)
def hardest(function: str, dtype: str) -> Hardest:
    """The hardest inputs: from a table that ships with the package; of 16-bit formats computed here, in a few seconds.

    Raises
    ------
    UsageError : unknown names, 8-bit formats
    MissingMeasurement : no table of that function in that dtype
    """
    entry, fmt = get_function(function), get_format(dtype)
    if fmt.name not in DTYPES:
        raise one_of("dtype", dtype, list(DTYPES))
    if fmt.width == 16:
        return of_every_input(entry, fmt)
    path = resource(f"data/hardest/{entry.name}-{dtype}.{'npz' if fmt.width == 32 else 'json'}")
    if not os.path.exists(path):  # False for a name that is too long for a file
        known = sorted(each.name.partition("-")[0] for each in path.parent.glob(f"*-{dtype}.*"))
        raise MissingMeasurement(
            f"the hardest inputs of {entry.name} in {dtype} have not been looked for (accepted: {', '.join(known)})"
        )
    if fmt.width == 32:
        with np.load(path) as table:
            return Hardest(LIMITS[32], *(table[name] for name in ("x_bits", "offset", "is_midpoint", "runs")))
    return _from_json(fmt, json.loads(path.read_text(encoding="utf-8")))


def _from_json(fmt: Format, table: dict[str, Any]) -> Hardest:
    rows = table["inputs"]
    intervals = tuple(
        Interval(int(each["first_bits"], 16), int(each["last_bits"], 16), float.fromhex(each["limit"]))
        for each in table["intervals"]
    )
    return Hardest(
        max(each.limit for each in intervals),
        np.array([int(row["x_bits"], 16) for row in rows], fmt.uint),
        np.array([row["offset"] for row in rows], np.float64),
        np.array([row["is_midpoint"] for row in rows], bool),
        np.empty((0, 2), fmt.uint),
        intervals,
    )


def of_every_input(entry: Function, fmt: Format) -> Hardest:
    """The hard inputs among all of a 16-bit format."""
    bits = from_ordinals(fmt, np.arange(-fmt.sign_mask, fmt.sign_mask))
    x = bits[is_finite(fmt, bits) & ~is_zero(fmt, bits)]
    marks = np.zeros(x.size, np.uint8)
    _core.mark_near(_values(entry, fmt, x).view(np.uint8), fmt.layout, LIMITS[fmt.width], marks)
    near = ordinals(fmt, x[marks != 0])
    return listed(entry, fmt, joined(np.stack([near, near], axis=1)))


def runs_between(entry: Function, fmt: Format, first: int, last: int) -> np.ndarray:
    """Runs of inputs that are, or may be, hard, as first and last ordinals: those from `first` to `last`, natively."""
    found = []
    for start, stop in ((first, min(last, -2)), (max(first, 1), last)):  # zeros apart
        if start <= stop:
            runs = np.empty(((stop - start + 2) // 2, 2), np.int64)
            count = _core.hard_runs(entry.name, fmt.layout, start, LIMITS[fmt.width], runs, stop - start + 1)
            found.append(joined(runs[:count]))
    return np.concatenate([*found, np.empty((0, 2), np.int64)])


def joined(runs: np.ndarray) -> np.ndarray:
    """Runs, ascending, those joined that touch, and LONG of them, or two long ones, of which each is close to the
    next, on one side of 0."""
    runs = _merged(runs, runs[1:, 0] == runs[:-1, 1] + 1)
    gap, same_side = runs[1:, 0] - runs[:-1, 1], (runs[1:, 0] > 0) == (runs[:-1, 1] > 0)
    close = (gap <= SPREAD) & same_side
    group = np.cumsum(np.concatenate([[0], ~close]))[: len(runs)]
    long = runs[:, 1] - runs[:, 0] + 1 >= LONG
    many = (np.bincount(group) >= LONG) | (np.bincount(group, long) >= 2)
    return _merged(runs, close & many[group[1:]])


def _merged(runs: np.ndarray, with_next: np.ndarray) -> np.ndarray:
    """Each run together with the next one, where said."""
    if not len(runs):
        return runs.copy()
    starts, ends = np.concatenate([[True], ~with_next]), np.concatenate([~with_next, [True]])
    return np.stack([runs[starts, 0], runs[ends, 1]], axis=1)


def listed(entry: Function, fmt: Format, runs: np.ndarray) -> Hardest:
    """Long runs as they are, and the inputs of the others, each with its offset by the oracle."""
    limit, long = LIMITS[fmt.width], runs[:, 1] - runs[:, 0] + 1 >= LONG
    inputs = [o for first, last in runs[~long].tolist() for o in range(first, last + 1)]
    x = from_ordinals(fmt, np.array(inputs, np.int64))
    found = [(bits, *offset_of(entry, fmt, bits)) for bits in x.tolist()]
    hard = [row for row in found if 0 < abs(row[1]) < limit]
    return Hardest(
        limit,
        np.array([row[0] for row in hard], fmt.uint),
        np.array([row[1] for row in hard], np.float64),
        np.array([row[2] for row in hard], bool),
        from_ordinals(fmt, runs[long]),
    )


def offset_of(entry: Function, fmt: Format, x_bits: int) -> tuple[float, bool]:
    """(f(x) - boundary)/u(f(x)) for the boundary nearest to f(x), to 2^-40 of itself, and whether that is a midpoint.

    x is finite and not zero; 0 where f is not defined. Raises OracleError where no precision decides.
    """
    if entry.is_stated(fmt, x_bits):
        return 0.0, False
    x = fmt.dyadic(x_bits)
    for low, high in _enclosures(entry, x):
        if low == high == 0:
            return 0.0, False
        if low * high <= 0 or fmt.ulp(low) != fmt.ulp(high):
            continue
        unit = fmt.ulp(low)
        half_units = round(2 * low / unit)
        ends = [(end - half_units * unit / 2) / unit for end in (low, high)]
        if ends[0] == ends[1] or abs(ends[1] - ends[0]) * 2**40 < min(map(abs, ends)):
            offset = float(ends[0])
            return max(-SMALLEST, min(offset, SMALLEST)) if 0 < abs(offset) < SMALLEST else offset, half_units % 2 == 1
    raise OracleError(f"{entry.name} at {fmt.hex_float(x_bits)} ({fmt.name}): its offset is undecided")


def _enclosures(entry: Function, x: Dyadic) -> Iterator[tuple[Fraction, Fraction]]:
    """Ever narrower rational bounds of f(x)."""
    for precision in PRECISIONS[1:]:
        terms = entry.enclosed(Enclosure(precision), x)
        leading = fraction(terms.leading)
        if terms.correction is None:
            yield leading, leading
        else:
            low, high = (fraction(end) for end in endpoints(terms.correction))
            yield leading + low, leading + high
