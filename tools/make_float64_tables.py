"""Generate src/tables/*_f64.h: the pieces of gelu and gelu_grad in float64, each with a proved bound; powers of 2.

Run from the top of the checkout: python tools/make_float64_tables.py [--check]     (needs python-flint)

For f(x) = x Phi(x) let t(a) = -f(-a), a >= 0: then f(x) = max(x, 0) - t(|x|), and the derivative is
t'(a) at x = -a and 1 - t'(a) at x = a. What is tabulated is v = t or v = t', in pieces around
centres c = i width: v(c + h) = T0 + T1 h + h^2 R(h), |h| <= width/2, R of degree 5, from the Chebyshev expansion
of v on the piece, which comes from the Taylor series in Arb balls of 400 bits. A row is 64 bytes; src/cr/pieces.h says
how it is packed. Beside it stands the `rest`: the Chebyshev expansion of v less its piece.

Every number that a bound rests on is a ball; a bound is rounded up. src/cr/float64.h and wide.h say what is counted.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain
from math import comb
from pathlib import Path
from typing import NamedTuple

from flint import arb, arb_series, ctx, fmpq

FOLDER = Path(__file__).parents[1] / "src" / "tables"
DEGREE = 7
REST_DEGREE = 10
REST_BITS = 32
TERMS = 24  # of the Taylor series; the remainder is bounded
UNIT = Fraction(1, 2**53)
SLACK = 1 + Fraction(1, 2**40)  # for the roundings of a bound when it is used
WIDE = Fraction(1, 2**74)  # no more pieces than have a rest that brings them so close, relatively
TAIL_SLACK = 1 + Fraction(1, 2**4)  # for a proof by other means
LOW_SHIFT, LAST_SHIFT, LOSS_SHIFT = 32, 36, 50  # pieces.h
POWERS = 32  # logistic.h


def _slope_tanh(a: arb_series) -> arb_series:
    return 2 * (2 / arb.pi()).sqrt() * (a + arb(fmpq(44715, 1000000)) * a * a * a)


def _logistic(slope: Callable[[arb_series], arb_series]) -> Callable[[arb_series], arb_series]:
    return lambda a: a / (1 + slope(a).exp())


class Variant(NamedTuple):
    """A function, with its t: of gelu alone here, of all in make_float32_tables.py and make_bfloat16_tables.py."""

    name: str
    below: Callable[[arb_series], arb_series]
    width: Fraction = Fraction(1, 64)
    pieces: int = 512


VARIANTS = (
    Variant("gelu", lambda a: a * (a / arb(2).sqrt()).erfc() / 2),
    Variant("gelu_tanh", _logistic(_slope_tanh)),
    Variant("gelu_sigmoid", _logistic(lambda a: a * arb(fmpq(1702, 1000)))),
    Variant("silu", _logistic(lambda a: a)),
)


class Tail(NamedTuple):
    """A factor of gelu's tail, which src/cr/tail.h multiplies by e^(-a^2/2), in pieces from `first` on."""

    name: str
    below: Callable[[arb_series], arb_series]
    what: str
    width: Fraction
    first: int
    pieces: int


def _mills(a: arb_series) -> arb_series:
    """M(a)/sqrt(2 pi)"""
    return (a * a / 2).exp() * (a / arb(2).sqrt()).erfc() / 2


