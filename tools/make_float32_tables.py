"""Generate src/tables/<function>_f32.h: the pieces of the float32 kernels, with a proved bound for each.

Run from the top of the checkout: python tools/make_float32_tables.py [--check] [FUNCTION ...]     (needs python-flint)

Besides, gelu_gaussian and gelu_grad_gaussian: the factors of src/cr/float_gaussian.h, in the same two layouts;
exp_f32.h: sixteen powers of two, and eight, for float_sigmoid.h; lane_orders.h: permutations of eight lanes.

v = t or v = t' of make_float64_tables.py, in pieces of a = |x| around centres c near i width:
v(c + h) = T0 + T1 h + c2 h^2 + ..., coefficients of 24 bits, T0 the sum of two. Two tables for each function: 32 pieces
of degree 6, which lie in registers (AVX-512), and rows of eight numbers, of degree 4 (AVX2). src/cr/float_pieces.h is
the code, and says what is counted here.

A centre is any float near i width: of some 100,000 the one is taken for which T1 (and c2 where the degree is 6)
needs the fewest bits beyond 24. How many bits T0's first part has is tried: with few, differences are exact; with many,
the second part is small.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from flint import arb, arb_series, ctx
from make_float64_tables import TERMS, Variant, _mills, ball, difference, exact, fit, largest, nearest, upper, write
from make_float64_tables import VARIANTS as FUNCTIONS
from make_float64_tables import taylor as taylor_of

BITS = 24
UNIT = Fraction(1, 2**BITS)
LOST = Fraction(1, 2**140)  # more than all underflows of one result: 32 times 2^-150
SLACK = 1 + Fraction(1, 2**5)  # for the rounding of a bound when it is used, and for a proof by other means
REACH = Fraction(1, 25)  # of a width: how far a centre may lie from its place
CENTRES = 100_000
PARTS = 12  # ranges of h in each of which the roundings of a piece are counted
NARROW = Fraction(1, 256)
GRAINS = (0, 1, 2, 4, 8, BITS)  # bits that T0's first part lacks
NEAR_ROOT = Fraction(1, 2**13)  # how far from a root of v the centre of its piece lies


class Layout(NamedTuple):
    name: str
    degree: int
    exact_terms: int  # coefficients from T1 on that count with more than 24 bits


REGISTERS = Layout("registers", 6, 2)
ROWS = Layout("rows", 4, 1)


class Even(NamedTuple):
    """Pieces of one width: around i width."""

    width: Fraction
    pieces: int

    @property
    def last(self) -> Fraction:
        return (self.pieces - 1) * self.width

    @property
    def scale(self) -> list[Fraction]:
        """The piece of a: its number is in the last bits of a inverse + from, rounded once; and by how much shifted."""
        return [float32(1 / self.width), Fraction(3 << 22), Fraction(0)]

    def width_of(self, _index: int) -> Fraction:
        return self.width

    def place(self, index: int) -> Fraction:
        return index * self.width

    def span(self, index: int) -> tuple[Fraction, Fraction]:
        """The a of a piece; a is clamped."""
        inverse, half = self.scale[0], Fraction(1, 2)
        return max(index - half, Fraction(0)) / inverse, min((index + half) / inverse, self.last)

    def __str__(self) -> str:
        return f"near i {self.width}"


class Octaves(NamedTuple):
    """Pieces the wider, the larger a + first is: so many in each of its four octaves from first to 16 first."""

    first: Fraction
    each: int
    last: Fraction

    @property
    def pieces(self) -> int:
        return 4 * self.each

    @property
    def scale(self) -> list[Fraction]:
        """a 2/first + 2: the last two bits of its exponent, and the first of its fraction."""
        return [float32(2 / self.first), Fraction(2), Fraction(24 - self.each.bit_length())]

    def begin(self, index: int) -> Fraction:
        octave, place = divmod(index, self.each)
        return (2**octave * Fraction(self.each + place, self.each) - 1) * 2 / self.scale[0]

    def width_of(self, index: int) -> Fraction:
        return self.begin(index + 1) - self.begin(index)

    def place(self, index: int) -> Fraction:
        return float32((self.begin(index) + self.begin(index + 1)) / 2) if index else Fraction(0)

    def span(self, index: int) -> tuple[Fraction, Fraction]:
        """The a of a piece: a little more to the left, where the sum is rounded up."""
        low = self.begin(index)
        return max(low - UNIT * (low + 1), Fraction(0)), min(self.begin(index + 1), self.last)

    def __str__(self) -> str:
        return f"{self.each} in an octave of a + {float(self.first)}"


Shape = Even | Octaves

SHAPES = {  # registers; rows, where there are no cubics (make_float32_cubics.py)
    "gelu": (Even(Fraction(3, 16), 32), None),
    "gelu_grad": (Even(Fraction(3, 16), 32), Even(Fraction(3, 64), 128)),
    "gelu_tanh": (Even(Fraction(3, 16), 32), None),
    "gelu_tanh_grad": (Even(Fraction(3, 16), 32), Even(Fraction(3, 64), 128)),
    "gelu_sigmoid_grad": (Even(Fraction(3, 16), 32), Even(Fraction(3, 64), 128)),
    "silu_grad": (Even(Fraction(1, 4), 32), Even(Fraction(1, 16), 128)),
}


class Factor(NamedTuple):
    """t or t' = e^(-a^2/2) v, src/cr/float_gaussian.h."""

    name: str
    below: Callable[[arb_series], arb_series]
    what: str


