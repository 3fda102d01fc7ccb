"""The core's exp and its polynomials: from `the sum that the code computes` to `the function that it stands for`.

Each contract runs the C body where there is one to run and adds the truncation of its series. Arguments with
the reasoning: docs/proofs.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from flint import arb
from prove.definitions import DEFINITIONS, mills, mills_derivatives, mills_geometry
from prove.interpreter import Interpreter, Struct
from prove.pairs import ADD, MUL_DOUBLE, PairTracking
from prove.source import Source
from prove.tracked import UNIT, ZERO, Choices, Tracked, Unproved, exactly, hull, make, meet

EXP_REACH = arb(801)  # |s| of gv_exp
STEP = arb.const_log2() / 64
SLACK = 1 + arb(2) ** -30
EXP_ORDER = {False: 11, True: 7}  # first power that gv_expm1_tiny leaves out
HEAD_ORDER = {False: 26, True: 15}
ATANH_ORDER = {False: 29, True: 13}
LOG_ORDER = {False: 14, True: 7}  # first power that gv_log1p_tiny leaves out
LOG_REACH = arb(2) ** -7 * (1 + arb(2) ** -20)  # of |r|: radii of balls are rounded up
MILLS_ORDER = {False: 22, True: 12}
MILLS_REACH = arb("1.25")  # of |u|: pieces at the edge of a piece of the table reach over it


def monotone_hull(f, a: arb) -> arb:
    """Of a decreasing or increasing f over a ball."""
    return f(arb(a.lower())).union(f(arb(a.upper())))


def gauss_integral(z: arb) -> arb:
    """G(z) = integral of exp(-z t^2/2) over [0, 1], falling in z."""
    return (-z / 2).hypgeom_1f1(arb("0.5"), arb("1.5"))


def atanh_head(z: arb) -> arb:
    """H(z) = atanh(s)/s, s^2 = z, rising in z."""
    return z.hypgeom_2f1(arb("0.5"), arb(1), arb("1.5"))


class CoreTracking(PairTracking):
    """PairTracking that knows exp, the Gauss integral, H and the Mills ratio of one Source."""

    def __init__(self, source: Source, quick: bool) -> None:
        super().__init__(quick)
        self.definitions = DEFINITIONS
        self.interpreter = Interpreter(source, self)
        self.mills_index = 0
        self.intrinsics |= {
            "gv_exp_steps": lambda s: self.steps(s)[0],
            "gv_exp": self.exp,
            "gv_expm1_tiny": self.expm1_tiny,
            "gv_log1p_tiny": self.log1p_tiny,
            "gv_log_near": self.log_near,
            "gv_gauss_head": self.gauss_head,
            "gv_atanh_head": self.atanh_head,
            "gv_mills": self.mills,
            "gv_logistic": self.logistic,
        }

    def body(self, name: str, *arguments):
        """The C function itself, its contract set aside."""
        contract = self.intrinsics.pop(name)
        try:
            return self.interpreter.call(name, *arguments)
        finally:
            self.intrinsics[name] = contract

    def table(self, name, path, value):
        if name == "gv_mills_table":
            self.mills_index = path[0]
        return super().table(name, path, value)

    def steps(self, s: Tracked) -> tuple[Tracked, arb]:
        """n = rint(s 64/log 2) of the double s; and how far |n - s 64/log 2| may exceed 1/2."""
        excess = s.largest() / STEP * 3 * UNIT * SLACK  # the constant, the product
        low, high = s.ends()
        first, last = (low / STEP - excess - 0.5).lower().ceil(), (high / STEP + excess + 0.5).upper().floor()
        return Tracked(hull(first, last), s.point, ZERO, None, bounds=(first, last)), excess

    def expm1_tiny(self, r: Tracked) -> Tracked:
        """expm1 in place of its series: what is left out is below |r|^n/n! (1 + 2 |r|), in all of r."""
        p, order = self.body("gv_expm1_tiny", r), EXP_ORDER[self.quick]
        reach = r.ideal.abs_upper()
        if not reach < arb("0.006"):
            raise Unproved("gv_expm1_tiny beyond its reach")
        truncation = reach ** (order - 1) / arb(order).fac() * (1 + 4 * reach)
        relative = None if p.relative is None else p.relative + truncation * (1 + p.relative)
        absolute = p.absolute + truncation * 2 * reach
        return replace(make(r.ideal.expm1(), r.point.expm1(), absolute, relative), pair=True, single=p.single)

    @cache  # noqa: B019 - one object a proof
    def exp_of_reduced(self) -> tuple[arb, arb]:
        """2^(j/64) + 2^(j/64) expm1(r), for exact r: its relative error, and the reach of r."""
        reach = (STEP * (arb("0.5") + EXP_REACH / STEP * 4 * UNIT) * SLACK).abs_upper()
        ball = hull(-reach, reach)
        r = Tracked(ball, arb(0), ZERO, ZERO, pair=True, single=self.quick)
        rows = [self.table("gv_exp2_table", (j,), row) for j, row in enumerate(self.interpreter.plain("gv_exp2_table"))]
        off = max(row.relative for row in rows)
        t = Tracked(hull(arb(1), 2 - arb(2) ** -7), arb(1), 2 * off, off, pair=True, single=False)
        m = self.dd_add(t, self.dd_mul(t, self.expm1_tiny(r)))
        return m.relative, reach

    def reduction_error(self, s: Tracked) -> arb:
        """|computed r - (s - n log(2)/64)|, for s as computed."""
        n = s.largest() / STEP + 1
        if self.quick:  # n head and s - n head are exact
            tail = self.table("gv_ln2_64_tail", (), self.interpreter.plain("gv_ln2_64_tail"))
            head = self.table("gv_ln2_64_head", (), self.interpreter.plain("gv_ln2_64_head"))
            product = n * tail.ideal * (2 * UNIT + tail.relative) * SLACK + n * head.absolute
            return product + UNIT * STEP
        step = self.table("gv_ln2_64", (), self.interpreter.plain("gv_ln2_64"))
        return n * STEP * (MUL_DOUBLE + step.relative) * SLACK + ADD * STEP

    def exp(self, s: Tracked) -> Struct:
        """e^s = m 2^k; k where the piece says, m = e^s 2^-k."""
        if not s.ideal.abs_upper() < EXP_REACH:
            raise Unproved("gv_exp beyond its reach")
        relative, _ = self.exp_of_reduced()
        shift = (self.reduction_error(s) + s.absolute).abs_upper()
        relative = (1 + relative) * shift.exp() - 1
        steps, _ = self.steps(self.hi(s))
        first, last = (int((end / 64).floor().unique_fmpz()) for end in steps.bounds)
        k = first + self.choices.choose(last - first + 1)
        whole = s.ideal.exp() * arb(2) ** -k
        reach = (STEP * (1 + arb(2) ** -20) / 2).exp()
        ideal = meet(whole, hull(1 / reach, 2 * reach / STEP.exp()))
        m = make(ideal, s.point.exp() * arb(2) ** -k, 2 * reach * relative, relative)
        return Struct("gv_scaled_dd", {"m": replace(m, pair=True, single=self.quick), "k": k})

    def log1p_tiny(self, r: Tracked) -> Tracked:
        """log1p in place of its series: what is left out is below |r|^n/n (1 + 2 |r|), in all of r."""
        reach = r.ideal.abs_upper()
        if not reach <= LOG_REACH:
            raise Unproved("gv_log1p_tiny beyond its reach")
        p, order = self.body("gv_log1p_tiny", r), LOG_ORDER[self.quick]
        truncation = reach ** (order - 1) / order * (1 + 4 * reach)
        relative = None if p.relative is None else p.relative + truncation * (1 + p.relative)
        absolute = p.absolute + truncation * 2 * reach
        whole = make(monotone_hull(arb.log1p, r.ideal), r.point.log1p(), absolute, relative)
        return replace(whole, pair=True, single=p.single)

    def log_near(self, m: Tracked) -> Tracked:
        """log m: on both sides of 1 as its body says, elsewhere within the largest error of the steps of the table."""
        low, high = m.ends()
        if not (low >= arb("0.75") and high <= 2):
            raise Unproved("gv_log_near beyond its reach")
        if (low >= arb("0.9921875") and high < 1) or (low >= 1 and high < arb("1.0078125")):
            return self.body("gv_log_near", m)
        first, last = (int((128 * end).floor().unique_fmpz()) for end in (low, high))
        off = max(self.log_step_error(step) for step in range(first, min(last, 255) + 1))
        return replace(make(monotone_hull(arb.log, m.ideal), m.point.log(), off, None), pair=True, single=self.quick)

    @cache  # noqa: B019 - one object a proof
    def log_step_error(self, step: int) -> arb:
        """The absolute error of gv_log_near for all doubles of a step of the table, which it computes log m of."""
        ends = arb(step) / 128, arb(step + 1) / 128 - arb(2) ** -53
        m = Tracked(hull(*ends), ends[0], ZERO, ZERO, bounds=ends)
        outside, self.choices = self.choices, Choices()
        try:
            found = self.body("gv_log_near", m)
        finally:
            self.choices = outside
        if not abs(found.point - m.point.log()) < arb(2) ** -200:
            raise AssertionError(f"gv_log_near is not log in step {step}")
        return found.absolute

    def gauss_head(self, z: Tracked) -> Tracked:
        """G in place of its series: terms alternate and fall, so the first one left out is a bound."""
        if not (z.ideal.upper() <= arb("1.01") and z.ideal.lower() >= 0):
            raise Unproved("gv_gauss_head beyond its reach")
        p, order = self.body("gv_gauss_head", z), HEAD_ORDER[self.quick]
        truncation = (z.ideal.abs_upper() / 2) ** order / arb(order).fac() / (2 * order + 1)
        g = make(monotone_hull(gauss_integral, z.ideal), gauss_integral(z.point), p.absolute + truncation, None)
        return replace(g, pair=True, single=p.single)

    def atanh_head(self, z: Tracked) -> Tracked:
        """H in place of its series: what is left out is below its first term, times 1/(1 - z)."""
        if not (z.ideal.upper() <= arb("0.12") and z.ideal.lower() >= 0):
            raise Unproved("gv_atanh_head beyond its reach")
        p, order = self.body("gv_atanh_head", z), ATANH_ORDER[self.quick]
        truncation = z.ideal.abs_upper() ** order / (2 * order + 1) / (1 - z.ideal.abs_upper())
        h = make(monotone_hull(atanh_head, z.ideal), atanh_head(z.point), p.absolute + truncation, None)
        return replace(h, pair=True, single=p.single)

    def mills(self, a: Tracked) -> Tracked:
        """M in place of its Taylor polynomial: (-1)^n M^(n) > 0 falls, so Lagrange's remainder is largest at the
        left end."""
        a = replace(a)
        p, order = self.body("gv_mills", a), MILLS_ORDER[self.quick]
        truncation = mills_remainder(self.mills_index, order, a.ideal)
        m = make(monotone_hull(mills, a.ideal), mills(a.point), p.absolute + truncation, None)
        return replace(m, pair=True, single=p.single)

    def logistic(self, t: Tracked) -> Struct:
        """Below 2^-1000 e^-t counts as 0 beside 1: 2^-990 covers it."""
        shares = self.body("gv_logistic", t)
        q, rest = shares.fields["q"], shares.fields["rest"]
        k = q.fields["k"]
        e, e_point = (-t.ideal).exp(), (-t.point).exp()
        lost = arb(2) ** -990
        ideal = meet(e * arb(2) ** -k / (1 + e), hull(arb("0.4"), arb(3)))
        q.fields["m"] = replace(
            make(ideal, e_point * arb(2) ** -k / (1 + e_point), arb(4), q.fields["m"].relative + lost),
            pair=True,
            single=self.quick,
        )
        shares.fields["rest"] = replace(
            make(1 / (1 + e), 1 / (1 + e_point), arb(4), rest.relative + lost), pair=True, single=self.quick
        )
        return shares


@cache
def _mills_derivative(index: int, order: int) -> arb:
    """|M^(order)|/order! half^order at the left end of what MILLS_REACH allows."""
    centre, half = mills_geometry(index)
    return (abs(mills_derivatives(centre - MILLS_REACH * half, order)[order]) * half**order).abs_upper()


def mills_remainder(index: int, order: int, a: arb) -> arb:
    centre, half = mills_geometry(index)
    u = ((a - centre) / half).abs_upper()
    if not u <= MILLS_REACH:
        raise Unproved("gv_mills beside its piece")
    return (_mills_derivative(index, order) * u**order).abs_upper()


def constant_pair(value: float) -> Tracked:
    return exactly(value, pair=True)
