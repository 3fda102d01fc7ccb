"""Terms built on the Gauss integral: the normal law, erf, and gelu with its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from .enclosures import HALF, ONE, ZERO, Enclosure, Interval, Terms, fraction, halve


def square(x: Dyadic, doublings: int = 0) -> Dyadic:
    """x^2 * 2^doublings, exact."""
    return x[0] * x[0], 2 * x[1] + doublings


def below(x: Dyadic, bound: int) -> bool:
    """|x| < bound."""
    return abs(fraction(x)) < bound


def normal_head(c: Enclosure, x: Dyadic) -> Interval:
    """(Phi(x) - 1/2) / x."""
    return c.gauss_head(square(x)) / c.iv.sqrt(2 * c.iv.pi)


def normal_tail(c: Enclosure, x: Dyadic) -> Interval:
    """Q(|x|) / |x|, Q the upper tail of the normal law."""
    return c.gauss_tail(square(x)) / c.iv.sqrt(2 * c.iv.pi)


def normal_density(c: Enclosure, x: Dyadic) -> Interval:
    return c.exp(-c.exact(halve(square(x)))) / c.iv.sqrt(2 * c.iv.pi)


def gelu(c: Enclosure, x: Dyadic) -> Terms:
    """x Phi(x): x/2 + x^2 h near zero, x - x Q(x) above, -|x| Q(|x|) below."""
    point, squared = c.exact(x), c.exact(square(x))
    if below(x, 1):
        return Terms(halve(x), squared * normal_head(c, x))
    tail = squared * normal_tail(c, x)
    return Terms(x, -tail) if point > 0 else Terms(ZERO, -tail)


def gelu_grad(c: Enclosure, x: Dyadic) -> Terms:
    """Phi(x) + x phi(x); far out x phi(x) (1 - Q(x) / (x phi(x))), the sign of which needs no value of phi."""
    point = c.exact(x)
    if not below(x, 1 << 30):
        ratio = c.mills_series(square(x)) / c.exact(square(x))
        return Terms(ONE if point > 0 else ZERO, point * normal_density(c, x) * (1 - ratio))
    if below((2 * x[0], x[1]), 1):
        return Terms(HALF, point * (normal_head(c, x) + normal_density(c, x)))
    return Terms(ONE if point > 0 else ZERO, point * (normal_density(c, x) - normal_tail(c, x)))


def normcdf(c: Enclosure, x: Dyadic) -> Terms:
    """Phi(x): 1/2 + x h, 1 - Q(x), Q(-x)."""
    point = c.exact(x)
    if below(x, 1):
        return Terms(HALF, point * normal_head(c, x))
    tail = abs(point) * normal_tail(c, x)
    return Terms(ONE, -tail) if point > 0 else Terms(ZERO, tail)


def erf(c: Enclosure, x: Dyadic) -> Terms:
    point = c.exact(x)
    if below(x, 1):
        return Terms(ZERO, 2 * point * c.gauss_head(square(x, 1)) / c.iv.sqrt(c.iv.pi))
    tail = 2 * point * c.gauss_tail(square(x, 1)) / c.iv.sqrt(c.iv.pi)
    return Terms(ONE if point > 0 else (-1, 0), -tail)


def erfc(c: Enclosure, x: Dyadic) -> Terms:
    leading, correction = erf(c, x)
    point = c.exact(x)
    if leading == ZERO:
        return Terms(ONE, -correction)
    return Terms(ZERO if point > 0 else (2, 0), -correction)
