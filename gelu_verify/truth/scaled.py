"""Functions with parameters and their derivatives, of many x at once, from the core's Phi, exp, sigmoid and elu.

In every format of 16 bits and more; some hundred times as fast as enclosures one by one. t = (x - mu)/sigma, or
beta x, is a double-double th + tl within `err`, and `pairs` carries the bound through all that follows. With
d = -|t| + |th|, s' = s (1 - s):

  phi(t)         e^z/sqrt(2 pi), z = -t^2/2 = zh + zl: e^zh from the core, times 1 + zl + zl^2/2, within |zl|^3
  Phi(-|t|)      Phi(-|th|) from the core, and d phi(t) (1 - |th| d/2), within |d|^3 (1 + th^2) phi(t): Taylor at t
  sigmoid(-|t|)  s(-|th|) from the core, and d s' (1 + (1 - 2 s) d/2), within |d|^3 s': Taylor at th

On the other side 1 - F(-|t|) has the high part 1, and errors in proportion to the low part. What is said without
computing, that a value lies beside x, or below all formats, is in `Shape`. Elsewhere err is infinite, and the
enclosures answer; so do they where the bound does not decide.

Proof: docs/proofs.md, section 10, with tests/prove/test_scaled.py. Test against the oracle: tests/truth/test_scaled.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..formats import Format, to_float64
from ..functions import Function, base_name
from . import _core
from .pairs import ONE, Bounded, Floats, add, choose, exactly, finished, multiply, of_fraction

VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("unused", "i4")])  # gv_value
CHUNK = 1 << 14  # inputs at a time: what is computed of them stays in the cache
FAR_X = 2.0**100  # x beyond it counts as this one: |t| is above 2^59 there
NEAR = 2.0**-200  # |t| below which, for mu = 0, f lies beside the first term of its series
LEAST = 2.0**-240  # |t| from which on it is computed
LEAST_X = 2.0**-300  # x or mu is above it: no product of what they are made of underflows
KNOWN = 2.0**-45  # within which t must be known
ROOM = 1 + 2.0**-20  # that much may phi and s' change within such a distance
VANISHING = -1140  # power of two of a value below all formats (value.h)
RSQRT_2PI = Bounded(0.3989422804014327, -2.49232720227773e-17, 2.0**-109)
MOST_MU, LEAST_SCALE, MOST_SCALE = Fraction(2**20), Fraction(1, 2**40), Fraction(2**40)  # parameters within which
_FLOAT64 = (64, 53, -1022, 1023)
Result = tuple[Bounded, Floats]  # a number, and the power of two that it is to be multiplied with


def computes(function: Function, fmt: Format) -> bool:
    """Whether values of that function in that format are to be had here."""
    base = base_name(function.name)
    if not function.parameters or fmt.width < 16 or (base not in _SHAPES and base not in _MULTIPLES):
        return False
    values = function.values
    return abs(values.pop("mu", Fraction(0))) <= MOST_MU and all(
        LEAST_SCALE <= each <= MOST_SCALE for each in values.values()
    )


def values_of(function: Function, fmt: Format, x_bits: np.ndarray) -> np.ndarray | None:
    """Records of VALUE, err infinite where nothing is known; None for functions and formats that are not done here."""
    if not computes(function, fmt):
        return None
    base, parameters = base_name(function.name), function.values
    found = np.zeros(x_bits.size, VALUE)
    found["hi"], found["err"] = 1.0, np.inf
    x = to_float64(fmt, x_bits)
    usable = np.flatnonzero(np.isfinite(x) & (x != 0))
    with np.errstate(all="ignore"):
        for part in np.array_split(usable, -(-usable.size // CHUNK) or 1):
            found[part] = _values(base, x[part], parameters)
    return found


def _values(base: str, x: np.ndarray, parameters: dict[str, Fraction]) -> np.ndarray:
    if base in _MULTIPLES:
        return _multiple(*_MULTIPLES[base], x, parameters["alpha"])
    shape, at = _SHAPES[base], _At(x, parameters)
    distance = np.abs(at.t.hi)
    far = np.where(at.t.hi > 0, distance >= shape.right_from, distance >= shape.left_from)
    near = (distance < NEAR) & (not at.mu)
    computed = ~far & (distance < shape.reach) & (at.t.err < KNOWN)
    computed &= near | ((distance > LEAST) & (np.maximum(np.abs(x), abs(float(at.mu))) > LEAST_X))
    found = np.zeros(x.size, VALUE)
    found["hi"], found["err"] = 1.0, np.inf
    if np.any(far):
        found[far] = np.where(at.t.hi > 0, shape.right(at), shape.left(at))[far]
    if shape.near and np.any(near):
        found[near] = shape.near(at)[near]
        computed &= ~near
    if np.any(computed):
        part = _At(x[computed], parameters)
        found[computed] = _record(*shape.compute(part))
    return found


class _At:
    """x = m 2^e of one chunk, t, and r 2^e = x scale."""

    def __init__(self, x: np.ndarray, parameters: dict[str, Fraction]) -> None:
        m, self.e = np.frexp(x)
        self.mu = parameters.get("mu", Fraction(0))
        scale = of_fraction(parameters["beta"] if "beta" in parameters else 1 / parameters["sigma"])
        self.m, self.r = exactly(m), multiply(exactly(m), scale)
        t = multiply(_difference(np.clip(x, -FAR_X, FAR_X), self.mu), scale)
        self.t = t._replace(err=t.err + 2.0**-1000)  # what underflows


def _difference(x: Floats, mu: Fraction) -> Bounded:
    """x - mu, mu as the sum of three doubles, which are off by 2^-157 mu or underflow."""
    parts = []
    for _ in range(3):
        parts.append(float(mu))
        mu -= Fraction(parts[-1])
    first, second, third = (exactly(-part) for part in parts)
    return add(add(exactly(x), first), add(second, third)._replace(err=abs(parts[0]) * 2.0**-157))


# ---- the laws ------------------------------------------------------------------------------------


def _evaluated(block: str, x: Floats) -> Result:
    """The core's values of a building block."""
    values = np.empty(x.size, VALUE)
    _core.evaluate(block, _FLOAT64, np.ascontiguousarray(x).view(np.uint8), values.view(np.uint8))
    return Bounded(values["hi"], values["lo"], values["err"]), values["k"]


