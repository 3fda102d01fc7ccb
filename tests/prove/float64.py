"""The bound of every piece of the float64 kernels, derived anew and otherwise than by the script that wrote them.

The script sums Chebyshev coefficients of the difference; here it is bounded part by part (approximation.py). The
script counts roundings; here q = h^2 R(h) is tracked over ranges of h, and the low parts are added up one by one.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from flint import arb, arb_series, ctx
from prove.approximation import Part, Taylor, largest_difference, taylor_of
from prove.exact import from_bits, to_bits
from prove.source import ROOT
from prove.specifications import Specification
from prove.tracked import UNIT, ZERO, DoubleTracking, Tracked, exactly, hull

LOW_SHIFT, LAST_SHIFT, LOSS_SHIFT = 32, 36, 50  # pieces.h; test_float64.py compares
PARTS = (96, 400)  # the second for the few pieces that the first leaves open
HALVINGS = 5  # ranges of |h|: (r/2, r], (r/4, r/2] ... and what is left
FINEST = 6  # halvings of a range, before a piece is given up
ROUNDED = 1 + UNIT


@dataclass(frozen=True)
class Table:
    rows: list[list[float]]
    radius: arb  # half a piece
    q_loss: arb
    derivative: bool


def read_table(name: str, root: Path = ROOT) -> Table:
    text = (root / "src" / "tables" / f"{name}_f64.h").read_text()
    pieces = text[text.index("_pieces[") : text.index("};", text.index("_pieces["))]
    rows = [[float.fromhex(n) for n in row.split(", ")] for row in re.findall(r"\{\{(.*?)\}\}", pieces)]
    macros = dict(re.findall(r"#define GV_[A-Z_]*?_(PER_UNIT|Q_LOSS) (\S+)", text))
    per_unit, q_loss = (
        float.fromhex(value) if "x" in value else float(value) for value in (macros["PER_UNIT"], macros["Q_LOSS"])
    )
    return Table(rows, 1 / arb(per_unit) / 2, arb(q_loss), name.endswith("_grad"))


def last_bits(packed: float, shift: int) -> float:
    return from_bits(to_bits(packed) << shift)


def coefficients(row: list[float]) -> tuple[list[arb], float]:
    """Of h^0 .. h^7 as the code adds them up, and the bound."""
    t0, t1, low, *c = row
    p = [arb(t0) + arb(low), arb(t1) + arb(last_bits(low, LOW_SHIFT)), *map(arb, c), arb(last_bits(c[4], LAST_SHIFT))]
    return p, last_bits(c[3], LOSS_SHIFT)


def tabulated(specification: Specification, derivative: bool) -> Taylor:
    """t(a) = -f(-a), or t'(a) = f'(-a)."""
    return taylor_of(lambda a: specification.series(-a) if derivative else -specification.series(-a))


def tracked_q(row: list[float], h: Tracked) -> Tracked:
    """h^2 R(h) as gv_piece_sum has it, with two roundings for every madd: one is less."""
    d = DoubleTracking()

    def madd(a: Tracked, b: Tracked, c: Tracked) -> Tracked:
        return d.add(d.multiply(a, b), c)

    c2, c3, c4, c5, c6, c7 = map(exactly, [*row[3:], last_bits(row[7], LAST_SHIFT)])
    h2 = d.multiply(h, h)
    r = madd(madd(c7, h, c6), h2, madd(c5, h, c4))
    r = madd(r, h2, madd(c3, h, c2))
    return d.multiply(h2, r)


def ranges(radius: arb) -> list[arb]:
    """Of h: on either side of 0, by factors of 2, and around it."""
    steps = [radius / 2**k for k in range(HALVINGS + 1)]
    sides = [hull(low, high) for high, low in itertools.pairwise(steps)]
    return [*sides, *(-side for side in sides), hull(-steps[-1], steps[-1])]


def lost_below(row: list[float], h: arb, q: arb) -> arb:
    """All roundings of low parts, on their way to `up` and `down`."""
    t0, t1, low, t1_low = arb(row[0]), arb(row[1]), abs(arb(row[2])), abs(arb(last_bits(row[2], LOW_SHIFT)))
    p = abs(t1) * h
    p_low, s_low = UNIT * p, UNIT * (abs(t0) + p)
    v_low = UNIT * (abs(t0) + p + q) * ROUNDED
    first = 2 * UNIT * (t1_low * h + p_low)
    second = UNIT * (t1_low * h + p_low + low)
    third, total = UNIT * (s_low + v_low), t1_low * h + p_low + low + s_low + v_low
    return (first + second + third + 3 * UNIT * total) * (1 + 2**8 * UNIT)


def two_sums_are_exact(row: list[float], radius: arb, q: arb) -> bool:
    """|T0| is the largest, or T1 h exceeds q and T0 is that large or a multiple of its unit in the last place."""
    t0, linear = abs(row[0]), abs(row[1]) * radius
    if arb(t0) >= (linear + q) * ROUNDED**4:
        return True
    if not linear >= q * ROUNDED:
        return False
    unit = arb(2) ** (arb(linear.upper()).log() / arb(2).log()).floor().unique_fmpz() * 2 * UNIT
    return bool(arb(t0) >= linear * ROUNDED) or bool((arb(t0) / unit).is_integer())


def failing_pieces(name: str, specification: Specification, root: Path = ROOT) -> list[str]:
    """Pieces whose bound does not hold; the last one has none."""
    table = read_table(name, root)
    taylor = tabulated(specification, table.derivative)
    wrong = []
    for index, row in enumerate(table.rows[:-1]):
        for parts in PARTS:
            reason = why_not(table, taylor, index, row, parts)
            if not reason:
                break
        else:
            wrong.append(f"{name}, piece {index}: {reason}")
    return wrong


def beyond_share(q: Tracked, share: arb) -> arb:
    """|computed q - q| less share |computed q|, at most."""
    size, least = q.ideal.abs_upper(), q.ideal.abs_lower()
    if q.relative is None:
        return q.absolute - share * max(least - q.absolute, ZERO)
    spare = q.relative - share * (1 - q.relative)
    return spare * (size if spare > 0 else least)


def why_not(table: Table, taylor: Taylor, index: int, row: list[float], count: int) -> str:
    p, _ = coefficients(row)
    centre, r = 2 * table.radius * index, table.radius
    if index == 0 and not table.derivative:
        return why_not_first(table, taylor, p, row, count)
    shifted_taylor: Taylor = lambda h, order: taylor(centre + h, order)  # noqa: E731
    parts = largest_difference(p, shifted_taylor, -r, r, count)
    waiting, largest_q = ranges(r), ZERO
    while waiting:
        h = waiting.pop()
        q = tracked_q(row, Tracked(h, arb(h.mid()), ZERO, ZERO))
        lost, allowed = balance(table, row, parts, h, q)
        largest_q = max(largest_q, q.ideal.abs_upper())
        if not lost < allowed:
            low, high = arb(h.lower()), arb(h.upper())
            if (high - low) * 2**FINEST < r:
                return f"loses {float(lost.mid()):.3g} of {float(allowed.mid()):.3g}"
            waiting += [hull(low, (low + high) / 2), hull((low + high) / 2, high)]
    return "" if two_sums_are_exact(row, r, largest_q) else "a sum of three operations may lose something"


def balance(table: Table, row: list[float], parts: list[Part], h: arb, q: Tracked) -> tuple[arb, arb]:
    """What a range of h loses, beyond q's share, and what the piece allows for it."""
    _, bound = coefficients(row)
    size = q.ideal.abs_upper()
    off = max(part.error for part in parts if part.low <= h.upper() and part.high >= h.lower())
    lost = off + beyond_share(q, table.q_loss) + lost_below(row, h.abs_upper(), size)
    lost += 3 * UNIT * (arb(bound) + table.q_loss * size)
    if table.derivative:  # 1 may be added: its share of the roundings of lo
        lost += 6 * UNIT * UNIT
    return lost, arb(bound) * (1 - 4 * UNIT)


