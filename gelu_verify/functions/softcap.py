"""softcap(x) = cap tanh(x/cap), which attention's logits go through, and its derivative; cap = 50 unless said."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from . import _logistic
from .base import Function, Values, parameterized
from .enclosures import ONE, ZERO, Enclosure, Terms, dyadic, ratio
from .parameters import LARGEST, SMALLEST, Parameter
from .tanh_shrink import rest_of_tanh

CAP = Parameter("cap", Fraction(50), SMALLEST, LARGEST, "what it tends to for x -> inf")


def _softcap(values: Values) -> Function:
    cap = values["cap"]
    ends = dyadic(cap), dyadic(-cap)

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        """Beside x for small x, beside cap for large ones."""
        point, factor = c.exact(x), ratio(c, cap)
        t = point / factor
        if _logistic.is_small(t):
            return Terms(x, -factor * rest_of_tanh(c, t))
        q = 2 * _logistic.lower_share(c, 2 * abs(t))
        end = ends[0] if point > 0 else ends[1]
        if end is None:
            return Terms(ZERO, factor * (1 - q) if point > 0 else factor * (q - 1))
        return Terms(end, -factor * q if point > 0 else factor * q)

    return Function(
        name="softcap",
        formula="cap tanh(x/cap), cap = 50",
        general="cap tanh(x/cap)",
        group="baseline",
        terms=terms,
        at_minus_infinity=str(-cap),
        at_plus_infinity=str(cap),
        at_zero="x",
        landmarks={"border": str(-cap), "border, positive": str(cap)},
        symmetry="odd",
        lower=str(-cap),
        upper=str(cap),
        slope_at_zero="1",
        sign="x",
        at_most_x=True,
        arb=lambda x: 50 * (x / 50).tanh(),
    )


def _softcap_grad(values: Values) -> Function:
    cap = values["cap"]

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        """1 - tanh(t)^2 for small t = x/cap, 4 e/(1 + e)^2 with e = e^(-2 |t|) for large ones."""
        t = c.exact(x) / ratio(c, cap)
        if _logistic.is_small(t):
            return Terms(ONE, -(c.tanh(t) ** 2))
        e = c.exp(-2 * abs(t))
        return Terms(ZERO, 4 * e / (1 + e) ** 2)

    return Function(
        name="softcap_grad",
        formula="1 - tanh(x/cap)^2, cap = 50",
        general="1 - tanh(x/cap)^2",
        group="baseline",
        gradient_of="softcap",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="1",
        symmetry="even",
        turning_points=("0",),
        lower="0",
        upper="1",
        sign="+",
        arb=lambda x: (x / 50).sech() ** 2,
    )


ENTRIES = tuple(parameterized(make, CAP) for make in (_softcap, _softcap_grad))
