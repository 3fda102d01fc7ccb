"""Intervals that are proved to hold exp, expm1, log, log1p, tanh, atan and the Gauss integral, at any precision.

Arithmetic is mpmath's interval context (outward rounding of exact + - * / sqrt). Two things are
added: `exp`, `log` and `atan` are widened, because mpmath's directed rounding of a transcendental is not itself
proved, and the Gauss integral comes from its own series with both rounding directions carried in
integers, because mpmath has no interval erf.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from ..formats import Dyadic, Format, Mode

Interval = Any  # mpmath.iv.mpf: untyped upstream
_local = threading.local()


class Terms(NamedTuple):
    """A value as `leading + correction`: an exact dyadic and an interval (None: exactly zero; a Fraction: that number).

    The split is what decides ties: gelu(x) = x/2 + c with c > 0 is on the upper side of x/2
    however small c is, and no precision has to span the gap between the two.
    """

    leading: Dyadic
    correction: Interval


ZERO: Dyadic = (0, 0)
MINUS_ZERO: Dyadic = (0, -(1 << 62))  # the leading term of a value that is exactly -0
HALF: Dyadic = (1, -1)
ONE: Dyadic = (1, 0)


def halve(x: Dyadic) -> Dyadic:
    return x[0], x[1] - 1


def fraction(x: Dyadic) -> Fraction:
    many: Any = getattr(x[0], "scaled", None)  # of many inputs at once: truth/carried.py
    if many is not None:
        return many(x[1])  # type: ignore[no-any-return]
    return Fraction(x[0]) * Fraction(2) ** x[1] if x[0] else Fraction(0)


def shown(x: Dyadic) -> str:
    """x for a message: as a float64, where it is one."""
    value = fraction(x)
    try:
        return repr(float(value)) if Fraction(float(value)) == value else f"{x[0]} * 2^{x[1]}"
    except OverflowError:
        return f"{x[0]} * 2^{x[1]}"


def dyadic(value: Fraction) -> Dyadic | None:
    """A fraction as (m, e), where it is one."""
    d = value.denominator
    return None if d & (d - 1) else (value.numerator, 1 - d.bit_length())


def times(x: Dyadic, factor: Fraction) -> Dyadic | None:
    """x factor, where that is a dyadic number: always where the factor is one, else for an x that has its divisor."""
    if isinstance(x[0], int) and not x[0]:
        return ZERO  # the one that says that there is no leading term
    exactly = dyadic(factor)
    if exactly is None and isinstance(x[0], int):
        exactly = dyadic(factor * x[0])
        return exactly and (exactly[0], exactly[1] + x[1])
    return exactly and (exactly[0] * x[0], exactly[1] + x[1])


def plus(x: Dyadic, n: int) -> Dyadic:
    """x + n."""
    m: Any = x[0]
    e = x[1]
    if not isinstance(m, int):  # of many inputs at once: truth/carried.py
        return m.scaled(e) + n, 0
    return (m + (n << -e), e) if e < 0 else ((m << e) + n, 0)


class Enclosure:
    """Interval functions whose results have about `precision` correct bits, relative.

    One context per thread is shared between instances, so an instance must be used up before the
    next one is made in the same thread.
    """

    def __init__(self, precision: int) -> None:
        import mpmath  # most processes need none; the package alone: threads may import that side by side

        if not hasattr(_local, "context"):
            _local.context = mpmath.MPIntervalContext()
        self._libmp: Any = mpmath.libmp
        self.iv: Any = _local.context
        self.precision = precision
        self.iv.prec = precision + 16

    def exact(self, x: Dyadic) -> Interval:
        """The point interval of an exact dyadic number."""
        point = self._libmp.from_man_exp(x[0], x[1])
        return self.iv.make_mpf((point, point))

    def rational(self, numerator: int, denominator: int) -> Interval:
        return self.iv.mpf(numerator) / denominator

    def between(self, low: int, high: int, exponent: int) -> Interval:
        """[low, high] * 2^exponent."""
        return self.iv.make_mpf((self._libmp.from_man_exp(low, exponent), self._libmp.from_man_exp(high, exponent)))

    def exp(self, s: Interval) -> Interval:
        """e^s; of s < -2^62 only that it lies between 0 and 2^-(2^62), which no decimal can tell apart."""
        m, e = endpoints(s)[1]
        if m < 0 and m.bit_length() + e > 62:
            return self.between(0, 1, -(1 << 62))
        return self._widened(self.iv.exp(s))

    def log(self, s: Interval) -> Interval:
        """log s, for s > 0; near 1 take `log1p` of what exceeds 1."""
        return self._widened(self.iv.log(s))

    def log1p(self, s: Interval) -> Interval:
        """log(1 + s) with relative accuracy, for s > -1 of one sign.

        For tiny s the series s (1 - s/2 + s^2 q) with q in [0, 1], which holds for |s| <= 1/2; otherwise log with as
        many more bits as the sum loses.
        """
        bits = -magnitude_exponent(s)
        if 2 * bits > self.precision:
            return s * (1 - s / 2 + s * s * self.between(0, 1, 0))
        return self.with_extra(max(bits, 0) + 2, lambda: self.log(1 + s))

    def _widened(self, value: Interval) -> Interval:
        """A transcendental function of mpmath: good to one unit of its precision; sixteen are allowed for."""
        one = 1 << (self.iv.prec - 4)
        return value * self.between(one - 1, one + 1, 4 - self.iv.prec)

    def expm1(self, s: Interval) -> Interval:
        """e^s - 1 with relative accuracy, for s of one sign.

        For tiny s the series s (1 + s/2 + s^2 q) with q in [0, 1/4], which holds for |s| <= 1/2;
        otherwise exp with as many more bits as the subtraction loses.
        """
        bits = -magnitude_exponent(s)
        if 2 * bits > self.precision:
            return s * (1 + s / 2 + s * s * self.between(0, 1, -2))
        return self.with_extra(max(bits, 0) + 2, lambda: self.exp(s) - 1)

    def expm1_rest(self, s: Interval) -> Interval:
        """e^s - 1 - s with relative accuracy, for s of one sign: s^2 (1/2 + s q), q in [0, 1/4], for tiny s."""
        bits = -magnitude_exponent(s)
        if 2 * bits > self.precision:
            return s * s * (self.rational(1, 2) + s * self.between(0, 1, -2))
        return self.with_extra(2 * max(bits, 0) + 4, lambda: self.exp(s) - 1 - s)

    def tanh(self, t: Interval) -> Interval:
        """tanh t with relative accuracy, for t of one sign."""
        e = self.expm1(2 * t)
        return e / (e + 2)

    def atan(self, s: Interval) -> Interval:
        """atan s with relative accuracy, for s of one sign: it rises, so that its ends are those of its argument.

        For tiny s the series s (1 - s^2 q) with q in [0, 1/3].
        """
        if -2 * magnitude_exponent(s) > self.precision:
            return s * (1 - s * s * self.rational(1, 3) * self.between(0, 1, 0))
        low, high = (self._libmp.mpf_atan(end, self.iv.prec, "n") for end in s._mpi_)
        return self._widened(self.iv.make_mpf((low, high)))

    def erf(self, s: Interval) -> Interval:
        """erf s with relative accuracy, for s of one sign: it rises."""
        return self._rising(lambda end: 2 * self.exact(end) * self.gauss_head(_doubled_square(end)), s)

    def erfc(self, s: Interval) -> Interval:
        """erfc s with relative accuracy for s > 0: it falls; below 0, 1 - erf s."""
        if endpoints(s)[0][0] <= 0 or magnitude_exponent(s) < -1:
            return 1 - self.erf(s)
        return -self._rising(lambda end: -2 * self.exact(end) * self.gauss_tail(_doubled_square(end)), s)

    def _rising(self, times_root_pi: Callable[[Dyadic], Interval], s: Interval) -> Interval:
        """What a rising function is between its values at the ends of its argument."""
        low, high = (times_root_pi(end) / self.iv.sqrt(self.iv.pi) for end in endpoints(s))
        return self.iv.make_mpf((low._mpi_[0], high._mpi_[1]))

    def gauss_head(self, z: Dyadic) -> Interval:
        """G(z) = integral of exp(-z t^2 / 2) over t in [0, 1], for z >= 0.

        G(z) = e^(-z/2) * sum of z^n / (2n+1)!!, so that Phi(a) - 1/2 = a G(a^2) / sqrt(2 pi) and
        erf(x) = 2 x G(2 x^2) / sqrt(pi). Every term is positive: nothing cancels.
        """
        return self.exp(-self.exact(halve(z))) * self._odd_factorial_series(z)

    def gauss_tail(self, z: Dyadic) -> Interval:
        """H(z) = integral of exp(-z t^2 / 2) over t in [1, inf), for z > 0.

        Upper tail of the normal law: Q(a) = a H(a^2) / sqrt(2 pi); erfc(x) = 2 x H(2 x^2) / sqrt(pi).
        """
        value = fraction(z)
        if value > Fraction(7, 5) * self.precision + 32:
            return self.exp(-self.exact(halve(z))) / self.exact(z) * self.mills_series(z)
        # sqrt(pi / 2z) - G(z) loses about z log2(e) / 2 bits
        return self.with_extra(
            int(value * Fraction(3, 4)) + max(value.numerator.bit_length() - value.denominator.bit_length(), 0) + 4,
            lambda: self.iv.sqrt(self.iv.pi / (2 * self.exact(z))) - self.gauss_head(z),
        )

    def with_extra(self, bits: int, compute: Callable[[], Interval]) -> Interval:
        """What `compute` gives with so many more bits: as many as its subtractions lose."""
        before = self.iv.prec
        self.iv.prec = before + bits
        try:
            return compute()
        finally:
            self.iv.prec = before

    def _odd_factorial_series(self, z: Dyadic) -> Interval:
        """sum of z^n / (2n+1)!! over n >= 0, rounded down and up in fixed point."""
        m, e = z
        scale = self.iv.prec + 8
        low = high = low_sum = high_sum = 1 << scale
        n, fraction_z = 3, fraction(z)
        while low > 1 or 2 * fraction_z > n:
            low = _scaled_floor(low * m, e) // n
            high = -(-_scaled_ceil(high * m, e) // n)
            low_sum += low
            high_sum += high
            n += 2
        # ratios of what follows are below 1/2, so the rest is below the last term
        return self.between(low_sum, high_sum + high, -scale)

    def mills_series(self, z: Dyadic) -> Interval:
        """A(z) = 1 - 1/z + 3/z^2 - 15/z^3 ...: consecutive partial sums enclose it."""
        point = self.exact(z)
        term = total = self.iv.mpf(1)
        for k in range(1, 64 + 2 * self.precision):
            term = term * (2 * k - 1) / point
            if magnitude_exponent(term) < -self.iv.prec:
                break
            total = total + term if k % 2 == 0 else total - term
        else:
            raise ArithmeticError("the asymptotic series was used where it does not converge far enough")
        return total + term * self.between(-1, 1, 0)


def _doubled_square(x: Dyadic) -> Dyadic:
    return x[0] * x[0], 2 * x[1] + 1


def ratio(c: Enclosure, value: Any) -> Interval:
    """The interval of a fraction: good to one unit of the precision, whatever its size."""
    if not isinstance(value, Fraction):  # of many inputs at once: truth/carried.py
        return value
    return c.exact((value.numerator, 0)) / c.exact((value.denominator, 0))


def exactly(c: Enclosure, value: Any) -> Terms:
    """A rational number, computed as a Fraction: the leading term where it is a binary fraction."""
    found = dyadic(value) if isinstance(value, Fraction) else None
    return Terms(found, None) if found is not None else Terms(ZERO, value)


def as_interval(c: Enclosure, terms: Terms) -> Terms:
    """The same with an interval in place of a Fraction."""
    is_number = isinstance(terms.correction, Fraction)
    return Terms(terms.leading, ratio(c, terms.correction)) if is_number else terms


def endpoints(interval: Interval) -> tuple[Dyadic, Dyadic]:
    """Exact lower and upper end."""
    low, high = interval._mpi_
    return _signed(low), _signed(high)


def magnitude_exponent(interval: Interval) -> int:
    """Exponent e with every |value| < 2^e, and the largest above 2^(e-2)."""
    if (many := getattr(interval, "exponents", None)) is not None:
        return many()  # type: ignore[no-any-return]
    return max(m.bit_length() + e for m, e in endpoints(interval) if m)


def ends_of(terms: Terms) -> tuple[Dyadic, Dyadic]:
    """Ends of the correction; one that is zero is an open end, since no correction is ever zero."""
    low, high = endpoints(terms.correction)
    return (low if low[0] else (1, -(1 << 60))), (high if high[0] else (-1, -(1 << 60)))


def total(leading: Dyadic, correction: Dyadic, grid: int, overflows_from: int | None = 1 << 16) -> Dyadic:
    """leading + correction; a correction below 2^(grid - 2) counts by its sign alone.

    Values and midpoints of a format are multiples of 2^(min_exponent - 1): with that grid, or a finer one of which the
    leading term is a multiple too, the sum rounds as the exact one does.
    """
    m, e = correction
    grid = min(grid, leading[1]) if leading[0] else grid
    if m.bit_length() + e < grid - 2:
        m, e = (1 if m > 0 else -1), grid - 2
    if overflows_from and m.bit_length() + e > overflows_from:  # far above every format and leading term
        return (1 if m > 0 else -1), overflows_from
    if leading == ZERO:
        return m, e
    exponent = min(e, leading[1])
    return (m << (e - exponent)) + (leading[0] << (leading[1] - exponent)), exponent


def rounded(terms: Terms, fmt: Format, mode: Mode) -> int | None:
    """Bits of a value rounded once; None where its ends round differently."""
    if terms.correction is None:
        return fmt.round(terms.leading, mode, negative_zero=terms.leading == MINUS_ZERO)
    low, high = (fmt.round(total(terms.leading, end, fmt.min_exponent - 1), mode) for end in ends_of(terms))
    return low if low == high else None


def narrowed(terms_at: Iterable[Terms], bits: int) -> tuple[Dyadic, Dyadic] | None:
    """Exact ends of the first enclosure that is narrower than 2^-bits relative to the value; None where none is.

    It gives up where more bits change nothing: of e^s for s < -2^62 it is known only that it lies next to 0.
    """
    next_to_zero: int | None = None
    for terms in terms_at:
        if terms.correction is None:
            return (terms.leading, terms.leading) if terms.leading[0] else (ZERO, ZERO)
        before, next_to_zero = next_to_zero, _size_next_to_zero(terms)
        if next_to_zero is not None and next_to_zero == before:
            return None
        (low, e), (high, f) = ends_of(terms)
        if terms.leading != ZERO:
            size = abs(terms.leading[0]).bit_length() + terms.leading[1]
            if min(e, f) >= size:  # far above the leading term, which is below a unit of theirs
                low, high = low - 1, high + 1
            else:
                ends = ((low, e), (high, f))
                (low, e), (high, f) = (total(terms.leading, end, size - bits - 64, None) for end in ends)
        if low * high <= 0 or abs(low.bit_length() + e - high.bit_length() - f) > 1:
            continue
        unit = min(e, f)
        low, high = low << (e - unit), high << (f - unit)
        if (high - low) << bits <= min(abs(low), abs(high)):
            return (low, unit), (high, unit)
    return None


def _size_next_to_zero(terms: Terms) -> int | None:
    """Exponent of the larger end where the other is 0, else None; that of what cancels gets smaller with more bits."""
    sizes = [m.bit_length() + e for m, e in endpoints(terms.correction) if m]
    return sizes[0] if terms.leading == ZERO and len(sizes) == 1 else None


def _signed(raw: tuple[int, Any, int, int]) -> Dyadic:
    sign, man, exp, _ = raw
    return (-int(man) if sign else int(man)), int(exp)


def _scaled_floor(value: int, exponent: int) -> int:
    return value << exponent if exponent >= 0 else value >> -exponent


def _scaled_ceil(value: int, exponent: int) -> int:
    return value << exponent if exponent >= 0 else -(-value >> -exponent)