def why_not_first(table: Table, taylor: Taylor, p: list[arb], row: list[float], count: int) -> str:
    """v = h/2 + h^2 R(h): everything relative to q. h/2 is exact, T0 and what lies below T1 are 0."""
    if not (p[0] == 0 and p[1] == 0.5):
        return "the first piece does not begin with h/2"

    def square(h: arb, order: int) -> list[arb]:
        """R, from Taylor's series around 0 with its remainder: (v - h/2)/h^2."""
        terms = 24
        whole = hull(-table.radius, table.radius)
        v = [*taylor(arb(0), terms + 1)[: terms + 2], taylor(whole, terms + 2)[terms + 2]]
        series = arb_series([h, 1]) if order else arb_series([h])
        ctx.cap = order + 1
        total = arb_series([0])
        for c in reversed(v[2:]):
            total = total * series + c
        return [total[k] for k in range(order + 1)]

    parts = largest_difference(p[2:], square, ZERO, table.radius, count)  # |x| >= 0: h is not negative here
    smallest = abs(arb(row[3])) - sum(abs(c) * table.radius**k for k, c in enumerate(p[3:], 1))
    relative = relative_of_q(row, table.radius)
    off = max(part.error for part in parts) / smallest
    lost = off + relative + UNIT * (1 + 2 * table.q_loss)  # |lo| <= |q|: h/2 is a double, and not nearer than v's
    return "" if lost < table.q_loss else f"loses {float((lost / UNIT).mid()):.3g} u of q"


def relative_of_q(row: list[float], radius: arb) -> arb:
    """The relative error of q, h in [0, radius], underflow apart: it is below 2^-1021, the bound of that piece."""
    worst = ZERO
    for k in range(40):
        high = radius / 2**k
        q = tracked_q(row, Tracked(hull(high / 2, high), high, ZERO, ZERO))
        worst = max(worst, q.relative)
    return worst
