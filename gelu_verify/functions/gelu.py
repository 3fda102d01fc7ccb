"""gelu(x) = x Phi(x), the exact GELU, and its derivatives; with parameters, x Phi((x - mu)/sigma)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from . import _gauss, _scaled_gauss
from .base import Constant, Function, Values, parameterized
from .parameters import MU, SIGMA, all_times, times
from .proved import negative, proved

MINIMUM = proved("gelu.minimum", "x")
INFLECTION = proved("gelu.inflections", "x")  # sqrt(2)


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

_GELU, _GELU_GRAD = (
    Function(
        name="gelu",
        formula="x Phi(x) = x/2 erfc(-x/sqrt(2))",
        general="x Phi((x - mu)/sigma)",
        terms=_gauss.gelu,
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        landmarks={
            "minimum": MINIMUM,
            "inflection": negative(INFLECTION),
            "inflection, positive": INFLECTION,
        },
        constants=(HALF, SQRT_HALF),
        turning_points=(MINIMUM,),
        falls_first=True,
        lower=proved("gelu.minimum", "f(x)"),
        slope_at_zero="0.5",
        sign="x",
        at_most_x=True,
    ),
    Function(
        name="gelu_grad",
        formula="Phi(x) + x phi(x)",
        general="Phi((x - mu)/sigma) + x/sigma phi((x - mu)/sigma)",
        gradient_of="gelu",
        either_zero=True,
        terms=_gauss.gelu_grad,
        at_minus_infinity="-0",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="0.5",
        landmarks={
            "root": MINIMUM,
            "minimum": negative(INFLECTION),
            "maximum": INFLECTION,
            "crosses 1": negative(MINIMUM),
        },
        constants=(HALF_OF_GRADIENT, SQRT_HALF.in_derivative(), DENSITY_AT_ZERO),
        turning_points=(negative(INFLECTION), INFLECTION),
        falls_first=True,
        lower=proved("gelu.inflections", "f'(-x)"),
        upper=proved("gelu.inflections", "f'(x)"),
    ),
)

WITHOUT_NATIVE_CODE = _GELU, replace(_GELU_GRAD, terms=_scaled_gauss.gelu_grad(Fraction(0), Fraction(1)))
"""The same in terms that arrays can follow everywhere."""


def _around(values: Values) -> dict[str, str]:
    """The mean, and places where the law is not yet 0 or 1: where implementations have something to lose."""
    steps = {"mean": 0, "mean - 2 sigma": -2, "mean + 2 sigma": 2, "mean - 6 sigma": -6, "mean + 6 sigma": 6}
    return {label: times("1", values["mu"] + step * values["sigma"]) for label, step in steps.items()}


def _gelu(values: Values) -> Function:
    """sigma gelu(x/sigma) where mu = 0: its facts are those of gelu, scaled."""
    mu, sigma = values["mu"], values["sigma"]
    terms = _scaled_gauss.gelu(mu, sigma)
    if mu:
        bare = replace(_GELU, landmarks=_around(values), constants=(), turning_points=None, lower=None)
        return replace(bare, terms=terms, slope_at_zero=None)
    return _GELU.stretched(sigma, terms=terms, lower=times(_GELU.lower or "0", sigma))


def _gelu_grad(values: Values) -> Function:
    """gelu'(x/sigma) where mu = 0."""
    mu, sigma = values["mu"], values["sigma"]
    terms = _scaled_gauss.gelu_grad(mu, sigma)
    if mu:
        bare = replace(_GELU_GRAD, landmarks=_around(values), constants=(), turning_points=None, lower=None, upper=None)
        return replace(bare, terms=terms, at_zero=_scaled_gauss.normal_limit(-mu / sigma))
    return _GELU_GRAD.stretched(sigma, terms=terms)


def _by_mu(values: Values) -> Function:
    """-(x/sigma) phi(t)."""
    mu, sigma = values["mu"], values["sigma"]
    return Function(
        name="gelu_grad_mu",
        formula="derivative of x Phi((x - mu)/sigma) in mu: -x/sigma phi((x - mu)/sigma)",
        general="-x/sigma phi((x - mu)/sigma)",
        group="block",
        terms=_scaled_gauss.gelu_grad_mu(mu, sigma),
        at_minus_infinity="0",
        at_plus_infinity="-0",
        nan_at=("-inf", "inf"),
        at_zero="-x",
        landmarks=_around(values) if mu else {},
        turning_points=None if mu else all_times(("-1", "1"), sigma),
        sign="-x",
    )


def _by_sigma(values: Values) -> Function:
    """-(x/sigma) t phi(t): beside x = 0 it has the sign of mu x, and is negative where mu = 0."""
    mu, sigma = values["mu"], values["sigma"]
    return Function(
        name="gelu_grad_sigma",
        formula="derivative of x Phi((x - mu)/sigma) in sigma: -x (x - mu)/sigma^2 phi((x - mu)/sigma)",
        general="-x (x - mu)/sigma^2 phi((x - mu)/sigma)",
        group="block",
        terms=_scaled_gauss.gelu_grad_sigma(mu, sigma),
        at_minus_infinity="-0",
        at_plus_infinity="-0",
        nan_at=("-inf", "inf"),
        at_zero="-0" if mu == 0 else "x" if mu > 0 else "-x",
        landmarks=_around(values) if mu else {},
        turning_points=None if mu else all_times((negative(INFLECTION), "0", INFLECTION), sigma),
        falls_first=True,
        sign="" if mu else "-",
        either_zero=True,
    )


ENTRIES = (
    replace(_GELU, parameters=(MU, SIGMA), with_values=_gelu),
    replace(_GELU_GRAD, parameters=(MU, SIGMA), with_values=_gelu_grad),
    parameterized(_by_mu, MU, SIGMA),
    parameterized(_by_sigma, MU, SIGMA),
)
