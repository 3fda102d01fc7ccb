"""A function's own `terms` run on arrays: enclosures of many values, in double-doubles that carry their bounds.

What a function's file states is followed as it stands: where it asks something of x, and the answer is not the same for
all, the inputs are parted and each part goes its own way. Numbers are those of src/carried/carried.h, whose operations
bound their own errors, so that nothing has to be proved of a formula. What they cannot follow (remainders, a number of
unknown sign) has no value here; the enclosures of `functions` say it, one by one.

Proof: docs/proofs.md, section 10. Test: tests/truth/test_carried.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..formats import FORMATS, Dyadic, Format, floor_log2, is_finite, is_zero, to_float64
from ..functions import Function
from ..functions.enclosures import MINUS_ZERO, Enclosure, Interval, Terms, dyadic, fraction
from . import _core

VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("unused", "i4")])  # gv_value
CHUNK = 1 << 13  # inputs at a time: what is computed of them stays in the cache
MOST_PARTS = 64  # ways through a formula, of one chunk
_TRIED = "0x1p-70", "0.0625", "0.75", "3", "70"
_LEAST = -(1 << 28)  # powers of two below which a bound of a number beside 0 is not told apart
PRECISION = 106  # what formulas read that choose a series by it


class Unfollowed(Exception):
    """A formula does what arrays cannot."""


class _Parted(Exception):
    """A formula asked something to which the answer is not the same for all inputs: where it is yes, where no."""

    def __init__(self, yes: np.ndarray, no: np.ndarray) -> None:
        super().__init__()
        self.yes, self.no = yes, no


def _decided(yes: np.ndarray, no: np.ndarray) -> bool:
    """The one answer."""
    if yes.all():
        return True
    if no.all():
        return False
    if yes.size == 1:
        raise Unfollowed
    raise _Parted(yes, no)


class Carried:
    """Numbers with bounds: one for each input, or one for all. `values` are the bytes of VALUE."""

    __slots__ = ("values",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def scaled(self, exponent: Exponents | int) -> Carried:
        """Times 2^exponent."""
        return self * _exact(1.0, exponent.e if isinstance(exponent, Exponents) else exponent)

    def exponents(self) -> Exponents:
        """As `magnitude_exponent`: e with |value| < 2^e, where that is known within a quarter or is one-sided."""
        number = self.values.view(VALUE)
        size = np.abs(number["hi"])
        known = (number["err"] >= 0.0) & (number["err"] <= size / 4)
        known |= (number["err"] == 1.0) & (size == 1.0) & (number["lo"] == 0.0)
        _decided(known, np.zeros_like(known))  # others have no value
        above = (size + number["err"] > 2.0 * (1.0 - 2.0**-50)) & (number["err"] < 1.0)
        return Exponents(number["k"].astype(np.int64) + np.where(above, 2, 1))

    def apply(self, operation: str) -> Carried:
        found = np.empty_like(self.values)
        _core.carried_unary(operation, self.values, found)
        return Carried(found)

    def signs(self) -> np.ndarray:
        found = np.empty(self.values.size // _core.VALUE_SIZE, np.int8)
        _core.carried_signs(self.values, found)
        return found

    def _with(self, operation: str, other: Any, swapped: bool = False) -> Carried:
        b = _of(other)
        one, two = (b.values, self.values) if swapped else (self.values, b.values)
        found = np.empty_like(one if one.size > two.size else two)
        _core.carried_binary(operation, one, two, found)
        return Carried(found)

    def __add__(self, other: Any) -> Carried:
        return self._with("add", other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Carried:
        if isinstance(other, Fraction) and dyadic(other) is None:  # 22/7 x may be a number of 53 bits, if x/7 is
            return self / other.denominator * other.numerator
        return self._with("multiply", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Carried:
        return self._with("divide", other)

    def __rtruediv__(self, other: Any) -> Carried:
        return self._with("divide", other, swapped=True)

    def __neg__(self) -> Carried:
        return self.apply("negative")

    def __abs__(self) -> Carried:
        return self.apply("absolute")

    def __sub__(self, other: Any) -> Carried:
        return self + -_of(other)

    def __rsub__(self, other: Any) -> Carried:
        return -self + _of(other)

    def __pow__(self, power: int) -> Carried:
        if not isinstance(power, int) or not 1 <= power <= 64:
            raise Unfollowed
        whole: Carried = self
        for bit in bin(power)[3:]:
            whole = whole * whole if bit == "0" else whole * whole * self
        return whole

    def _is_below(self, other: Any) -> bool:
        signs = self._beside(other)
        return _decided(signs == -1, (signs == 0) | (signs == 1))

    def _is_above(self, other: Any) -> bool:
        signs = self._beside(other)
        return _decided(signs == 1, signs <= 0)

    def _beside(self, other: Any) -> np.ndarray:
        """The signs of what it exceeds another number by."""
        b = _of(other)
        return (self if b is _ZERO else self + -b).signs()

    __lt__, __gt__ = _is_below, _is_above

    def __le__(self, other: Any) -> bool:
        return not self._is_above(other)

    def __ge__(self, other: Any) -> bool:
        return not self._is_below(other)

    def __eq__(self, other: object) -> bool:
        signs = self._beside(other)
        return _decided(signs == 0, np.abs(signs) == 1)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0


class Exponents:
    """Integers, one for each input, of which formulas ask how large they are."""

    __slots__ = ("e",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, e: np.ndarray) -> None:
        self.e = e

    def _with(self, operation: Callable[[Any, Any], Any], other: Any) -> Exponents:
        return Exponents(operation(self.e, other.e if isinstance(other, Exponents) else other))

    def __add__(self, other: Any) -> Exponents:
        return self._with(operator.add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Exponents:
        return self._with(operator.sub, other)

    def __mul__(self, other: Any) -> Exponents:
        return self._with(operator.mul, other)

    __rmul__ = __mul__

    def __neg__(self) -> Exponents:
        return Exponents(-self.e)

    def __rsub__(self, other: Any) -> Exponents:
        return (-self).__add__(other)

    def _asked(self, operation: Callable[[Any, Any], Any], other: Any) -> bool:
        yes = operation(self.e, other.e if isinstance(other, Exponents) else other)
        return _decided(yes, ~yes)

    def __lt__(self, other: Any) -> bool:
        return self._asked(operator.lt, other)

    def __le__(self, other: Any) -> bool:
        return self._asked(operator.le, other)

    def __gt__(self, other: Any) -> bool:
        return self._asked(operator.gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._asked(operator.ge, other)

    def __eq__(self, other: object) -> bool:
        return self._asked(operator.eq, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0


def _exact(m: np.ndarray | float, e: np.ndarray | int) -> Carried:
    """m 2^e."""
    m, e = np.broadcast_arrays(np.asarray(m, np.float64), np.asarray(e, np.int64))
    found = np.empty(m.size * _core.VALUE_SIZE, np.uint8)
    _core.carried_exact(np.ascontiguousarray(m).reshape(-1), np.ascontiguousarray(e).reshape(-1), found)
    return Carried(found)


def _of(number: Any) -> Carried:
    if isinstance(number, Carried):
        return number
    if not isinstance(number, int | float | Fraction):
        raise Unfollowed
    return constant(Fraction(number))


@lru_cache(maxsize=1 << 10)
def constant(number: Fraction) -> Carried:
    """One number for all inputs: exact where it has 106 bits at most, else within 2^-106 of it."""
    return _interval(number, Fraction(0))


def _interval(middle: Fraction, half: Fraction, exponent: int = 0) -> Carried:
    """One number for all inputs, times a power of two: within `half` of the middle."""
    found = np.zeros(1, VALUE)
    if middle:
        k = floor_log2(abs(middle))
        if abs(float(middle / Fraction(2) ** k)) == 2.0:
            k += 1
        middle, half = middle / Fraction(2) ** k, half / Fraction(2) ** k
        hi = float(middle)
        lo = float(middle - Fraction(hi))
        err = max(float(half) * (1 + 2.0**-50), 2.0**-500) if Fraction(float(half)) < half else float(half)
        found[0] = hi, lo, err + (2.0**-105 if middle - Fraction(hi) != Fraction(lo) else 0.0), k + exponent, 0
    return Carried(found.view(np.uint8))


_ZERO = constant(Fraction(0))
_MINUS_ZERO = Carried(np.array([(-0.0, 0.0, 0.0, 0, 0)], VALUE).view(np.uint8))


class _Arithmetic:
    """What formulas take from mpmath's interval context."""

    @property
    def pi(self) -> Carried:
        return constant(_PI)

    @property
    def ln2(self) -> Carried:
        return constant(Fraction(2)).apply("log")

    def mpf(self, number: Any) -> Carried:
        return constant(Fraction(number))

    def sqrt(self, number: Any) -> Carried:
        return _of(number).apply("sqrt")


