"""All float64 inputs of an interval that are hard to round, by Lefèvre's search in linear pieces (docs/hardest.md).

A block of some 2^32 consecutive inputs is replaced by a polynomial of degree 4, the Taylor polynomial at its middle,
with coefficients and remainder proved in Arb. The native search (src/truth/linear.h) cuts it into pieces of some 2^18
inputs on which it is a line but for a bound, and finds the points of a line that come close to an integer by a
Euclidean algorithm: some ten steps for a piece, not one for each input. What it finds is looked at by the oracle.

In units of half a unit in the last place, f(x_0 + t ulp(x)) = P(t/2^n) + what is left:

  remainder     |f^(5)/5!| on the block (in Arb), times the fifth power of half its length
  coefficients  the radius of Arb's balls, and 2^-200 for their fixed point, times powers of half the length
  rounding      of five coefficients to 2^-104, times powers of the number of pieces up to the fourth; 2^-98 in a piece

All is added to the limit of the search. So every input of the interval whose offset is below the limit is found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import flint
import numpy as np

from gelu_verify.errors import OracleError, UsageError, one_of
from gelu_verify.facts.balls import ball
from gelu_verify.facts.curves import FORMULAS
from gelu_verify.fenv import in_default_environment
from gelu_verify.formats import get_format
from gelu_verify.functions import get_function
from gelu_verify.truth import _core
from gelu_verify.truth.hardest import offset_of

Ball = Any
DEGREE = 4
BITS = 256  # of Arb
FRACTION = 104  # bits of the coefficients, of which 24 more are whole
PIECES = 1 << 14  # of a block
SHORTEST, LONGEST = 8, 24  # log2 of the inputs of a piece
LARGEST = 2.0**-5  # limit: a line and the limit leave most points out
ROOM = 1 << 12  # inputs that a block may have
FEW = 1 << 9  # inputs that the oracle looks at one by one, where f passes a power of two
SERIES = {
    **FORMULAS,
    "erf": lambda x: x.erf(),
    "exp": lambda x: x.exp(),
    "tanh": lambda x: 1 - 2 / (1 + (2 * x).exp()),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
}
"""Functions that are searched: of power series of balls."""


class Found(NamedTuple):
    """A hard input."""

    x_bits: int
    offset: float
    is_midpoint: bool


class Block(NamedTuple):
    """`size` consecutive inputs, by magnitude, as a polynomial in fixed point."""

    first: int
    size: int
    words: np.ndarray | None
    """Low and high halves of its five coefficients (src/truth/linear.h); None where f passes a power of two."""
    length: int
    """log2 of the inputs of a piece."""
    limit: int
    """Of the search, in units of 2^-64: what was asked for, and all that the polynomial leaves."""


@in_default_environment
def hard_between(function: str, first: int, count: int, limit: float, threads: int = 1) -> list[Found]:
    """Every input with 0 < |offset| < limit among `count` consecutive float64 inputs, |x| rising from bits `first` on.

    Raises
    ------
    UsageError : a function that is not searched; inputs of more than one binade; a limit that is too large
    OracleError : f is nowhere near a line
    """
    fmt = get_format("float64")
    if function not in SERIES:
        raise one_of("function", function, list(SERIES))
    if not 0 < limit <= LARGEST:
        raise UsageError(f"limit is {limit:g} (accepted: above 0, up to {LARGEST:g})")
    if fmt.dyadic(first)[1] != fmt.dyadic(first + count - 1)[1] or not fmt.is_finite(first + count - 1):
        raise UsageError("the inputs are of more than one binade")

    def searched(ends: tuple[int, int]) -> list[int]:
        start, stop = ends
        return [x for block in blocks(function, start, stop - start, limit) for x in close(block, limit)]

    cuts = [first + count * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        bits = [x for part in pool.map(searched, pairwise(cuts)) for x in part]
    found = [Found(x, *offset_of(get_function(function), fmt, x)) for x in bits]
    return [each for each in found if 0 < abs(each.offset) < limit]


def close(block: Block, limit: float) -> list[int]:
    """Bits of all inputs of a block whose offset is, or may be, below the limit."""
    if block.words is None:
        return list(range(block.first, block.first + block.size))
    found = np.empty(ROOM, np.uint64)
    pieces = -(-block.size >> block.length)
    number = _core.search_linear(block.words, block.length, pieces, block.limit, found)
    if number > ROOM:
        raise UsageError(f"limit {limit:g} leaves {number} of {block.size} inputs (accepted: a smaller one)")
    return [block.first + t for t in found[:number].tolist() if t < block.size]


def blocks(function: str, first: int, count: int, limit: float) -> Iterator[Block]:
    """The inputs in blocks."""
    start = first
    while start < first + count:
        block = block_of(function, start, first + count - start, limit)
        yield block
        start += block.size


def block_of(function: str, first: int, most: int, limit: float) -> Block:
    """A block of at most so many inputs."""
    fmt = get_format("float64")
    flint.ctx.prec = BITS
    m, e = fmt.dyadic(first)
    step = Fraction(2) ** e * (1 if m > 0 else -1)  # from x to the next one
    length = _length(function, abs(m) * step, step)
    while length >= SHORTEST:
        size = min(most, PIECES << length)
        middle, half = (abs(m) + size // 2) * step, size // 2 + 1
        if not (unit := _half_ulp(function, middle, half * abs(step))):
            if size <= FEW:
                return Block(first, size, None, length, 0)
            most = size // 2
            continue
        centred = _series(function, ball(middle), DEGREE)
        rest = _series(function, ball(middle - half * step, middle + half * step), DEGREE + 1)[DEGREE + 1]
        scaled = [c * ball((step * 2**length) ** k / unit) for k, c in enumerate(centred)]
        h, error = _shifted(scaled, Fraction(size // 2, 2**length), -(-size >> length))
        error += _upper(abs(rest) * ball((half * abs(step)) ** (DEGREE + 1) / unit))
        if _fits(h, length, -(-size >> length)):
            words = [part for value in h for part in (value & (1 << 64) - 1, value >> 64 & (1 << 64) - 1)]
            reach = math.ceil((2 * Fraction(limit) + error + Fraction(1, 1 << 98)) * 2**64)
            return Block(first, size, np.array(words, np.uint64), length, reach)
        length -= 1
    raise OracleError(f"{function} is not near a line at {fmt.hex_float(first)}")


def _length(function: str, x: Fraction, step: Fraction) -> int:
    """log2 of the inputs of a piece at which the search is fastest: about (2/c)^(1/3) for c t^2 in half ulps,
    which are some 2^-54 of f."""
    value, _, second = _series(function, ball(x), 2)
    c = _upper(abs(second / value) * ball(step**2)) * 2**54
    return max(SHORTEST, min(LONGEST, round(math.log2(2 / c) / 3) if c else LONGEST))


def _series(function: str, x: Ball, degree: int) -> list[Ball]:
    found = SERIES[function](flint.arb_series([x, 1], prec=degree + 1)).coeffs()  # type: ignore[no-untyped-call]
    return [*found, *[flint.arb(0)] * (degree + 1 - len(found))]


def _half_ulp(function: str, middle: Fraction, half: Fraction) -> Fraction | None:
    """u(f)/2, of all f on middle +- half; None where it is not one."""
    fmt = get_format("float64")
    y = SERIES[function](ball(middle - half, middle + half))  # type: ignore[no-untyped-call]
    ends = [_fraction(end) for end in (y.lower(), y.upper())]
    return fmt.ulp(ends[0]) / 2 if ends[0] * ends[1] > 0 and fmt.ulp(ends[0]) == fmt.ulp(ends[1]) else None


def _shifted(coefficients: list[Ball], centre: Fraction, pieces: int) -> tuple[list[int], Fraction]:
    """sum of c_k (s - centre)^k as sum of h_k s^k in fixed point, and a bound of the error for 0 <= s <= pieces."""
    scale = 1 << 200
    exact = [Fraction(math.floor(_fraction(c.mid()) * scale), scale) for c in coefficients]
    reach = max(centre, pieces - centre)
    unsure = [_fraction(c.rad()) + Fraction(1, scale) for c in coefficients]
    error = sum((each * reach**k for k, each in enumerate(unsure)), Fraction(0))
    h = [
        round(sum(math.comb(k, j) * exact[k] * (-centre) ** (k - j) for k in range(j, DEGREE + 1)) * 2**FRACTION)
        for j in range(DEGREE + 1)
    ]
    return h, error + Fraction(sum(pieces**k for k in range(DEGREE + 1)), 2 ** (FRACTION + 1))


def _fits(h: list[int], length: int, pieces: int) -> bool:
    """Whether h_k t^k fits in 127 bits in every piece, k >= 2, and a line leaves most points out."""
    _, _, h2, h3, h4 = (abs(value) for value in h)
    largest = (h2 + 3 * pieces * h3 + 6 * pieces**2 * h4, h3 + 4 * pieces * h4, h4)
    products = all(value << (k * length) < 1 << 127 for k, value in enumerate(largest, 2))
    return products and sum(largest) < 1 << (FRACTION - 4)


def _fraction(x: Ball) -> Fraction:
    m, e = x.man_exp()
    return Fraction(int(m)) * Fraction(2) ** int(e)


def _upper(x: Ball) -> Fraction:
    return _fraction(x.upper())
