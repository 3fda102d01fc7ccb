"""The relative errors that src/carried/carried.h counts with for exp, expm1, log, log1p and atan.

Arguments are pairs, so the pieces that are cut cover all real numbers of a range, not only its doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from flint import arb
from prove.contracts import CoreTracking
from prove.pairs import DIV, as_pair
from prove.pieces import Piece, prove_pieces
from prove.source import ROOT, Source
from prove.tracked import (
    LOST_PAIR,
    TINY,
    ZERO,
    Tracked,
    Unproved,
    every_path,
    exact_quotient,
    hull,
    is_power_of_two,
    rounded,
    scaled,
)

ROOM = 1 - arb(2) ** -45  # that the computed value stands beside the bound; gv_carried makes it larger by 2^-40
ATAN_ORDER = 9  # first power of r^2 that gv_atan_near leaves out
SMALLEST = 2.0**-55  # below 2^-54, hi that is, carried.h has series


def carried_source(root: Path = ROOT) -> Source:
    macros = {"GV_CLONES": "", "INFINITY": "1e999", "DBL_MAX": "0x1.fffffffffffffp+1023"}
    return Source("carried/carried.h", root=root, macros=macros)


class CarriedTracking(CoreTracking):
    """CoreTracking for arguments that are pairs, and for powers of two that are integers of a range."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, quick=False)
        self.intrinsics["rint"] = self.rint
        self.nearest = 0  # what rint gave last

    def rint(self, a: Tracked) -> int:
        low, high = a.ends()
        first, last = (int((end + 0.5).floor().unique_fmpz()) for end in (low.lower(), high.upper()))
        first -= bool(low + 0.5 == first)  # a tie goes either way
        self.nearest = first + self.choices.choose(last - first + 1)
        return self.nearest

    def binary(self, op: str, a: Tracked, b: Tracked) -> Tracked:
        if op == "/" and is_power_of_two(b.value):
            return scaled(a, 1.0 / b.value)
        return super().binary(op, a, b)

    def add(self, a: Tracked, b: Tracked) -> Tracked:
        for one, other in ((a, b), (b, a)):
            if one.value == 0.0:
                return other
        return super().add(a, b)

    def to_integer(self, a: Tracked) -> Any:
        return a if a.monomial is INTEGER else super().to_integer(a)

    def dd_div(self, a: Tracked, b: Tracked) -> Tracked:
        """Also of what may be 0: by no less than 1, so that low parts lost count once."""
        if b.smallest() >= 1:
            return as_pair(rounded(exact_quotient(a, b), DIV, LOST_PAIR, TINY))
        return super().dd_div(a, b)


INTEGER = (arb(1), 1)


def pair_of(piece: Piece) -> Tracked:
    """All real numbers from the low end of a piece to the next one, as pairs."""
    ends = piece.sign * piece.low, piece.sign * math.nextafter(piece.high, math.inf)
    ball = hull(arb(min(ends)), arb(max(ends)))
    return Tracked(ball, arb((ends[0] + ends[1]) / 2), ZERO, ZERO, pair=True, single=False)


def double_of(piece: Piece) -> Tracked:
    return replace(piece.tracked(), monomial=None)


def powers(low: int, high: int) -> Tracked:
    """All integers of a range."""
    ends = arb(low), arb(high)
    return Tracked(hull(*ends), ends[0], ZERO, ZERO, bounds=ends, monomial=INTEGER)


def joined(*edges: float, sign: float = 1.0) -> list[Piece]:
    """Pieces between numbers that rise."""
    return [Piece(low, math.nextafter(high, 0.0), sign) for low, high in pairwise(edges)]


def binades(low: float, high: float, sign: float = 1.0) -> list[Piece]:
    edges = [low]
    while 2 * edges[-1] < high:
        edges.append(2 * edges[-1])
    return joined(*edges, high, sign=sign)


@dataclass(frozen=True)
class Claim:
    """A relative error that carried.h counts with, for a function on pieces that cover what it passes on."""

    name: str
    pieces: list[Piece]
    run: Callable[[CarriedTracking, Piece], Any]
    function: Callable[[arb], arb]
    allowed: Callable[[arb], arb]  # of the piece
    of: Callable[[Piece], Tracked] = pair_of


def share(claim: Claim, tracking: CarriedTracking, piece: Piece) -> float:
    """The largest part of what is allowed that the function uses on a piece."""

    def once(choices):
        tracking.choices = choices
        return claim.run(tracking, claim.of(piece))

    s = claim.of(piece)
    largest = 0.0
    for relative, point in every_path(once):
        if relative is None:
            raise Unproved("a value that may be 0")
        if point is not None and not abs(point - claim.function(s.point)) < arb(2) ** -150 * (1 + abs(point)):
            raise AssertionError(f"{claim.name} is another function at {s.point}")
        used = relative / claim.allowed(s.ideal.abs_lower())
        if not used < ROOM:
            raise Unproved(f"{float(used):.3g} of the bound")
        largest = max(largest, float(used.upper()))
    return largest


