"""silu(x) = x sigmoid(x), and its derivatives; with a parameter, x sigmoid(beta x) (swish)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..formats import Dyadic
from . import _logistic
from ._gauss import square
from .base import Function, Values, parameterized
from .enclosures import ZERO, Enclosure, Interval, Terms, ratio
from .parameters import BETA, times


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = a, and a s'."""
    return a, a


_SILU, _SILU_GRAD = _logistic.variant(
    name="silu",
    formula="x sigmoid(x)",
    gradient="sigmoid(x) + x sigmoid(x) sigmoid(-x)",
    slope=slope,
    gradient_second_farthest="-2.98582298608312474861001143198994823",
)


def _slope(beta: Fraction) -> _logistic.Slope:
    """s = beta a, and a s'."""

    def scaled(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
        s = ratio(c, beta) * a
        return s, s

    return scaled


def _silu(values: Values) -> Function:
    """silu(beta x)/beta: its facts are those of silu, scaled."""
    wide = 1 / values["beta"]
    terms = _logistic.scaled(_slope(values["beta"]))
    return _SILU.stretched(wide, terms=terms, lower=times(_SILU.lower or "0", wide))


def _silu_grad(values: Values) -> Function:
    """silu'(beta x)."""
    return _SILU_GRAD.stretched(1 / values["beta"], terms=_logistic.scaled_grad(_slope(values["beta"])))


def _by_beta(values: Values) -> Function:
    """x^2 w (1 - w), w = sigmoid(beta x): x^2/4 - (x tanh(s/2)/2)^2 near zero, with s = beta x."""
    slope = _slope(values["beta"])

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        point = abs(c.exact(x))
        s, _ = slope(c, point)
        m, e = square(x)
        if _logistic.is_small(s):
            half = point * c.tanh(s / 2) / 2
            return Terms((m, e - 2), -half * half)
        q = _logistic.lower_share(c, s)
        return Terms(ZERO, point * point * q * (1 - q))

    turn = times(_SILU_GRAD.landmarks["maximum"], 1 / values["beta"])
    return Function(
        name="silu_grad_beta",
        formula="derivative of x sigmoid(beta x) in beta: x^2 sigmoid(beta x) sigmoid(-beta x)",
        general="x^2 sigmoid(beta x) sigmoid(-beta x)",
        group="block",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="0",
        nan_at=("-inf", "inf"),
        at_zero="0",
        turning_points=(f"-{turn}", "0", turn),
        lower="0",
        sign="+",
        either_zero=True,
    )


ENTRIES = (
    replace(_SILU, general="x sigmoid(beta x)", parameters=(BETA,), with_values=_silu),
    replace(
        _SILU_GRAD, general="w + beta x w (1 - w), w = sigmoid(beta x)", parameters=(BETA,), with_values=_silu_grad
    ),
    parameterized(_by_beta, BETA),
)
