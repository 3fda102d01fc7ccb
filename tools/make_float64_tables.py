"""Generate src/tables/<function>_f64.h: the pieces of the float64 kernels, with a proved bound for each.

Run from the top of the checkout: python tools/make_float64_tables.py [--check]     (needs python-flint)

For f(x) = x sigma(x) let t(a) = -f(-a), a >= 0: then f(x) = max(x, 0) - t(|x|), and the derivative is
t'(a) at x = -a and 1 - t'(a) at x = a. What is tabulated is v = t or v = t', in PIECES pieces around
centres c = i width: v(c + h) = T0 + T1 h + h^2 R(h), |h| <= width/2, R of degree 6. T1 and the doubles of R come from
the Chebyshev expansion of v on the piece; v itself from its Taylor series in Arb balls of 400 bits.

Every number that a bound rests on is a ball; a bound is rounded up. src/cr/float64.h says what is counted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import NamedTuple

from flint import arb, arb_series, ctx, fmpq

FOLDER = Path(__file__).parents[1] / "src" / "tables"
PIECES = 512
DEGREE = 8
REST = 12  # coefficients of what is left between v and the piece, as floats
REST_BITS = 16
REST_SCALE = 60  # ... times 2^60, away from the subnormal floats
TERMS = 24  # of the Taylor series; the remainder is bounded
T1_BITS = 26  # so that T1 times half of the bits of h is exact without fma
UNIT = Fraction(1, 2**53)


def _slope_tanh(a: arb_series) -> arb_series:
    return 2 * (2 / arb.pi()).sqrt() * (a + arb(fmpq(44715, 1000000)) * a * a * a)


def _logistic(slope: Callable[[arb_series], arb_series]) -> Callable[[arb_series], arb_series]:
    return lambda a: a / (1 + slope(a).exp())


class Variant(NamedTuple):
    name: str
    below: Callable[[arb_series], arb_series]  # t
    width: Fraction


VARIANTS = (
    Variant("gelu", lambda a: a * (a / arb(2).sqrt()).erfc() / 2, Fraction(1, 64)),
    Variant("gelu_tanh", _logistic(_slope_tanh), Fraction(1, 64)),
    Variant("gelu_sigmoid", _logistic(lambda a: a * arb(fmpq(1702, 1000))), Fraction(1, 32)),
    Variant("silu", _logistic(lambda a: a), Fraction(1, 32)),
)


def ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def exact(x: arb) -> Fraction:
    """The midpoint of a ball."""
    m, e = (int(part) for part in x.mid().man_exp())
    return Fraction(m) * Fraction(2) ** e


def nearest(x: Fraction, bits: int = 53) -> Fraction:
    """x rounded to `bits` bits, ties to even; no result is subnormal here."""
    if x == 0:
        return x
    exponent = math.frexp(float(x))[1]
    unit = Fraction(2) ** (exponent - bits)
    return round(x / unit) * unit


def upper(x: arb) -> Fraction:
    """A bound on |x|."""
    m, e = (int(part) for part in abs(x).upper().man_exp())
    return Fraction(m) * Fraction(2) ** e


def taylor(variant: Variant, derivative: bool, centre: arb) -> list[arb]:
    """Coefficients 0 .. TERMS of v around every point of the ball `centre`."""
    ctx.cap = TERMS + 2
    series = variant.below(arb_series([centre, 1]))
    t = [series[k] for k in range(TERMS + 2)]
    return [(k + 1) * t[k + 1] for k in range(TERMS + 1)] if derivative else t[:-1]


def chebyshev(monomial: list[arb]) -> list[arb]:
    """sum m_k u^k = sum e_j T_j(u)."""
    e = [arb(0)] * len(monomial)
    for k, m in enumerate(monomial):
        for j in range(k % 2, k + 1, 2):
            e[j] += m * ball(Fraction(comb(k, (k - j) // 2) * (1 if j == 0 else 2), 2**k))
    return e


def monomial(e: list[arb]) -> list[arb]:
    """sum e_j T_j(u) = sum m_k u^k."""
    before, now = [1], [0, 1]
    m = [arb(0)] * len(e)
    for value in e:
        for k, c in enumerate(before):
            m[k] += c * value
        before, now = now, [a - b for a, b in zip([0, *(2 * c for c in now)], [*before, 0, 0], strict=True)]
    return m


def fit(v: list[arb], degree: int, radius: Fraction) -> list[Fraction]:
    """Near-best polynomial of this degree on |h| <= radius: the Chebyshev expansion cut off."""
    scaled = [c * ball(radius**k) for k, c in enumerate(v)]
    return [exact(c) / radius**k for k, c in enumerate(monomial(chebyshev(scaled)[: degree + 1]))]


def largest(difference: list[arb], radius: Fraction) -> Fraction:
    """A bound on |sum d_k h^k|, |h| <= radius."""
    scaled = [d * ball(radius**k) for k, d in enumerate(difference)]
    return sum((upper(e) for e in chebyshev(scaled)), Fraction(0))


def rounded_up(x: Fraction) -> Fraction:
    """8 bits are enough for a bound."""
    unit = Fraction(2) ** (math.frexp(float(x))[1] - 8)
    return math.ceil(x / unit) * unit


class Piece(NamedTuple):
    t0: tuple[Fraction, Fraction]
    t1: tuple[Fraction, Fraction]
    c: list[Fraction]  # of h^2 .. h^8
    bound: Fraction
    rest: list[Fraction]


def pair(x: Fraction, bits: int = 53) -> tuple[Fraction, Fraction]:
    head = nearest(x, bits)
    return head, nearest(x - head)


def evaluation_bound(t0: Fraction, t1: Fraction, c: list[Fraction], radius: Fraction) -> Fraction:
    """What the operations of gv_piece_sum lose, apart from 4 u |q|: counted in src/cr/float64.h."""
    tail = sum((abs(value) * radius ** (k + 2) for k, value in enumerate(c) if k), Fraction(0))
    linear, square = abs(t1) * radius, sum(abs(value) * radius ** (k + 2) for k, value in enumerate(c))
    return 14 * UNIT * tail + UNIT / 2**22 * linear + 16 * UNIT**2 * (abs(t0) + linear + square)


def make_piece(variant: Variant, derivative: bool, index: int) -> Piece:
    """The piece of this index; its bound holds for |h| <= width/2."""
    centre, radius = index * variant.width, variant.width / 2
    v = taylor(variant, derivative, ball(centre))
    everywhere = taylor(variant, derivative, arb(ball(centre), ball(radius)))
    remainder = upper(everywhere[TERMS]) * radius**TERMS
    v = v[:TERMS]
    if index or derivative:
        p = fit(v, DEGREE, radius)
        t0, t1, c = pair(p[0]), pair(p[1], T1_BITS), [nearest(x) for x in p[2:]]
    else:  # v = h/2 + h^2 R(h): the error must vanish with h^2
        t0, t1 = (Fraction(0), Fraction(0)), (Fraction(1, 2), Fraction(0))
        c = [nearest(x) for x in fit(v[2:], DEGREE - 2, radius)]
    coefficients = [sum(t0), sum(t1), *c, *[Fraction(0)] * (TERMS - DEGREE - 1)]
    difference = [a - ball(b) for a, b in zip(v, coefficients, strict=True)]
    rest = [exact(d) for d in difference[:REST]]
    if index or derivative:
        bound = largest(difference, radius) + remainder + evaluation_bound(t0[0], t1[0], c, radius)
        return Piece(t0, t1, c, rounded_up(bound), rest)
    loss = largest(difference[2:], radius) + remainder / radius**2
    loss += evaluation_bound(Fraction(0), Fraction(0), c, radius) / radius**2
    if loss > abs(c[0]) * UNIT * Fraction(9, 8):  # the rounding of c[0], and little more
        raise ArithmeticError(f"{variant.name}: the first piece loses {float(loss / abs(c[0]) / UNIT)} roundings")
    return Piece(t0, t1, c, Fraction(1, 2**1020), [Fraction(0), Fraction(0), *rest[2:]])


def short_hex(x: Fraction) -> str:
    """3 as 0x1.8p+1."""
    head, tail = float(x).hex().split("p")
    return f"{head.rstrip('0').rstrip('.')}p{tail}" if x else "0.0"


def row_text(piece: Piece) -> str:
    return "{" + ", ".join(short_hex(x) for x in (*piece.t0, *piece.t1, *piece.c, piece.bound)) + "}"


def rest_text(piece: Piece) -> str:
    return "{" + ", ".join(short_hex(nearest(x * 2**REST_SCALE, REST_BITS)) for x in piece.rest) + "}"


def render(variant: Variant, derivative: bool) -> str:
    ctx.prec = 400
    name = variant.name + ("_grad" if derivative else "")
    pieces = [make_piece(variant, derivative, index) for index in range(PIECES)]
    what = "t'(a)" if derivative else "t(a)"
    lines = [
        "/* Generated by tools/make_float64_tables.py; do not edit. */",
        f"#ifndef GV_TABLES_{name.upper()}_F64_H",
        f"#define GV_TABLES_{name.upper()}_F64_H",
        '#include "../cr/pieces.h"',
        "",
        f"#define GV_{name.upper()}_PER_UNIT {1 / variant.width}.0 /* pieces per unit of a */",
        "",
        f"/* {what} around i/{1 / variant.width}: T0 and T1 as hi, lo; coefficients of h^2 .. h^8; bound */",
        f"static const gv_piece gv_{name}_pieces[GV_PIECES] = {{",
        *(f"    {{{row_text(piece)}}}," for piece in pieces),
        "};",
        "",
        f"/* what is left, times 2^{REST_SCALE}: coefficients of h^0 .. h^{REST - 1} */",
        f"static const gv_piece_rest gv_{name}_rest[GV_PIECES] = {{",
        *(f"    {{{rest_text(piece)}}}," for piece in pieces),
        "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    differ = []
    for variant in VARIANTS:
        for derivative in (False, True):
            target = FOLDER / f"{variant.name}{'_grad' if derivative else ''}_f64.h"
            text = render(variant, derivative)
            if "--check" not in sys.argv:
                target.write_text(text)
            elif target.read_text() != text:
                differ.append(target.name)
    if differ:
        print(f"{', '.join(differ)}: not what {sys.argv[0]} generates", file=sys.stderr)
    return len(differ) > 0


if __name__ == "__main__":
    sys.exit(main())