def _density(at: _At) -> Result:
    """phi(t)."""
    square = multiply(at.t, at.t)
    z, rest = np.minimum(square.hi * -0.5, -LEAST_X), square.lo * -0.5  # the core has no e^0
    power, k = _evaluated("exp", z)
    lo = rest + rest * rest * 0.5
    err = np.abs(rest) ** 3 + np.abs(rest) * 2.0**-52 + (square.err + LEAST_X) * ROOM
    return multiply(multiply(power, Bounded(1.0, lo, err)), RSQRT_2PI), k


def _normal(at: _At, density: Result) -> Result:
    """Phi(-|t|)."""
    phi, j = density
    u, d = -np.abs(at.t.hi), np.where(at.t.hi > 0, -at.t.lo, at.t.lo)
    whole, k = _evaluated("normcdf", u)
    slope = np.ldexp(phi.hi, j - k)
    return _corrected(whole, d * slope * (1 + u * d * 0.5), slope * (np.abs(d) ** 3 * (1 + u * u) + at.t.err)), k


def _logistic(at: _At) -> Result:
    """sigmoid(-|t|)."""
    u, d = -np.abs(at.t.hi), np.where(at.t.hi > 0, -at.t.lo, at.t.lo)
    whole, k = _evaluated("sigmoid", u)
    share = np.ldexp(whole.hi, k)
    slope = whole.hi * (1 - share)
    return _corrected(whole, d * slope * (1 + (1 - 2 * share) * d * 0.5), slope * (np.abs(d) ** 3 + at.t.err)), k


def _corrected(whole: Bounded, c: Floats, rest: Floats) -> Bounded:
    """A core's value and a correction, whose doubles are good to 2^-48 of it."""
    return add(whole, Bounded(c, 0.0, np.abs(c) * 2.0**-48 + rest * ROOM))