# the first 60 digits of pi: constant() rounds what it takes to 106 bits, and says that it did
_PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494")


class Many(Enclosure):
    """The enclosures of `functions`, of arrays."""

    def __init__(self) -> None:
        self.iv: Any = _Arithmetic()
        self.precision = PRECISION

    def exact(self, x: Dyadic) -> Interval:
        m: Any = x[0]
        return constant(fraction(x)) if isinstance(m, int) else m.scaled(x[1])

    def rational(self, numerator: int, denominator: int) -> Interval:
        return constant(Fraction(numerator, denominator))

    def between(self, low: int, high: int, exponent: int) -> Interval:
        middle, half = Fraction(low + high, 2), Fraction(high - low, 2)
        if not middle:
            raise Unfollowed
        return _interval(middle, half, exponent if low else max(exponent, _LEAST))

    def exp(self, s: Interval) -> Interval:
        return _of(s).apply("exp")

    def log(self, s: Interval) -> Interval:
        return _of(s).apply("log")

    def log1p(self, s: Interval) -> Interval:
        return _of(s).apply("log1p")

    def expm1(self, s: Interval) -> Interval:
        return _of(s).apply("expm1")

    def expm1_rest(self, s: Interval) -> Interval:
        """e^s - 1 - s: where |s| < 2^-8 as s^2/2 (1 + s/3 (1 + s/4 (...))), the rest of the series below s^13."""
        s = _of(s)
        if s.exponents() > -8:
            return self.expm1(s) - s
        whole = 1 + s * self.between(0, 1, -3)
        for n in range(14, 2, -1):
            whole = 1 + s * whole / n
        return s * s * whole / 2

    def tanh(self, t: Interval) -> Interval:
        return _of(t).apply("tanh")

    def atan(self, s: Interval) -> Interval:
        return _of(s).apply("atan")

    def with_extra(self, bits: Any, compute: Callable[[], Interval]) -> Interval:
        return compute()

    def erf(self, s: Interval) -> Interval:
        return _of(s).apply("erf")

    def erfc(self, s: Interval) -> Interval:
        return _of(s).apply("erfc")

    def gauss_head(self, z: Dyadic) -> Interval:
        root = self.iv.sqrt(self.exact(z) / 2)
        return self.erf(root) * self.iv.sqrt(self.iv.pi) / (2 * root)

    def gauss_tail(self, z: Dyadic) -> Interval:
        root = self.iv.sqrt(self.exact(z) / 2)
        return self.erfc(root) * self.iv.sqrt(self.iv.pi) / (2 * root)

    def mills_series(self, z: Dyadic) -> Interval:
        """Its first two partial sums."""
        return 1 - self.between(0, 1, 0) / self.exact(z)


