"""The constructors of value.h: what each claims about f, and the proof of the claim on one piece.

gv_value: |f(x) 2^-k - (hi + lo)| < err. Every claim is strict, and leaves room for the rounding of err itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import flint
from flint import arb
from prove.contracts import CoreTracking
from prove.interpreter import Struct
from prove.specifications import POINT_BITS, Specification
from prove.tracked import Tracked, Unproved, hull

POINTWISE = arb(2) ** -150  # formula against definition, at one x
ROOM = 1 - arb(2) ** -50  # err is computed in doubles
SUM_ROUNDING = arb(2) ** -95  # gv_sum_weighted: rounding of its low part, where |c| >= 2^-10 |leading + c|
REST = 2.0**-26  # series around 0 are used below


@dataclass(frozen=True)
class Proved:
    """How much of what a branch allows is used up, and by which constructor."""

    share: float
    kind: str


class ValueTracking(CoreTracking):
    def __init__(self, source, quick: bool, specification: Specification) -> None:
        super().__init__(source, quick)
        self.specification = specification
        self.allowed = arb(2) ** (-40 if quick else -88)  # GV_REL; test_core.py reads it from value.h
        self.sum_rounding = arb(0) if quick else SUM_ROUNDING
        self.x: Tracked | None = None
        self.intrinsics |= {
            "gv_exact": self.exact,
            "gv_sum": lambda leading, c: self.sum(leading, c, None),
            "gv_sum_weighted": self.sum,
            "gv_relative": self.relative,
            "gv_times": self.times,
            "gv_next_to": self.next_to,
            "gv_beside": self.beside,
            "gv_beside_tiny": self.beside_tiny,
            "gv_vanishing": self.vanishing,
            "gv_huge": self.huge,
            "gv_three_fifths": self.three_fifths,
        }

    def judged(self, share: arb, kind: str) -> Proved:
        if not share < ROOM:
            raise Unproved(f"{kind}: {float(share.mid()):.3g} of the bound")
        return Proved(float(share.upper()), kind)

    def agrees(self, leading: arb, c: arb, size: arb, k: int = 0) -> None:
        """The formula gives f at one x of the piece, up to 2^-150 of what is added up."""
        with flint.ctx.workprec(POINT_BITS):
            off = abs(self.specification.value(self.x.point) * arb(2) ** -k - leading - c)
        if not off < POINTWISE * abs(size):
            raise AssertionError(f"{self.specification.name} at {self.x.point}: another function")

    def exact(self, y: Tracked) -> Proved:
        """relu, and elu above 0: f = x or f = 0; its derivative there: 1."""
        positive = self.x.ends()[0] > 0
        want = (0.0, 0) if not positive else (1.0, 0) if self.specification.name == "elu_grad" else (1.0, 1)
        if self.specification.name not in ("relu", "elu", "elu_grad") or y.monomial is None:
            raise AssertionError(f"{self.specification.name} is not exact")
        if not (y.monomial[0] == want[0] and y.monomial[1] == want[1]):
            raise AssertionError(f"{self.specification.name} is not exact")
        return Proved(0.0, "exact")

    def sum(self, leading: Tracked, c: Tracked, weight: Tracked | None) -> Proved:
        if leading.absolute != 0:
            raise AssertionError("the leading term is not exact")
        total = leading.ideal + c.ideal
        if leading.value != 0.0 and not 32 * total.abs_lower() >= c.ideal.abs_upper():
            raise Unproved("gv_sum where terms cancel")
        self.agrees(leading.point, c.point, (c if weight is None else weight).point)
        if weight is None:
            if c.relative is None:
                raise Unproved("gv_sum of what may be 0")
            used = (c.relative + self.sum_rounding) / (1 - c.relative) * (1 + arb(2) ** -50)
        else:
            least = weight.smallest()
            if not least >= c.largest():
                raise Unproved("a weight below what is added up")
            used = c.absolute / least + self.sum_rounding
        return self.judged(used / self.allowed, "sum")

    def relative(self, c: Struct) -> Proved:
        m, k = c.fields["m"], c.fields["k"]
        if m.relative is None:
            raise Unproved("gv_relative of what may be 0")
        used = m.relative / (1 - m.relative) * (1 + arb(2) ** -50)
        if m.monomial is not None and m.monomial[1]:
            used += self.beyond_start(m.monomial[0] * arb(2) ** k, m.monomial[1], None, bits=100)
        else:
            self.agrees(arb(0), m.point, m.point, k)
        return self.judged(used / self.allowed, "relative")

    def times(self, c: Tracked, weight: Tracked, k: int) -> Proved:
        self.agrees(arb(0), c.point, weight.point, k)
        least = weight.smallest()
        if not least > 0:
            raise Unproved("a weight that may be 0")
        return self.judged(c.absolute / least / self.allowed, "times")

    def beyond_start(self, factor: arb, power: int, leading: Tracked | None, bits: int = 53) -> arb:
        """|f - leading - C x^power| / |C x^power| for small x, where f = leading + C x^power + ...; C must be the
        rounded coefficient of the series (to `bits` bits)."""
        reach = float(self.x.largest())
        if reach > REST:
            raise Unproved("a series too far from 0")
        c = self.specification.coefficients(reach, power + 2)
        start = [arb(0)] * power
        if leading is not None:
            start[leading.monomial[1]] = leading.monomial[0]
        for n in range(power):  # equal, and not only near: parity, docs/proofs.md
            if not (c[n].overlaps(start[n]) and c[n].rad() < arb(2) ** -200):
                raise AssertionError(f"{self.specification.name}: coefficient {n} of its series")
        if not abs(factor - c[power]) <= arb(2) ** -bits * abs(factor) * ROOM_FOR_NEAREST:
            raise AssertionError(f"{self.specification.name}: coefficient {power} is not the nearest")
        x = hull(-self.x.largest(), self.x.largest())
        return (abs(c[power] + c[power + 1] * x + c[power + 2] * x * x - factor) / abs(factor)).abs_upper()

    def next_to(self, leading: Tracked, c: Tracked) -> Proved:
        """leading + c within 2^-48 |c|; the sum is exact: |c| < |leading|."""
        if not c.largest() < leading.smallest():
            raise Unproved("gv_next_to where c is not the smaller")
        if c.relative is None:
            raise Unproved("gv_next_to of what may be 0")
        factor, power = c.monomial
        used = (c.relative + self.beyond_start(factor, power, leading)) / (1 - c.relative)
        return self.judged(used * arb(2) ** 48, "next_to")

    def beside_tiny(self, x: Tracked, share: Tracked, side: Tracked) -> Proved:
        if x is not self.x or not x.largest() < arb(2) ** -100:
            raise Unproved("gv_beside_tiny beyond its reach")
        return self.near_start(share.ideal, 1, side)

    def three_fifths(self, x: Tracked, rest: Tracked, unsure: Tracked, k: int) -> Proved:
        """0 < |f 2^-k - 3/5 x - rest| < unsure; hi + lo by hand (docs/proofs.md)."""
        reach = float(self.x.largest())
        c = self.specification.coefficients(reach, 2)
        if not (c[0].overlaps(arb(0)) and c[1].overlaps(arb(3) / 5) and max(c[0].rad(), c[1].rad()) < arb(2) ** -200):
            raise AssertionError(f"{self.specification.name} does not begin with 3/5 x")
        scale, power = x.monomial
        if not (power == 1 and scale == arb(2) ** -k and x.smallest() > arb(2) ** -600 and x.absolute == 0):
            raise Unproved("gv_three_fifths of another number")
        if rest.relative is None or not (c[2] > 0 and rest.largest() < x.smallest() * arb(2) ** -79):
            raise Unproved("gv_three_fifths with too large a rest")
        factor, power = rest.monomial
        if power == 2:
            off = (abs(c[2] - factor) / factor + rest.relative) / (1 - rest.relative) * rest.largest()
            return self.judged(off / unsure.smallest(), "three fifths")
        share = c[2] * self.x.largest() ** 2 * arb(2) ** -k / rest.smallest()  # of rest, on its side
        if not (share < 1 and unsure.smallest() >= rest.smallest() and unsure.monomial[0] == factor):
            raise Unproved("gv_three_fifths: another rest")
        return Proved(float(share.upper()), "three fifths")

    def near_start(self, factor: arb, power: int, side: Tracked) -> Proved:
        """0 < side (f - C x^power) < 2^-199 |C x^power|, from the next coefficient that is not 0."""
        reach = float(self.x.largest())
        for order in (power + 1, power + 2):
            c = self.specification.coefficients(reach, order)
            rest = c[order]
            if not rest.contains(0):
                break
            if not (order == power + 1 and self.odd_or_even(power)):
                raise Unproved("a sign of the rest that the series does not show")
        if not (c[power].overlaps(factor) and c[power].rad() < arb(2) ** -200):
            raise AssertionError(f"{self.specification.name}: coefficient {power} of its series")
        sign = rest * side.ends()[0] * self.x.ends()[0] ** order
        if not sign > 0:
            raise AssertionError(f"{self.specification.name} lies on the other side")
        size = (rest * self.x.ideal ** (order - power) / factor).abs_upper()
        return self.judged(size * arb(2) ** 199, "beside near 0")

    def odd_or_even(self, power: int) -> bool:
        """tanh: x - x^3/3 + ..., odd."""
        return self.specification.name == "tanh" and power == 1

    def beside(self, leading: Tracked, side: Tracked) -> Proved:
        if self.x.largest() < 1:
            return self.near_start(*leading.monomial, side)
        majorant, sign, limit = self.tail()
        if not (leading.monomial[0] == limit[0] and leading.monomial[1] == limit[1]):
            raise AssertionError(f"{self.specification.name} has another limit")
        if not side.ends()[0] * sign > 0:
            raise AssertionError(f"{self.specification.name} lies on the other side")
        least = self.x.smallest() if limit[1] else abs(arb(limit[0]))
        return self.judged(majorant / least * arb(2) ** 199, "beside")

    def vanishing(self, sign: Tracked) -> Proved:
        majorant, side, limit = self.tail()
        if limit[0] != 0.0 or not sign.ends()[0] * side > 0:
            raise AssertionError(f"{self.specification.name} does not vanish so")
        return self.judged(majorant * arb(2) ** 1140, "vanishing")

    def tail(self) -> tuple[arb, float, tuple[float, int]]:
        """A bound on |f - limit| over the piece and all beyond it, the sign of f - limit, the limit."""
        s, right = self.specification, self.x.ends()[0] > 0
        majorant, side, start = (s.right, s.right_side, s.right_from) if right else (s.left, s.left_side, s.left_from)
        a = self.x.smallest()
        if majorant is None or not a >= start:
            raise Unproved("no tail here")
        return majorant(a).abs_upper(), side, limits(s.name, right)

    def huge(self) -> Proved:
        """e^x > 2^1140."""
        if self.specification.name not in ("exp", "expm1") or not self.x.ends()[0].exp() > arb(2) ** 1140:
            raise AssertionError("not huge")
        return Proved(0.0, "huge")


ROOM_FOR_NEAREST = 1 + arb(2) ** -40


def limits(name: str, right: bool) -> tuple[float, int]:
    """C and m of the limit C x^m at that infinity."""
    if name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "mish", "softplus"):
        return (1.0, 1) if right else (0.0, 0)
    if name in ("erf", "tanh"):
        return (1.0, 0) if right else (-1.0, 0)
    if name == "erfc":
        return (0.0, 0) if right else (2.0, 0)
    if name in ("elu", "expm1"):
        return (-1.0, 0)
    if name == "exp":
        return (0.0, 0)
    return (1.0, 0) if right else (0.0, 0)
