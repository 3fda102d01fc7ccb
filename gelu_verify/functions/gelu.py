"""gelu(x) = x Phi(x), the exact GELU, and its derivative."""

from __future__ import annotations

import math

import numpy as np

from . import _gauss
from .base import Constant, Function

MINIMUM = "-0.751791524693564457457904946779524040"


def density(x: np.ndarray) -> np.ndarray:
    """phi(x)."""
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def normal(x: np.ndarray) -> np.ndarray:
    """Phi(x)."""
    return np.asarray(np.vectorize(math.erfc, otypes=[np.float64])(-x * math.sqrt(0.5)) / 2)


HALF = Constant("1/2", "0.5", lambda x: x * normal(x))
HALF_OF_GRADIENT = Constant("1/2", "0.5", normal)
SQRT_HALF = Constant("1/sqrt(2)", "0.707106781186547524400844362104849039", lambda x: x * x * density(x))
DENSITY_AT_ZERO = Constant("1/sqrt(2 pi)", "0.398942280401432677939946059934381868", lambda x: x * density(x))

ENTRIES = (
    Function(
        name="gelu",
        formula="x Phi(x) = x/2 erfc(-x/sqrt(2))",
        terms=_gauss.gelu,
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        at_zero="x",
        landmarks={
            "minimum": MINIMUM,
            "inflection": "-1.41421356237309504880168872420969808",
            "inflection, positive": "1.41421356237309504880168872420969808",
        },
        constants=(HALF, SQRT_HALF),
        turning_points=(MINIMUM,),
        falls_first=True,
        lower="-0.169971207479903661693868470982433923",
        slope_at_zero="0.5",
        sign="x",
        at_most_x=True,
    ),
    Function(
        name="gelu_grad",
        formula="Phi(x) + x phi(x)",
        gradient_of="gelu",
        terms=_gauss.gelu_grad,
        at_minus_infinity="-0",
        at_plus_infinity="1",
        at_zero="0.5",
        landmarks={
            "root": MINIMUM,
            "minimum": "-1.41421356237309504880168872420969808",
            "maximum": "1.41421356237309504880168872420969808",
            "crosses 1": "0.751791524693564457457904946779524040",
        },
        constants=(HALF_OF_GRADIENT, SQRT_HALF.in_derivative(), DENSITY_AT_ZERO),
        turning_points=("-1.41421356237309504880168872420969808", "1.41421356237309504880168872420969808"),
        falls_first=True,
        lower="-0.128904145185154786340744442261973312",
        upper="1.12890414518515478634074444226197331",
    ),
)
