"""The table of pairs (x, second input) of a function with a second input, in a format of 16 bits: all 2^32 of them.

Pairs are judged and counted by src/buckets/pairs.h, by strips of many second inputs at one x; here are the rules of
each second input and the values of the function of x. What `judge_pair` says of each pair is what counts.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..errors import UsageError
from ..formats import Format, converted, from_ordinals, get_format, is_finite, is_zero
from ..functions import Function
from ..functions.limits import Limit
from ..truth.carried import VALUE
from ..truth.oracle import judge_exactly
from ..truth.second_input import Second, judge_pair, of_two_inputs
from ..truth.values import enclosures
from . import _reducer
from .reducer import FACTS, ROW, facts_of, region_columns_of, row_columns, rules_of, tail_end
from .table import MonotonePieces, Records, Table

Worst = tuple[float, int, int, int, int]
"""|error| in ulp, and the bits of x, of the second input, of the output and of the correctly rounded result."""

_INPUTS = 1 << 16
_SIGN_ONLY = 2.0**-600  # values below, times any number of 16 bits, change no error by the last bit of a double
_HEAD = ~np.uint64((1 << 11) - 1)  # 42 bits of a double: times 11 bits they are exact


class PairReduction:
    """The table of pairs while it grows; for one thread. A second input is added once, with the outputs at every x.

    Parameters
    ----------
    function, dtype : str
        "swiglu", "bias_gelu", ...; "float16" or "bfloat16"

    The table has a row for each x, whose `n` counts second inputs. Of equal errors the witness is the one with the
    least x, then the least bits of output and of result, so that tables of parts merge to that of the whole.
    """

    def __init__(self, function: str, dtype: str) -> None:
        self._second, self._fmt = of_two_inputs(function), get_format(dtype)
        if self._fmt.width != 16:
            raise UsageError(f"pairs are counted in 16 bits, not in {dtype} (accepted: float16, bfloat16)")
        self._x = from_ordinals(self._fmt, np.arange(-_INPUTS // 2, _INPUTS // 2))
        fmt, second, pieces = self._fmt, self._second, MonotonePieces.of(self._second.function, self._fmt)
        rules = rules_of(fmt, second.function, pieces) | {"truth": _truth(fmt, second), "pairs": _values(fmt, second)}

        def decide(second_bits: int, x_bits: int, got_bits: int) -> tuple[int, float, bool]:
            return judge_exactly(second.at(fmt, second_bits), fmt, x_bits, got_bits)

        self._reducer = _reducer.PairReducer(rules, decide)
        self._pieces, self._tail_end = pieces, tail_end(second.function, fmt)

    def add(self, second_bits: int, got: np.ndarray) -> None:
        """Outputs `got` (bits) for every x, by ordinal, and one second input: any bit pattern."""
        fmt, function = self._fmt, self._second.function
        if got.dtype != fmt.uint or got.shape != self._x.shape:
            raise UsageError(f"got must be {_INPUTS} outputs as {fmt.uint}, one for each x by ordinal")
        got = np.ascontiguousarray(got)
        if fmt.is_finite(fmt.check_bits(second_bits)) and fmt.magnitude(second_bits):
            self._reducer.add_second(second_bits, self._facts_at(second_bits), got)
            return
        want, error, faithful = judge_pair(function.name, fmt.name, second_bits, self._x, got)
        at = self._second.known_at(fmt, second_bits)
        pieces = MonotonePieces.of(at, fmt)
        facts = pieces.turns.tolist(), pieces.falls_first, tail_end(at, fmt), at.at_most_x
        is_faithful = faithful.view(np.uint8)
        self._reducer.add_judged_second(
            second_bits, facts, pieces.is_monotone, at.either_zero, got, want, error, is_faithful
        )

    def _facts_at(self, second_bits: int) -> tuple[list[int], bool, int, bool]:
        """Turning points, whether it falls first, the end of the tail, and whether |f(x)| <= |x|, as ordinals: those of
        `Second.at`, without making that function."""
        fmt, function, value = self._fmt, self._second.function, self._fmt.fraction(second_bits)
        if self._second.is_factor:
            falls_first = self._pieces.falls_first == (value > 0)
            return self._pieces.turns.tolist(), falls_first, self._tail_end, function.at_most_x and abs(value) <= 1
        turns = [Fraction(text) - value for text in function.turning_points or ()]
        end = fmt.ordinal(fmt.round(min([Fraction(-1), *turns[:1]]), "down"))
        return [fmt.ordinal(fmt.round(turn, "down")) for turn in turns], function.falls_first, end, False

    @property
    def worst(self) -> Worst | None:
        """The largest error so far; None where nothing was scored."""
        self._reducer.flush()
        return self._reducer.worst()

    def table(self) -> Table:
        """What was added so far; something must have been. It has no segments and no samples: neighbours are compared
        at each second input, and no output stands for x alone."""
        self._reducer.flush()
        bucket = np.arange(_INPUTS)
        columns, hist = row_columns(self._fmt, bucket, np.frombuffer(memoryview(self._reducer), ROW))
        regions = region_columns_of(self._reducer.regions())
        facts = facts_of(np.frombuffer(self._reducer.facts(), FACTS)[0])
        none = np.empty((0, 4), np.int64), np.empty((0, 2), np.uint64)
        return Table(self._fmt, columns, hist, regions, *none, facts)


def _truth(fmt: Format, second: Second) -> tuple[str, list[int], float]:
    """What native code asks where its bounds do not decide; the limits are those of NaN alone."""
    return second.inner.name, [fmt.nan, 0, 0, 0, 0, fmt.infinity], 0.0


def _values(fmt: Format, second: Second) -> tuple[np.ndarray | None, list[float], list[list[float]]]:
    """Values of f at each x by ordinal, for a product; limits at -inf and inf; f(0), and what is as right there, at 0
    and at -0."""
    inner = second.inner
    infinite = [_double(limit) for limit in (inner.at_minus_infinity, inner.at_plus_infinity)]
    at_zero = [inner.at_zero, *inner.also.get("0", (inner.at_zero,))][:2]
    zero = [[_double(limit, x) for limit in at_zero] for x in (0.0, -0.0)]
    return _factors(fmt, inner) if second.is_factor else None, infinite, zero


def _double(limit: Limit, x: float = 0.0) -> float:
    return x if limit == "x" else -x if limit == "-x" else float(str(limit))


def _factors(fmt: Format, inner: Function) -> np.ndarray:
    """(h, l, err) at each x by ordinal: h has 42 bits, and where l has more, err covers the rounding of g l too."""
    x = from_ordinals(fmt, np.arange(-_INPUTS // 2, _INPUTS // 2))
    wide = get_format("float64")
    values: Records = enclosures(inner.name, wide.name, converted(fmt, x, wide)).values.view(VALUE)
    hi, lo, err = (np.ldexp(values[name], values["k"]) for name in ("hi", "lo", "err"))
    vanishing = (np.abs(hi) < _SIGN_ONLY) & (values["hi"] != 0)
    hi = np.where(vanishing, np.copysign(_SIGN_ONLY, values["hi"]), hi)
    lo, err = np.where(vanishing, 0.0, lo), np.where(vanishing, _SIGN_ONLY, err)
    h = (hi.view(np.uint64) & _HEAD).view(np.float64)
    low = (hi - h) + lo
    rounded = (hi != h) & (lo != 0)
    is_long = low != (low.view(np.uint64) & _HEAD).view(np.float64)
    err = err + np.where(rounded | is_long, np.abs(low) * 2.0**-51, 0.0)
    usable = is_finite(fmt, x) & ~is_zero(fmt, x)
    return np.where(usable[:, None], np.stack([h, low, err], axis=1), [[0.0, 0.0, np.inf]])
