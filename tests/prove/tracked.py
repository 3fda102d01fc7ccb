"""Numbers that carry a proof: an enclosure of the ideal value and a bound on what rounding has added.

A `Tracked` stands for one C number over all x of a piece of the domain:
  ideal      Arb ball around the value that exact arithmetic and exact functions would give
  relative   computed = ideal (1 + d), |d| <= relative; None where ideal may be 0
  absolute   |computed - ideal| <= absolute
  point      the ideal value at one x of the piece, 256 bits: what the formula is, tested and not assumed
A gv_dd is one Tracked with `pair` set; `single` says that its lo is 0.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import flint
from flint import arb
from prove.interpreter import Arithmetic, Struct

flint.ctx.prec = 256
ZERO = arb(0)
UNIT = arb(2) ** -53
LOST = arb(2) ** -1073  # what an underflow may cost one operation
TINY = arb(2) ** -890  # above it no low part of a product of pairs is lost
LOST_PAIR = arb(2) ** -940  # what a product of pairs below TINY may be off, in all
LARGE = arb(2) ** 1000


class Unproved(Exception):
    """An obligation that does not hold, or not visibly, on this piece."""


class Infeasible(Exception):
    """No x of the piece takes this path."""


@dataclass
class Tracked:
    ideal: arb
    point: arb
    absolute: arb
    relative: arb | None
    pair: bool = False
    single: bool = True
    bounds: tuple[arb, arb] | None = None  # of the computed value, exact ends
    value: float | None = None  # a constant of the program
    monomial: tuple[arb, int] | None = None  # ideal = C x^m
    origin: tuple[Tracked, arb, arb] | None = None  # this = origin times a power of two, within a share
    inner: arb | None = None  # `absolute` without the roundings of sums with an exact leading term (enclosures.py)
    # what of `ideal` was put in on purpose, to end on one side; not in `point`
    offset: arb = field(default_factory=lambda: ZERO)

    def ends(self) -> tuple[arb, arb]:
        """Bounds of the computed value."""
        if self.bounds is not None:
            return self.bounds
        return (self.ideal - self.absolute).lower(), (self.ideal + self.absolute).upper()

    def smallest(self) -> arb:
        """A lower bound of the computed magnitude."""
        low, high = self.ends()
        return max(low, -high, ZERO)

    def largest(self) -> arb:
        low, high = self.ends()
        return max(-low, high)

    def restrict(self, low: arb, high: arb) -> None:
        """The computed value is known to lie in [low, high]."""
        now = self.ends()
        low, high = max(low, now[0]), min(high, now[1])
        if low > high:
            raise Infeasible
        self.bounds = low, high
        self.ideal = meet(self.ideal, hull(low - self.absolute, high + self.absolute))
        if self.origin is not None:
            parent, factor, share = self.origin
            ends = sorted((low / factor, high / factor))
            parent.restrict((ends[0] - share * abs(ends[0])).lower(), (ends[1] + share * abs(ends[1])).upper())


def hull(low: arb, high: arb) -> arb:
    return arb(low).union(arb(high))


def meet(a: arb, b: arb) -> arb:
    low, high = max(a.lower(), b.lower()), min(a.upper(), b.upper())
    if low > high:
        raise Infeasible
    return hull(low, high)


def exactly(value: float, pair: bool = False) -> Tracked:
    v = arb(value)
    return Tracked(v, v, ZERO, ZERO, pair, True, (v, v), value, (v, 0))


def make(ideal: arb, point: arb, absolute: arb, relative: arb | None, **more: Any) -> Tracked:
    """Whichever of the two bounds is better gives the other."""
    size, least = ideal.abs_upper(), ideal.abs_lower()
    if relative is not None:
        absolute = min(absolute.abs_upper(), (relative * size).abs_upper())
    absolute = absolute.abs_upper()
    if least > 0:
        from_absolute = (absolute / least).abs_upper()
        relative = from_absolute if relative is None else min(relative.abs_upper(), from_absolute)
    if not size < LARGE:
        raise Unproved("overflow is not excluded")
    return Tracked(ideal, point, absolute, relative, **more)


def folded(value: float, base: arb, a: Tracked, b: Tracked) -> Tracked:
    """A constant computed from constants; what was put in on purpose stays known."""
    if a.offset == 0 and b.offset == 0:
        return exactly(value)
    v = arb(value)
    return Tracked(v, base, ZERO, ZERO, bounds=(v, v), value=value, offset=v - base)


def exact_sum(a: Tracked, b: Tracked) -> Tracked:
    relative = None
    same = (a.ideal >= 0 and b.ideal >= 0) or (a.ideal <= 0 and b.ideal <= 0)
    if same and a.relative is not None and b.relative is not None:
        relative = max(a.relative, b.relative)
    ideal = a.ideal + b.ideal
    return make(ideal, a.point + b.point, a.absolute + b.absolute, relative, offset=a.offset + b.offset)


def exact_product(a: Tracked, b: Tracked) -> Tracked:
    relative = None
    if a.relative is not None and b.relative is not None:
        relative = a.relative + b.relative + a.relative * b.relative
    absolute = a.ideal.abs_upper() * b.absolute + b.ideal.abs_upper() * a.absolute + a.absolute * b.absolute
    monomial = None
    if a.monomial and b.monomial:
        monomial = a.monomial[0] * b.monomial[0], a.monomial[1] + b.monomial[1]
    offset = a.ideal * b.offset + a.offset * (b.ideal - b.offset)
    return make(a.ideal * b.ideal, a.point * b.point, absolute, relative, monomial=monomial, offset=offset)


def exact_quotient(a: Tracked, b: Tracked) -> Tracked:
    if b.relative is None or not b.relative < arb("0.5") or a.offset != 0 or b.offset != 0:
        raise Unproved("a divisor that may vanish, or an offset in a quotient")
    relative = None if a.relative is None else (a.relative + b.relative) / (1 - b.relative)
    absolute = (a.absolute + a.ideal.abs_upper() * b.relative) / (b.ideal.abs_lower() * (1 - b.relative))
    monomial = None
    if a.monomial and b.monomial:
        monomial = a.monomial[0] / b.monomial[0], a.monomial[1] - b.monomial[1]
    return make(a.ideal / b.ideal, a.point / b.point, absolute, relative, monomial=monomial)


def rounded(exact: Tracked, unit: arb, lost: arb = ZERO, threshold: arb | None = None) -> Tracked:
    """After an operation within `unit` relative; below `threshold` it may lose `lost` besides."""
    relative = None if exact.relative is None else exact.relative + unit + exact.relative * unit
    absolute = exact.absolute + unit * (exact.ideal.abs_upper() + exact.absolute)
    if threshold is not None and not exact.smallest() > threshold:
        absolute += lost
        relative = None
    return make(exact.ideal, exact.point, absolute, relative, monomial=exact.monomial, offset=exact.offset)


def is_power_of_two(value: float | None) -> bool:
    return value is not None and abs(math.frexp(value)[0]) == 0.5


def scaled(a: Tracked, factor: float) -> Tracked:
    """a times a power of two: exact, unless it underflows."""
    f = arb(factor)
    bounds = None
    if a.bounds is not None:
        ends = a.bounds[0] * f, a.bounds[1] * f
        bounds = ends if factor > 0 else ends[::-1]
    monomial = (a.monomial[0] * f, a.monomial[1]) if a.monomial else None
    result = replace(
        a,
        ideal=a.ideal * f,
        offset=a.offset * f,
        point=a.point * f,
        absolute=(a.absolute * abs(f)).abs_upper(),
        bounds=bounds,
        value=None if a.value is None else a.value * factor,
        monomial=monomial,
        origin=(a, f, ZERO),
        inner=a.inner if abs(factor) == 1.0 else None,
    )
    least = TINY if a.pair and not a.single else arb(2) ** -1021
    if abs(factor) < 1 and not result.smallest() > least and a.value is None:
        return replace(
            make(result.ideal, result.point, result.absolute + 2 * LOST, None, monomial=monomial),
            pair=a.pair,
            single=a.single,
        )
    return result


class Choices:
    """Paths through conditions that the piece does not decide: run again until all were taken."""

    MOST = 6

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.counts: list[int] = []
        self.place = 0

    def choose(self, count: int) -> int:
        if count > self.MOST:
            raise Unproved("too many paths")
        if self.place == len(self.taken):
            self.taken.append(0)
            self.counts.append(count)
        self.place += 1
        return self.taken[self.place - 1]

    def advance(self) -> bool:
        """To the next path; False when there is none."""
        self.place = 0
        while self.taken and self.taken[-1] + 1 == self.counts[-1]:
            self.taken.pop()
            self.counts.pop()
        if not self.taken:
            return False
        self.taken[-1] += 1
        return True


def every_path(run: Callable[[Choices], Any]) -> list[Any]:
    choices, results = Choices(), []
    more = True
    while more:
        with contextlib.suppress(Infeasible):
            results.append(run(choices))
        more = choices.advance()
    return results


class DoubleTracking(Arithmetic):
    """Doubles: every operation within 2^-53 relative, or LOST absolute where it underflows."""

    def __init__(self) -> None:
        self.choices = Choices()
        self.definitions: dict[str, Callable[..., arb]] = {}
        self.intrinsics = {
            "fabs": self.fabs,
            "fma": self.fma,
            "gv_exponent": self.exponent,
            "gv_power_of_two": lambda k: exactly(2.0**k),
        }

    def constant(self, value: float) -> Tracked:
        return exactly(value)

    def table(self, name: str, path: tuple[Any, ...], value: Any) -> Tracked:
        """The entry against its definition: how far it is off is computed, not assumed."""
        parts = [value.fields["hi"], value.fields["lo"]] if isinstance(value, Struct) else [value]
        stored = sum((arb(part) for part in parts), ZERO)
        ideal = self.definitions[name](*path)
        entry = make(
            ideal,
            ideal,
            stored - ideal,
            ZERO if stored.overlaps(ideal) and ideal.rad() == 0 else None,
            monomial=(ideal, 0),
        )
        return replace(
            entry,
            pair=len(parts) == 2,
            single=len(parts) == 1 or parts[1] == 0.0,
            bounds=(stored, stored),
            value=parts[0] if len(parts) == 1 else None,
        )

    def binary(self, op: str, a: Tracked, b: Tracked) -> Tracked:
        if op in "+-":
            return self.add(a, b if op == "+" else self.negate(b))
        if op == "*":
            return self.multiply(a, b)
        return rounded(exact_quotient(a, b), UNIT, LOST, arb(2) ** -1020)

    def add(self, a: Tracked, b: Tracked) -> Tracked:
        if a.value is not None and b.value is not None:
            return folded(a.value + b.value, a.point + b.point, a, b)
        return rounded(exact_sum(a, b), UNIT)

    def multiply(self, a: Tracked, b: Tracked) -> Tracked:
        if a.value is not None and b.value is not None:
            return folded(a.value * b.value, a.point * b.point, a, b)
        for one, other in ((a, b), (b, a)):
            if is_power_of_two(one.value) and one.offset == 0:
                return scaled(other, one.value)
        return rounded(exact_product(a, b), UNIT, LOST, arb(2) ** -1020)

    def fma(self, a: Tracked, b: Tracked, c: Tracked) -> Tracked:
        return rounded(exact_sum(exact_product(a, b), c), UNIT, LOST, arb(2) ** -1020)

    def negate(self, a: Tracked) -> Tracked:
        return scaled(a, -1.0)

    def fabs(self, a: Tracked) -> Tracked:
        low, high = a.ends()
        if low >= 0:
            return a
        if high <= 0:
            return self.negate(a)
        raise Unproved("a sign that the piece does not decide")

    def compare(self, op: str, a: Tracked, b: Tracked) -> bool:
        (a_low, a_high), (b_low, b_high) = a.ends(), b.ends()
        if op in (">", ">="):
            (a_low, a_high), (b_low, b_high), op = (b_low, b_high), (a_low, a_high), op.replace(">", "<")
        if op == "<":
            certain, never = a_high < b_low, a_low >= b_high
        elif op == "<=":
            certain, never = a_high <= b_low, a_low > b_high
        elif op == "==":
            certain, never = a_low == a_high == b_low == b_high, a_high < b_low or a_low > b_high
        else:
            raise NotImplementedError(op)
        if certain or never:
            return certain
        return self.choices.choose(2) == 1

    def exponent(self, a: Tracked) -> int:
        """floor(log2 a), and what it says about a."""
        low, high = a.ends()
        if not low > 0:
            raise Unproved("the exponent of what may be 0")
        first, last = (floor_log2(end) for end in (low, high))
        e = first + self.choices.choose(last - first + 1)
        a.restrict(arb(2) ** e, arb(2) ** (e + 1))
        return e

    def to_integer(self, a: Tracked) -> int:
        """(int) of a positive number, and what it says about it."""
        low, high = a.ends()
        if not low > 0:
            raise Unproved("(int) of a number that may be negative")
        first, last = (int(end.floor().unique_fmpz()) for end in (low, high))
        n = first + self.choices.choose(last - first + 1)
        a.restrict(arb(n), arb(n + 1))
        return n

    def member(self, value: Any, name: str) -> Any:
        if isinstance(value, Struct):
            return value.fields[name]
        if name != "hi":
            raise Unproved(f"the part {name} of a pair by itself")
        if value.single:
            return replace(value, pair=False, origin=(value, arb(1), ZERO))
        hi = rounded(replace(value, bounds=None), UNIT * (1 + arb(2) ** -50))
        return replace(hi, origin=(value, arb(1), 2 * UNIT), value=None)


def floor_log2(a: arb) -> int:
    m, e = (int(part) for part in a.mid().man_exp())
    return m.bit_length() - 1 + e
