"""The bounds of src/cr/float_sigmoid.h, operation by operation; docs/proofs.md, section 11, says why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flint import arb
from prove.approximation import EXP_REST, largest_difference
from prove.float32 import FLOAT_UNIT, LAYOUTS, FloatTracking, exponent, floats, trailing
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.symbols import Symbolic, text
from prove.tracked import ZERO, Tracked, exact_product, hull

U = FLOAT_UNIT
STEPS = {"registers": 16, "rows": 8}  # 2^(j/16) or 2^(j/8)
PARTS_OF_R = 256
PARTS_OF_S = 1000
VALUES = {"silu": "1", "gelu_sigmoid": "1.702"}
UNDERFLOWS = 64 * arb(2) ** -150  # more than the operations of one result


@dataclass(frozen=True)
class Rate:
    """Numbers of src/tables/exp_f32.h."""

    value: arb
    rate: float
    rate_low: float
    steps_per_unit: float
    step: float
    step_low: float
    most: float
    layout: str

    @property
    def exact_step(self) -> arb:
        """Of s."""
        return arb.const_log2() / STEPS[self.layout]


def of_layout(text: str, layout: str) -> str:
    """Of what depends on the layout the one of its two parts."""
    return re.search(r"#if GV_EXP_BITS == 4\b(.*?)#else(.*?)#endif", text, re.S).group(1 + LAYOUTS.index(layout))


def read_table(layout: str, root: Path) -> str:
    return of_layout((root / "src" / "tables" / "exp_f32.h").read_text(), layout)


def read_rate(name: str, layout: str, root: Path = ROOT) -> Rate:
    numbers = re.search(rf"gv_{name}_rate = \{{(.*?)\}}", read_table(layout, root)).group(1)
    return Rate(arb(VALUES[name]), *floats(numbers), layout)


def read_steps(layout: str, root: Path = ROOT) -> list[tuple[float, float]]:
    """2^(j/k) as gv_floats_scaled makes it, and what it lacks."""
    table = read_table(layout, root)
    columns = [
        floats(" ".join(re.search(rf" {name}\[\d+\] = \{{(.*?),\n\}}", table, re.S).group(1).split()))
        for name in ("gv_float_exp2", "gv_float_exp2_rest")
    ]
    shift = 24 - STEPS[layout].bit_length()
    bits = np.array(columns[0], np.float32).view(np.uint32) + (np.arange(STEPS[layout], dtype=np.uint32) << shift)
    return list(zip(bits.view(np.float32).tolist(), columns[1], strict=True))


def header(root: Path) -> str:
    return (root / "src" / "cr" / "float_sigmoid.h").read_text()


def loss_of(layout: str, root: Path = ROOT) -> arb:
    text = of_layout(header(root), layout)
    return arb(float.fromhex(re.search(r"define GV_FLOAT_SIGMOID_LOSS (\S+)f\b", text).group(1)))


def least_loss(root: Path = ROOT) -> arb:
    return arb(float.fromhex(re.search(r"define GV_FLOAT_SIGMOID_LEAST (\S+)f\b", header(root)).group(1)))


def source(layout: str, root: Path) -> Source:
    tables = str(1 + LAYOUTS.index(layout))
    return Source("cr/float_sigmoid.h", root=root, macros={"GV_FLOAT_LANES": "1", "GV_FLOAT_TABLES": tables})


def algorithm(function: str, *arguments: object, layout: str, root: Path = ROOT) -> str:
    """What a function of float_sigmoid.h returns, as formulas of its arguments."""
    code = source(layout, root)
    return text(Interpreter(code, Symbolic(code, function)).call(function, *arguments))


@dataclass(frozen=True)
class Reach:
    """|n|, and |r| in units of x, at most."""

    n: arb
    r: arb


def reach(rate: Rate, most: arb) -> Reach:
    """n is the integer nearest to steps_per_unit x, rounded once; |x| <= most."""
    off = arb(0.5) + most * abs(arb(rate.steps_per_unit) + rate.value / rate.exact_step)
    n = most * rate.value / rate.exact_step + off
    return Reach(n, off * rate.exact_step / rate.value + n * abs(arb(rate.step) - rate.exact_step / rate.value))


def r_is_exact(rate: Rate, most: arb) -> bool:
    """n = 0, or |x| is above half a step less what n is off: a multiple of a number that is not too small."""
    far = reach(rate, most)
    unit = arb(2) ** min(exponent(rate.exact_step / rate.value - far.r) - 23, trailing(rate.step))
    return bool(far.n < 2**22) and bool(far.r <= unit * 2**24)


def rest_bound(rate: Rate, most_x: arb, more: arb, root: Path) -> tuple[arb, arb]:
    """|rest| at most, and what it is off: roundings, and what the stored numbers lack. `more` is what a caller adds."""
    far = reach(rate, most_x)
    stored = max(abs(arb(low)) for _, low in read_steps(rate.layout, root))
    most = far.n * abs(arb(rate.step_low)) + stored + far.r * (abs(arb(rate.rate_low)) + U * rate.rate) + more
    lacking = far.n * abs((rate.exact_step / rate.value - rate.step) * rate.value - rate.step_low)
    lacking += far.r * abs(rate.value - rate.rate - rate.rate_low)
    steps = enumerate(read_steps(rate.layout, root))
    lacking += max(abs((rate.exact_step * j).exp() / t - 1 - low) for j, (t, low) in steps)
    return most, lacking + 4 * U * most


def curve(layout: str, root: Path) -> list[float]:
    """Coefficients of r^2 c."""
    text = of_layout(header(root).split("gv_float_exp_curve", 1)[1], layout)
    numbers = [float.fromhex(number) for number in re.findall(r"(0x1\.[0-9a-f]+p-\d+)f", text)]
    return [0, 0, 0.5, *(sorted(numbers, reverse=True))]


def curve_loss(r_most: arb, layout: str, root: Path) -> arb:
    """What r^2 c is off e^r - 1 - r, c as computed and r^2 rounded."""
    tracking = FloatTracking()
    tracking.intrinsics["fmaf"] = tracking.fma
    interpreter = Interpreter(source(layout, root), tracking)
    lost = ZERO
    for index in range(-PARTS_OF_R, PARTS_OF_R):
        ball = hull((r_most * index / PARTS_OF_R).lower(), (r_most * (index + 1) / PARTS_OF_R).upper())
        r = Tracked(ball, arb(ball.mid()), ZERO, ZERO)
        r2 = tracking.multiply(r, r)
        lost = max(lost, exact_product(interpreter.call("gv_float_exp_curve", r, r2), r2).absolute)

    parts = largest_difference(curve(layout, root), EXP_REST, -r_most, r_most, PARTS_OF_R)
    return lost + max(part.error for part in parts)


def reduced_loss(rate: Rate, most: arb, more: arb, root: Path) -> tuple[arb, arb]:
    """What e.hi + e.lo is off e^-s, and |e.lo| at most; both relative to e^-s."""
    rest, rest_off = rest_bound(rate, most, more, root)
    r = reach(rate, most).r * rate.rate * (1 + U)
    p = r.exp() - 1 + arb(2) ** -30  # |p| at most
    least = (-r).exp()  # of 1 + p
    off_p = curve_loss(r, rate.layout, root) + U * U * p  # p as two floats: r - p is exact (Sterbenz), p_low is rounded
    p_low, lo_1 = U * p, U * (1 + p)  # lo_1: what t + t p has lost: t - e.hi is exact, the sum is rounded
    added = rest + p_low
    lo = lo_1 + (1 + p + lo_1) * added * (1 + U)
    roundings = U * (lo_1 + (1 + p) * added + lo * (1 + U))
    # p p_low; e^rest - 1 - rest; e.hi in place of t e^r
    left_out = p * p_low + rest * (rest + p_low + off_p) + lo_1 * added
    return (off_p + roundings + rest_off * (1 + p) + left_out) / least, lo * (1 + U) / least


def exp_loss(name: str, layout: str, root: Path = ROOT) -> tuple[arb, arb]:
    rate = read_rate(name, layout, root)
    return reduced_loss(rate, arb(rate.most), ZERO, root)


def quotient_loss(low: arb) -> arb:
    """x/d by y + (x - y d) q, relative; |d.lo| <= low d."""
    r_1 = 2 * U + U * U  # |x - y d.hi|, relative to x
    r_2 = (r_1 + low * (1 + 2 * U)) * (1 + U)
    return U * r_1 + U * r_2 + U * r_2 * 2 + r_2 * (U + low * (1 + low)) * (1 + 4 * U)


def value_loss(name: str, layout: str, root: Path = ROOT) -> arb:
    """Of f, relative, with the roundings of loss and of lo +- loss; what underflows is less than the least loss."""
    e, e_low = exp_loss(name, layout, root)
    low = U + e_low
    d = e + U * low * (1 + U)
    used = U * (2 * U + low + 3 * loss_of(layout, root))
    return (d + quotient_loss(low) + used) * (1 + arb(2) ** -18)


def slope_loss_over(s: arb, e: arb, e_low: arb, loss: arb) -> arb:
    """Of f' = q (1 + s p), relative to |f'| + q, for s in a ball; e, e_low: of exp_loss."""
    size, q, p = s.abs_upper(), (1 / (1 + (-s).exp())).upper(), (1 / (1 + s.exp())).upper()
    middle = s.mid()
    sum_at_middle = abs(1 + middle / (1 + middle.exp()))
    change = (s.rad() * 1.1).upper()  # |d(s p)/ds| = p |1 - s q| <= 1.1
    t, least = sum_at_middle + change, sum_at_middle - change + 1
    low = U + e_low * p
    q_off = e * p + U * low * (1 + U) + quotient_loss(low)  # this and q_low: relative to q
    q_low = (2 * U + low) * (1 + 8 * U)
    p_low = U * p + q_low * q
    p_off = q_off * q + U * p_low
    more_low = size * (p_low + 2 * U * p) * (1 + 8 * U)  # steep p_low, what steep p has lost, steep_low p
    more_off = size * (p_off + 2 * U * U * p) + 3 * U * more_low
    sum_low = U * t + more_low
    sum_off = more_off + U * sum_low
    lo = U * t + sum_low + q_low * t
    off = sum_off + q_off * (t + sum_low) + q_low * sum_low + 2 * U * lo
    used = U * (lo + 3 * loss * (t + 1)) + 3 * U * loss * (t + 1)  # lo +- loss; |y| + q as computed
    return (off * (1 + q_off) + used) / least


def slope_loss(name: str, layout: str, root: Path = ROOT) -> arb:
    """The largest of all s; what underflows is less than the least loss."""
    (e, e_low), loss, rate = exp_loss(name, layout, root), loss_of(layout, root), read_rate(name, layout, root)
    far = rate.value * rate.most
    worst = ZERO
    for index in range(-PARTS_OF_S, PARTS_OF_S):
        s = hull((far * index / PARTS_OF_S).lower(), (far * (index + 1) / PARTS_OF_S).upper())
        worst = max(worst, slope_loss_over(s, e, e_low, loss).upper())
    return worst