def _upper(tail: Bounded, k: Floats) -> Bounded:
    return add(ONE, -tail.scaled(k))


def _both(at: _At, tail: Bounded, k: Floats) -> Result:
    """F(t) from F(-|t|)."""
    return choose(at.t.hi > 0, _upper(tail, k), tail), np.where(at.t.hi > 0, 0, k)


# ---- the functions -------------------------------------------------------------------------------


def _gelu(at: _At) -> Result:
    share, k = _both(at, *_normal(at, _density(at)))
    return multiply(at.m, share), k + at.e


def _gelu_grad(at: _At) -> Result:
    phi, j = _density(at)
    share, k = _both(at, *_normal(at, (phi, j)))
    return add(share, multiply(at.r, phi).scaled(at.e + j - k)), k


def _gelu_grad_mu(at: _At) -> Result:
    phi, k = _density(at)
    return -multiply(at.r, phi), k + at.e


def _gelu_grad_sigma(at: _At) -> Result:
    """Where mu = 0, t is r 2^e, which does not underflow."""
    phi, k = _density(at)
    other, e = (at.t, at.e) if at.mu else (at.r, 2 * at.e)
    return -multiply(multiply(at.r, other), phi), k + e


def _silu(at: _At) -> Result:
    share, k = _both(at, *_logistic(at))
    return multiply(at.m, share), k + at.e


def _slope(tail: Bounded, k: Floats) -> Bounded:
    """sigmoid(t) sigmoid(-t) 2^-k."""
    return multiply(tail, _upper(tail, k))


def _silu_grad(at: _At) -> Result:
    tail, k = _logistic(at)
    share, j = _both(at, tail, k)
    return add(share, multiply(at.t, _slope(tail, k)).scaled(k - j)), j


def _silu_grad_beta(at: _At) -> Result:
    tail, k = _logistic(at)
    return multiply(multiply(at.m, at.m), _slope(tail, k)), k + 2 * at.e


def _multiple(block: str, above: float | None, x: np.ndarray, alpha: Fraction) -> np.ndarray:
    """alpha times a building block for x < 0; above 0 a number, or x (None), exactly."""
    (value, k), factor = _evaluated(block, x), of_fraction(alpha)
    found = _record(multiply(factor, value), k)
    leading = multiply(factor, exactly(value.hi))
    beside = (value.err == np.abs(value.lo)) & (value.err > 0) & (leading.lo == 0) & (leading.err == 0)
    found[beside] = _beside(leading.hi, k, np.sign(value.lo))[beside]
    found[(k == VANISHING) & (x < -830)] = _vanishing(1.0)  # alpha e^-830 < 2^-1150
    m, e = np.frexp(x if above is None else np.full_like(x, above))
    found[x > 0] = _records(m, 0.0, 0.0, e)[x > 0]
    return found


# ---- records -------------------------------------------------------------------------------------


def _records(hi: Floats, lo: Floats, err: Floats, k: Floats) -> np.ndarray:
    found = np.zeros(np.broadcast(hi, lo, err, k).shape, VALUE)
    found["hi"], found["lo"], found["err"], found["k"] = hi, lo, err, k
    return found


def _record(y: Bounded, k: Floats) -> np.ndarray:
    """Of a computed number; unknown where its sign is, and below all formats as such a number."""
    y = finished(y)
    found = _records(*y, k)
    known = np.abs(y.hi) > y.err
    small = known & (np.frexp(y.hi)[1] + k < VANISHING - 2)
    found[small] = _vanishing(np.sign(y.hi))[small]
    found["err"] = np.where(known, found["err"], np.inf)
    return found


def _beside(leading: Floats, k: Floats, side: Floats) -> np.ndarray:
    """0 < side (y 2^-k - leading) < 2^-198 |leading|; unknown where the side is 0."""
    tiny = np.abs(leading) * 2.0**-199
    return _records(leading, side * tiny, np.where(side == 0, np.inf, tiny), k)


