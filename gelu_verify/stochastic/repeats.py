"""Whether random bits come twice: in the calls of a seed, in calls of any length, in other seeds, after a long period.

All elements have one x, so that equal bits give equal masks. Masks of 128 elements that are the same anywhere, at
whatever distance, are no chance where each element is kept with probability near 1/2; `needed` says how long they must
be elsewhere. Beside them, counts: how often places are kept in many calls and in many seeds, and how often these agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..errors import TargetFailure
from ..targets.base import Target
from ._native import WINDOW, windows
from .drawing import Draw
from .independence import Tested, of_places, spread
from .request import MapRequest
from .short_calls import masks

LONGEST, SEQUENCE, LEAST = 1 << 24, 1 << 26, 1 << 17  # elements of a call, of all calls of a seed, at most and at least
PART = 1 << 20  # elements of the other calls
BETWEEN = (3000, 10_007, 65_536, 65_537, 100_003, 262_145)  # two calls of each; fewer where few samples are drawn
SHORT = 512  # elements of a call
OF_NEXT = 4  # calls of the seeds after that with many
LENGTHS = (1, 2, 3, 7, 16, 31, 64, 100, 127, 128, 255, 256, 399, 400, 401, 777, 1000, 1023, 1024, 1025)
LAGS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)  # between calls, and between seeds
# where numbers of seeds start, beyond the first: farther apart than a lot has calls, and beside no power of two
LONG_SEED, CALL_SEED, NEIGHBOUR, LENGTH_SEED = (k << 16 for k in (5, 7, 11, 13))
LIBRARY_BITS = 31  # of a seed that every library takes; more are asked of what takes the number itself
THIN, THINNER = 15, 63  # of windows of short and of long calls one in so many, and one, is compared
MOST_SHOWN = 4


@dataclass(frozen=True)
class SeedSizes:
    """How many calls of one seed, how many neighbouring seeds, and how many calls of each length."""

    calls: int
    seeds: int
    of_length: int

    @classmethod
    def of(cls, request: MapRequest) -> SeedSizes:
        """Full ones for a bias of 1e-3 or less."""
        return cls(1100, 256, 32) if request.bias <= 1e-3 else cls(140, 32, 8)


@dataclass(frozen=True)
class Lot:
    """Calls of one seed, one after the other."""

    number: int
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Sequence:
    """Masks of lots, joined: `starts` and `names` of the calls."""

    kept: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]

    def at(self, place: int) -> str:
        k = int(np.searchsorted(self.starts, place, side="right")) - 1
        return f"{self.names[k]} from element {place - int(self.starts[k])} on"

    def call(self, place: int) -> int:
        return int(np.searchsorted(self.starts, place, side="right")) - 1


def lengths_of_sequence(request: MapRequest) -> tuple[int, ...]:
    """One call of half of the elements, and shorter ones."""
    total = int(min(SEQUENCE, max(LEAST, 4 / request.bias**2)))
    first = min(total // 2, LONGEST) + PART // 16
    part = min(PART, total // 4)
    between = [n for n in BETWEEN if n <= part for _ in range(2)]
    return (first, *[part] * ((total - first) // part), *between)


def samples(request: MapRequest) -> int:
    """Elements that are drawn; fewer where the target refuses a seed."""
    return sum(lengths_of_sequence(request)) + sum(sum(lot.lengths) for lot in _lots(request))


def _lots(request: MapRequest) -> list[Lot]:
    lots = [_many_lengths(request), *_many_calls(request, False)]
    if request.seeded:
        lots += _neighbours(request, False) + _bits_of_seed(request)
    return lots


def _many_calls(request: MapRequest, one_call: bool) -> list[Lot]:
    """And few of the next two seeds: of seed k + call some are the same. Where a call has its own seed they must be."""
    calls = SeedSizes.of(request).calls
    first, apart = request.seed + CALL_SEED, 2 * calls if one_call else 1
    return [Lot(first, (SHORT,) * calls), *(Lot(first + k * apart, (SHORT,) * OF_NEXT) for k in (1, 2))]


def _many_lengths(request: MapRequest) -> Lot:
    return Lot(request.seed + LENGTH_SEED, tuple(n for n in LENGTHS for _ in range(SeedSizes.of(request).of_length)))


def _neighbours(request: MapRequest, one_call: bool) -> list[Lot]:
    """With two calls each, or twice as many with one."""
    first, calls = request.seed + NEIGHBOUR, 1 if one_call else 2
    return [Lot(first + k, (SHORT,) * calls) for k in range(2 * SeedSizes.of(request).seeds // calls)]


def _bits_of_seed(request: MapRequest) -> list[Lot]:
    """Seeds that differ in one bit, and their neighbours: as numbers of fewer bits, or as floats, some are equal."""
    numbers = {request.seed} | {request.seed + (1 << k) + add for k in range(64) for add in (0, 1)}
    return [Lot(number, (SHORT,)) for number in sorted(numbers)]


class Repeats:
    """Draws what is compared. `own_seed`: the target takes the number itself, and not a generator that was made of it;
    `one_call`: each call has a seed of its own; `notes`: what is no fault of the target."""

    def __init__(self, target: Target, request: MapRequest, seeded_by: str, takes_rate: bool) -> None:
        if takes_rate:  # pairs are compared best where both outcomes are as likely
            request = replace(request, rate=0.5)
        self.draw, self._request = Draw(target, request, 2), request
        self._inputs = self.draw.one(1)
        self._p, self._q = float(self._inputs.p[0]), float(self._inputs.q[0])
        self._own_seed = "seed" in seeded_by
        self._one_call = seeded_by in ("seed", "key")
        self._tolerance = request.tolerance
        self.findings: list[str] = []
        self.notes: list[str] = []

    def tests(self, advance: Callable[[int], None], level: float) -> list[Tested]:
        """Counts; what is repeated is added to `findings`, by chance with a probability of `level`, at most."""
        request = self._request
        long = self._long(Lot(request.seed + LONG_SEED, lengths_of_sequence(request)), advance)
        calls = self._short(_many_calls(request, self._one_call), advance)
        of_length = self._short([_many_lengths(request)], advance)
        sequences = [long, calls, of_length]
        table = calls.kept.reshape(-1, SHORT)[: SeedSizes.of(request).calls]
        found = [*self._of_table("calls", table), *self._of_lengths(of_length)]
        if request.seeded:
            seeds = self._short(_neighbours(request, self._one_call), advance)
            table = seeds.kept.reshape(-1, SHORT)
            found += self._of_table("seeds", table if self._one_call else table[::2])
            ordinary, larger = self._many_seeds(_bits_of_seed(request), advance)
            sequences += [seeds, ordinary]
            if self._own_seed:
                sequences += larger
            elif self._repeated([ordinary, *larger], level):
                self.notes.append("seeds that differ in their bits from 31 on alone are the same to its generator")
        self.findings += self._repeated(sequences, level)
        return found

    # ---- drawing ----

    def _long(self, lot: Lot, advance: Callable[[int], None]) -> Sequence:
        self.draw.seed(lot.number)
        kept = []
        for n in lot.lengths:
            kept.append(self.draw.mask(self._inputs.repeated(n)).view(np.uint8))
            advance(n)
        return _joined([lot], kept)

    def _short(self, lots: list[Lot], advance: Callable[[int], None]) -> Sequence:
        """All of these calls in the process of the target, one after the other."""
        one, of = self._inputs, self.draw.of
        asked = [[lot.number, list(lot.lengths)] for lot in lots]
        n = sum(sum(lot.lengths) for lot in lots)
        x, kept, dropped = (int(each[0]) for each in (one.x_bits, one.kept, one.dropped))
        found = self.draw.target.applied(
            sum(len(lot.lengths) for lot in lots), masks, self._request.dtype, self._request.rate, asked, x, kept,
            dropped, of.slack,
        )  # fmt: skip
        self.draw.note_strange(tuple(found["strange"]), n, x)
        self.draw.samples += n
        advance(n)
        return _joined(lots, [np.unpackbits(np.frombuffer(bytes.fromhex(found["kept"]), np.uint8), count=n)])

    def _many_seeds(self, lots: list[Lot], advance: Callable[[int], None]) -> tuple[Sequence, list[Sequence]]:
        """Numbers of up to 31 bits, and larger ones, which not everything takes: what is refused is told."""
        low = [lot for lot in lots if lot.number >> LIBRARY_BITS == 0]
        found, larger = self._short(low, advance), []
        for lot in lots[len(low) :]:
            try:
                larger.append(self._short([lot], advance))
            except TargetFailure as refused:
                if refused.kind not in ("", "exception"):
                    raise
                self.notes.append(f"seed {lot.number} is refused: {' '.join(str(refused).split())}")
                break
        return found, larger

    # ---- counts ----

    def _of_table(self, what: str, table: np.ndarray) -> Iterator[Tested]:
        """Rows of calls, or of seeds: each place in all of them, and pairs of rows."""
        rows = len(table)
        yield self._of_spread(f"{what}, each of {SHORT} elements", list(table))
        yield from of_places(f"of {SHORT} in {rows} {what}", table.sum(0, dtype=np.int64), rows, self._inputs,
                             self._tolerance)  # fmt: skip
        for lag in LAGS:
            if 2 * lag <= rows:
                first = np.arange(rows - lag)
                first = first[first // lag % 2 == 0]
                agreed = int((table[first] == table[first + lag]).sum())
                yield self._agreement(f"{what} {lag} apart", agreed, len(first) * SHORT)

    def _of_lengths(self, drawn: Sequence) -> Iterator[Tested]:
        p, q, calls = self._p, self._q, SeedSizes.of(self._request).of_length
        start, all_rows = 0, list[np.ndarray]()
        for n in LENGTHS:
            table = drawn.kept[start : start + n * calls].reshape(calls, n)
            start += table.size
            all_rows += list(table) if n > 1 else []
            yield Tested(f"calls of {n} elements", int(table.sum()), table.size, p, q, self._tolerance)
            agreed = int((table[::2] == table[1::2]).sum())
            yield self._agreement(f"neighbouring calls of {n} elements", agreed, table.size // 2)
        yield self._of_spread("short calls", all_rows)

    def _of_spread(self, what: str, rows: list[np.ndarray]) -> Tested:
        """Calls whose number of kept elements is farther than one standard deviation from its mean."""
        found = [spread(len(row), self._p, self._q) for row in rows]
        far = sum(int(not low <= int(row.sum()) <= high) for row, (low, high, _) in zip(rows, found, strict=True))
        outside = sum(outside for _, _, outside in found) / len(found)
        tolerance = max(len(row) for row in rows) * self._tolerance
        return Tested(f"variance of {what}", far, len(rows), outside, 1 - outside, tolerance, True)

    def _agreement(self, what: str, agreed: int, pairs: int) -> Tested:
        p, q = self._p, self._q
        return Tested(f"agreement of {what}", agreed, pairs, p * p + q * q, 2 * p * q, 2 * self._tolerance)

    # ---- what comes twice ----

    def _repeated(self, sequences: list[Sequence], level: float) -> list[str]:
        p = self._p
        total = sum(len(each.kept) for each in sequences)
        length = needed(total, p, self._tolerance, level)
        if length > 8 * WINDOW:
            self.notes.append(f"whether bits come twice was not asked: the probability {p:.3g} is too far from 1/2")
            return []
        joined = _all(sequences)
        thinner = len(sequences[0].kept) if len(sequences[0].kept) > THINNER << 12 else 0
        one, other = _equal_windows(joined.kept, thinner)
        pairs = dict[tuple[int, int], tuple[int, int]]()
        for a, b in zip(one.tolist(), other.tolist(), strict=True):
            if _is_as_long(joined.kept, a, b, length):
                pairs.setdefault((joined.call(a), joined.call(b)), (a, b))
            if len(pairs) > MOST_SHOWN:
                break
        return [
            f"the same elements twice: {joined.at(b)} as {joined.at(a)}" for a, b in list(pairs.values())[:MOST_SHOWN]
        ]


def needed(n: int, p: float, tolerance: float, level: float) -> int:
    """How long must masks be that are the same, so that n independent elements have two of them with a probability of
    `level`, at most.

    Two that have no element in common are the same with probability (p^2 + q^2)^length; of two that overlap, each
    element must be what an earlier one was: max(p, q)^length.
    """
    largest = min(max(p, 1 - p) + tolerance, 1 - 1e-9)
    same = largest**2 + (1 - largest) ** 2
    length = WINDOW
    while math.exp(2 * math.log(n) + length * math.log(same)) > level or n * length * largest**length > level / 2:
        length += 16
    return length


def _joined(lots: list[Lot], kept: list[np.ndarray]) -> Sequence:
    lengths = [n for lot in lots for n in lot.lengths]
    names = tuple(f"call {k + 1} of seed {lot.number}" for lot in lots for k in range(len(lot.lengths)))
    return Sequence(np.concatenate(kept), np.cumsum([0, *lengths[:-1]]), names)


def _all(sequences: list[Sequence]) -> Sequence:
    offsets = np.cumsum([0, *(len(each.kept) for each in sequences[:-1])])
    starts = np.concatenate([each.starts + offset for each, offset in zip(sequences, offsets, strict=True)])
    names = tuple(name for each in sequences for name in each.names)
    return Sequence(np.concatenate([each.kept for each in sequences]), starts, names)


def _equal_windows(kept: np.ndarray, thinner: int) -> tuple[np.ndarray, np.ndarray]:
    """Where windows start that are the same, of pairs; the first `thinner` elements have fewer windows."""
    parts = [_windows(kept[:thinner], 0, THINNER), _windows(kept[thinner:], thinner, THIN)]
    high, low, start = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(high ^ (low << np.uint64(1)), kind="stable")
    high, low, start = high[order], low[order], start[order]
    same = np.flatnonzero((high[1:] == high[:-1]) & (low[1:] == low[:-1]))
    return start[same], start[same + 1]


def _windows(kept: np.ndarray, offset: int, mask: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    room = 4 * len(kept) // (mask + 1) + 64
    high, low, end = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64)
    n = min(room, windows(kept, mask, high, low, end))
    return high[:n], low[:n], end[:n] - WINDOW + offset


def _is_as_long(kept: np.ndarray, a: int, b: int, length: int) -> bool:
    """Whether the masks around two equal windows are the same for so many elements."""
    if length <= WINDOW:
        return True
    more = length - WINDOW
    low, high = min(more, a, b), min(more, len(kept) - WINDOW - max(a, b))
    one, other = kept[a - low : a + WINDOW + high], kept[b - low : b + WINDOW + high]
    differ = np.flatnonzero(np.concatenate(([True], one != other, [True])))
    return bool(np.diff(differ).max() - 1 >= length)
