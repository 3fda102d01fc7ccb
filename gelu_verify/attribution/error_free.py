"""Sums and products of doubles without error: the rounded result, and exactly what it lacks."""

from __future__ import annotations

from typing import Any

_SPLIT = 2.0**27 + 1
Floats = Any  # float64 arrays, or Python floats


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a b exactly (Dekker), for |a|, |b| < 2^990 and a product that is 0 or above 2^-960."""
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    p = a * b
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _halves(a: Floats) -> tuple[Floats, Floats]:
    t = _SPLIT * a
    high = t - (t - a)
    return high, a - high
