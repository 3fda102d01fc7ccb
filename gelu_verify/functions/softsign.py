"""softsign(x) = x/(1 + |x|), and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from ._gauss import below
from .base import Function
from .enclosures import ONE, Enclosure, Terms, exactly, fraction


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """Beside x for small x, beside 1 and -1 for large ones; a binary fraction where 1 + |x| is a power of two."""
    point, value = c.exact(x), exactly(c, fraction(x) / (1 + abs(fraction(x))))
    if value.correction is None:
        return value
    if below(x, 1):
        return Terms(x, -point * abs(point) / (1 + abs(point)))
    rest = 1 / (1 + abs(point))
    return Terms(ONE, -rest) if point > 0 else Terms((-1, 0), rest)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """1/(1 + |x|)^2, beside 1 for small x."""
    size, value = abs(c.exact(x)), exactly(c, 1 / (1 + abs(fraction(x))) ** 2)
    return Terms(ONE, -size * (2 + size) / (1 + size) ** 2) if value.correction is not None and below(x, 1) else value


ENTRIES = (
    Function(
        name="softsign",
        formula="x/(1 + |x|)",
        group="baseline",
        terms=terms,
        at_minus_infinity="-1",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="x",
        symmetry="odd",
        lower="-1",
        upper="1",
        sign="x",
        at_most_x=True,
        arb=lambda x: x / (1 + abs(x)),
    ),
    Function(
        name="softsign_grad",
        formula="1/(1 + |x|)^2",
        group="baseline",
        gradient_of="softsign",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="1",
        symmetry="even",
        turning_points=("0",),
        lower="0",
        upper="1",
        sign="+",
        arb=lambda x: 1 / (1 + abs(x)) ** 2,
    ),
)
