"""softplus(x) = log(1 + e^(beta x))/beta, and its derivative; beyond a threshold x, where one is set."""

from __future__ import annotations

from dataclasses import replace

from ..formats import Dyadic
from . import _logistic
from .base import Function, Values, parameterized
from .enclosures import ONE, ZERO, Enclosure, Terms, fraction, ratio
from .parameters import BETA, LARGEST, Parameter
from .sigmoid import SIGMOID

THRESHOLD = Parameter("threshold", LARGEST, -LARGEST, LARGEST, "beta x above which it is x; 2^1024: nowhere")


def _softplus(values: Values) -> Function:
    beta, threshold = values["beta"], values["threshold"]

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        """x + log(1 + e^-s)/beta on the right, log(1 + e^s)/beta on the left, s = beta x."""
        if threshold != LARGEST and beta * fraction(x) > threshold:
            return Terms(x, None)
        rest = c.log1p(c.exp(-abs(ratio(c, beta) * c.exact(x)))) / ratio(c, beta)
        return Terms(x if x[0] > 0 else ZERO, rest)

    return Function(
        name="softplus",
        formula="log(1 + e^(beta x))/beta, beta = 1; x for beta x > threshold",
        general="log(1 + e^(beta x))/beta; x for beta x > threshold",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero="x" if threshold < 0 else lambda c: c.log(c.iv.mpf(2)) / ratio(c, beta),
        turning_points=() if threshold == LARGEST else None,
        landmarks={} if threshold == LARGEST else {"border": str(threshold / beta)},
        lower="0" if threshold >= 0 else None,
        sign="+" if threshold >= 0 else "",
    )


def _softplus_grad(values: Values) -> Function:
    beta, threshold = values["beta"], values["threshold"]

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        if threshold != LARGEST and beta * fraction(x) > threshold:
            return Terms(ONE, None)
        return _logistic.sigmoid_of(c, ratio(c, beta) * c.exact(x))

    return replace(
        SIGMOID,
        name="softplus_grad",
        formula="1/(1 + e^(-beta x)), beta = 1; 1 for beta x > threshold",
        general="1/(1 + e^(-beta x)); 1 for beta x > threshold",
        group="activation",
        gradient_of="softplus",
        terms=terms,
        at_zero="1" if threshold < 0 else "0.5",
        also={} if threshold == LARGEST else {str(threshold / beta): ("1",)},
    )


ENTRIES = tuple(parameterized(make, BETA, THRESHOLD) for make in (_softplus, _softplus_grad))
