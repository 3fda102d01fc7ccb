"""Where an implementation is accurate: an interval around zero, and the few inputs in it that are not."""

from __future__ import annotations

import numpy as np

from .bucket_errors import BucketErrors, bucket_ends
from .parts import AccurateRange

ALONE = 8192  # of so many inputs outwards from an exception to the end of a range one may be an exception


def accurate_range(errors: BucketErrors, planned: np.ndarray) -> AccurateRange | None:
    """The widest interval whose ends each have few exceptions behind them; None where there is none around zero.

    On each side, of every outer part of the range (from some bucket to its end), at most the ALONE'th part is above
    4 ULP, each bucket counted by its share of the inputs that were tried. An end lies where errors begin, then, and one
    wrong input of 65,536 does not end it. Buckets that are not `planned` cannot make it wider.
    """
    bucket, share = errors.columns["bucket"].astype(np.int64), errors.above / errors.columns["n"]
    share = np.where(errors.columns["nonfinite"] > 0, np.inf, share)
    counts = np.flatnonzero((share > 0) | np.isin(bucket, planned))
    middle = int(np.searchsorted(bucket[counts], 0x8000))
    down, up = _reach(share[counts[:middle]][::-1]), _reach(share[counts[middle:]])
    if not down or not up:
        return None
    rows = np.arange(counts[middle - down], counts[middle + up - 1] + 1)
    fmt = errors.fmt
    first, last = bucket_ends(fmt, bucket[[rows[0], rows[-1]]])
    low, high = int(first[0]), int(last[1])
    above = int(errors.above[rows].sum())
    worst = errors.output(int(rows[np.argmax(errors.near_root[rows])])) if above else None
    return AccurateRange(
        fmt.bits_text(low),
        float(fmt.fraction(low)),
        fmt.bits_text(high),
        float(fmt.fraction(high)),
        "=" if _is_settled(errors, rows) else ">=",
        above,
        None if worst is None else fmt.bits_text(worst.x_bits),
        None if worst is None else worst.error,
    )


def _reach(share: np.ndarray) -> int:
    """How many buckets from zero outwards: up to the last one at which 8192 exceptions - inputs is at its least."""
    if not len(share):
        return 0
    with np.errstate(invalid="ignore"):
        excess = np.cumsum(ALONE * share - 1)
    least = float(np.min(excess[~np.isnan(excess)], initial=np.inf))
    return int(np.flatnonzero(excess == least)[-1]) + 1 if least <= 0 else 0


def _is_settled(errors: BucketErrors, rows: np.ndarray) -> bool:
    """Whether all of it was tried, and an input just beyond each end is above 4 ULP, or is none of the dtype."""
    bucket, last = errors.columns["bucket"].astype(np.int64), len(errors.whole) - 1
    if not errors.whole[rows].all() or (np.diff(bucket[rows]) != 1).any():
        return False
    for end, step, most in ((int(rows[0]), -1, 0), (int(rows[-1]), 1, last)):
        if end == most:
            if not _is_outermost(errors, int(bucket[end])):
                return False
        elif bucket[end + step] != bucket[end] + step or not (errors.above[end + step] or errors.whole[end + step]):
            return False
    return True


def _is_outermost(errors: BucketErrors, bucket: int) -> bool:
    first, last = bucket_ends(errors.fmt, np.array([bucket]))
    return errors.fmt.max_finite in (errors.fmt.magnitude(int(end[0])) for end in (first, last))