def certify_carried(claim: Claim, source: Source) -> tuple[int, float]:
    """Number of pieces; the largest share of the bound."""
    tracking = CarriedTracking(source)
    proved = prove_pieces(claim.pieces, lambda piece: share(claim, tracking, piece))
    return len(proved), max(used for _, used in proved)


def called(name: str) -> Callable[[CarriedTracking, Tracked], tuple[arb | None, arb]]:
    def run(tracking: CarriedTracking, *arguments: Tracked) -> tuple[arb | None, arb]:
        found = tracking.interpreter.call(name, *arguments)
        return found.relative, found.point

    return run


def exp(tracking: CarriedTracking, s: Tracked) -> tuple[arb | None, None]:
    return tracking.exp(s).fields["m"].relative, None


def atan(tracking: CarriedTracking, s: Tracked) -> tuple[arb, arb]:
    """The body has a polynomial, and its point is compared here; what that leaves out of atan is added."""
    found = tracking.interpreter.call("gv_atan_near", s)
    j = tracking.nearest
    reach = max(abs((end - arb(j) / 32) / (1 + end * j / 32)) for end in (arb(s.ideal.lower()), arb(s.ideal.upper())))
    z = (reach * reach).abs_upper()
    left_out = z**ATAN_ORDER / (2 * ATAN_ORDER + 1)  # of r: the terms alternate and fall
    r = (s.point - arb(j) / 32) / (1 + s.point * j / 32)
    series = sum((arb(-1) ** n * r ** (2 * n + 1) / (2 * n + 1) for n in range(ATAN_ORDER)), arb(0))
    if not abs(found.point - (arb(j) / 32).atan() - series) < arb(2) ** -150:
        raise AssertionError("gv_atan_near is another formula")
    least = s.ideal.abs_lower().atan()
    if j == 0:
        return found.relative + left_out * 2, s.point.atan()
    return (found.absolute + left_out * reach.abs_upper()) / least.abs_lower(), s.point.atan()


def relative(bound: arb) -> Callable[[arb], arb]:
    return lambda least: bound


LN2 = arb.const_log2()
GV_RELATIVE = arb(2) ** -94  # test_carried.py reads it from carried.h
MOST_POWERS = 1 << 20  # |k| of gv_log_of


def log_with(low: int, high: int, first: float = 1.0, last: float = 2.0) -> Claim:
    """gv_log of m 2^k, for all k from low to high."""
    k = powers(low, high)
    return Claim(
        f"gv_log, k from {low} to {high}", joined(first, last), lambda t, m: called("gv_log")(t, m, powers(low, high)),
        lambda m: k.point * LN2 + m.log(), relative(GV_RELATIVE), double_of,
    )  # fmt: skip


def all_powers() -> list[Claim]:
    ranges = [(1 << n, min((2 << n) - 1, MOST_POWERS)) for n in range(21)]
    ends = [(low, high) for n, m in ranges for low, high in ((n, m), (-m, -n)) if (low, high) != (-1, -1)]
    return [log_with(0, 0, 1.5, 2.0), log_with(-1, -1, 1.0, 1.5), *(log_with(*each) for each in ends)]


def exp_allowed(least: arb) -> arb:
    return arb(2) ** -102 + least * arb(2) ** -103


ATAN_EDGES = [SMALLEST * 2.0**n for n in range(48)] + [(2 * j + 1) / 64 for j in range(32)] + [1.0, 1.0 + 2.0**-52]
CLAIMS = [
    *(Claim("gv_exp", binades(SMALLEST, 800.5, sign), exp, arb.exp, exp_allowed) for sign in (1.0, -1.0)),
    *(
        Claim("gv_expm1", binades(SMALLEST, 512.0, sign), called("gv_expm1"), arb.expm1, relative(GV_RELATIVE))
        for sign in (1.0, -1.0)
    ),
    Claim("gv_log_near", joined(0.75, 1.0), called("gv_log_near"), arb.log, relative(GV_RELATIVE), double_of),
    Claim("gv_log_near", joined(1.0 + 2.0**-52, 1.5), called("gv_log_near"), arb.log, relative(GV_RELATIVE), double_of),
    *all_powers(),
    Claim("gv_log1p", binades(SMALLEST, 1.0), called("gv_log1p"), arb.log1p, relative(GV_RELATIVE)),
    Claim("gv_atan_near", joined(*ATAN_EDGES), atan, arb.atan, relative(GV_RELATIVE)),
]
