"""Terms of gelu with parameters, x Phi(t) with t = (x - mu)/sigma, and of its derivatives.

t is a fraction, of any size: x is a number of a format, mu and sigma are any fractions in their ranges. Phi and its
density are taken at a dyadic number just below t^2, and widened by what they lose up to t^2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..formats import Dyadic, floor_log2
from .enclosures import HALF, ONE, ZERO, Enclosure, Interval, Terms, fraction, halve, ratio
from .limits import Limit

Definition = Callable[[Enclosure, Dyadic], Terms]
FAR = 2**30  # |t| from which on Q(|t|) and phi(t) are known to lie between 0 and 2^-(2^40), which is below all formats
FAR_OF_MANY = Fraction(2497, 64)  # the same where numbers are double-doubles: there phi(t) is soon known by size alone
_BELOW_ALL = -(1 << 40)


def _tiny(c: Enclosure) -> Interval:
    """Between 0 and e^-(t^2/2) for |t| >= FAR, neither included."""
    return c.between(0, 1, _BELOW_ALL)


# below 1, and from 1/2 up; neither they nor FAR_OF_MANY are what -mu/sigma or b often is: arrays cannot tell t from it
# at tiny x
_NEAR, _MIDDLE = Fraction(61, 64), Fraction(33, 64)


class _Point:
    """t, and functions of it as intervals."""

    def __init__(self, c: Enclosure, t: Fraction) -> None:
        self.c, self.t, self.many = c, t, not isinstance(t, Fraction)
        self.far = abs(t) >= (FAR_OF_MANY if self.many else FAR)
        if self.far or self.many:
            return
        squared = t * t
        bits = c.precision + 24 - min(floor_log2(squared), 0)
        low, rest = divmod(squared.numerator << bits, squared.denominator)
        self.z: Dyadic = low, -bits  # z <= t^2 < z + 2^-bits
        one = 1 << (c.precision + 21)
        self._loss = c.between(one - 1, one, -(c.precision + 21)) if rest else c.exact(ONE)

    def head(self) -> Interval:
        """(Phi(t) - 1/2)/t, for |t| < 1: the logarithm of G falls by at most 1/2 per unit of z."""
        if self.many:
            return self.c.erf(self.t / self.c.iv.sqrt(2)) / (2 * self.t)
        return self.c.gauss_head(self.z) * self._loss / self.c.iv.sqrt(2 * self.c.iv.pi)

    def tail(self) -> Interval:
        """Q(|t|), for |t| >= 1/2: the logarithm of H falls by at most 1/2 + 1/z <= 4.5 per unit of z >= 1/4.

        H' = -(e^(-z/2) + H)/(2 z), and H > e^(-z/2)/(z + 1).
        """
        if self.many:
            return self.c.erfc(abs(self.t) / self.c.iv.sqrt(2)) / 2
        if self.far:
            return _tiny(self.c)
        return ratio(self.c, abs(self.t)) * self.c.gauss_tail(self.z) * self._loss / self.c.iv.sqrt(2 * self.c.iv.pi)

    def density(self) -> Interval:
        """phi(t): its logarithm falls by 1/2 per unit of z."""
        if self.many:
            return self.c.exp(-(self.t * self.t) / 2) / self.c.iv.sqrt(2 * self.c.iv.pi)
        if self.far:
            return _tiny(self.c)
        return self.c.exp(-self.c.exact(halve(self.z))) * self._loss / self.c.iv.sqrt(2 * self.c.iv.pi)

    def mills(self) -> Interval:
        """Q(|t|)/phi(t) for |t| >= FAR: between 1/|t| - 1/|t|^3 and 1/|t|."""
        inverse = ratio(self.c, 1 / abs(self.t))
        return inverse * (1 - inverse * inverse * self.c.between(0, 1, 0))


def gelu(mu: Fraction, sigma: Fraction) -> Definition:
    """x Phi(t): x/2 + x t h near t = 0, x - x Q(t) above, x Q(|t|) below."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        t = (fraction(x) - mu) / sigma
        if t == 0:
            return Terms(halve(x), None)
        point, at = c.exact(x), _Point(c, t)
        if abs(t) < _NEAR:
            return Terms(halve(x), point * ratio(c, t) * at.head())
        return Terms(x, -point * at.tail()) if t > 0 else Terms(ZERO, point * at.tail())

    return terms


def normal(c: Enclosure, t: Fraction) -> Terms:
    """Phi(t) for t != 0."""
    at = _Point(c, t)
    if abs(t) < _MIDDLE:
        return Terms(HALF, ratio(c, t) * at.head())
    return Terms(ONE, -at.tail()) if t > 0 else Terms(ZERO, at.tail())


def normal_limit(t: Fraction) -> Limit:
    """The same."""
    return lambda c: normal(c, t)


def gradient(c: Enclosure, r: Fraction, t: Fraction) -> Terms:
    """Phi(t) + r phi(t)."""
    if t == 0:
        return Terms(HALF, ratio(c, r) / c.iv.sqrt(2 * c.iv.pi))
    at = _Point(c, t)
    if abs(t) < _MIDDLE:
        return Terms(HALF, ratio(c, t) * at.head() + ratio(c, r) * at.density())
    if at.far:
        bracket = ratio(c, r) - at.mills() if t > 0 else ratio(c, r) + at.mills()
        return Terms(ONE if t > 0 else ZERO, bracket * at.density())
    rest = ratio(c, r) * at.density()
    return Terms(ONE, rest - at.tail()) if t > 0 else Terms(ZERO, rest + at.tail())


def gelu_grad(mu: Fraction, sigma: Fraction) -> Definition:
    """With r = x/sigma."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        r = fraction(x) / sigma
        return gradient(c, r, r - mu / sigma)

    return terms


def gelu_grad_mu(mu: Fraction, sigma: Fraction) -> Definition:
    """-r phi(t)."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        r = fraction(x) / sigma
        t = r - mu / sigma
        density = 1 / c.iv.sqrt(2 * c.iv.pi) if t == 0 else _Point(c, t).density()
        return Terms(ZERO, -ratio(c, r) * density)

    return terms


def gelu_grad_sigma(mu: Fraction, sigma: Fraction) -> Definition:
    """-r t phi(t): exactly 0 at x = mu."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        r = fraction(x) / sigma
        t = r - mu / sigma
        return Terms(ZERO, -ratio(c, r * t) * _Point(c, t).density()) if t else Terms(ZERO, None)

    return terms
