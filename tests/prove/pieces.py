"""The whole domain, cut until every piece is proved: all doubles between two powers, on either side of 0."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from flint import arb
from prove.exact import from_bits, to_bits
from prove.tracked import ZERO, Tracked, Unproved, every_path, hull

LEAST, MOST = 2.0**-1074, math.ldexp(2.0 - 2.0**-52, 1023)


@dataclass(frozen=True)
class Piece:
    """All doubles from low to high; both of one sign, low <= high in magnitude."""

    low: float
    high: float
    sign: float = 1.0

    def halves(self) -> tuple[Piece, Piece]:
        """Middle of the values where they are near, of the ordinals where they are far apart."""
        first, last = to_bits(self.low), to_bits(self.high)
        if first == last:
            raise StopIteration
        if self.high <= 2 * self.low:
            middle = self.low + (self.high - self.low) / 2
            cut = min(max(to_bits(middle), first), last - 1)
        else:
            cut = (first + last) // 2
        return (Piece(self.low, from_bits(cut), self.sign), Piece(from_bits(cut + 1), self.high, self.sign))

    def tracked(self) -> Tracked:
        ends = sorted((arb(self.sign * self.low), arb(self.sign * self.high)))
        middle = arb(self.sign * (self.low + (self.high - self.low) / 2))
        return Tracked(hull(*ends), middle, ZERO, ZERO, bounds=(ends[0], ends[1]), monomial=(arb(1), 1))

    def __str__(self) -> str:
        side = "" if self.sign > 0 else "-"
        return f"{side}[{self.low.hex()}, {self.high.hex()}]"


def cut_at(constants: Iterable[float], low: float = LEAST, high: float = MOST) -> list[tuple[float, float]]:
    """[low, high] cut on both sides of each constant: a condition on x itself is then decided in every part."""
    edges = sorted({c for c in map(abs, constants) if low < c < high})
    starts = [low, *(e for c in edges for e in (c, math.nextafter(c, math.inf)))]
    parts = [(a, math.nextafter(b, 0.0)) for a, b in itertools.pairwise(starts)]
    return [(a, b) for a, b in [*parts, (starts[-1], high)] if a <= b]


def prove_pieces(pieces: Iterable[Piece], prove: Callable[[Piece], Any]) -> list[tuple[Piece, Any]]:
    """`prove` on every piece, halved where it raises Unproved. A single double that is unproved is the end."""
    proved, waiting = [], list(pieces)
    while waiting:
        piece = waiting.pop()
        try:
            proved.append((piece, prove(piece)))
        except Unproved as reason:
            try:
                waiting.extend(piece.halves())
            except StopIteration:
                raise AssertionError(f"unproved at {piece}: {reason}") from reason
            if len(proved) + len(waiting) > 100_000:
                raise AssertionError(f"too many pieces; the last {piece}: {reason}") from reason
    return proved


def along_paths(tracking: Any, name: str, piece: Piece) -> list[Any]:
    """What the C function returns on every path that some x of the piece may take."""

    def run(choices):
        tracking.choices = choices
        tracking.x = piece.tracked()
        return tracking.interpreter.call(name, tracking.x)

    return every_path(run)
