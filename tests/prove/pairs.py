"""The operations of dd.h on `Tracked` numbers, with the bounds of their theorems.

u = 2^-53. Inputs are normalized, |lo| <= ulp(hi)/2: all that come out of a fast_two_sum are, and so are the tables.
In double-double (Joldes, Muller, Popescu 2017; formal proofs: Muller, Rideau, ACM TOMS 48, 2022):
  gv_dd_add   AccurateDWPlusDW   3 u^2 + 13 u^3     gv_dd_mul    DWTimesDW3   5 u^2 (Muller, Rideau: 4 u^2)
  gv_dd_add_d DWPlusFP           2 u^2              gv_dd_mul_d  DWTimesFP3   2 u^2
  gv_dd_div   DWDivDW2 with DWTimesFP3 inside       20 u^2, docs/proofs.md
symbols.py holds that dd.h has these very algorithms.
"""

from __future__ import annotations

from dataclasses import replace

from flint import arb
from prove.interpreter import Struct
from prove.tracked import (
    LOST,
    LOST_PAIR,
    TINY,
    UNIT,
    DoubleTracking,
    Tracked,
    Unproved,
    exact_product,
    exact_quotient,
    exact_sum,
    is_power_of_two,
    rounded,
    scaled,
)

U2 = UNIT * UNIT
ADD = 3 * U2 + 13 * U2 * UNIT
ADD_DOUBLE = 2 * U2
MUL = 5 * U2
MUL_DOUBLE = 2 * U2 * (1 + UNIT)
DIV = 20 * U2


def as_pair(a: Tracked, single: bool = False) -> Tracked:
    return replace(a, pair=True, single=single)


class PairTracking(DoubleTracking):
    """`quick`: the same operations in double, as dd.h has them under GV_QUICK."""

    def __init__(self, quick: bool) -> None:
        super().__init__()
        self.quick = quick
        self.intrinsics |= {
            "gv_dd_from": lambda a: replace(a, pair=True, single=True),
            "gv_dd_neg": lambda a: scaled(a, -1.0),
            "gv_dd_scale": self.dd_scale,
            "gv_two_prod": self.two_prod,
            "gv_dd_add": self.dd_add,
            "gv_dd_sub": lambda a, b: self.dd_add(a, scaled(b, -1.0)),
            "gv_dd_add_d": self.dd_add_d,
            "gv_dd_mul": self.dd_mul,
            "gv_dd_mul_d": self.dd_mul_d,
            "gv_dd_div": self.dd_div,
            "gv_scaled": lambda m, k: Struct("gv_scaled_dd", {"m": m, "k": k}),
        }

    def hi(self, a: Tracked) -> Tracked:
        return self.member(a, "hi")

    def dd_scale(self, a: Tracked, factor: Tracked) -> Tracked:
        if not is_power_of_two(factor.value):
            raise Unproved("gv_dd_scale by what is not a power of two")
        return scaled(a, factor.value)

    def two_prod(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.multiply(a, b), single=True)
        return as_pair(rounded(exact_product(a, b), arb(0), LOST, TINY))

    def dd_add(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.add(self.hi(a), self.hi(b)), single=True)
        return as_pair(rounded(exact_sum(a, b), ADD))

    def dd_add_d(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.add(self.hi(a), b), single=True)
        return as_pair(rounded(exact_sum(a, b), ADD_DOUBLE))

    def dd_mul(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.multiply(self.hi(a), self.hi(b)), single=True)
        return as_pair(rounded(exact_product(a, b), MUL, LOST_PAIR, TINY))

    def dd_mul_d(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.multiply(self.hi(a), b), single=True)
        return as_pair(rounded(exact_product(a, b), MUL_DOUBLE, LOST_PAIR, TINY))

    def dd_div(self, a: Tracked, b: Tracked) -> Tracked:
        if self.quick:
            return as_pair(self.binary("/", self.hi(a), self.hi(b)), single=True)
        quotient = exact_quotient(a, b)
        if not (a.smallest() > TINY and b.smallest() > TINY and quotient.smallest() > TINY):
            raise Unproved("a quotient near the subnormal numbers")
        return as_pair(rounded(quotient, DIV))
