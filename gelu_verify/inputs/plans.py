"""Which inputs a target is judged on: a plan, cut into chunks.

A plan holds each input once. Its chunks are contiguous in ordinal order, never overlap, and are
made of equal length where that can be (frameworks that compile per shape then compile once).
`default` takes every bit pattern of the 16-bit dtypes; of the wider ones it takes strata: all
binades and their edges, the neighbourhoods of landmarks and turning points and of where results
turn to zero, numbers that people type, runs of consecutive floats, the hard cases in data/, and the rest
where the function is not trivial. NaN, infinities and zeros belong to every plan that is not given by ranges.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256
from zlib import crc32

import numpy as np

from ..arrays import distinct
from ..errors import UsageError, one_of
from ..formats import Format, from_ordinals, get_format, numpy_dtype, ordinals
from ..functions import Function, get_function, named, second_of
from ..functions.regions import region_edges
from ..parsing import LARGEST_SEED, whole
from ..truth.values import zero_threshold
from .hard_cases import hard_cases
from .second import second_values
from .special import fixed_bits, short_bits

Spans = tuple[tuple[int, int], ...]  # (first, last) ordinals, both in, ascending, apart
CHUNK = 1 << 20  # most inputs in one chunk: fewer, and the calls from Python show; more, and caches overflow
STREAMS = 8  # runs of consecutive inputs that a strided call takes in turn
SIZES = {16: 1 << 16, 32: 1 << 18, 64: 1 << 16}  # inputs of a strata plan, by width
CHUNKS = {8: 1 << 15, 16: 1 << 15, 32: 1 << 16, 64: 1 << 15}  # inputs of one of its chunks
QUICK = 1 << 14
EQUAL_CALLS = 500_000  # of plan stress
LONGEST, MOST_CALLS = 1 << 26, 1 << 20  # inputs of a call, and calls, where users say how long these are
MOST = 1 << 33  # inputs of ranges: twice all of float32
RATE = 20e6  # inputs that are judged in a second, about: to say how long too many would take
WINDOWS = {16: 16, 32: 128, 64: 32}  # neighbours on each side of a landmark


@dataclass(frozen=True)
class Chunk:
    """One piece of a plan: inputs in ordinal order, and the order in which a target meets them."""

    index: int
    dtype: str
    seed: int
    first: int
    size: int
    explicit: np.ndarray | None = field(default=None, repr=False)
    length: int | None = None  # of the call, where that is given

    def x_bits(self) -> np.ndarray:
        """The inputs: unsigned bits, each once, by ordinal."""
        fmt = get_format(self.dtype)
        if self.explicit is not None:
            return from_ordinals(fmt, self.explicit)
        return from_ordinals(fmt, np.arange(self.first, self.first + self.size, dtype=np.int64))

    def has(self, ordinal: int) -> bool:
        """Whether that input is among them."""
        if self.explicit is None:
            return self.first <= ordinal < self.first + self.size
        place = int(np.searchsorted(self.explicit, ordinal))
        return place < len(self.explicit) and int(self.explicit[place]) == ordinal

    @property
    def is_strided(self) -> bool:
        """Whether the call takes the inputs in strided order: a run of consecutive float32 numbers."""
        return self.length is None and self.explicit is None and self.dtype == "float32" and self.size % STREAMS == 0

    def order(self) -> np.ndarray:
        """Indices in the order of the call: a permutation, of odd length (one input comes twice if need be).

        SIMD bodies and tails then both meet every kind of input: `got[order] = f(x[order])`. Random, but for runs of
        billions, where strided order keeps neighbours apart and costs nothing (`buckets.reducer.fill_strided`).
        """
        if self.is_strided:
            order = np.arange(self.size).reshape(STREAMS, -1).T.ravel()
            return np.append(order, order[:1])
        order = np.random.default_rng([self.seed, self.index]).permutation(self.size)
        if self.length is not None:
            return np.resize(order, self.length)
        return order if self.size % 2 else np.append(order, order[:1])


@dataclass(frozen=True)
class Plan:
    """Inputs for one function and dtype; `exhaustive` when every bit pattern of the dtype is in.

    `dense`: what it stands for is all of the dtype, so that a device that judges may draw billions more.
    Of a plan that was widened (`widened.py`): `whole` are the spans of consecutive inputs that came to it, `steps` how
    many buckets were tried for that, and `made` the calls, in which an input may come twice.
    `second`: bits of the values of a second input, with each of which `at` says which x are tried; the inputs here are
    those of x for the first of them. `also`: as `make_plan` takes it.
    """

    name: str
    function: str
    dtype: str
    seed: int
    exhaustive: bool
    size: int
    chunks: Sequence[Chunk]
    spans: Spans | None = None
    dense: bool = False
    length: int | None = None  # of every call, where that is given
    whole: Spans = ()
    steps: int = 0
    made: Sequence[Chunk] = ()
    second: tuple[int, ...] = ()
    also: tuple[int, ...] = ()

    @property
    def widens(self) -> bool:
        """Whether more inputs may follow its own, as far as time allows (`widened.py`)."""
        return self.name in (DEFAULT, FIXED) and not (self.exhaustive or self.spans or self.length or self.second)

    def function_at(self, second_bits: int) -> str:
        """The function of x with a value of the second input, a finite one."""
        return named(self.function, {second_of(self.function): get_format(self.dtype).fraction(second_bits)})

    def at(self, second_bits: int) -> Plan:
        """The plan of the same name with a value of the second input, a finite one."""
        function = self.function_at(second_bits)
        return _made(self.name, function, self.dtype, self.seed, self.spans, self.length, self.also)

    @property
    def follows_outputs(self) -> bool:
        """Whether those that follow are chosen by what was found so far."""
        return self.name != FIXED

    @property
    def usual_length(self) -> int:
        """Inputs of its first call."""
        return (self.made or self.chunks)[0].size

    def call_of(self, ordinal: int) -> Chunk | None:
        """The last of its calls that had that input."""
        chunks = self.made or self.chunks
        if not self.made:
            place = bisect_right(range(len(chunks)), ordinal, key=lambda index: chunks[index].first) - 1
            return chunks[place] if place >= 0 and chunks[place].has(ordinal) else None
        return next((chunk for chunk in reversed(chunks) if chunk.has(ordinal)), None)

    @property
    def stress(self) -> bool:
        """Whether the target is also called very often, at very many lengths and from many threads."""
        return self.name == "stress"

    @property
    def work(self) -> int:
        """Inputs, and equal calls, for who shows how far it is."""
        return self.size * max(len(self.second), 1) + (EQUAL_CALLS if self.stress else 0)

    @cached_property
    def inputs_sha256(self) -> str:
        """Digest of the inputs: a plan of the same name and seed may choose others in another version."""
        digest = sha256()
        for chunk in self.chunks if self.spans is None and not self.exhaustive else ():
            if chunk.explicit is not None:
                digest.update(chunk.x_bits().astype(get_format(self.dtype).uint.newbyteorder("<")).tobytes())
        whole = [self.whole] if self.whole and not self.exhaustive else []
        digest.update(repr((self.dtype, self.size, self.spans, *whole)).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class ChosenInputs:
    """What a plan chooses: spans of ordinals, or explicit ordinals (sorted, unique); dense: as in Plan."""

    spans: Spans = ()
    explicit: np.ndarray | None = None
    chunk: int = CHUNK
    dense: bool = False


Chooser = Callable[[Function, Format, int, tuple[int, ...]], ChosenInputs]
"""Of a seed, and of bits of inputs that a plan takes beside its own, as it takes hard cases."""
PLANS: dict[str, Chooser] = {}
DEFAULT, FIXED = "default", "fixed"  # to which more inputs can come


def _plan(chooser: Chooser) -> Chooser:
    PLANS[chooser.__name__.strip("_")] = chooser
    return chooser


def get_plan(name: str) -> Chooser:
    """The plan of that name; UsageError lists the accepted ones."""
    if name not in PLANS:
        raise one_of("plan", name, list(PLANS))
    return PLANS[name]


def make_plan(
    name: str,
    function: str,
    dtype: str,
    seed: int = 0,
    ranges: Sequence[tuple[int, int] | str] | None = None,
    length: int | None = None,
    also: Sequence[int] = (),
    second: bool = False,
) -> Plan:
    """The plan `name` for a function and dtype.

    Parameters
    ----------
    seed : from 0 to 2^63 - 1; decides the sampled inputs and the order of calls
    ranges : exactly these inputs instead, both ends in: "a:b", "a" or (a_bits, b_bits); values ascend, or bits do
        (0x0:0xffffffff is every float32)
    length : inputs of every call; the last of them repeat others. Default: as suits the dtype, and odd
    also : bits of inputs that it takes as well, as it takes hard cases; not where there are ranges
    second : whether it takes values of the second input that the function has, too

    Raises
    ------
    UsageError : unknown name, seed or range that cannot be used, ranges of more than 2^33 inputs, float64
        `exhaustive`, and 2^64 pairs
    """
    get_plan(name)
    get_function(function)
    fmt = get_format(dtype)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    spans = _spans(fmt, ranges) if ranges else None
    length = None if length is None else whole("length", length, 1, LONGEST)
    made = _made(name, function, dtype, seed, spans, length, tuple(also))
    values = second_values(name, get_function(function), fmt, seed) if second else ()
    return replace(made, second=values, also=tuple(also)) if second else made


@lru_cache(maxsize=64)
def _made(
    name: str, function: str, dtype: str, seed: int, spans: Spans | None, length: int | None, also: tuple[int, ...]
) -> Plan:
    fmt = get_format(dtype)
    inputs = ChosenInputs(spans) if spans else get_plan(name)(get_function(function), fmt, seed, also)
    if length is not None:
        inputs = replace(inputs, chunk=length)
    if inputs.explicit is None:
        size = sum(last - first + 1 for first, last in inputs.spans)
        chunks: Sequence[Chunk] = SpanChunks(dtype, seed, inputs.spans, inputs.chunk)
    else:
        size, chunks = len(inputs.explicit), _explicit_chunks(dtype, seed, inputs.explicit, inputs.chunk)
    if length is not None:
        if len(chunks) > MOST_CALLS:
            raise UsageError(f"length {length} makes {len(chunks)} calls (accepted: {MOST_CALLS}; say which inputs)")
        chunks = [replace(chunk, length=length) for chunk in chunks]
    return Plan(name, function, dtype, seed, size == 1 << fmt.width, size, chunks, spans, inputs.dense, length)


# ---- chunks --------------------------------------------------------------------------------------


class SpanChunks(Sequence[Chunk]):
    """Chunks of spans of ordinals, made when asked for: 2^32 inputs take no memory."""

    def __init__(self, dtype: str, seed: int, spans: Spans, length: int) -> None:
        self._dtype, self._seed, self._spans, self._length = dtype, seed, spans, length
        counts = [-(-(last - first + 1) // length) for first, last in spans]
        self._ends = np.cumsum(counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        span = int(np.searchsorted(self._ends, index, side="right"))
        first, last = self._spans[span]
        start = first + (index - (int(self._ends[span - 1]) if span else 0)) * self._length
        return Chunk(index, self._dtype, self._seed, start, min(self._length, last - start + 1))


def _explicit_chunks(dtype: str, seed: int, explicit: np.ndarray, length: int) -> list[Chunk]:
    pieces = [explicit[i : i + length] for i in range(0, len(explicit), length)]
    return [Chunk(i, dtype, seed, int(piece[0]), len(piece), piece) for i, piece in enumerate(pieces)]


def _spans(fmt: Format, ranges: Sequence[tuple[int, int] | str]) -> Spans:
    """Ranges as ordinal spans."""
    joined = joined_spans(span for item in ranges for span in _range(fmt, item))
    size = sum(last - first + 1 for first, last in joined)
    if size > MOST:
        raise UsageError(
            f"the ranges have {size:,} inputs, which take {_duration(size / RATE)} at {RATE / 1e6:g} million a second "
            f"(accepted: up to {MOST:,}; without ranges, a plan samples the whole of a dtype)"
        )
    return joined


def joined_spans(spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans, ascending, joined where they touch or overlap."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


def _duration(seconds: float) -> str:
    for unit, length in (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds / 60:,.0f} minutes"


def _range(fmt: Format, item: tuple[int, int] | str) -> Iterator[tuple[int, int]]:
    """The spans of one range: by bit pattern where its ends are bits and ascend, else by value."""
    if isinstance(item, str):
        low, colon, high = item.partition(":")
        texts = low, high if colon else low
        by_pattern = all(re.fullmatch(r"0[xX][0-9a-fA-F_]+", text.strip()) for text in texts)
        a, b = map(fmt.parse, texts)
    elif isinstance(item, Iterable) and len(pair := tuple(item)) == 2:
        by_pattern = True
        a, b = map(fmt.check_bits, pair)
    else:
        raise UsageError(f'range {item!r:.60} cannot be used (accepted: "a:b" or a pair of bits)')
    if by_pattern and a <= b:
        if a < fmt.sign_mask:
            yield a, min(b, fmt.sign_mask - 1)
        if b >= fmt.sign_mask:
            yield fmt.ordinal(b), fmt.ordinal(max(a, fmt.sign_mask))
    elif fmt.ordinal(a) <= fmt.ordinal(b):
        yield fmt.ordinal(a), fmt.ordinal(b)
    else:
        raise UsageError(f"range {fmt.bits_text(a)}:{fmt.bits_text(b)} is empty (accepted: a:b, a not above b)")


# ---- the plans -----------------------------------------------------------------------------------


@_plan
def default(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Every input of a 16-bit dtype, strata of a wider one."""
    return (exhaustive if fmt.width <= 16 else strata)(function, fmt, seed, also)


