"""What each function of the core is: its value in Arb, its start at 0 and its tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import flint
from arb import ARB, logistic, logistic_grad, normcdf, phi, sigmoid
from flint import arb, arb_series, fmpq

POINT_BITS = 1600  # x - x Q(x) at x = 20 cancels 300 of them


@dataclass(frozen=True)
class Specification:
    """
    series : the function of a power series around 0, for the remainder of its first terms.
    right, left : (a, majorant): for x or -x >= a the function lies between its limit (x, 1, 2, 0 ...) and that
        plus or minus the majorant, which falls; None where the function needs no tail. Reasons: docs/proofs.md.
    right_side, left_side : the sign of f - limit there.
    """

    name: str
    c_name: str
    series: Callable[[arb_series], arb_series] | None
    right: Callable[[arb], arb] | None = None
    left: Callable[[arb], arb] | None = None
    right_side: float = 0.0
    left_side: float = 0.0
    right_from: float = 0.0  # the majorants hold and fall from there on
    left_from: float = 0.0

    def value(self, x: arb) -> arb:
        with flint.ctx.workprec(POINT_BITS):
            return ARB[self.name](x)

    def coefficients(self, reach: float, count: int) -> list[arb]:
        """f(x) = c0 + c1 x + ... + c_count x^count with the last for every |x| <= reach."""
        flint.ctx.cap = count + 1
        at_zero = self.series(arb_series([0, 1]))
        around = self.series(arb_series([arb(-reach).union(arb(reach)), 1]))
        return [at_zero[n] for n in range(count)] + [around[count]]


def _upper_tail(a):
    return (a / arb(2).sqrt()).erfc() / 2


def _slope_tanh(x):
    c, k = arb(fmpq(44715, 1000000)), 2 * (2 / arb.pi()).sqrt()
    return k * (x + c * x * x * x), k * (1 + 3 * c * x * x)


def _slope_sigmoid(x):
    k = arb(fmpq(1702, 1000))
    return k * x, k + 0 * x


def _slope_silu(x):
    return x, 1 + 0 * x


def _mish(x):
    e = x.exp()
    return x * (e * e + 2 * e) / (e * e + 2 * e + 2)


def _logistic_pair(name: str, slope, start: float) -> list[Specification]:
    """x q(s): q = e^-s/(1 + e^-s) <= e^-s. Derivative: |q (steep (1-q) - 1)| <= steep e^-s, steep <= 3 s."""

    def below(a):
        return a * (-slope(a)[0]).exp()

    def below_grad(a):
        s = slope(a)[0]
        return 3 * s * (-s).exp()

    return [
        Specification(name, f"gv_{name}", logistic(slope), below, below, -1.0, -1.0, start, start),
        Specification(
            f"{name}_grad", f"gv_{name}_grad", logistic_grad(slope), below_grad, below_grad, 1.0, -1.0, start, start
        ),
    ]


SPECIFICATIONS = [
    Specification(
        "gelu",
        "gv_gelu",
        lambda x: x * normcdf(x),
        lambda a: a * _upper_tail(a),
        lambda a: a * _upper_tail(a),
        -1.0,
        -1.0,
        2.0,
        2.0,
    ),
    Specification(
        "gelu_grad",
        "gv_gelu_grad",
        lambda x: normcdf(x) + x * phi(x),
        lambda a: a * phi(a),
        lambda a: a * phi(a),
        1.0,
        -1.0,
        2.0,
        2.0,
    ),
    *_logistic_pair("gelu_tanh", _slope_tanh, 4.0),
    *_logistic_pair("gelu_sigmoid", _slope_sigmoid, 4.0),
    *_logistic_pair("silu", _slope_silu, 4.0),
    Specification("relu", "gv_relu", None),
    Specification("elu", "gv_elu", lambda x: x.exp() - 1, left=lambda a: (-a).exp(), left_side=1.0, left_from=1.0),
    Specification(
        "elu_grad", "gv_elu_grad", lambda x: x.exp(), left=lambda a: (-a).exp(), left_side=1.0, left_from=1.0
    ),
    Specification(
        "mish", "gv_mish", _mish, lambda a: 2 * a * (-2 * a).exp(), lambda a: 2 * a * (-a).exp(), -1.0, -1.0, 1.0, 1.0
    ),
    Specification(
        "mish_grad",
        "gv_mish_grad",
        None,
        lambda a: 8 * a * (-2 * a).exp(),
        lambda a: 2 * a * (-a).exp(),
        1.0,
        -1.0,
        4.0,
        4.0,
    ),
    Specification("softplus", "gv_softplus", None, lambda a: (-a).exp(), lambda a: (-a).exp(), 1.0, 1.0, 1.0, 1.0),
    Specification("erf", "gv_erf", lambda x: x.erf(), lambda a: a.erfc(), lambda a: a.erfc(), -1.0, 1.0, 1.0, 1.0),
    Specification(
        "erfc", "gv_erfc", lambda x: 1 - x.erf(), lambda a: a.erfc(), lambda a: a.erfc(), 1.0, -1.0, 1.0, 1.0
    ),
    Specification("normcdf", "gv_normcdf", normcdf, _upper_tail, _upper_tail, -1.0, 1.0, 1.0, 1.0),
    Specification(
        "tanh",
        "gv_tanh_value",
        lambda x: 1 - 2 / ((2 * x).exp() + 1),
        lambda a: 2 * (-2 * a).exp(),
        lambda a: 2 * (-2 * a).exp(),
        -1.0,
        1.0,
        1.0,
        1.0,
    ),
    Specification("sigmoid", "gv_sigmoid", sigmoid, lambda a: (-a).exp(), lambda a: (-a).exp(), -1.0, 1.0, 1.0, 1.0),
    Specification(
        "softplus_grad", "gv_sigmoid", sigmoid, lambda a: (-a).exp(), lambda a: (-a).exp(), -1.0, 1.0, 1.0, 1.0
    ),
    Specification("exp", "gv_exp_value", lambda x: x.exp(), left=lambda a: (-a).exp(), left_side=1.0, left_from=1.0),
    Specification(
        "expm1", "gv_expm1_value", lambda x: x.exp() - 1, left=lambda a: (-a).exp(), left_side=1.0, left_from=1.0
    ),
]
