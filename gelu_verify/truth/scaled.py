"""x F(t) of gelu and silu with parameters, for many x at once, from the values that the core has of F: Phi or sigmoid.

For formats of up to 32 bits, some hundred times as fast as enclosures one by one. t = (x - mu) scale is a double-double
th + tl, and F(t) is F(th) + F'(th) tl. All that is not exact is in the bound:

  t       |t - (th + tl)| <= 2^-99 (|x| + 2 |mu|) scale: two-sum and Dekker's product are exact; what is rounded or left
          out (the third parts of mu and of scale, low times low, three sums) is below ten times 2^-106 of that
  F(th)   as the core states it (src/truth/value.h)
  F'      to 2^-42: phi(th) from the core's exp at -th^2/2, rounded by 2^-53 of at most 37^2/2; sigmoid(-|th|) to 2^-50
  rest    |F''| tl^2/2 <= F' 2^-103 (1 + |th|) th^2, as |tl| <= 2^-52 |th| and |F''| <= (1 + |th|) F'; F' changes by
          less than 2^-27 of itself up to t, as |t - th| < 2^-37: the last factor of the bound covers that
  x F     the product of x and a double-double: 2^-103 of it

Where t lies too far out, or x is no number but a zero or an infinity, nothing is said: err is infinite, and the
enclosures answer. So do they where the bound does not decide. Test: tests/truth/test_scaled.py, against the oracle.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..fenv import in_default_environment
from ..formats import Format, to_float64
from ..functions import Function
from ..functions.parameters import checked_values, split_name
from . import _core

VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("unused", "i4")])  # gv_value
_FLOAT64 = (64, 53, -1022, 1023)
_SPLIT = 2.0**27 + 1
_REACH = {"normcdf": (-37.0, 20.0), "sigmoid": (-700.0, 145.0)}  # of t: within, from F
_BESIDE = {"normcdf": 20.0, "sigmoid": 145.0}  # of t: from here on 1 - F < 2^-200, and y lies beside x
_VANISHING = {"normcdf": -45.0, "sigmoid": -1000.0}  # of t: up to here |x| F < 2^-1140 for |x| < 2^128
_SLACK = 1.0 + 2.0**-20  # for the rounding of the bound itself
Floats = np.ndarray
Pair = tuple[Floats, Floats]


@in_default_environment
def values_of(function: Function, fmt: Format, x_bits: np.ndarray) -> np.ndarray | None:
    """Records of VALUE, err infinite where nothing is known; None for functions and formats that are not done here."""
    base, texts = split_name(function.name)
    if not texts or base not in ("gelu", "silu") or fmt.precision > 24:
        return None
    values = checked_values(base, function.parameters, texts)
    block = "normcdf" if base == "gelu" else "sigmoid"
    mu, scale = values.get("mu", Fraction(0)), values.get("beta") or 1 / values["sigma"]
    found = np.zeros(x_bits.size, VALUE)
    found["hi"], found["err"] = 1.0, np.inf
    x = to_float64(fmt, x_bits)
    usable = np.isfinite(x) & (x != 0)
    found[usable] = _values(block, x[usable], mu, scale)
    return found


def _values(block: str, x: Floats, mu: Fraction, scale: Fraction) -> np.ndarray:
    (th, tl), unsure = _argument(x, mu, scale)
    found = np.zeros(x.size, VALUE)
    m, exponent = np.frexp(x)
    found["hi"], found["err"] = 1.0, np.inf
    beside, vanishing = th >= _BESIDE[block], th <= _VANISHING[block]
    for name, column in (("hi", m), ("lo", m * -(2.0**-200)), ("err", np.abs(m) * 2.0**-200), ("k", exponent)):
        found[name] = np.where(beside, column, found[name])
    for name, column in (("hi", np.copysign(0.5, x)), ("lo", 0.0), ("err", 0.5), ("k", -1140)):
        found[name] = np.where(vanishing, column, found[name])
    low, high = _REACH[block]
    within = (th > low) & (th < high) & (np.abs(th) > 2.0**-400)
    part = _within(block, m[within], th[within], tl[within], unsure[within])
    part["k"] += exponent[within]
    found[within] = part
    return found


def _argument(x: Floats, mu: Fraction, scale: Fraction) -> tuple[Pair, Floats]:
    """t = (x - mu) scale as a double-double, and a bound of its error."""
    (mu_hi, mu_lo), (hi, lo) = _two_parts(mu), _two_parts(scale)
    s, e = _two_sum(x, np.full_like(x, -mu_hi))
    d = e - mu_lo
    p, rest = _two_product(s, np.full_like(x, hi))
    rest = rest + (s * lo + d * hi)
    return _two_sum(p, rest), 2.0**-99 * (np.abs(x) + 2 * abs(mu_hi)) * hi


def _within(block: str, m: Floats, th: Floats, tl: Floats, unsure: Floats) -> np.ndarray:
    """m F(t) from F(th), F'(th) and the bound above."""
    whole = _evaluated(block, th)
    slope = np.ldexp(_slope(block, th), -whole["k"])
    c = slope * tl
    h, l = _two_sum(whole["hi"], c)  # noqa: E741 - high and low
    l = l + whole["lo"]  # noqa: E741
    distance = slope * (unsure + 2.0**-103 * (1 + np.abs(th)) * th * th)
    err = whole["err"] + np.abs(c) * 2.0**-41 + distance + np.abs(l) * 2.0**-53
    p, rest = _two_product(m, h)
    hi, lo = _quick_two_sum(p, rest + m * l)
    found = np.zeros(m.size, VALUE)
    found["hi"], found["lo"], found["k"] = hi, lo, whole["k"]
    found["err"] = (err * np.abs(m) + np.abs(m * l) * 2.0**-51 + np.abs(rest) * 2.0**-51) * _SLACK
    return found


def _slope(block: str, th: Floats) -> Floats:
    """F'(th), to 2^-42."""
    if block == "normcdf":
        power = _evaluated("exp", th * th * -0.5)
        return np.asarray(np.ldexp(power["hi"], power["k"]) * 0.3989422804014327)
    q = _evaluated("sigmoid", -np.abs(th))
    share = np.ldexp(q["hi"], q["k"])
    return np.asarray(share * (1 - share))


def _evaluated(block: str, x: Floats) -> np.ndarray:
    """The core's values of a building block."""
    values = np.empty(x.size, VALUE)
    if x.size:
        _core.evaluate(block, _FLOAT64, np.ascontiguousarray(x).view(np.uint8), values.view(np.uint8))
    return values


def _two_parts(value: Fraction) -> tuple[float, float]:
    """The nearest double, and the nearest one to the rest."""
    hi = float(value)
    return hi, float(value - Fraction(hi))


def _two_sum(a: Floats, b: Floats) -> Pair:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _quick_two_sum(a: Floats, b: Floats) -> Pair:
    """For |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


def _two_product(a: Floats, b: Floats) -> Pair:
    """Dekker's: exact, as nothing here comes near overflow or underflow."""
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    p = a * b
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _halves(a: Floats) -> Pair:
    t = _SPLIT * a
    high = t - (t - a)
    return high, a - high
