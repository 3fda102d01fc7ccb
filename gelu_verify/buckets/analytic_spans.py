"""Spans of float32 inputs whose correctly rounded results are analytic: a formula gives them, nothing is evaluated.

Far right of zero an activation is x, far left -0; near zero it is x/2; a gradient is 1, -0 and 1/2. There the exact
value lies so close to that number that the error of returning it is below NOISE (`table`), and so counts as 0.

Each span reaches from a point towards a limit, and the distance to the limit shrinks on the way, relative where u(y)
does: with g(x) = f(x)/x between 0 and 1, rising, and g(x) - 1/2 odd, these are 1 - g on the right, f itself left of its
last turning point, and g - 1/2 towards zero; a gradient is monotone beyond its last turning point, and between those on
both sides of zero. So the bound at the first input, which its float64 value proves, holds for the span. The first input
is found by bisection over buckets.

Farther from zero, up to 2^-20, the error of returning x/2 or 1/2 is that of the next term. In such a span of first
order the reducer judges the ends of each bucket, and adds up the errors by formula where all outputs are the leading
term (src/buckets/analytic_spans.h).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from ..formats import Format, get_format
from ..functions import Function, get_function
from ..truth.values import reference_bits
from . import _reducer
from .table import NOISE


class AnalyticSpan(NamedTuple):
    """Inputs by ordinal, both ends in, and the results that their outputs are compared with."""

    first: int
    last: int
    kind: int  # SAME, HALF, CONSTANT, NAN
    constant: int = 0  # bits of a constant output
    required: int = 0  # and those of the correctly rounded result
    accepted: bool = True  # whether the constant counts as correct
    is_first_order: bool = False


BUCKET_INPUTS = 1 << 16  # in float32


@cache
def spans_of(function: str) -> tuple[AnalyticSpan, ...]:
    """The spans of `function` in float32; none where the argument above does not apply."""
    entry, fmt = get_function(function), get_format("float32")
    if not _reducer.judges(function):
        return ()
    spans = [*_nan_spans(fmt), *_number_spans(entry, fmt)]
    if entry.approximates is not None:
        spans = [both for a in spans for b in spans_of(entry.approximates) if (both := _common(a, b))]
    return tuple(spans)


def _common(a: AnalyticSpan, b: AnalyticSpan) -> AnalyticSpan | None:
    first, last = max(a.first, b.first), min(a.last, b.last)
    return a._replace(first=first, last=last) if first <= last and a[2:] == b[2:] else None


def _nan_spans(fmt: Format) -> list[AnalyticSpan]:
    half = fmt.sign_mask
    return [
        AnalyticSpan(-half, -2 - fmt.infinity, _reducer.NAN),
        AnalyticSpan(fmt.infinity + 1, half - 1, _reducer.NAN),
    ]


def _number_spans(entry: Function, fmt: Format) -> list[AnalyticSpan]:
    gradient = entry.gradient_of is not None
    unit, smallest = Fraction(2) ** -fmt.precision, Fraction(2) ** fmt.min_exponent

    def right(y: Fraction, x: Fraction) -> Fraction:
        return abs(y - 1) if gradient else 1 - y / x

    def near(y: Fraction, x: Fraction) -> Fraction:
        return abs(y - Fraction(1, 2)) if gradient else abs(y / x - Fraction(1, 2))

    def left(y: Fraction, x: Fraction) -> Fraction:
        return abs(y)

    # what the distance must be below for the error to be: u(y) >= |y| 2^-p, g >= 1/2 on the right, > 1/4 near zero
    noise = Fraction(NOISE)
    beyond = _first(entry, fmt, right, noise * unit / 2, fmt.one, fmt.parse("256"))
    before = _first(entry, fmt, left, noise * smallest, -1 - fmt.parse("8"), -1 - fmt.parse("256"))
    # a subnormal x/2 may be a tie: from twice the smallest normal number on
    least = 0 if gradient else 2 << (fmt.precision - 1)
    up = _first(entry, fmt, near, noise * unit / 4, fmt.parse("0.125"), least)
    down = _first(entry, fmt, near, noise * unit / 4, -1 - fmt.parse("0.125"), -1 - least)
    same = _reducer.CONSTANT if gradient else _reducer.SAME
    half = _reducer.CONSTANT if gradient else _reducer.HALF
    one, point_five = (fmt.one, fmt.parse("0.5")) if gradient else (0, 0)
    end_of_first_order, minus_zero = fmt.parse("0x1p-20") - 1, fmt.sign_mask
    tail = AnalyticSpan(-1 - fmt.max_finite, before, _reducer.CONSTANT, minus_zero, minus_zero)
    inner = (
        AnalyticSpan(max(least, 1), up, half, point_five, point_five),
        AnalyticSpan(down, min(-1 - least, -2), half, point_five, point_five),
    )
    return [
        AnalyticSpan(beyond, fmt.max_finite, same, one, one),
        tail,
        tail._replace(constant=0, accepted=entry.either_zero),
        *inner,
        inner[0]._replace(last=end_of_first_order, is_first_order=True),
        inner[1]._replace(first=-1 - end_of_first_order, is_first_order=True),
    ]


def _first(
    entry: Function,
    fmt: Format,
    distance: Callable[[Fraction, Fraction], Fraction],
    bound: Fraction,
    start: int,
    limit: int,
) -> int:
    """Ordinal nearest to `start`, by whole buckets, from which on to `limit` the distance is below the bound.

    At the limit it is far below.
    """
    step = 1 if limit > start else -1
    places = range(start, limit, step * BUCKET_INPUTS)
    return places[bisect_left(places, True, 1, key=lambda at: _largest(entry, fmt, distance, at) < bound)]


def _largest(
    entry: Function, fmt: Format, distance: Callable[[Fraction, Fraction], Fraction], ordinal: int
) -> Fraction:
    """An upper bound of the distance at an input, by the correctly rounded float64 value."""
    x = fmt.fraction(fmt.from_ordinal(ordinal))
    double = get_format("float64")
    y = double.fraction(reference_bits(entry.name, "float64", double.round(x)))
    off = Fraction(1, 1 << double.precision)  # relative; what is subnormal is far below each bound
    return max(distance(y * (1 + off), x), distance(y * (1 - off), x))
