"""How far a polynomial with given coefficients is from a function on an interval: proved, in Arb.

The interval is cut; on each part the difference is its Taylor polynomial at the middle plus the remainder of
`ORDER`, bounded over the whole part. What is added up is |d_k| h^k: with parts this narrow d_0 is nearly all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, arb_series, ctx
from prove.tracked import Unproved, hull

ORDER = 8
Taylor = Callable[[arb, int], list[arb]]  # coefficients 0 .. n of f around every point of a ball


def shifted(coefficients: list[arb], at: arb, order: int) -> list[arb]:
    """Taylor coefficients of a polynomial at a point: synthetic division, again and again."""
    rest, out = list(coefficients), []
    for _ in range(order + 1):
        if not rest:
            out.append(arb(0))
            continue
        for k in range(len(rest) - 2, -1, -1):
            rest[k] += rest[k + 1] * at
        out.append(rest.pop(0))
    return out


def taylor_of(f: Callable[[arb_series], arb_series]) -> Taylor:
    def coefficients(at: arb, order: int) -> list[arb]:
        ctx.cap = order + 1
        series = f(arb_series([at, 1]))
        return [series[k] for k in range(order + 1)]

    return coefficients


EXP_REST = taylor_of(lambda r: r.exp() - 1 - r)


@dataclass(frozen=True)
class Part:
    low: arb
    high: arb
    error: arb  # of |p - f| on [low, high]


def largest_difference(coefficients: list[float], taylor: Taylor, low: arb, high: arb, parts: int) -> list[Part]:
    exact, found = [arb(c) for c in coefficients], []
    for index in range(parts):
        a, b = low + (high - low) * index / parts, low + (high - low) * (index + 1) / parts
        middle, half = (a + b) / 2, (b - a) / 2
        ball = hull(a.lower(), b.upper())
        p = [*shifted(exact, middle, ORDER - 1), shifted(exact, ball, ORDER)[ORDER]]
        f = [*taylor(middle, ORDER - 1), taylor(ball, ORDER)[ORDER]]
        error = sum((abs(x - y) * half**k for k, (x, y) in enumerate(zip(p, f, strict=True))), arb(0))
        found.append(Part(a.lower(), b.upper(), error.abs_upper()))
    return found


def over(parts: list[Part], ball: arb) -> arb:
    """The bound on a ball within what the parts cover."""
    low, high = ball.lower(), ball.upper()
    if not (parts[0].low <= low and high <= parts[-1].high):
        raise Unproved("a polynomial beyond its interval")
    return max(part.error for part in parts if part.low <= high and part.high >= low)