TAILS = (
    Tail("gelu", lambda a: a * _mills(a), "a M(a)/sqrt(2 pi)", Fraction(1, 16), 80, 545),
    Tail(
        "gelu_grad",
        lambda a: 1 / (2 * arb.pi()).sqrt() - _mills(a) / a,
        "(1 - M(a)/a)/sqrt(2 pi)",
        Fraction(1, 16),
        80,
        545,
    ),
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


def taylor(variant: Variant | Tail, derivative: bool, centre: arb) -> list[arb]:
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


def to_bits(x: Fraction) -> int:
    return int.from_bytes(struct.pack(">d", float(x)), "big")


def from_bits(bits: int) -> Fraction:
    return Fraction(struct.unpack(">d", bits.to_bytes(8, "big"))[0])


def rounded_to_top(x: Fraction, bits: int) -> int:
    """The first `bits` bits of the double nearest to x that has no others."""
    return (to_bits(x) + (1 << (63 - bits))) >> (64 - bits)


def rounded_up_to_top(x: Fraction, bits: int) -> int:
    """The first `bits` bits of a double >= x > 0 that has no others."""
    return (to_bits(x) >> (64 - bits)) + 1


def carrying(x: Fraction, low: int, width: int) -> Fraction:
    """The double next to x whose last `width` bits are `low`."""
    kept = to_bits(x) >> width << width | low
    return min(
        (from_bits(kept + (step << width)) for step in (-1, 0, 1) if kept + (step << width) >= 0),
        key=lambda y: abs(y - x),
    )


class Piece(NamedTuple):
    row: list[Fraction]  # as in the table
    rest: list[Fraction]  # coefficients, and the bound of src/cr/wide.h
    wide: Fraction  # that bound, relative
    q_loss: Fraction  # what coefficients and last roundings take from q: src/cr/float64.h


def unpacked(row: list[Fraction]) -> tuple[list[Fraction], Fraction]:
    """Coefficients of h^0 .. h^7 as the code has them, and the bound."""
    t0, t1, low, c2, c3, c4, c5, c6 = row
    mask = (1 << 64) - 1
    t1_low, c7, bound = (
        from_bits(to_bits(packed) << shift & mask)
        for packed, shift in ((low, LOW_SHIFT), (c6, LAST_SHIFT), (c5, LOSS_SHIFT))
    )
    return [t0 + low, t1 + t1_low, c2, c3, c4, c5, c6, c7], bound


def head(t0: Fraction, linear: Fraction) -> Fraction:
    """t0 rounded to a double that is at least `linear`, or a multiple of its unit in the last place."""
    if abs(t0) >= linear * (1 + UNIT):
        return nearest(t0)
    unit = Fraction(2) ** (math.frexp(float(linear))[1] - 52)
    return round(t0 / unit) * unit


def packed(p: list[Fraction], bound: Fraction, radius: Fraction) -> list[Fraction]:
    t1 = nearest(p[1])
    t0 = head(p[0], abs(t1) * radius)
    low = carrying(p[0] - t0, rounded_to_top(p[1] - t1, 64 - LOW_SHIFT), 64 - LOW_SHIFT)
    c5 = carrying(p[5], rounded_up_to_top(bound, 64 - LOSS_SHIFT), 64 - LOSS_SHIFT)
    c6 = carrying(p[6], rounded_to_top(p[7], 64 - LAST_SHIFT), 64 - LAST_SHIFT)
    return [t0, t1, low, *(nearest(x) for x in p[2:5]), c5, c6]


def sizes(p: list[Fraction], radius: Fraction) -> list[Fraction]:
    return [abs(c) * radius**k for k, c in enumerate(p)]


def evaluation_bound(p: list[Fraction], radius: Fraction) -> Fraction:
    """What the operations of gv_piece_sum lose, apart from 4 u |q|: counted in src/cr/float64.h."""
    size = sizes(p, radius)
    return 14 * UNIT * sum(size[3:]) + 2**6 * UNIT**2 * sum(size)


def wide_bound(p: list[Fraction], rest: list[Fraction], radius: Fraction) -> Fraction:
    """What the operations of src/cr/wide.h lose: counted there."""
    return (
        4 * UNIT * sum(sizes(p, radius)[6:])
        + 16 * UNIT * sum(sizes(rest, radius))
        + 2**7 * UNIT**2 * sum(sizes(p, radius))
    )


def difference(v: list[arb], *polynomials: list[Fraction]) -> list[arb]:
    left = list(v)
    for p in polynomials:
        for k, c in enumerate(p):
            left[k] -= ball(c)
    return left


def check_sums(name: str, row: list[Fraction], p: list[Fraction], radius: Fraction) -> None:
    """T0 + T1 h and then + q lose nothing in two-sums of three operations: src/cr/float64.h says why."""
    linear, square = SLACK * abs(row[1]) * radius, SLACK * sum(sizes(p, radius)[2:])
    if abs(row[0]) < linear + square and linear < SLACK * square:
        raise ArithmeticError(f"{name}: no term of a piece is surely the largest")


def largest_remainder(variant: Variant | Tail, derivative: bool, centre: Fraction, radius: Fraction) -> Fraction:
    """A bound on the coefficient of h^TERMS. M and M/a are completely monotone: of all their coefficients those at the
    left end are the largest."""
    if not isinstance(variant, Tail):
        return upper(taylor(variant, derivative, arb(ball(centre), ball(radius)))[TERMS])
    ctx.cap = TERMS + 2
    a = arb_series([ball(centre - radius), 1])
    mills = _mills(a)
    if variant.name == "gelu":  # (a M)_n = a M_n + M_(n-1)
        return (centre + radius) * upper(mills[TERMS]) + upper(mills[TERMS - 1])
    return upper((mills / a)[TERMS])


def make_piece(variant: Variant | Tail, derivative: bool, index: int) -> Piece:
    centre, radius = index * variant.width, variant.width / 2
    v = taylor(variant, derivative, ball(centre))[:TERMS]
    beyond = largest_remainder(variant, derivative, centre, radius) * radius**TERMS
    if index == 0 and not derivative:
        return first_piece(variant, v, beyond, radius)
    best = fit(v, DEGREE, radius)
    row = packed(best, Fraction(1), radius)
    p = unpacked(row)[0]
    p[5] = best[5]  # its last bits are not known yet; what they do is added
    bound = largest(difference(v, p), radius) + beyond + evaluation_bound(p, radius)
    bound += abs(best[5]) * radius**5 / 2 ** (LOSS_SHIFT - 12)
    if isinstance(variant, Tail):
        bound *= TAIL_SLACK
    if derivative:  # 1 is added where x > 0
        bound += 8 * UNIT**2
    row = packed(best, SLACK * bound, radius)
    p = unpacked(row)[0]
    check_sums(variant.name, row, p, radius)
    rest = [nearest(x, REST_BITS) for x in fit(difference(v, p), REST_DEGREE, radius)]
    wide = largest(difference(v, p, rest), radius) + beyond + wide_bound(p, rest, radius)
    wide = from_bits(rounded_up_to_top(SLACK * wide, 20) << 44)
    return Piece(row, [*rest, wide], wide / (abs(row[0]) + abs(row[1]) * radius), UNIT / 8)


def first_piece(variant: Variant, v: list[arb], beyond: Fraction, radius: Fraction) -> Piece:
    """v = h/2 + h^2 R(h): the error must vanish with h^2; bounds are relative to R."""
    best = [Fraction(0), Fraction(1, 2), *fit(v[2:], DEGREE - 2, radius)]
    row = packed(best, Fraction(1, 2**1021), radius)
    p = unpacked(row)[0]
    smallest = abs(p[2]) - sum(sizes(p, radius)[3:]) / radius**2
    square = [Fraction(0)] * 2 + p[2:]
    loss = largest(difference(v, p)[2:], radius) + (beyond + evaluation_bound(square, radius)) / radius**2
    rest = [Fraction(0), Fraction(0)]
    rest += [nearest(x, REST_BITS) for x in fit(difference(v, p)[2:], REST_DEGREE - 2, radius)]
    wide = largest(difference(v, p, rest)[2:], radius) + beyond / radius**2
    wide += wide_bound(square, rest, radius) / radius**2
    wide = from_bits(rounded_up_to_top(SLACK * wide / smallest, 20) << 44)
    return Piece(row, [*rest, wide], wide, loss / smallest + Fraction(9, 8) * UNIT)


def short_hex(x: Fraction) -> str:
    """3 as 0x1.8p+1."""
    head, tail = float(x).hex().split("p")
    return f"{head.rstrip('0').rstrip('.')}p{tail}" if x else "0.0"


def row_text(numbers: list[Fraction]) -> str:
    return "    {{" + ", ".join(short_hex(x) for x in numbers) + "}},"


def render(variant: Variant, derivative: bool) -> str:
    ctx.prec = 400
    name = variant.name + ("_grad" if derivative else "")
    pieces = [make_piece(variant, derivative, index) for index in range(variant.pieces)]
    end = pieces[-1].row  # never decides: what lies beyond the table comes here
    end[6] = carrying(end[6], 0x7FF << 52 >> LOSS_SHIFT, 64 - LOSS_SHIFT)
    wide = next((i for i, piece in enumerate(pieces) if piece.wide > WIDE), variant.pieces - 1)
    q_loss = math.ceil((4 * UNIT + pieces[0].q_loss) * 2**57)
    what = "t'(a)" if derivative else "t(a)"
    guard = f"GV_TABLES_{name.upper()}_F64_H"
    lines = [
        "/* Generated by tools/make_float64_tables.py; do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        '#include "../cr/pieces.h"',
        "",
        f"#define GV_{name.upper()}_PER_UNIT {1 / variant.width}.0 /* pieces per unit of a */",
        f"#define GV_{name.upper()}_PIECES {variant.pieces}",
        f"#define GV_{name.upper()}_Q_LOSS {short_hex(Fraction(q_loss, 2**57))}",
        f"#define GV_{name.upper()}_WIDE {wide} /* the first so many have a rest */",
        "",
        f"/* {what} around i/{1 / variant.width} */",
        f"GV_TABLE gv_piece gv_{name}_pieces[{variant.pieces}] = {{",
        *(row_text(piece.row) for piece in pieces),
        "};",
        "",
        f"/* {what} less its piece; bound */",
        f"GV_TABLE gv_piece_rest gv_{name}_rest[{wide}] = {{",
        *(row_text(piece.rest) for piece in pieces[:wide]),
        "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def render_tail(tail: Tail) -> str:
    ctx.prec = 400
    guard, name = f"GV_TABLES_{tail.name.upper()}_TAIL_F64_H", tail.name.upper()
    rows = [make_piece(tail, False, index).row for index in range(tail.first, tail.first + tail.pieces)]
    lines = [
        "/* Generated by tools/make_float64_tables.py; do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        '#include "../cr/pieces.h"',
        "",
        f"#define GV_{name}_TAIL_PER_UNIT {1 / tail.width}.0 /* pieces per unit of a */",
        f"#define GV_{name}_TAIL_FIRST {tail.first}.0",
        "",
        f"/* {tail.what} around i/{1 / tail.width}, i = {tail.first}, ... */",
        f"GV_TABLE gv_piece gv_{tail.name}_tail_pieces[{tail.pieces}] = {{",
        *map(row_text, rows),
        "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def render_powers() -> str:
    """2^(-j/32) = power e^rest, power a double, plus j 2^47 in bits: i 2^47 less, i = j + 32 n, they are 2^-n power."""
    ctx.prec, ctx.cap = 400, TERMS + 2
    rows, cubic = [], _slope_tanh(arb_series([0, 1]))[3]
    for j in range(POWERS):
        power = nearest(exact((-arb.const_log2() * j / POWERS).exp()))
        rest = nearest(exact(-(ball(power).log() + arb.const_log2() * j / POWERS)))
        shifted = from_bits(to_bits(power) + (j << 52) // POWERS)
        rows.append(f"    {{{short_hex(shifted)}, {short_hex(rest)}}},")
    lines = [
        "/* Generated by tools/make_float64_tables.py; do not edit. */",
        "#ifndef GV_TABLES_EXP_F64_H",
        "#define GV_TABLES_EXP_F64_H",
        '#include "../cr/pieces.h"',
        "",
        f"/* 2^(-j/{POWERS}), its bits and j 2^52/{POWERS}; the logarithm of what it is more than that double */",
        f"GV_TABLE gv_dd gv_exp_powers[{POWERS}] GV_ROW_ALIGNED = {{",
        *rows,
        "};",
        "",
        f"GV_TABLE gv_dd gv_exp_cubic = {{{pair_text(cubic)}}}; /* 0.044715 2 sqrt(2/pi) */",
        f"GV_TABLE gv_dd gv_exp_cubic_3 = {{{pair_text(3 * cubic)}}}; /* 3 times that */",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def pair_text(x: arb) -> str:
    hi = nearest(exact(x))
    return f"{short_hex(hi)}, {short_hex(nearest(exact(x - ball(hi))))}"


def write(texts: Iterable[tuple[str, str]], arguments: list[str], script: str) -> int:
    """Write the tables, each the name of a file and its text; with --check, 1 where the files differ from them."""
    differ = []
    for name, text in texts:
        target = FOLDER / name
        if "--check" not in arguments:
            target.write_text(text)
        elif target.read_text() != text:
            differ.append(name)
    if differ:
        print(f"{', '.join(differ)}: not what tools/{script} generates", file=sys.stderr)
    return len(differ) > 0


def main(arguments: list[str]) -> int:
    pieces = ((f"gelu{'_grad' * derivative}_f64.h", render(VARIANTS[0], derivative)) for derivative in (False, True))
    tails = ((f"{tail.name}_tail_f64.h", render_tail(tail)) for tail in TAILS)
    powers = (("exp_f64.h", render_powers()),)
    return write(chain(powers, tails, pieces), arguments, "make_float64_tables.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
