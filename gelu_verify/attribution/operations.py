"""What each operation of a formula does: rounded, exactly, its partial derivatives, and what its rounding lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..truth.values import reference_bits
from .error_free import two_product, two_sum
from .fused import fused

Array = np.ndarray
SQRT_PI = math.sqrt(math.pi)


@dataclass(frozen=True)
class Operation:
    """`native` computes in the arrays' own type, rounded once by IEEE 754 (fma: `fused`); `exact` in an mpmath context.

    `partials(value, *arguments)` are the derivatives by each argument, float64. `lost(*arguments)` is (s, e) in
    float64 with s + e the exact result, to first order; None for what is always exact.
    """

    native: Callable[..., Array]
    exact: Callable[..., Any]
    partials: Callable[..., tuple[Array, ...]]
    lost: Callable[..., tuple[Array, Array]] | None = None


def _lost_quotient(a: Array, b: Array) -> tuple[Array, Array]:
    q = a / b
    p, e = two_product(q, b)
    return q, ((a - p) - e) / b


def _cube(a: Array) -> Array:
    wide = a.astype(np.float64 if a.dtype == np.float32 else np.longdouble)
    found: Array = (wide * wide * wide).astype(a.dtype)  # type: ignore[operator]
    return found


def _lost_cube(a: Array) -> tuple[Array, Array]:
    square, below = two_product(a, a)
    s, e = two_product(square, a)
    return s, e + below * a


def _select(c: Array, a: Array, b: Array) -> Array:
    return np.where(c < 0, a, b)


def _lost_fma(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    product, rest = two_product(a, b)
    s, e = two_sum(product, c)
    return s, e + rest


OPERATIONS: dict[str, Operation] = {
    "add": Operation(np.add, lambda mp, a, b: a + b, lambda v, a, b: (np.ones_like(a), np.ones_like(b)), two_sum),
    "sub": Operation(
        np.subtract,
        lambda mp, a, b: a - b,
        lambda v, a, b: (np.ones_like(a), -np.ones_like(b)),
        lambda a, b: two_sum(a, -b),
    ),
    "mul": Operation(np.multiply, lambda mp, a, b: a * b, lambda v, a, b: (b, a), two_product),
    "div": Operation(np.divide, lambda mp, a, b: a / b, lambda v, a, b: (1 / b, -v / b), _lost_quotient),
    "fma": Operation(
        fused,  # to a precision, which is its first argument
        lambda mp, a, b, c: a * b + c,
        lambda v, a, b, c: (b, a, np.ones_like(v)),
        _lost_fma,
    ),
    "cube": Operation(_cube, lambda mp, a: a**3, lambda v, a: (3 * a * a,), _lost_cube),
    "neg": Operation(np.negative, lambda mp, a: -a, lambda v, a: (-np.ones_like(a),)),
    "abs": Operation(np.abs, lambda mp, a: abs(a), lambda v, a: (np.copysign(1.0, a),)),
    "select": Operation(
        _select,
        lambda mp, c, a, b: a if c < 0 else b,
        lambda v, c, a, b: (np.zeros_like(c), (c < 0).astype(np.float64), (c >= 0).astype(np.float64)),
    ),
    "copysign": Operation(
        np.copysign,
        lambda mp, a, b: mp.sign(b) * abs(a),
        lambda v, a, b: (np.copysign(1.0, a) * np.copysign(1.0, b), np.zeros_like(b)),
    ),
}


@dataclass(frozen=True)
class BlockOperation:
    """A building block: exactly, and its derivative; its rounded values are the reference's or a library's.

    `short_of_one(argument)` is 1 - |value|, which 1 + erf may be all made of, with relative accuracy.
    """

    exact: Callable[[Any, Any], Any]
    derivative: Callable[[Array, Array], Array]  # of (value, argument)
    short_of_one: Callable[[Array], Array] | None = None


def _logistic_slope(v: Array, a: Array) -> Array:
    e: Array = np.exp(-np.abs(a))
    slope: Array = e / (1 + e) ** 2
    return slope


def _erfc_of_magnitude(a: Array) -> Array:
    bits: Array = reference_bits("erfc", "float64", np.abs(a).view(np.uint64))
    return bits.view(np.float64)


def _erfc(mp: Any, a: Any) -> Any:
    """mpmath takes the square of an argument as a double, which overflows; beyond 2^40 the value is below 2^-(2^80)."""
    return mp.erfc(min(a, mp.ldexp(1, 40)))


BLOCKS: dict[str, BlockOperation] = {
    "erf": BlockOperation(lambda mp, a: mp.erf(a), lambda v, a: 2 / SQRT_PI * np.exp(-a * a), _erfc_of_magnitude),
    "erfc": BlockOperation(_erfc, lambda v, a: -2 / SQRT_PI * np.exp(-a * a)),
    "exp": BlockOperation(lambda mp, a: mp.exp(a), lambda v, a: v),
    "normcdf": BlockOperation(
        lambda mp, a: _erfc(mp, -a / mp.sqrt(2)) / 2, lambda v, a: np.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    ),
    "sigmoid": BlockOperation(lambda mp, a: 1 / (1 + mp.exp(-a)), _logistic_slope),
    "tanh": BlockOperation(
        lambda mp, a: mp.tanh(a),
        lambda v, a: 4 * _logistic_slope(v, 2 * a),
        lambda a: 2 * np.exp(-2 * np.abs(a)) / (1 + np.exp(-2 * np.abs(a))),
    ),
}
