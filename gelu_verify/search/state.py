"""What a search has found so far, and what it asks next: pure functions of the state and of the number of the round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..formats import Format, get_format, ordinals
from ..functions import get_function
from ..inputs.plans import core, make_plan
from .batches import INPUTS, SOURCES, BatchAnswers, CallBatch, Source
from .intervals import ROUNDED, WHOLE, Intervals, jumps, parts

SEED_INPUTS, LANDMARK_INPUTS = 1024, 64  # around each
BINADE_INPUTS = 256  # from each, at first
SPLITS, JUMPS = 128, 32  # intervals that a round splits, by their error and by the jumps in it
UNIFORM, SHORT, DESCENT, TIES = 6, 2, 2, 2  # batches of a round: four in ten do not depend on what was found
MIDDLE = (-8, 6)  # powers of two between which implementations change from one formula to another, most often
AROUND_SHORT, AROUND_BEST, AROUND_TIE = 128, 2048, 128  # around a short number, one of the worst, of a place of ties
GOLDEN = (1 + 5**0.5) / 2
DOMINATED = 0.75  # ULP: below, rounding is most of the largest error
SAMPLED = 1 << 27  # inputs of a 32-bit dtype that are tried before all of them are, one after the other
IN_ORDER = 16  # batches of a round that tries them
PLACES = 64  # of the worst inputs, each the worst of its cell, are kept
CELL_BITS = 8  # a cell is 2^-8 of a binade
# Power of two: below, many results of short numbers are so close to ties that only the oracle decides.
SHORT_LEAST = -32


@dataclass(frozen=True)
class SearchAsked:
    """What a search is about; with the number of inputs it decides all that is tried.

    `seeds`: bits of inputs that are bad elsewhere.
    """

    function: str
    dtype: str
    seed: int
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class WorstInput:
    """The worst input of a cell, how it was found, and how often its neighbours were looked at."""

    error: float
    x: int
    got: int
    want: int
    source: Source
    evaluation: int  # number of the last input of the batch that found it
    visits: int = 0


@dataclass
class State:
    """All that the next round depends on."""

    asked: SearchAsked
    intervals: Intervals
    places: dict[int, WorstInput] = field(default_factory=dict)
    evaluations: int = 0
    rounds: int = 0
    looked_at: int = 0  # intervals
    tried_in_order: int = 0  # inputs, from the least one on: of dtypes that can be exhausted
    of_source: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SOURCES, 0))
    counts: tuple[int, int] = (0, 0)  # not finite, of the wrong sign
    nonfinite: tuple[int, int, int] | None = None
    wrong_sign: tuple[int, int, int] | None = None

    @classmethod
    def start(cls, asked: SearchAsked) -> State:
        return cls(asked, Intervals())

    @property
    def fmt(self) -> Format:
        return get_format(self.asked.dtype)

    @property
    def worst(self) -> WorstInput | None:
        """The input with the largest error; of equal ones, that found first."""
        return min(self.places.values(), key=lambda each: (-each.error, each.evaluation), default=None)

    @property
    def is_complete(self) -> bool:
        """Whether every finite input was tried."""
        return self.tried_in_order == 2 * (self.fmt.max_finite + 1)


# ---- a round ---------------------------------------------------------------------------------------


FIRST_SPLIT = 1  # the rounds before it: seeds, binades


def next_round(state: State) -> list[CallBatch]:
    """The batches of the next round; intervals that are split in it are open no longer."""
    number = state.rounds
    if number == 0:
        return list(_seed_batches(state))
    if number == FIRST_SPLIT:
        first, last = binades(state.fmt)
        count = np.minimum(BINADE_INPUTS, last - first + 1)
        return list(_batches(state, "binades", first, last, count))
    if state.fmt.width < 64 and state.evaluations >= (SAMPLED if state.fmt.width == 32 else 0):
        return list(_every_input(state))
    found: list[CallBatch] = []
    for source, by, most in (("intervals", "error", SPLITS), ("jumps", "jump", JUMPS)):
        ends = state.intervals.take(state.intervals.best(by, most))
        found += _batches(state, source, *parts(*ends))  # type: ignore[arg-type]
    return [*found, *_uniform(state), *_short_numbers(state), *_descent(state), *_ties(state)]


def absorb(state: State, batch: CallBatch, found: BatchAnswers) -> None:
    """The state after the answers to one batch; batches are absorbed in their order."""
    state.evaluations += batch.size
    state.of_source[batch.source] += batch.size
    state.counts = state.counts[0] + found.counts[0], state.counts[1] + found.counts[1]
    state.nonfinite = _nearer(state, state.nonfinite, found.nonfinite)
    state.wrong_sign = _nearer(state, state.wrong_sign, found.wrong_sign)
    if batch.source in ("binades", "intervals", "jumps"):
        state.looked_at += len(batch.first)
        open_ = batch.last - batch.first + 1 > batch.count
        jump = jumps(batch.first, batch.last, found.mean)
        state.intervals.add(batch.first[open_], batch.last[open_], found.error[open_], jump[open_])
    _remember(state, batch, found)


def _remember(state: State, batch: CallBatch, found: BatchAnswers) -> None:
    """Keep the worst inputs of a batch, each the worst of its cell."""
    fmt, limit = state.fmt, min((each.error for each in state.places.values()), default=-1.0)
    limit = limit if len(state.places) >= PLACES else -0.5
    candidates = np.flatnonzero(found.error > limit)
    order = candidates[np.argsort(-found.error[candidates], kind="stable")[:PLACES]]
    for index in order.tolist():
        error, x = float(found.error[index]), int(found.x[index])
        cell = fmt.ordinal(x) >> max(fmt.precision - 1 - CELL_BITS, 0)
        if cell not in state.places or state.places[cell].error < error:
            got, want = int(found.got[index]), int(found.want[index])
            state.places[cell] = WorstInput(error, x, got, want, batch.source, state.evaluations)
    if len(state.places) > PLACES:
        kept = sorted(state.places, key=lambda cell: (-state.places[cell].error, state.places[cell].evaluation))
        state.places = {cell: state.places[cell] for cell in kept[:PLACES]}
    if batch.source not in ("intervals", "jumps") and len(order):
        state.intervals.notice(fmt.ordinal(int(found.x[order[0]])), float(found.error[order[0]]), WHOLE)


def _nearer(
    state: State, a: tuple[int, int, int] | None, b: tuple[int, int, int] | None
) -> tuple[int, int, int] | None:
    """The row of the smaller |x|."""
    rows = [row for row in (a, b) if row is not None]
    return min(rows, key=lambda row: state.fmt.magnitude(row[0]), default=None)


# ---- where batches come from -----------------------------------------------------------------------


def _batches(
    state: State, source: Source, first: np.ndarray, last: np.ndarray, count: np.ndarray,
    visits: np.ndarray | None = None,
) -> Iterator[CallBatch]:  # fmt: skip
    """The pieces in batches of INPUTS or a little more."""
    ends = np.cumsum(count)
    start, number = 0, 0
    while start < len(first):
        done = int(ends[start - 1]) if start else 0
        end = min(int(np.searchsorted(ends, done + INPUTS)) + 1, len(first))
        key = (state.asked.seed, state.rounds, SOURCES.index(source), number)
        cut = slice(start, end)
        yield CallBatch(source, key, first[cut], last[cut], count[cut], None if visits is None else visits[cut])
        start, number = end, number + 1


def _every_input(state: State) -> Iterator[CallBatch]:
    """The next inputs in their order, in pieces as wide as the narrowest intervals."""
    least, most = -1 - state.fmt.max_finite, state.fmt.max_finite
    start = least + state.tried_in_order
    first = np.arange(start, min(start + IN_ORDER * INPUTS, most + 1), WHOLE, dtype=np.int64)
    last = np.minimum(first + WHOLE - 1, most)
    state.tried_in_order = int(last[-1]) + 1 - least
    yield from _batches(state, "every input", first, last, last - first + 1)


def _seed_batches(state: State) -> Iterator[CallBatch]:
    """The plan of the function, and neighbourhoods of what is bad elsewhere, of landmarks and of hard cases."""
    asked, fmt = state.asked, state.fmt
    plan = make_plan("default" if fmt.width > 16 else "landmarks", asked.function, asked.dtype, asked.seed)
    x = np.concatenate([chunk.x_bits() for chunk in plan.chunks])
    single = _finite(fmt, ordinals(fmt, x))
    yield from _batches(state, "seeds", single, single, np.ones_like(single))
    marks = make_plan("landmarks", asked.function, asked.dtype, asked.seed)
    centres = [*asked.seeds, *np.concatenate([chunk.x_bits() for chunk in marks.chunks]).tolist()]
    around = _finite(fmt, ordinals(fmt, np.array(list(dict.fromkeys(centres)), fmt.uint)))
    each = np.where(np.arange(len(around)) < len(asked.seeds), SEED_INPUTS, LANDMARK_INPUTS)
    yield from _batches(state, "seeds", around, around, each, np.zeros_like(around))


def _finite(fmt: Format, ordinal: np.ndarray) -> np.ndarray:
    return ordinal[(ordinal >= -1 - fmt.max_finite) & (ordinal <= fmt.max_finite)]


def binades(fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """The ends of all binades of both signs, of subnormal numbers too, ascending; zeros are with the smallest."""
    subnormal = [0, *(1 << k for k in range(1, fmt.precision - 1))]
    step = 1 << (fmt.precision - 1)
    edges = np.array([*subnormal, *range(step, fmt.infinity + 1, step)], np.int64)
    first, last = edges[:-1], edges[1:] - 1
    return np.concatenate([(-1 - last)[::-1], first]), np.concatenate([(-1 - first)[::-1], last])


def _uniform(state: State) -> Iterator[CallBatch]:
    """Inputs of all binades, of where the function is not trivial, and of the middle of that, evenly by ordinal; and
    some evenly by value. Each round shifts them by the golden ratio, so that all rounds together leave no wide gaps."""
    parts_of = uniform_parts(state.asked)
    first, last, share = (np.concatenate(columns) for columns in zip(*parts_of, strict=True))
    count = np.minimum(np.maximum((share * UNIFORM * INPUTS).astype(np.int64), 1), last - first + 1)
    shift, jitter = (state.rounds + state.asked.seed / 7) * GOLDEN % 1.0, 1.0 / state.rounds
    yield from (replace(batch, shift=shift, jitter=jitter) for batch in _batches(state, "uniform", first, last, count))


@lru_cache(maxsize=8)
def uniform_parts(asked: SearchAsked) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
    """(first, last, share of the inputs) of the parts of all finite numbers, of the core, of its middle, by value."""
    fmt = get_format(asked.dtype)
    tiny, tail, right = core(get_function(asked.function), fmt)
    low, high = (fmt.round((1, power)) for power in MIDDLE)
    found = [(*binades(fmt), 1 / 8)]
    for a, b, share in (
        (-1 - tail, -1 - tiny, 3 / 16), (tiny, right, 3 / 16),
        (-1 - min(high, tail), -1 - low, 3 / 16), (low, min(high, right), 3 / 16),
    ):  # fmt: skip
        edges = np.linspace(a, b, 257).astype(np.int64)
        found.append((edges[:-1], edges[1:], share))
    values = np.linspace(-float(fmt.fraction(tail)), float(fmt.fraction(right)), 257)
    edges = np.array(sorted({fmt.ordinal(fmt.round(Fraction(value))) for value in values.tolist()}), np.int64)
    found.append((edges[:-1], edges[1:], 1 / 8))
    low, high = get_function(asked.function).ordinals(fmt)
    kept = [(a[inside], b[inside], share) for a, b, share in found if (inside := (b >= low) & (a <= high)).any()]
    whole = sum(share for *_, share in kept)
    return tuple((a, b, np.full(len(a), share / whole / len(a))) for a, b, share in kept)


def _short_numbers(state: State) -> Iterator[CallBatch]:
    """Neighbourhoods of numbers with few significant bits or digits, where branches and tables begin and end."""
    count = SHORT * INPUTS // AROUND_SHORT
    start = (state.rounds - FIRST_SPLIT - 1) * count
    centres = short_numbers(state.asked, start, count)
    yield from _batches(state, "short numbers", centres, centres, np.full(len(centres), AROUND_SHORT), centres * 0)


def short_numbers(asked: SearchAsked, start: int, count: int) -> np.ndarray:
    """Ordinals of numbers where the function is not trivial: significands of ever more bits, a fifth of them decimals.

    Number n has about log2(n) - 7 bits, so that shorter ones come earlier and are not forgotten later.
    """
    fmt = get_format(asked.dtype)
    rng = np.random.default_rng((asked.seed, 77, start))
    tiny, tail, right = core(get_function(asked.function), fmt)
    tiny = max(tiny, fmt.round((1, SHORT_LEAST)))
    low, high = tiny >> (fmt.precision - 1), max(tail, right) >> (fmt.precision - 1)
    bits = np.minimum(3 + (rng.random(count) * (np.log2(start + count) - 5)).astype(int), fmt.precision - 1)
    magnitude = (rng.integers(low, high + 1, count) << (fmt.precision - 1)) + (
        (rng.random(count) * np.exp2(bits)).astype(np.int64) << (fmt.precision - 1 - bits)
    )
    decimals = count // 5
    digits = np.power(10, rng.integers(1, 5, decimals))
    scale = np.power(10.0, rng.integers(-6, 4, decimals))
    texts = [
        f"{int(d)}e{int(s)}" for d, s in zip(rng.integers(1, digits), np.log10(scale / digits).round(), strict=True)
    ]
    magnitude[:decimals] = [fmt.round(Fraction(text)) for text in texts]
    magnitude = np.minimum(magnitude, fmt.max_finite)
    return np.asarray(np.where(rng.random(count) < 0.5, magnitude, -1 - magnitude))


def _descent(state: State) -> Iterator[CallBatch]:
    """Neighbourhoods of the worst inputs, one of each cell: half of them the worst, half those least looked at."""
    count = DESCENT * INPUTS // AROUND_BEST
    wrong = [cell for cell, place in state.places.items() if place.error > ROUNDED]
    by_error = sorted(wrong, key=lambda cell: (-state.places[cell].error, state.places[cell].evaluation))
    rest = sorted(by_error[count // 2 :], key=lambda cell: state.places[cell].visits)
    chosen = by_error[: count // 2] + rest[: count // 2]
    if not chosen:
        return
    places = [state.places[cell] for cell in chosen]
    centres = np.array([state.fmt.ordinal(place.x) for place in places], np.int64)
    visits = np.array([place.visits for place in places], np.int64)
    for cell, place in zip(chosen, places, strict=True):
        state.places[cell] = WorstInput(**{**vars(place), "visits": place.visits + 1})
    yield from _batches(state, "descent", centres, centres, np.full(len(centres), AROUND_BEST), visits)


def _ties(state: State) -> Iterator[CallBatch]:
    """Where the exact value is near a midpoint, while no error is found that rounding does not dominate: in the best
    intervals, around the worst inputs, and anywhere."""
    if state.worst is None or not ROUNDED < state.worst.error < DOMINATED or state.fmt.width < 64:
        return
    each = TIES * INPUTS // AROUND_TIE // 3
    rng = np.random.default_rng((state.asked.seed, state.rounds, SOURCES.index("ties"), 1))
    best = state.intervals.best("error", each)
    first, width = state.intervals.first[best], state.intervals.last[best] - state.intervals.first[best] + 1
    inside = first + (rng.random(len(best)) * width).astype(np.int64)
    worst = np.array([state.fmt.ordinal(place.x) for place in state.places.values() if place.error > ROUNDED], np.int64)
    distance = np.exp2(rng.uniform(4, state.fmt.precision - 2, each)).astype(np.int64)
    around = rng.choice(worst, each) + np.where(rng.random(each) < 0.5, distance, -distance)
    low, high, _ = (np.concatenate(columns) for columns in zip(*uniform_parts(state.asked)[1:], strict=True))
    part = rng.integers(0, len(low), each)
    anywhere = low[part] + (rng.random(each) * (high[part] - low[part])).astype(np.int64)
    centres = np.concatenate([inside, around, anywhere])
    centres = np.clip(centres, -1 - state.fmt.max_finite, state.fmt.max_finite)
    yield from _batches(state, "ties", centres, centres, np.full(len(centres), AROUND_TIE))
