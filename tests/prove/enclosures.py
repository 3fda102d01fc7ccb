"""The certificate of src/enclosure: the ends lie on either side of f, with fma and without.

E (GV_..._ERROR) is put in on purpose, to the one side in one end and to the other side in the other; each end is
tracked as f + offset, and the offset must outweigh what was lost. One exception is allowed and counted apart: the
roundings of x - t or 1 + c to a double, where t or c is far below the leading term (AFTER_ROUNDING).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import flint
from compiled_enclosures import LIMITS, NAMES
from flint import arb, arb_series
from prove.approximation import Part, Taylor, largest_difference, over, taylor_of
from prove.contracts import gauss_integral, monotone_hull
from prove.definitions import BITS, mills_derivatives
from prove.exact import Exact
from prove.interpreter import Interpreter
from prove.pieces import Piece, along_paths, cut_at, prove_pieces
from prove.source import ROOT, Source
from prove.specifications import POINT_BITS, Specification
from prove.stored import named_literals
from prove.tracked import UNIT, ZERO, DoubleTracking, Tracked, Unproved, exactly, hull, make
from prove.values import POINTWISE, Proved, limits

# GV_NEAR_GELU_ERROR ...; checks.py: no other number of src/enclosure has one of these values
CLAIMS = {2.0**-44, 2.0**-45, 2.0**-42, 1.125 * 2.0**-34, 1.5 * 2.0**-34}
LEAST, MOST = 2.0**-149, float.fromhex("0x1.fffffep127")  # of the float32 numbers
EXP_REACH = arb(501)
CLAMPED = arb(2) ** -600  # s clamped to 500: e^-s is below it, clamped or not
ROUNDS_TO_ZERO = arb(2) ** -151
AFTER_ROUNDING = "between, but for the rounding of leading + rest"


INCLUDED = '#include "enclosure/enclosures.h"\n' + "".join(
    f"static double gv_macro_{name}(void) {{ return {text}; }}\n" for name, text in LIMITS.items()
)


def enclosure_source(fma: bool, root: Path = ROOT) -> Source:
    macros = {"GV_LANES": "1", "GV_HAVE_FMA": str(int(fma)), "GV_TYPED(name)": "name##_PROVED"}
    return Source(INCLUDED, root=root, macros=macros)


def near_limits(source: Source) -> dict[str, float]:
    """The largest |x| of the near enclosure of each function."""
    return {name: macro(source, name) for name in NAMES}


def macro(source: Source, name: str) -> float:
    return Interpreter(source, Exact()).call(f"gv_macro_{name}")


def near_gelu(w: arb) -> arb:
    """(Phi(x) - 1/2)/x, w = x^2 - 81/8."""
    return gauss_integral(w + CENTRE) / (2 * arb.pi()).sqrt()


def near_gelu_grad(w: arb) -> arb:
    return near_gelu(w) + (-(w + CENTRE) / 2).exp() / (2 * arb.pi()).sqrt()


CENTRE = arb("10.125")


def _gauss_taylor(w: arb, order: int) -> list[arb]:
    """G^(n)/n! = (-1/2)^n/n! integral of t^2n exp(-z t^2/2): each falls or rises in z throughout."""

    def integral(n: int) -> Callable[[arb], arb]:
        return lambda z: (-z / 2).hypgeom_1f1(arb(n) + 0.5, arb(n) + 1.5) / (2 * n + 1)

    z, scale = w + CENTRE, 1 / (2 * arb.pi()).sqrt()
    return [scale * arb("-0.5") ** n / arb(n).fac() * monotone_hull(integral(n), z) for n in range(order + 1)]


def _gauss_grad_taylor(w: arb, order: int) -> list[arb]:
    density = (-(w + CENTRE) / 2).exp() / (2 * arb.pi()).sqrt()
    return [g + arb("-0.5") ** n / arb(n).fac() * density for n, g in enumerate(_gauss_taylor(w, order))]


def scaled_mills(u: arb) -> arb:
    """M(a)/sqrt(2 pi), u = (a - 4)/(a + 4)."""
    with flint.ctx.workprec(BITS):
        a = 4 * (1 + u) / (1 - u)
        return (a * a / 2).exp() * (a / arb(2).sqrt()).erfc() / 2


def _mills_taylor(u: arb, order: int) -> list[arb]:
    """(-1)^n M^(n) > 0 falls: its ends are enough. Composed with a(u)."""
    flint.ctx.cap = order + 1
    point = arb_series([u, 1])
    a = (4 * point + 4) / (1 - point)
    scale = 1 / (2 * arb.pi()).sqrt()
    low, high = (mills_derivatives(arb(end), order) for end in (a[0].lower(), a[0].upper()))
    outer = arb_series([x.union(y) * scale for x, y in zip(low, high, strict=True)])
    composed = outer(arb_series([0, *(a[n] for n in range(1, order + 1))]))
    return [composed[n] for n in range(order + 1)]


@dataclass(frozen=True)
class Approximation:
    value: Callable[[arb], arb]  # monotone on the interval
    taylor: Taylor
    low: arb
    high: arb
    parts: int


MARGIN = arb(2) ** -20
EXP_EDGE = arb.const_log2() / 2 * (1 + arb(2) ** -30)
EXP = Approximation(arb.exp, taylor_of(lambda r: r.exp()), -EXP_EDGE - MARGIN, EXP_EDGE + MARGIN, 200)
APPROXIMATIONS = {
    "gv_near_gelu": Approximation(near_gelu, _gauss_taylor, -CENTRE - MARGIN, CENTRE + MARGIN, 400),
    "gv_near_gelu_grad": Approximation(near_gelu_grad, _gauss_grad_taylor, -CENTRE - MARGIN, CENTRE + MARGIN, 400),
    "gv_long_exp": EXP,
    "gv_middle_exp": EXP,
    "gv_short_exp": EXP,
    "gv_tail_mills": Approximation(scaled_mills, _mills_taylor, -1 - MARGIN, arb(11) / 19 + MARGIN, 500),
}


class EnclosureTracking(DoubleTracking):
    def __init__(self, source: Source, specification: Specification, root: Path = ROOT) -> None:
        super().__init__()
        self.specification = specification
        self.interpreter = Interpreter(source, self)
        self.x: Tracked | None = None
        self.literals = {
            value: exact
            for path in sorted((root / "src" / "enclosure").glob("*.h"))
            if path.name != "tables.h"
            for value, exact in named_literals(path).items()
        }
        self.intrinsics |= {
            "gv_magnitude": self.fabs,
            "gv_times_sign": lambda c, x: c if self.is_positive(x) else self.negate(c),
            "gv_polynomial": self.polynomial,
            "gv_exp_by": self.exp_by,
            "gv_between": self.between,
        }

    @cache  # noqa: B019 - one object a proof
    def parts(self, name: str) -> list[Part]:
        a = APPROXIMATIONS[name]
        return largest_difference(self.interpreter.plain(name), a.taylor, a.low, a.high, a.parts)

    def is_positive(self, a: Tracked) -> bool:
        low, high = a.ends()
        if not (low > 0 or high < 0):
            raise Unproved("a sign that the piece does not decide")
        return low > 0

    def constant(self, value: float) -> Tracked:
        if value in CLAIMS:
            v = arb(value)
            return Tracked(v, ZERO, ZERO, ZERO, bounds=(v, v), value=value, offset=v)
        if value in self.literals:
            exact = self.literals[value]
            return replace(make(exact, exact, arb(value) - exact, None), bounds=(arb(value), arb(value)))
        return exactly(value)

    def table(self, name, path, value) -> Tracked:
        return exactly(value)

    def add(self, a: Tracked, b: Tracked) -> Tracked:
        total = super().add(a, b)
        if any(term.absolute == 0 or term.inner is not None for term in (a, b)):
            total.inner = sum((t.absolute if t.inner is None else t.inner for t in (a, b)), ZERO)
        return total

    def polynomial(self, table, degree: int, w: Tracked) -> Tracked:
        """The function in place of its polynomial."""
        contract = self.intrinsics.pop("gv_polynomial")
        try:
            p = self.interpreter.call("gv_polynomial", table, degree, w)
        finally:
            self.intrinsics["gv_polynomial"] = contract
        if degree != len(table.data) - 1:
            raise AssertionError(f"{table.name} has another degree")
        a = APPROXIMATIONS[table.name]
        error = over(self.parts(table.name), w.ideal)
        return make(monotone_hull(a.value, w.ideal), a.value(w.point), p.absolute + error, None)

    @cache  # noqa: B019
    def exp_of_reduced(self, name: str) -> arb:
        """p(r) against e^r for exact r, relative."""
        table = self.interpreter.globals[name]
        edge, worst = EXP_EDGE * (1 - arb(2) ** -40), ZERO
        for index in range(64):
            low, high = edge * (2 * index - 64) / 64, edge * (2 * index - 62) / 64
            r = Tracked(hull(low.lower(), high.upper()), low, ZERO, ZERO)
            worst = max(worst, self.polynomial(table, len(table.data) - 1, r).relative)
        return worst

    def exp_by(self, table, degree: int, head: Tracked, tail: Tracked, s: Tracked) -> Tracked:
        """docs/proofs.md, section 6: r loses two roundings, what log(2) is off, and what n log(2) loses, which is
        exact for a head of 40 bits."""
        if not s.ideal.abs_upper() < EXP_REACH:
            raise Unproved("gv_exp_by beyond its reach")
        if degree != len(table.data) - 1:
            raise AssertionError(f"{table.name} has another degree")
        n = s.ideal.abs_upper() / arb.const_log2() + 1
        rounded = 2 * tail.ideal if tail.value else head.ideal
        off = abs(head.ideal + tail.ideal - arb.const_log2())
        lost = n * (off + UNIT * rounded) + 2 * UNIT * EXP_EDGE + s.absolute
        if not n * 3 * UNIT + lost < EXP_EDGE * arb(2) ** -34:
            raise Unproved("gv_exp_by reduces too far")
        relative = (1 + self.exp_of_reduced(table.name)) * lost.exp() - 1
        return make(s.ideal.exp(), s.point.exp(), s.ideal.exp().abs_upper() * relative, relative)

    def between(self, a: Tracked, b: Tracked) -> Proved:
        if self.both_round_to_zero(a, b):
            return Proved(0.0, "rounds to zero")
        if self.x.smallest() >= 15 and self.both_are_the_limit(a, b):
            return Proved(0.0, "is the limit")
        self.agrees(a)
        self.agrees(b)
        used, rounding = self.used(a, b, a.absolute, b.absolute), "between"
        if not used < 1 and a.inner is not None and b.inner is not None:
            used, rounding = self.used(a, b, a.inner, b.inner), AFTER_ROUNDING
        if not used < 1:
            raise Unproved(f"an end may lie on the wrong side: {float(used.mid()):.3g}")
        return Proved(float(used.upper()), rounding)

    def used(self, a: Tracked, b: Tracked, a_lost: arb, b_lost: arb) -> arb:
        """The share of the offsets that is used up."""
        if not ((a.offset < 0 and b.offset > 0) or (a.offset > 0 and b.offset < 0)):
            raise Unproved("both ends on one side")
        ends = ((a, a_lost), (b, b_lost))
        return max((lost + CLAMPED * end.largest()) / end.offset.abs_lower() for end, lost in ends).abs_upper()

    def agrees(self, end: Tracked) -> None:
        with flint.ctx.workprec(POINT_BITS):
            off = abs(self.specification.value(self.x.point) - end.point)
        if not off <= POINTWISE * (abs(end.point) + end.offset.abs_upper()):
            raise AssertionError(f"{self.specification.name} at {self.x.point}: another function")

    def both_round_to_zero(self, a: Tracked, b: Tracked) -> bool:
        """Far to the left: f and both ends lie in (-2^-151, 0)."""
        s = self.specification
        if self.is_positive(self.x) or not self.x.smallest() >= 15:
            return False
        ends = [end.ends() for end in (a, b)]
        near = s.left(self.x.smallest()).abs_upper() < ROUNDS_TO_ZERO
        return near and all(high < 0 and low > -ROUNDS_TO_ZERO for low, high in ends)

    def both_are_the_limit(self, a: Tracked, b: Tracked) -> bool:
        """Far to the right: f and both ends are x or 1 within half a unit in the last place of a double."""
        if not self.is_positive(self.x):
            return False
        s, (factor, power) = self.specification, limits(self.specification.name, True)
        limit = self.x.ends() if power else (arb(factor), arb(factor))
        return s.right(self.x.smallest()).abs_upper() < UNIT * limit[0] / 2 and all(
            end.absolute < 3 * UNIT * limit[1] and end.offset.abs_upper() < UNIT * limit[0] / 2 for end in (a, b)
        )


def certify_enclosure(
    specification: Specification, source: Source, stage: str, most: float, root: Path = ROOT
) -> tuple[int, dict[str, float]]:
    """Pieces, and the share of the offset used by each kind of end; `stage`: near or enclosure; |x| <= most."""
    tracking = EnclosureTracking(source, specification, root)
    pieces = [Piece(low, high, sign) for low, high in cut_at([1.0, 15.0], LEAST, most) for sign in (1.0, -1.0)]
    name = f"gv_{specification.name}_{stage}"
    largest: dict[str, float] = {}
    proved = prove_pieces(pieces, lambda piece: along_paths(tracking, name, piece))
    for _, results in proved:
        for result in results:
            largest[result.kind] = max(largest.get(result.kind, 0.0), result.share)
    return len(proved), largest
