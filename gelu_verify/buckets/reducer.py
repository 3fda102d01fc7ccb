"""From a target's outputs to a table: the rules of a sweep, and the C reducer (src/buckets) that counts by them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..formats import Format, get_format, magnitudes, ordinals
from ..functions import Function, get_function
from ..functions.regions import region_edges
from ..inputs.plans import STREAMS
from ..inputs.special import fixed_bits
from ..truth.oracle import judge_exactly
from ..truth.values import Judgement
from . import _reducer
from .analytic_spans import spans_of
from .approximation import without_overflow
from .table import HIST_EDGES, NEAREST, WITNESS, Columns, Facts, MonotonePieces, Records, Table

_WORST = np.dtype([("error", "f8"), ("ordinal", "i8"), ("x", "u8"), ("got", "u8"), ("want", "u8")])
_WIDE = np.dtype([("worst", _WORST), ("error_sum", "i8"), ("bits_hash", "u8"), ("nearest", "u8", len(NEAREST))])
_NARROW = np.dtype(
    [
        *(("n", "u4"), ("correct", "u4"), ("faithful", "u4"), ("count", "u4", len(NEAREST))),
        *(("hist", "u4", len(HIST_EDGES)), ("zero_sign", "u4")),
    ]
)
ROW = np.dtype([*_WIDE.descr, *_NARROW.descr])
_WORDS = np.dtype([("wide", "u8", _WIDE.itemsize // 8), ("narrow", "u4", _NARROW.itemsize // 4)])  # the same as numbers
_BLOCK = 512  # records that are copied at once: their columns, one after another, find them in a cache
_REGION = np.dtype([("worst", _WORST), ("n", "i8")])
_EXTREME = np.dtype([("present", "i8"), ("value", "i8"), ("ordinal", "i8")])
_NEAR = np.dtype([*((name, "i8") for name in ("present", "ordinal", "below")), ("got", "u8"), ("got_below", "u8")])
_FAR = np.dtype([("present", "i8"), ("ordinal", "i8"), ("value", "f8")])
FACTS = np.dtype(
    [
        *(("max_rank", "u8"), ("lowest_got", _EXTREME), ("highest_got", _EXTREME)),
        *((name, _NEAR) for name in ("nonfinite", "wrong_sign", "zero_from", "rises", "beyond_x", "nan_wrong")),
        ("zero_sign", _NEAR),
        *(("approximation_ulp", _FAR), ("approximation_abs", _FAR)),
    ]
)  # the records of src/buckets/records.h, field by field


@dataclass(frozen=True)
class Outcome:
    """Judged outputs of one chunk: bits (`fmt.uint`) by ordinal of x, errors in ulp as `judge` gives them."""

    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    error: np.ndarray
    faithful: np.ndarray

    @classmethod
    def of(cls, fmt: Format, x: np.ndarray, got: np.ndarray, judgement: Judgement) -> Outcome:
        want, error, faithful = judgement
        return cls(x, got, want, without_overflow(fmt, got, want, error), faithful)


class Reduction:
    """The table of a sweep while it grows; for one thread. Runs of inputs are added, each ascending, none twice."""

    def __init__(self, fmt: Format, function: Function, pieces: MonotonePieces) -> None:
        def decide(approximated: int, x_bits: int, got_bits: int) -> tuple[int, float, bool]:
            entry = get_function(function.approximates) if approximated and function.approximates else function
            return judge_exactly(entry, fmt, x_bits, got_bits)

        self._fmt = fmt
        self._fixed_bits, self._fixed = _fixed(function.name, fmt.name)
        self._samples: dict[int, int] = {}
        self._reducer = _reducer.Reducer(rules_of(fmt, function, pieces), decide)

    @staticmethod
    def judges(fmt: Format, function: Function) -> bool:
        """Whether `add_outputs` can judge: other outputs are judged by `truth.values.judge` first."""
        both = (function, get_function(function.approximates) if function.approximates else function)
        native = all(_reducer.judges(each.name) and each.double_at_zero is not None for each in both)
        return fmt.width in (16, 32) and native

    def add_outcome(self, outcome: Outcome) -> None:
        """Outputs that are judged already."""
        bits = (outcome.x, outcome.got, outcome.want, outcome.faithful)
        x, got, want, faithful = (array.view(np.uint8) for array in bits)
        self._reducer.add_judged(x, got, want, outcome.error, faithful)
        self._sample(outcome.x, outcome.got)

    def add_outputs(self, x: np.ndarray, got: np.ndarray) -> None:
        """Outputs `got` for inputs `x` (bits)."""
        self._reducer.add_outputs(x.view(np.uint8), got.view(np.uint8))
        self._sample(x, got)

    def add_strided(self, first: int, x: np.ndarray, got: np.ndarray, sealed: bool = False) -> bool:
        """Outputs for the inputs of `fill_strided`; False when x, unless it is sealed, is no longer what it was."""
        if not self._reducer.add_strided(first, x, got, sealed):
            return False
        size = len(x) - 1
        for k in range(bisect_left(self._fixed, first), bisect_right(self._fixed, first + size - 1)):
            stream, step = divmod(self._fixed[k] - first, size // STREAMS)
            self._samples[self._fixed_bits[k]] = int(got[STREAMS * step + stream])
        return True

    def _sample(self, x: np.ndarray, got: np.ndarray) -> None:
        """Remember the outputs at the fixed inputs."""
        low, high = (self._fmt.ordinal(int(end)) for end in (x[0], x[-1]))
        wanted = slice(bisect_left(self._fixed, low), bisect_right(self._fixed, high))
        if wanted.start == wanted.stop:
            return
        x_ord = ordinals(self._fmt, x)
        place = np.searchsorted(x_ord, self._fixed[wanted])
        for bits, ordinal, at in zip(self._fixed_bits[wanted], self._fixed[wanted], place.tolist(), strict=True):
            if x_ord[at] == ordinal:
                self._samples[bits] = int(got[at])

    def table(self) -> Table:
        """What was added so far; something must have been."""
        bucket = np.frombuffer(self._reducer.buckets(), np.uint16)
        first, end = int(bucket[0]), int(bucket[-1]) + 1
        used = slice(first, end) if end - first == len(bucket) else bucket  # copies nothing where none is missing
        columns, hist = row_columns(self._fmt, bucket, np.frombuffer(memoryview(self._reducer), ROW)[used])
        segments = np.frombuffer(self._reducer.segments(), np.int64).reshape(-1, 4)
        samples = np.array(sorted(self._samples.items()), dtype=np.uint64).reshape(-1, 2)
        by_x = np.argsort(segments[:, 0])
        return Table(self._fmt, columns, hist, self._regions(), segments[by_x], samples, self._facts())

    def _regions(self) -> Columns:
        return region_columns_of(self._reducer.regions())

    def _facts(self) -> Facts:
        return facts_of(np.frombuffer(self._reducer.facts(), FACTS)[0])


def row_columns(fmt: Format, bucket: np.ndarray, rows: Records) -> tuple[Columns, np.ndarray]:
    """Records of ROW as the columns of a table, and its histogram; of records that grow it is a copy."""
    words = rows.view(_WORDS)
    wide, narrow = (np.empty((*_WORDS[name].shape, len(rows)), _WORDS[name].base) for name in ("wide", "narrow"))
    for first in range(0, len(rows), _BLOCK):
        block = slice(first, first + _BLOCK)
        wide[:, block], narrow[:, block] = words["wide"][block].T, words["narrow"][block].T
    error, _, *worst, error_sum, bits_hash = wide[:7]
    (n, correct, faithful), count, hist, zero_sign = narrow[:3], narrow[3:7], narrow[7:-1], narrow[-1]
    columns: Columns = {"bucket": bucket.astype(np.uint16), "n": n, "error_sum": error_sum.view(np.int64)}
    columns |= {"correct": correct, "faithful": faithful, "bits_hash": bits_hash, "zero_sign": zero_sign}
    columns |= {"max_error": _scored(error.view(np.float64)), **dict(zip(WITNESS, worst, strict=True))}
    sign = np.where(bucket < 0x8000, np.uint64(fmt.sign_mask), np.uint64(0))  # no bucket holds both signs
    for name, some, nearest in zip(NEAREST, count, wide[7:], strict=True):
        columns |= {name: some, f"{name}_x": np.where(some > 0, nearest | sign, np.uint64(0))}
    return columns, hist


def region_columns(region: np.ndarray, n: np.ndarray, worst: Records) -> Columns:
    """Records of regions as the columns of a table."""
    return {"region": region.astype(np.uint8), "n": np.ascontiguousarray(n)} | _worst_columns(worst)


def region_columns_of(raw: bytes) -> Columns:
    """The same of the records of all regions, of those that have inputs."""
    regions = np.frombuffer(raw, _REGION)
    used = np.flatnonzero(regions["n"])
    return region_columns(used, regions["n"][used], regions["worst"][used])


def facts_of(raw: Any) -> Facts:
    """A record of FACTS as Facts."""
    facts: dict[str, Any] = {"max_rank": int(raw["max_rank"])}
    for name in (FACTS.names or ())[1:]:
        fact = dict(zip(raw[name].dtype.names, raw[name].item(), strict=True))
        if not fact["present"]:
            continue
        if "value" in fact:
            sign = -1 if name.startswith("approximation") else 1
            facts[name] = sign * fact["value"], fact["ordinal"]
        else:
            below = (fact["below"], fact["got_below"]) if name == "rises" else ()
            ordinal = fact["ordinal"]
            facts[name] = int(magnitudes(ordinal)), ordinal, fact["got"], *below
    return Facts(**facts)


def fill_strided(first: int, x: np.ndarray) -> None:
    """Fill x with len(x) - 1 consecutive float32 inputs from the ordinal `first` on, in strided order.

    Input first + t * (size / STREAMS) + j comes at STREAMS * j + t (src/buckets/strided.h); the last is the first
    again, as calls have an odd length.
    """
    _reducer.fill_strided(first, x)


def reduce(fmt: Format, function: Function, pieces: MonotonePieces, outcome: Outcome) -> Table:
    """The table of one chunk."""
    reduction = Reduction(fmt, function, pieces)
    reduction.add_outcome(outcome)
    return reduction.table()


def _scored(error: np.ndarray) -> np.ndarray:
    """NaN where nothing was scored."""
    return np.where(error < 0, np.nan, error)


def _worst_columns(worst: Records) -> Columns:
    return {"max_error": _scored(worst["error"])} | {
        name: worst[field].copy() for name, field in zip(WITNESS, ("x", "got", "want"), strict=True)
    }


# ---- rules ---------------------------------------------------------------------------------------


@cache
def _fixed(function: str, dtype: str) -> tuple[list[int], list[int]]:
    """The fixed inputs by ordinal: bits, ordinals."""
    bits = fixed_bits(function, dtype)
    return bits.tolist(), ordinals(get_format(dtype), bits).tolist()


def rules_of(fmt: Format, function: Function, pieces: MonotonePieces) -> dict[str, Any]:
    """What the reducer must know of the function and the dtype."""
    judged = Reduction.judges(fmt, function)
    approximated = function.approximates
    return {
        "fmt": fmt.layout,
        "truth": truth_of(fmt, function) if judged else None,
        "approximated": truth_of(fmt, get_function(approximated)) if judged and approximated else None,
        "turns": pieces.turns.tolist(),
        "falls_first": pieces.falls_first,
        "is_monotone": pieces.is_monotone,
        "infinity": pieces.infinity,
        "edges": region_edges(fmt.name).tolist(),
        "tail_end": tail_end(function, fmt),
        "stays_below_x": function.at_most_x,
        "either_zero": function.either_zero,
        "spans": spans_of(function.name) if judged and fmt.name == "float32" else (),
        "bins": _BINS,
    }


def truth_of(fmt: Format, function: Function) -> tuple[str, list[int], float]:
    """Name, bits required at NaN, -inf, inf, -0 and 0 with those of infinity, and the value at zero."""
    minus = fmt.sign_mask
    at = (fmt.nan, fmt.infinity | minus, fmt.infinity, minus, 0)
    limits = [*(function.limit_bits(fmt, bits) for bits in at), fmt.infinity]
    return function.name, limits, function.double_at_zero or 0.0


def _bins() -> bytes:
    """Histogram bin of every (value of k << 51 as a double, of k+1 << 51]; the last entry is that of zero."""
    with np.errstate(invalid="ignore"):
        upper = (np.arange(1, 4097, dtype=np.int64) << 51).view(np.float64)
    bins = np.searchsorted(np.array(HIST_EDGES), np.where(np.isnan(upper), np.inf, upper))
    return np.append(np.minimum(bins, len(HIST_EDGES) - 1), 0).astype(np.uint8).tobytes()


_BINS = _bins()


def tail_end(function: Function, fmt: Format) -> int:
    """Ordinal of -1, or of the first turning point where that is lower: a zero right of it is not the tail's."""
    turns = [Fraction(text) for text in (function.turning_points or ())[:1]]
    return fmt.ordinal(fmt.round(min([Fraction(-1), *turns]), "down"))