FACTORS = (
    Factor("gelu", lambda a: a * _mills(a), "a M(a)/sqrt(2 pi)"),
    Factor("gelu_grad", lambda a: _mills(a) - a / (2 * arb.pi()).sqrt(), "(M(a) - a)/sqrt(2 pi)"),
)
FACTOR_SCALE = Fraction(2**8)  # of v, in the table: nothing underflows where a is small
MOST = Fraction(29, 2)  # of a: beyond, results are subnormal, or 0
FACTOR_SHAPES = Octaves(Fraction(97, 100), 8, MOST), Octaves(Fraction(97, 100), 32, MOST)


def exp_lost(layout: Layout, s: Fraction) -> tuple[Fraction, Fraction]:
    """What e^-s of src/cr/float_sigmoid.h loses, and its second part, relative: tests/prove/gaussian32.py."""
    least = Fraction(11, 10) / 2**34 if layout is REGISTERS else Fraction(4, 3) / 2**32
    return least + Fraction(5, 4) / 2**48 * s * (s + 8), UNIT * (Fraction(7, 6) * s + 2)


class Piece(NamedTuple):
    centre: Fraction
    low: Fraction  # |x| of the piece
    high: Fraction
    t0: Fraction
    t0_low: Fraction
    terms: list[Fraction]  # T1, c2, ...

    @property
    def coefficients(self) -> list[Fraction]:
        return [self.t0 + self.t0_low, *self.terms]


def taylor(variant: Variant | Factor, derivative: bool, at: arb) -> list[arb]:
    """Of v: of a factor always itself."""
    return taylor_of(variant, derivative and not isinstance(variant, Factor), at)


def float32(x: Fraction) -> Fraction:
    return nearest(x, BITS)


def ulp(x: Fraction) -> Fraction:
    return Fraction(2) ** (math.frexp(float(x))[1] - BITS)


def grain(x: Fraction) -> Fraction:
    """The largest power of two of which x, not 0, is a multiple."""
    return Fraction(x.numerator & -x.numerator, x.denominator)


def shifted(p: list, by: Fraction) -> list:
    """p(h + by)."""
    return [sum((p[j] * comb(j, i) * by ** (j - i) for j in range(i, len(p))), 0 * p[0]) for i in range(len(p))]


def largest_on(d: list[arb], low: Fraction, high: Fraction) -> Fraction:
    """A bound on |sum d_k h^k|, low <= h <= high."""
    middle = ball((low + high) / 2)
    moved = [sum((d[j] * comb(j, i) * middle ** (j - i) for j in range(i, len(d))), arb(0)) for i in range(len(d))]
    return largest(moved, (high - low) / 2)