def _vanishing(sign: Floats) -> np.ndarray:
    """0 < sign y < 2^VANISHING; unknown where the sign is 0."""
    sign = np.asarray(sign, np.float64)
    return _records(np.where(sign == 0, 1.0, sign * 0.5), 0.0, np.where(sign == 0, np.inf, 0.5), VANISHING)


def _quarter_of_square(at: _At) -> np.ndarray:
    """x^2/4 less something."""
    square = multiply(at.m, at.m)
    tiny = np.abs(square.hi) * 2.0**-199
    return _records(square.hi, np.where(square.lo == 0, -tiny, square.lo), tiny, 2 * at.e - 2)


def _x(at: _At) -> Floats:
    return np.sign(at.m.hi)


def _bracket(at: _At) -> Floats:
    """The sign of r - M(t) for t > 0, of r + M(-t) for t < 0, M = Q/phi < 1/t; 0 where 1/t does not tell it."""
    r, inverse = np.ldexp(at.r.hi, at.e), 2 / at.t.hi
    above = np.where(r > inverse, 1.0, np.where(r <= 0, -1.0, 0.0))
    return np.where(at.t.hi > 0, above, np.where(r < inverse, -1.0, np.where(r >= 0, 1.0, 0.0)))


@dataclass(frozen=True)
class Shape:
    """How one function is computed for |t| < reach, and its records beyond, on the left and on the right.

    What is stated of these needs F(-|t|) and the density there, and bounds of x and r: |x| < 2^101, |r| < 2^141, or
    |t| > 2^59. `near`: its records for mu = 0 and |t| < 2^-200, where it is not computed.
    """

    compute: Callable[[_At], Result]
    reach: float
    left_from: float
    left: Callable[[_At], np.ndarray]
    right_from: float
    right: Callable[[_At], np.ndarray]
    near: Callable[[_At], np.ndarray] | None = None


_SHAPES = {
    "gelu": Shape(
        _gelu, 39.5,
        45.0, lambda at: _vanishing(_x(at)),
        20.0, lambda at: _beside(at.m.hi, at.e, -_x(at)),
        lambda at: _beside(at.m.hi, at.e - 1, np.ones(at.e.shape)),
    ),
    "gelu_grad": Shape(
        _gelu_grad, 39.5,
        45.0, lambda at: _vanishing(_bracket(at)),
        39.5, lambda at: _beside(np.ones(at.e.shape), 0, _bracket(at)),
        lambda at: _beside(np.full(at.e.shape, 0.5), 0, _x(at)),
    ),
    "gelu_grad_mu": Shape(
        _gelu_grad_mu, 39.5,
        45.0, lambda at: _vanishing(-_x(at)),
        45.0, lambda at: _vanishing(-_x(at)),
    ),
    "gelu_grad_sigma": Shape(
        _gelu_grad_sigma, 39.5,
        45.0, lambda at: _vanishing(_x(at)),
        45.0, lambda at: _vanishing(-_x(at)),
    ),
    "silu": Shape(
        _silu, 790.0,
        1100.0, lambda at: _vanishing(_x(at)),
        150.0, lambda at: _beside(at.m.hi, at.e, -_x(at)),
        lambda at: _beside(at.m.hi, at.e - 1, np.ones(at.e.shape)),
    ),
    "silu_grad": Shape(
        _silu_grad, 790.0,
        1100.0, lambda at: _vanishing(_x(at)),
        150.0, lambda at: _beside(np.ones(at.e.shape), 0, _x(at)),
        lambda at: _beside(np.full(at.e.shape, 0.5), 0, _x(at)),
    ),
    "silu_grad_beta": Shape(
        _silu_grad_beta, 790.0,
        1100.0, lambda at: _vanishing(np.ones(at.e.shape)),
        1100.0, lambda at: _vanishing(np.ones(at.e.shape)),
        _quarter_of_square,
    ),
}  # fmt: skip
_MULTIPLES = {"elu": ("elu", None), "elu_grad": ("exp", 1.0)}