@_plan
def exhaustive(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Every bit pattern, NaNs included; not for float64."""
    if fmt.width > 32:
        raise UsageError(f"plan 'exhaustive' in {fmt.name} is 2^{fmt.width} inputs (accepted: dtypes of up to 32 bits)")
    half = 1 << (fmt.width - 1)
    return ChosenInputs(((-half, half - 1),), chunk=CHUNK if fmt.width == 32 else CHUNKS[fmt.width])


@_plan
def strata(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """All binades and edges, landmarks, tails, hard cases; 2^18 inputs in float32, 2^16 in float64."""
    rng = _generator("strata", function, fmt, seed)
    size = SIZES[fmt.width]
    binades = _binades(fmt)
    base = [
        *_points(function, fmt, also),
        _edges(fmt, binades),
        _within(rng, binades[:-1], binades[1:], max(2, size // (8 * len(binades)))),
        *(_inside(function, fmt, part) for part in _where_it_matters(rng, function, fmt, size * 15 // 16)),
        _inside(function, fmt, _runs(rng, function, fmt, size)),
    ]
    explicit = _filled(rng, function, fmt, base, CHUNKS[fmt.width])
    return ChosenInputs(explicit=explicit, chunk=CHUNKS[fmt.width], dense=True)


@_plan
def stress(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Default, then half a million equal calls, a thousand lengths up to 2^24 and eight threads: two minutes each."""
    return default(function, fmt, seed, also)


@_plan
def fixed(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Default, but more inputs do not follow the outputs: a gate tries the same ones whatever has changed."""
    return default(function, fmt, seed, also)


@_plan
def landmarks(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Special values, short numbers, neighbourhoods of landmarks and turning points, hard cases."""
    return ChosenInputs(explicit=_unique(fmt, _points(function, fmt, also)))


@_plan
def quick(function: Function, fmt: Format, seed: int, also: tuple[int, ...] = ()) -> ChosenInputs:
    """Strata of 2^14 inputs, for a first look."""
    rng = _generator("quick", function, fmt, seed)
    binades = _binades(fmt)
    base = [
        *_points(function, fmt, also),
        _within(rng, binades[:-1], binades[1:], 1),
        *(_inside(function, fmt, part) for part in _where_it_matters(rng, function, fmt, QUICK // 2)),
    ]
    return ChosenInputs(explicit=_filled(rng, function, fmt, base, QUICK), chunk=QUICK)


def _generator(name: str, function: Function, fmt: Format, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(f"{name}/{function.name}/{fmt.name}".encode())])


# ---- strata: arrays of ordinals ------------------------------------------------------------------


def _points(function: Function, fmt: Format, also: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Special values and what checks look at, numbers that people type, landmarks with their neighbours, hard cases."""
    yield ordinals(fmt, fixed_bits(function.name, fmt.name))
    yield ordinals(fmt, np.array(short_bits(fmt), dtype=fmt.uint))
    numbers = {*map(Fraction, (*function.landmarks.values(), *(function.turning_points or ()))), *function.points}
    centres = {fmt.ordinal(fmt.round(number)) for number in numbers}
    centres |= {int(edge) for edge in region_edges(fmt.name)[1:-1]}
    threshold = zero_threshold(function.name, fmt.name)
    if threshold is not None:
        centres.add(fmt.ordinal(threshold))
    window = np.arange(-WINDOWS[fmt.width], WINDOWS[fmt.width] + 1, dtype=np.int64)
    yield (np.array(sorted(centres), dtype=np.int64)[:, None] + window).ravel()
    hard = [case.x_bits for case in hard_cases(function.name, fmt.name)]
    yield ordinals(fmt, np.array([*hard, *also], dtype=fmt.uint))


def _binades(fmt: Format) -> np.ndarray:
    """Ordinals of the positive powers of two from the smallest subnormal up, and of infinity."""
    subnormal = [1 << k for k in range(fmt.precision - 1)]
    normal = range(1 << (fmt.precision - 1), fmt.infinity + 1, 1 << (fmt.precision - 1))
    return np.array([*subnormal, *normal], dtype=np.int64)


def _both_signs(magnitudes: np.ndarray) -> np.ndarray:
    return np.concatenate([-1 - magnitudes, magnitudes])


def _edges(fmt: Format, binades: np.ndarray) -> np.ndarray:
    """Every power of two with its two neighbours."""
    return _both_signs((binades[:, None] + np.array([-1, 0, 1])).ravel())


def _within(rng: np.random.Generator, starts: np.ndarray, stops: np.ndarray, count: int) -> np.ndarray:
    """`count` magnitudes of both signs from each start <= m < stop, one in each of `count` equal parts."""
    step = np.maximum((stops - starts) // count, 1)[:, None]
    low = starts[:, None] + step * np.arange(count)
    picked = [np.minimum(low + rng.integers(0, step, size=low.shape), stops[:, None] - 1).ravel() for _ in range(2)]
    return np.concatenate([picked[0], -1 - picked[1]])


def _spread(rng: np.random.Generator, first: int, last: int, count: int) -> np.ndarray:
    """`count` ordinals from first to last, one in each of `count` equal parts."""
    step = max((last - first) // count, 1)
    low = np.arange(count, dtype=np.int64) * step + first
    return np.asarray(np.minimum(low + rng.integers(0, step, size=count), last))


def _reach(function: Function, fmt: Format) -> float:
    """|x| up to which the function is not trivial: past where its tail is zero, 40 where it has none."""
    threshold = zero_threshold(function.name, fmt.name)
    return 40.0 if threshold is None else 1.02 * abs(float(fmt.fraction(threshold)))


def _tiny(fmt: Format) -> int:
    """Magnitude of 2^-(p+4), below which every function here is its first terms."""
    return fmt.round(Fraction(1, 1 << (fmt.precision + 4)))


def core(function: Function, fmt: Format) -> tuple[int, int, int]:
    """Magnitudes where the function is not trivial: the least, the largest of negative x, that of positive x."""
    reach = _reach(function, fmt)
    return _tiny(fmt), fmt.round(Fraction(reach)), fmt.round(Fraction(max(16.0, reach)))


def _where_it_matters(rng: np.random.Generator, function: Function, fmt: Format, size: int) -> Iterator[np.ndarray]:
    """The tail and the core, evenly by ordinal and evenly by value."""
    reach, one = _reach(function, fmt), fmt.one
    tiny, tail, right = core(function, fmt)
    yield _spread(rng, -1 - tail, -1 - one, size // 6)
    yield _spread(rng, -1 - one, -1 - tiny, size // 12)
    yield _spread(rng, tiny, right, size // 12)
    for low, high in ((-reach, -1.0), (-reach, max(16.0, reach))):
        even = low + (high - low) * (np.arange(size // 10) + rng.random(size // 10)) / (size // 10)
        yield ordinals(fmt, even.astype(numpy_dtype(fmt.name)).view(fmt.uint))


def _inside(function: Function, fmt: Format, chosen: np.ndarray) -> np.ndarray:
    """Ordinals, of which those outside of the domain of the function are mirrored at zero, where that is inside."""
    first, last = function.ordinals(fmt)
    outside, mirrored = (chosen < first) | (chosen > last), -1 - chosen
    return np.asarray(np.where(outside & (mirrored >= first) & (mirrored <= last), mirrored, chosen))


def _runs(rng: np.random.Generator, function: Function, fmt: Format, size: int) -> np.ndarray:
    """Runs of 32 consecutive floats, where neighbours show whether a result ever turns back."""
    reach, tiny = fmt.round(Fraction(_reach(function, fmt))), _tiny(fmt)
    starts = [_spread(rng, -1 - reach, -1 - tiny, size >> 10), _spread(rng, tiny, reach, size >> 11)]
    return (np.concatenate(starts)[:, None] + np.arange(32)).ravel()


def _unique(fmt: Format, parts: Sequence[np.ndarray] | Iterator[np.ndarray]) -> np.ndarray:
    half = 1 << (fmt.width - 1)
    return distinct(np.clip(np.concatenate(list(parts)), -half, half - 1))


def _filled(
    rng: np.random.Generator, function: Function, fmt: Format, parts: list[np.ndarray], multiple: int
) -> np.ndarray:
    """Everything in `parts`, and inputs of the core until the number is a multiple."""
    chosen = _unique(fmt, parts)
    if fmt.width <= 16:  # a 16-bit core may not hold as many
        return chosen
    size = -(-len(chosen) // multiple) * multiple
    low, high = -1 - fmt.round(Fraction(_reach(function, fmt))), -1 - _tiny(fmt)
    while len(chosen) < size:
        extra = distinct(_inside(function, fmt, _spread(rng, low, high, 2 * (size - len(chosen)) + 64)))
        place = np.minimum(np.searchsorted(chosen, extra), len(chosen) - 1)
        fresh = rng.permutation(extra[chosen[place] != extra])
        chosen = np.sort(np.concatenate([chosen, fresh[: size - len(chosen)]]))
    return chosen