def misfit(values: np.ndarray, least: float) -> np.ndarray:
    """How far doubles are from the nearest float, or multiple of ulp(least)."""
    unit = 2.0 ** (np.frexp(np.maximum(np.abs(values), least))[1] - BITS)
    return np.abs(values - np.round(values / unit) * unit)


def head_of_slope(t1: Fraction, c2: Fraction, radius: Fraction) -> Fraction:
    """T1 rounded so that T1 - m, m about T1 + c2 h, is exact where m is the larger."""
    unit = max(ulp(t1), ulp(c2 * radius))
    return round(t1 / unit) * unit


def best_centre(p: list[Fraction], place: Fraction, reach: Fraction, radius: Fraction, layout: Layout) -> Fraction:
    """Of floats near `place`, where p is expanded, the one whose first coefficients are nearly floats."""
    unit = ulp(place)
    count = int(2 * reach / unit)
    steps = np.arange(-count // 2, count // 2, max(1, count // CENTRES), dtype=np.int64)
    by, c = steps * float(unit), [float(x) for x in p]
    cost, r = np.zeros(len(by)), float(radius)
    for k in range(1, layout.exact_terms + 1):
        moved = sum(c[j] * comb(j, k) * by ** (j - k) for j in range(k, len(c)))
        cost += r**k * misfit(moved, abs(c[2]) * r if k == 1 else 0.0)
    return place + int(steps[np.argmin(cost)]) * unit


def root(p: list[Fraction], low: Fraction, high: Fraction) -> Fraction | None:
    """Where the polynomial is 0, as a float, if its sign changes from low to high."""

    def value(h: Fraction) -> float:
        return float(sum(c * h**k for k, c in enumerate(p)))

    if value(low) * value(high) > 0:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if value(low) * value(middle) > 0 else (low, middle)
    return low


def near_zero(v: list[arb], known: list[Fraction], degree: int, high: Fraction) -> list[Fraction]:
    """`known` and coefficients up to h^degree: v at places in (0, high], one for each that is missing."""
    missing = degree + 1 - len(known)
    cosines = [(1 - (arb.pi() * (2 * i + 1) / (2 * missing + 2)).cos()) / 2 for i in range(missing + 1)]
    nodes = [ball(high) * (z - cosines[0]) / (1 - cosines[0]) for z in cosines[1:]]
    left = difference(v, known)
    d = [sum((c * h**k for k, c in enumerate(left)), arb(0)) / h ** len(known) for h in nodes]
    for level in range(1, missing):
        for k in range(missing - 1, level - 1, -1):
            d[k] = (d[k] - d[k - 1]) / (nodes[k] - nodes[k - level])
    q = [arb(0)] * missing
    for k in range(missing - 1, -1, -1):
        q = [a - nodes[k] * b for a, b in zip([arb(0), *q[:-1]], q, strict=True)]
        q[0] += d[k]
    return [*known, *(exact(c) for c in q)]


def first_coefficients(v: list[arb], derivative: bool, layout: Layout, high: Fraction) -> list[Fraction]:
    """Around 0, which is the centre, so that h = a: what the rounding of T1 leaves (in t that of c2, T1 = 1/2) is
    made good by the coefficients behind it."""
    known = [exact(v[0]), float32(exact(v[1]))]
    if not derivative:
        known.append(float32(near_zero(v, known, layout.degree, high)[2]))
    return [known[0], *map(float32, near_zero(v, known, layout.degree, high)[1:])]


def split(t0: Fraction, bits_less: int) -> tuple[Fraction, Fraction]:
    """T0 as a sum of two floats; bits_less = BITS: all of it in the second."""
    if t0 == 0 or bits_less == BITS:
        return Fraction(0), float32(t0)
    unit = ulp(t0) * 2**bits_less
    head = round(t0 / unit) * unit
    return head, float32(t0 - head)


def remainder(variant: Variant | Factor, derivative: bool, low: Fraction, high: Fraction) -> Fraction:
    """A bound on the coefficient of h^TERMS, from low to high: part by part, since balls that are wide say little. M is
    completely monotone: its coefficients are largest at `low`."""
    if isinstance(variant, Factor):
        ctx.cap = TERMS + 2
        mills = _mills(arb_series([ball(low), 1]))
        return (high + 1) * (upper(mills[TERMS]) + upper(mills[TERMS - 1]))
    parts = math.ceil((high - low) / NARROW)
    half = (high - low) / (2 * parts)
    balls = (arb(ball(low + (2 * k + 1) * half), ball(half)) for k in range(parts))
    return max(upper(taylor(variant, derivative, part)[TERMS]) for part in balls)


class Range(NamedTuple):
    """A float of a kernel over a range of h: its magnitude, and a power of two of which it is a multiple (0: none)."""

    most: Fraction
    least: Fraction
    grain: Fraction


def magnitude(x: arb) -> tuple[Fraction, Fraction]:
    m, e = (int(part) for part in abs(x).lower().man_exp()) if not x.contains(0) else (0, 0)
    return upper(x), max(Fraction(m) * Fraction(2) ** e, Fraction(0))


def rounded(x: arb) -> Range:
    """A float that x was rounded to."""
    most, least = magnitude(x)
    return Range(most * (1 + UNIT), least * (1 - UNIT), ulp(least) if least else Fraction(0))


def stored(x: Fraction) -> Range:
    return Range(abs(x), abs(x), grain(x) if x else Fraction(1))


def lost_by_difference(a: Range, b: Range, of: arb) -> Fraction:
    """a - b, about `of`: exact by Sterbenz's lemma, or because both are multiples of a number that is not too small."""
    most = upper(of) * (1 + UNIT)
    if (a.least >= b.most / 2 and b.least >= a.most / 2 and same_sign(a, b, of)) or not a.most or not b.most:
        return Fraction(0)
    common = min(a.grain, b.grain)
    return Fraction(0) if common and most <= common / UNIT else UNIT * most


def same_sign(a: Range, b: Range, of: arb) -> bool:
    return upper(of) < max(a.most, b.most)


def slope(layout: Layout, piece: Piece, h: arb) -> tuple[arb, Fraction, Fraction]:
    """m before it is rounded, |me| at most, and what m and me lose together."""
    t1, c2, c3, c4, *more = (ball(c) for c in piece.terms)
    h2, u = h * h, UNIT
    size = upper(h2)
    if layout is REGISTERS:
        c5, c6 = more
        first, second = c6 * h + c5, c4 * h + c3
        rest = first * h2 + second
        lost_rest = size * u * upper(first) * (2 + 2 * u) + u * (upper(second) + upper(rest)) * (1 + 4 * u)
        head, low = t1 + c2 * h, rest * h2
        lost = size * (lost_rest + u * upper(rest)) * (1 + 4 * u) + u * upper(low)
    else:
        inner = c4 * h + c3
        rest = inner * h + c2
        head, low = t1 + rest * h, arb(0)
        lost = upper(h) * u * (upper(h) * upper(inner) + upper(rest)) * (1 + 4 * u)
    m = rounded(head)
    lost += lost_by_difference(stored(piece.terms[0]), m, head - t1) + 4 * u * u * m.most
    return head, upper(low) + 2 * u * m.most + lost, lost


def lost_by_sum(piece: Piece, a: arb, a_grain: Fraction, move: arb, low: Fraction) -> Fraction:
    """From A = leading - T0, about a, on to the test: y is A + move rounded, |h me| <= low."""
    most, least = magnitude(a)
    a_range = Range(most * (1 + UNIT), least * (1 - UNIT), a_grain)
    result = rounded(a + move + arb(0, ball(UNIT * (most + low))))
    off = lost_by_difference(a_range, result, move)
    g = UNIT * a_range.most + abs(piece.t0_low)
    q = UNIT * result.most + off + g
    lo = (q + low) * (1 + 4 * UNIT)
    return off + (UNIT * UNIT * result.most + UNIT * (g + q + 2 * lo)) * (1 + 4 * UNIT)


def lost_in_part(layout: Layout, piece: Piece, derivative: bool, h: arb) -> Fraction:
    """The most that both signs of x lose, absolute."""
    head, m_low, lost_slope = slope(layout, piece, h)
    far, t0 = upper(h), stored(piece.t0)
    x = arb(1) if derivative else ball(piece.centre) + h
    right = lost_by_sum(piece, x - ball(piece.t0), min(ulp(magnitude(x)[1]), t0.grain), -head * h, m_low * far)
    left = lost_by_sum(piece, -ball(piece.t0), t0.grain, -head * h, m_low * far)
    return far * lost_slope + max(left, right)


def first_piece_loss(layout: Layout, piece: Piece) -> Fraction:
    """The first piece of t, where h = a, T0 = 0: A = max(x, 0), A - y is exact (A = 0, or m <= 1/2 and so
    A/2 <= y <= A), all in proportion to a."""
    h = arb(ball(piece.high / 2), ball(piece.high / 2))
    _, m_low, lost_slope = slope(layout, piece, h)
    bend = piece.terms[1] + sum(abs(c) * piece.high**k for k, c in enumerate(piece.terms[2:], 1))
    if not (piece.terms[0] == Fraction(1, 2) and -2 < bend < 0):
        raise ArithmeticError("the first piece: another slope")
    q = 2 * UNIT
    lo = (q + m_low) * (1 + 4 * UNIT)
    return lost_slope + (UNIT * UNIT + UNIT * (q + 2 * lo)) * (1 + 4 * UNIT)


def loss(layout: Layout, piece: Piece, derivative: bool, index: int, approximation: Fraction) -> Fraction:
    """The bound of a piece: in proportion to |x|, of a derivative absolute."""
    if index == 0 and not derivative:
        return approximation + first_piece_loss(layout, piece)
    low, high = piece.low - piece.centre, piece.high - piece.centre
    worst = Fraction(0)
    for part in range(PARTS):
        a, b = (low + (high - low) * Fraction(part + k, PARTS) for k in (0, 1))
        lost = approximation + lost_in_part(layout, piece, derivative, arb(ball((a + b) / 2), ball((b - a) / 2)))
        worst = max(worst, lost if derivative else lost / (piece.centre + a))
    return worst


def factor_part(layout: Layout, piece: Piece, h: arb) -> tuple[Fraction, Fraction]:
    """What v.hi + v.lo loses, and |v.lo| at most."""
    head, m_low, lost_slope = slope(layout, piece, h)
    far = upper(h)
    v = rounded(ball(piece.t0) + head * h)
    off = lost_by_difference(stored(piece.t0), v, head * h)
    kept = UNIT * v.most + off
    second = kept + abs(piece.t0_low)
    low = (second + m_low * far) * (1 + 4 * UNIT)
    return far * lost_slope + off + UNIT * (kept + second + low) * (1 + 4 * UNIT), low


def first_factor_part(layout: Layout, piece: Piece) -> tuple[Fraction, Fraction]:
    """The same where v = m h, in proportion to h."""
    h = arb(ball(piece.high / 2), ball(piece.high / 2))
    head, m_low, lost_slope = slope(layout, piece, h)
    low = (UNIT * upper(head) + m_low) * (1 + 4 * UNIT)
    return lost_slope + UNIT * (2 * UNIT * upper(head) + low) * (1 + 4 * UNIT), low


def factor_loss(factor: Factor, derivative: bool, layout: Layout, piece: Piece, approximation: Fraction) -> Fraction:
    """The bound of a piece: what e^-s v loses, in proportion to it, of a derivative to e^-s."""
    in_proportion = piece.centre == 0 and not derivative

    def size(a: Fraction) -> tuple[Fraction, Fraction]:
        v = taylor(factor, derivative, ball(a))
        return magnitude((v[0] / ball(a) if a else v[1]) if in_proportion else v[0])

    worst = Fraction(0)
    for part in range(PARTS):
        a, b = (piece.low + (piece.high - piece.low) * Fraction(part + k, PARTS) for k in (0, 1))
        h = arb(ball((a + b) / 2 - piece.centre), ball((b - a) / 2))
        lost, v_low = first_factor_part(layout, piece) if in_proportion else factor_part(layout, piece, h)
        (v, least), (v_end, least_end) = size(a), size(b)  # v, and v/a, are monotone
        v, least = max(v, v_end), min(least, least_end)
        e, e_low = exp_lost(layout, b * b / 2)
        roundings = 3 * UNIT * (UNIT * v + v_low + e_low * v)
        total = approximation + lost + (e * v + e_low * v_low + roundings) * (1 + Fraction(1, 2**12))
        worst = max(worst, total if derivative else total / least)
    return worst


def check_h(piece: Piece) -> None:
    """a - c is exact: both are multiples of a number that is not too small."""
    unit = min(ulp(piece.low), grain(piece.centre))
    if max(piece.high - piece.centre, piece.centre - piece.low) > unit * 2**BITS:
        raise ArithmeticError(f"the centre {float(piece.centre)}: h is not exact")


def make_piece(
    variant: Variant | Factor, derivative: bool, layout: Layout, shape: Shape, index: int
) -> tuple[Piece, Fraction]:
    low, high = shape.span(index)
    place, width = shape.place(index), shape.width_of(index)
    v = taylor(variant, derivative, ball(place))[:TERMS]
    if index == 0:
        centre, p = place, first_coefficients(v, derivative, layout, high)
    else:
        p = fit(v, layout.degree, max(place - low, high - place, width / 2))
        at_root = root(p, low - place, high - place)
        near = place if at_root is None else float32(place + at_root)
        reach = REACH * width if at_root is None else NEAR_ROOT
        centre = best_centre(shifted(p, near - place), near, reach, width / 2, layout)
        p = shifted(p, centre - place)
        p = [p[0], head_of_slope(p[1], p[2], width / 2), *map(float32, p[2:])]
        v = taylor(variant, derivative, ball(centre))[:TERMS]
    radius = max(high - centre, centre - low)
    beyond = remainder(variant, derivative, low, high) * radius**TERMS
    best = None
    for bits_less in GRAINS:
        piece = Piece(centre, low, high, *split(p[0], bits_less), p[1:])
        left = difference(v, piece.coefficients)
        if index == 0 and not derivative:
            approximation = largest_on(left[1:], low, high) + beyond / radius
        else:
            approximation = largest_on(left, low - centre, high - centre) + beyond
        if isinstance(variant, Factor):
            bound = factor_loss(variant, derivative, layout, piece, approximation)
        else:
            bound = loss(layout, piece, derivative, index, approximation)
        if best is None or bound < best[1]:
            best = piece, bound
    if index:
        check_h(best[0])
    return best


def rounded_up(x: Fraction, bits: int = 12) -> Fraction:
    unit = Fraction(2) ** (math.frexp(float(x))[1] - bits)
    return math.ceil(x / unit) * unit


def all_pieces(variant: Variant | Factor, derivative: bool, layout: Layout, shape: Shape) -> list[list[Fraction]]:
    """Columns c, T0, low part of T0, T1, c2, ..., bound."""
    rows = []
    for index in range(shape.pieces):
        piece, bound = make_piece(variant, derivative, layout, shape, index)
        if index == shape.pieces - 1 and not isinstance(variant, Factor):  # beyond it v falls to 0, and a is clamped
            size = upper(taylor(variant, derivative, ball(piece.high))[0])
            bound += size if derivative else size / piece.high
        bound = rounded_up(SLACK * (bound + (LOST if derivative else 0)))
        scale = FACTOR_SCALE if isinstance(variant, Factor) else 1
        numbers = [scale * number for number in (piece.t0, piece.t0_low, *piece.terms)]
        rows.append([piece.centre, *numbers, bound * (scale if derivative else 1)])
    return rows


def short_hex(x: Fraction) -> str:
    head, tail = float(x).hex().split("p")
    return f"{head.rstrip('0').rstrip('.')}p{tail}f" if x else "0.0f"


def place_of(shape: Shape) -> str:
    inverse, start, shift = shape.scale
    return f"{short_hex(inverse)}, {short_hex(start)}, {shift}, {short_hex(shape.last)}"


def registers_of(name: str, variant: Variant | Factor, derivative: bool, shape: Shape) -> list[str]:
    columns = zip(*all_pieces(variant, derivative, REGISTERS, shape), strict=True)
    lines = [f"static const gv_float_table gv_{name}_float_table = {{"]
    lines += ["    {", *("        {" + ", ".join(map(short_hex, column)) + "}," for column in columns), "    },"]
    return [*lines, f"    {place_of(shape)}", "};"]


def rows_of(name: str, variant: Variant | Factor, derivative: bool, shape: Shape) -> list[str]:
    lines = [f"static const gv_float_row gv_{name}_float_rows[{shape.pieces}] = {{"]
    rows = all_pieces(variant, derivative, ROWS, shape)
    lines += [*("    {{" + ", ".join(map(short_hex, row)) + "}}," for row in rows), "};"]
    return [*lines, f"static const gv_float_table gv_{name}_float_table = {{gv_{name}_float_rows, {place_of(shape)}}};"]


def render(variant: Variant | Factor, derivative: bool) -> str:
    ctx.prec = 200
    name = variant.name
    if isinstance(variant, Factor):
        name, what, (registers, rows) = f"{name}_gaussian", variant.what, FACTOR_SHAPES
    else:
        name, what = (f"{name}_grad", "t'(a)") if derivative else (name, "t(a)")
        registers, rows = SHAPES[name]
    lines = [f"#if GV_FLOAT_TABLES == GV_REGISTERS /* {what}, a: {registers} */"]
    lines += registers_of(name, variant, derivative, registers)
    if rows:
        lines += [f"#elif GV_FLOAT_TABLES == GV_ROWS /* {what}, a: {rows} */"]
        lines += rows_of(name, variant, derivative, rows)
    lines += ["#endif"]
    guard = f"GV_TABLES_{name.upper()}_F32_H"
    begin = ["/* Generated by tools/make_float32_tables.py; do not edit. */", f"#ifndef {guard}", f"#define {guard}"]
    return "\n".join([*begin, '#include "../cr/float_tables.h"', "", *lines, "", "#endif", ""])


RATES = {"silu": "1", "gelu_sigmoid": "1.702"}
STEP_BITS = {"#if GV_EXP_BITS == 4": 4, "#else": 3}  # 2^(j/16) or 2^(j/8): a register of AVX-512 or AVX2
INFINITE = 128  # 2^128 has the bits of an infinity


def exponent_steps(bits: int) -> tuple[list[Fraction], list[Fraction]]:
    """2^(j/2^bits) as floats, their exponents less what j adds to them; and what they lack, relative."""
    steps = [(arb.const_log2() * j / 2**bits).exp() for j in range(2**bits)]
    rounded_steps = [float32(exact(step)) for step in steps]
    words = [int(np.float32(float(step)).view(np.uint32)) - (j << 23 - bits) for j, step in enumerate(rounded_steps)]
    stored_steps = [Fraction(float(np.uint32(word).view(np.float32))) for word in words]
    rest = [float32(exact(step / ball(t) - 1)) for step, t in zip(steps, rounded_steps, strict=True)]
    return stored_steps, rest


def rate_numbers(rate: str, bits: int) -> list[Fraction]:
    value = arb(rate)
    step = arb.const_log2() / 2**bits / value
    high, step_high = float32(exact(value)), float32(exact(step))
    step_low = float32(exact((step - ball(step_high)) * value))
    per_unit, most = float32(exact(-1 / step)), float32(exact(INFINITE * arb.const_log2() / value))
    return [high, float32(exact(value - ball(high))), per_unit, step_high, step_low, most]


def render_exp() -> str:
    ctx.prec = 200
    lines = ["/* Generated by tools/make_float32_tables.py; do not edit. */", "#ifndef GV_TABLES_EXP_F32_H"]
    lines += ["#define GV_TABLES_EXP_F32_H", '#include "../cr/float_tables.h"', ""]
    lines += ["/* 2^(j/16) or 2^(j/8), from its bits those of j taken away; and what is to be added, relative.", ""]
    lines += ["   rate, rate_low, steps_per_unit, step, step_low, most: e^-s is 2^-128 there, and 2^128 at -most */"]
    for condition, bits in STEP_BITS.items():
        lines += [condition]
        for name, numbers in zip(("gv_float_exp2", "gv_float_exp2_rest"), exponent_steps(bits), strict=True):
            lines += [f"static const float GV_FLOAT_ALIGNED(64) {name}[{2**bits}] = {{"]
            rows = [numbers[k : k + 8] for k in range(0, 2**bits, 8)]
            lines += [*("    " + ", ".join(map(short_hex, row)) + "," for row in rows), "};"]
        for name, rate in RATES.items():
            numbers = ", ".join(map(short_hex, rate_numbers(rate, bits)))
            lines += [f"static const gv_float_rate gv_{name}_rate = {{{numbers}}};"]
    return "\n".join([*lines, "#endif", "", "#endif", ""])


STAYS = 0x80  # a lane that gets nothing


def lane_orders(mask: int) -> tuple[int, int]:
    """Of eight lanes those in the mask moved to the front, and back: eight bytes, where each lane is taken from."""
    lanes = [k for k in range(8) if mask >> k & 1]
    back = [lanes.index(k) if k in lanes else STAYS for k in range(8)]
    return tuple(sum(lane << 8 * k for k, lane in enumerate(order)) for order in (lanes, back))


def byte_order(lanes: int) -> list[int]:
    """The same of four floats, as an order of their bytes."""
    return [k if k == STAYS else 4 * k + byte for k in (lanes >> 8 * i & 0xFF for i in range(4)) for byte in range(4)]


def render_lane_orders() -> str:
    lines = ["/* Generated by tools/make_float32_tables.py; do not edit. */", "#ifndef GV_TABLES_LANE_ORDERS_H"]
    lines += ["#define GV_TABLES_LANE_ORDERS_H", "#include <stdint.h>", ""]
    lines += ["/* By mask, a byte for each of eight lanes: the lane that it is taken from, 0x80: none */"]
    orders = dict(zip(("compress", "expand"), zip(*map(lane_orders, range(256)), strict=True), strict=True))
    for name, numbers in orders.items():
        words = [f"0x{number:016x}u" for number in numbers]
        lines += [f"static const uint64_t gv_{name}_order[256] = {{"]
        lines += ["    " + ", ".join(words[k : k + 4]) + "," for k in range(0, 256, 4)] + ["};"]
    lines += ["", "/* The same for four lanes, byte by byte */"]
    for name, numbers in orders.items():
        rows = [", ".join(f"0x{byte:02x}" for byte in byte_order(number)) for number in numbers[:16]]
        lines += [f"static const uint8_t gv_{name}_bytes[16][16] = {{", *(f"    {{{row}}}," for row in rows), "};"]
    return "\n".join([*lines, "", "#endif", ""])


OTHERS = {"exp_f32.h": render_exp, "lane_orders.h": render_lane_orders}


def main(arguments: list[str]) -> int:
    wanted = [argument for argument in arguments if argument != "--check"] or [
        *OTHERS,
        *SHAPES,
        *(f"{factor.name}_gaussian" for factor in FACTORS),
    ]
    cases = {
        variant.name + ("_grad" if derivative else ""): (variant, derivative)
        for variant in FUNCTIONS
        for derivative in (False, True)
    } | {f"{factor.name}_gaussian": (factor, factor.name.endswith("_grad")) for factor in FACTORS}
    texts = ((name, OTHERS[name]()) if name in OTHERS else (f"{name}_f32.h", render(*cases[name])) for name in wanted)
    return write(texts, arguments, "make_float32_tables.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
