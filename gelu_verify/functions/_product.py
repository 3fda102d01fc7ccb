"""g f(x), and its derivative g f'(x): a function times a second exact number, as gated layers compute it.

The derivative in g is f. Where g = 0 the limits are 0, as all values are; at infinite f(x) the formula is no number.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from ..formats import Dyadic
from ._scaled_gauss import Definition
from ._second_input import with_second
from .base import Function
from .enclosures import ZERO, Enclosure, Terms, exactly, fraction, ratio
from .enclosures import times as exact_product
from .limits import POLES, Limit
from .parameters import LARGEST, Parameter, named, times

G = Parameter("g", Fraction(1), -LARGEST, LARGEST, "second factor", taken_as="factor")
_ENDS: tuple[Literal["-inf", "inf"], ...] = "-inf", "inf"
_OTHER_SIGN: dict[str, Literal["", "+", "-", "x", "-x"]] = {"": "", "+": "-", "-": "+", "x": "-x", "-x": "x"}
_NEGATIVE = {"0": "-0", "-0": "0", "inf": "-inf", "-inf": "inf", "x": "-x", "-x": "x"}


def gated(name: str, function: Function, gradient: Function) -> tuple[Function, Function]:
    """Entries of g f(x) and of its derivative."""
    return (
        with_second(name, f"g {function.name}(x)", function, G, _times),
        with_second(f"{name}_grad", f"g {function.name}'(x)", gradient, G, _times, name),
    )


def _times(function: Function, g: Fraction) -> Function:
    """Its facts follow from those of the function: turning points do not depend on g, its sign turns all else over."""
    if g == 0:
        return _zero(function)
    ends = [text and times(text, g) for text in (function.lower, function.upper)]
    return replace(
        function,
        gradient_of=function.gradient_of and named(function.gradient_of, {"g": g}),
        terms=_terms(function.terms, g),
        at_minus_infinity=_limit(function.at_minus_infinity, g),
        at_plus_infinity=_limit(function.at_plus_infinity, g),
        at_zero=_limit(function.at_zero, g),
        also={x: tuple(_limit(limit, g) for limit in others) for x, others in function.also.items()},
        lower=ends[g < 0],
        upper=ends[g > 0],
        falls_first=function.falls_first == (g > 0),
        sign=function.sign if g > 0 else _OTHER_SIGN[function.sign],
        slope_at_zero=function.slope_at_zero and str(Fraction(function.slope_at_zero) * g),
        at_most_x=function.at_most_x and abs(g) <= 1,
    )


def _zero(function: Function) -> Function:
    """0, of either sign."""
    limits = {"-inf": function.at_minus_infinity, "inf": function.at_plus_infinity}
    return replace(
        function,
        gradient_of=function.gradient_of and named(function.gradient_of, {"g": 0}),
        terms=lambda c, x: Terms(ZERO, None),
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="0",
        also={},
        nan_at=tuple(end for end in _ENDS if end in function.nan_at or limits[end] in POLES),
        turning_points=(),
        falls_first=False,
        lower="0",
        upper="0",
        slope_at_zero=None,
        sign="+",
        either_zero=True,
        at_most_x=True,
    )


def _terms(definition: Definition, g: Fraction) -> Definition:
    def terms(c: Enclosure, x: Dyadic) -> Terms:
        """Beside g times the leading term, where that is a binary fraction: x/3 may be one."""
        leading, correction = definition(c, x)
        if correction is None:
            return exactly(c, g * fraction(leading))
        m: Any = leading[0]
        beside: Any = exact_product(leading, g)
        if beside is None and not isinstance(m, int):  # of many inputs at once: truth/carried.py
            beside = g * fraction(leading), 0
        if beside is None:
            return Terms(ZERO, ratio(c, g) * (c.exact(leading) + correction))
        return Terms(beside, ratio(c, g) * correction)

    return terms


def _limit(limit: Limit, g: Fraction) -> Limit:
    """g times a word or a decimal."""
    assert isinstance(limit, str)
    if limit in _NEGATIVE:
        return limit if g > 0 else _NEGATIVE[limit]
    return str(Fraction(limit) * g)
