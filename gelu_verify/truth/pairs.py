"""Sums and products of arrays of double-doubles that carry a bound of their error along.

A `Bounded` stands for any number y with |y - (hi + lo)| <= err. Nothing is assumed of the parts, so that what is
computed of them needs no error analysis of its own: err is the answer. It is right up to its own roundings, which only
ever add and multiply: `finished` covers them, and what underflows.

Proof: docs/proofs.md, section 10. Test: tests/truth/test_pairs.py, against fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

_U = 2.0**-52  # twice the relative error of an operation
_SPLIT = 2.0**27 + 1
_UNDERFLOW = 2.0**-900  # more than some hundred losses of 2^-1074 are after products with numbers below 2^140
Floats = Any  # float64 arrays, or Python floats


class Bounded(NamedTuple):
    """Numbers within err of hi + lo."""

    hi: Floats
    lo: Floats
    err: Floats

    def __neg__(self) -> Bounded:
        return Bounded(-self.hi, -self.lo, self.err)

    def scaled(self, exponent: Floats) -> Bounded:
        """Times 2^exponent; what underflows is in `finished`."""
        return Bounded(*(np.ldexp(part, exponent) for part in self))


ONE = Bounded(1.0, 0.0, 0.0)


def exactly(value: Floats) -> Bounded:
    return Bounded(value, 0.0, 0.0)


def of_fraction(value: Fraction) -> Bounded:
    """The nearest double and the nearest to the rest, which is off by 2^-106 of a value above 2^-900 at most."""
    hi = float(value)
    lo = float(value - Fraction(hi))
    return Bounded(hi, lo, 0.0 if Fraction(hi) + Fraction(lo) == value else abs(hi) * 2.0**-106)


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


def add(a: Bounded, b: Bounded) -> Bounded:
    """a + b: what the low parts lose is in proportion to them."""
    s, rest = two_sum(a.hi, b.hi)
    low = a.lo + b.lo
    total = rest + low
    err = a.err + b.err + _U * (np.abs(low) + np.abs(total))
    return Bounded(*two_sum(s, total), err)


def multiply(a: Bounded, b: Bounded) -> Bounded:
    """a b, for high parts as `two_product` takes them."""
    p, rest = two_product(a.hi, b.hi)
    one, other = a.hi * b.lo, a.lo * b.hi
    cross = one + other
    total = rest + cross
    size_a, size_b = np.abs(a.hi) + np.abs(a.lo), np.abs(b.hi) + np.abs(b.lo)
    err = a.err * (size_b + b.err) + b.err * size_a + np.abs(a.lo * b.lo)
    err = err + _U * (np.abs(one) + np.abs(other) + np.abs(total))
    return Bounded(*two_sum(p, total), err)


def choose(condition: Floats, a: Bounded, b: Bounded) -> Bounded:
    return Bounded(*(np.where(condition, one, other) for one, other in zip(a, b, strict=True)))


def finished(y: Bounded) -> Bounded:
    """With a bound that holds as it is: for its own rounding, and for underflow, which may leave a bound of 0."""
    return y._replace(err=y.err * (1 + 2.0**-20) + _UNDERFLOW)
