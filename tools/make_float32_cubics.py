"""Generate src/tables/<function>_cubic_f32.h: the pieces of the float32 kernels of AVX2 and NEON, with a proved bound.

Run from the top of the checkout: python tools/make_float32_cubics.py [--check] [FUNCTION ...]     (needs python-flint)

q, with which f(x) = max(x, 0) - |x| q(|x|), by pieces of a = |x| around i step:
q(c + h) = T0 + T1 h + c2 h^2 + c3 h^3, floats. The last 16 bits of c3 are the first of what T0 lacks. One bound is for
all pieces: so much of |T1 + c2 h + c3 h^2| and so much of |c2 + c3 h|. src/cr/float_cubics.h is the code.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, arb_series, ctx
from make_float32_tables import (
    GRAINS,
    SLACK,
    UNIT,
    Range,
    float32,
    lost_by_difference,
    rounded_up,
    short_hex,
    stored,
    ulp,
)
from make_float64_tables import _slope_tanh, ball, difference, fit, largest, upper, write

NOTHING = Fraction(1, 2**60)  # what is smaller counts as 0
LOW_BITS = 16  # of c3: the first 16 of a float
TRIES = 8  # until the bits that c3 carries are those of what T0 then lacks
TERMS = 9  # of Taylor series; the remainder is bounded
STEPS = range(-3, 4)  # floats beside the nearest that are tried as c3: T1 may fit one of them better
SPREAD = 2.0  # of the inputs for which the two factors of the bound are chosen: SPREAD randn
SHARES = tuple(Fraction(21, 20) ** k / 2**32 for k in range(60))  # factors of the slope that are tried


class Cubics(NamedTuple):
    name: str
    series: Callable[[arb_series], arb_series]  # of q
    step: Fraction
    pieces: int  # an odd number: the last one stands for all a from half a step before it on

    @property
    def last(self) -> Fraction:
        return (self.pieces - 1) * self.step - self.step / 2

    def taylor(self, at: arb) -> list[arb]:
        ctx.cap = TERMS + 1
        q = self.series(arb_series([at, 1]))
        return [q[k] for k in range(TERMS + 1)]


TABLES = (
    Cubics("gelu", lambda a: (a / arb(2).sqrt()).erfc() / 2, Fraction(1, 128), 769),
    Cubics("gelu_tanh", lambda a: 1 / (1 + _slope_tanh(a).exp()), Fraction(1, 128), 769),
)


class Row(NamedTuple):
    t0: Fraction
    low: Fraction
    t1: Fraction
    c2: Fraction
    c3: Fraction  # its last bits are those of low

    @property
    def coefficients(self) -> list[Fraction]:
        return [self.t0 + self.low, self.t1, self.c2, self.c3]


def to_bits(x: Fraction) -> int:
    return int(np.float32(float(x)).view(np.uint32))


def from_bits(bits: int) -> Fraction:
    return Fraction(float(np.uint32(bits).view(np.float32)))


def first_bits(x: Fraction) -> Fraction:
    """The nearest float that has no bits but the first 16."""
    return from_bits((to_bits(x) + (1 << LOW_BITS - 1)) >> LOW_BITS << LOW_BITS)


def carrying(x: Fraction, low: Fraction, step: int) -> Fraction:
    """Of the floats whose last 16 bits are the first of `low` the one nearest to x, or `step` beside it."""
    kept = to_bits(x) >> LOW_BITS << LOW_BITS | to_bits(low) >> LOW_BITS
    nearest = min((kept + (k << LOW_BITS) for k in (-1, 0, 1)), key=lambda bits: abs(from_bits(bits) - x))
    return from_bits(nearest + (step << LOW_BITS))


def fit_row(q: list[arb], radius: Fraction, bits_less: int, step: int) -> Row:
    """c3 first, `step` beside the nearest of those that carry the bits; then the others, each for those before it."""
    low, c3 = Fraction(0), fit(q, 3, radius)[3]
    for _ in range(TRIES):
        found, left = {3: carrying(c3, low, step)}, list(q)
        for degree in (2, 1, 0):
            left[degree + 1] -= ball(found[degree + 1])
            found[degree] = fit(left, degree, radius)[degree]
            if degree:  # an even function has c2 = 0 around 0
                found[degree] = float32(found[degree]) if abs(found[degree]) > NOTHING else Fraction(0)
        unit = ulp(found[0]) * 2**bits_less
        t0 = round(found[0] / unit) * unit
        wanted = first_bits(found[0] - t0)
        if wanted == low:
            break
        low = wanted
    return Row(t0, low, found[1], found[2], carrying(c3, low, step))


class Need(NamedTuple):
    """What a piece loses, absolute; the least that its bound is in proportion to; the least q."""

    lost: Fraction
    slope: Fraction
    bend: Fraction
    q: Fraction


def need(row: Row, q: list[arb], beyond: arb, radius: Fraction) -> Need:
    most = [abs(c) for c in row.coefficients]
    bend = most[2] + radius * most[3]
    slope = most[1] + radius * bend
    approximation = largest(difference(q, row.coefficients), radius) + upper(beyond) * radius**TERMS
    move = arb(0, ball(radius * slope))
    total = ball(row.t0) + move
    least = max(abs(row.t0) - radius * slope, Fraction(0))
    q_hi = Range(upper(total) * (1 + UNIT), least * (1 - UNIT), ulp(least) if least else Fraction(0))
    off = lost_by_difference(stored(row.t0), q_hi, move)
    kept = UNIT * q_hi.most + off
    low = (kept + abs(row.low)) * (1 + 4 * UNIT)
    lost = approximation + radius * UNIT * (slope + radius * bend) * (1 + 4 * UNIT) + off + UNIT * (kept + low)
    lost += 3 * UNIT * low  # in the sums of the result
    least_slope, least_bend = (max(x, Fraction(0)) for x in (most[1] - radius * bend, most[2] - radius * most[3]))
    return Need(lost * (1 + Fraction(1, 2**12)), least_slope, least_bend, least)


def rows_of(table: Cubics) -> list[tuple[Row, Need]]:
    found, radius = [], table.step / 2
    for index in range(table.pieces - 1):
        q = table.taylor(ball(index * table.step))
        beyond = table.taylor(arb(ball(index * table.step), ball(radius)))[TERMS]
        tries = []
        for bits_less, step in itertools.product(GRAINS[:-1], STEPS):
            row = fit_row(q[:TERMS], radius, bits_less, step)
            tries.append((row, need(row, q[:TERMS], beyond, radius)))
        found.append(min(tries, key=lambda pair: pair[1].lost))
    return found


def factors(needs: list[Need], step: Fraction) -> tuple[Fraction, Fraction]:
    """Of the slope and of the bend, such that every piece has what it needs, and usual inputs little more."""
    weights = [float(np.exp(-((float(k * step) / SPREAD) ** 2) / 2)) for k in range(len(needs))]
    best = None
    for of_slope in SHARES:
        rest = [(n.lost - of_slope * n.slope, n.bend) for n in needs]
        if any(lost > 0 and not bend for lost, bend in rest):
            continue
        of_bend = max((lost / bend for lost, bend in rest if lost > 0), default=Fraction(0))
        shares = (float((of_slope * n.slope + of_bend * n.bend) / max(n.q, UNIT)) for n in needs)
        cost = sum(w * min(1.0, 2.0**24 * share) for w, share in zip(weights, shares, strict=True))
        if best is None or cost < best[0]:
            best = cost, of_slope, of_bend
    return rounded_up(SLACK * best[1]), rounded_up(SLACK * best[2])


def render(table: Cubics) -> str:
    ctx.prec = 200
    found = rows_of(table)
    of_slope, of_bend = factors([needed for _, needed in found], table.step)
    rows = [[row.t0, row.t1, row.c2, row.c3] for row, _ in found]
    size = upper(table.taylor(ball(table.last))[0])  # from there on q falls to 0
    t1 = float32(size / of_slope * (1 + Fraction(1, 2**8)))
    rows.append([t1 * table.step / 2, t1, Fraction(0), Fraction(0)])  # their sum at h = -step/2 is 0
    guard = f"GV_TABLES_{table.name.upper()}_CUBIC_F32_H"
    lines = ["/* Generated by tools/make_float32_cubics.py; do not edit. */", f"#ifndef {guard}", f"#define {guard}"]
    lines += ['#include "../cr/float_tables.h"', "", f"/* q(a), a near i {table.step} */"]
    lines += [f"static const gv_float_cubic_row gv_{table.name}_cubic_rows[{table.pieces}] = {{"]
    lines += [*("    {{" + ", ".join(map(short_hex, row)) + "}}," for row in rows), "};"]
    numbers = (table.step * (3 << 22), table.last, of_slope, of_bend)
    lines += [f"static const gv_float_cubics gv_{table.name}_cubics = {{gv_{table.name}_cubic_rows,"]
    lines += ["    " + ", ".join(map(short_hex, numbers)) + "};", "", "#endif", ""]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    wanted = [argument for argument in arguments if argument != "--check"] or [table.name for table in TABLES]
    texts = ((f"{table.name}_cubic_f32.h", render(table)) for table in TABLES if table.name in wanted)
    return write(texts, arguments, "make_float32_cubics.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