def values_of(function: Function, fmt: Format, x_bits: np.ndarray) -> np.ndarray | None:
    """Records of VALUE, err infinite where nothing is known; None where nothing of this function is."""
    if fmt.width < 16 or not follows(function):
        return None
    found = np.zeros(x_bits.size, VALUE)
    found["hi"], found["err"] = 1.0, np.inf
    usable = np.flatnonzero(is_finite(fmt, x_bits) & ~is_zero(fmt, x_bits))
    for part in np.array_split(usable, -(-usable.size // CHUNK) or 1):
        _follow(function, *_dyadics(fmt, x_bits[part]), part, found)
    return found


def _dyadics(fmt: Format, x_bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The integers and exponents of `Format.dyadic`: a formula that asks for them is told what it is told alone."""
    m, e = np.frexp(to_float64(fmt, x_bits))
    least = np.maximum(e.astype(np.int64) - fmt.precision, fmt.min_exponent)
    return np.ldexp(m, e - least), least


@lru_cache(maxsize=512)
def follows(function: Function) -> bool:
    """Whether the formula can be followed at all: tried at a few x of its domain."""
    fmt = FORMATS["float64"]
    bits = [fmt.parse(sign + text) for sign in ("", "-") for text in _TRIED]
    tried = np.array([each for each in bits if function.is_defined(fmt, each)], fmt.uint)
    found = np.zeros(tried.size, VALUE)
    found["err"] = np.inf
    _follow(function, *_dyadics(fmt, tried), np.arange(tried.size), found)
    return bool(np.isfinite(found["err"]).sum() * 2 > tried.size)


def _follow(function: Function, m: np.ndarray, e: np.ndarray, place: np.ndarray, found: np.ndarray) -> None:
    """Fill the records at `place` of the inputs m 2^e, as far as the formula can be followed."""
    parts = [np.arange(m.size)]
    for _ in range(MOST_PARTS):
        if not parts:
            return
        part = parts.pop()
        try:
            found[place[part]] = _run(function, m[part], e[part])
        except _Parted as asked:
            parts += [part[mask] for mask in (asked.no, asked.yes) if mask.any()]
        except Exception:  # noqa: BLE001 - whatever it is, it is told when the input is taken alone
            continue


def _run(function: Function, m: np.ndarray, e: np.ndarray) -> np.ndarray:
    many = Many()
    x: Any = (_exact(m, 0), Exponents(e))
    terms: Terms = function.terms(many, x)
    is_minus_zero = isinstance(terms.leading[0], int) and terms.leading == MINUS_ZERO
    leading = _MINUS_ZERO if is_minus_zero else _of(many.exact(terms.leading))
    found = np.empty(m.size * _core.VALUE_SIZE, np.uint8)
    _core.carried_totals(leading.values, None if terms.correction is None else _of(terms.correction).values, found)
    return found.view(VALUE)
