"""The ladder from the exact value to what was measured: every rung puts one source of error in, and is judged.

    constants   exact arithmetic, constants rounded to the working dtype
    formula     every operation and building block rounded correctly: the error that is the formula's own
    stored      constants as the library has them, where those are others
    flushing    subnormals that became zeros, where they did
    <block>     one building block after the other as the library has it
    known       the kernel of ours that gives the measured bits, where one does and the blocks do not
    measured    the target itself

The error of a rung less that of the rung below is what its source adds at that input; the sum over the rungs is the
measured error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import distinct
from ..formats import Format, get_format, is_finite, is_zero, ordinals, to_float64
from ..functions.regions import REGIONS, region_edges
from ..truth.values import judge
from .blocks import Block
from .evaluation import Arithmetic, constant_bits, evaluate, exactly, precise
from .expression import constants
from .forms import Form
from .sensitivity import Share, shares, unit_of

CONSTANTS, FORMULA, STORED, MEASURED = "constants", "formula", "stored", "measured"
FLUSHING, KNOWN = "flushing", "known"
SOURCES = (CONSTANTS, FORMULA, FLUSHING, "blocks", KNOWN, "rest")
GUARD = 64  # bits beyond the significand and what cancels
DEEPEST = 1200  # bits that can cancel in float64: results below 2^-1074 are none


@dataclass(frozen=True)
class Rung:
    """One step: `source` is what it adds (of SOURCES); `error` in ULP of the exact result, NaN where not evaluated."""

    name: str
    title: str
    source: str
    error: np.ndarray
    got_bits: np.ndarray | None = None


@dataclass(frozen=True)
class Model:
    """What a target is taken to do: the form, the dtype that it computes in, its constants and building blocks.

    `flush`: which subnormals it takes as zeros, as in `Arithmetic`.
    """

    form: Form
    working: str
    stored: Mapping[str, str]
    blocks: Mapping[str, Block]
    flush: str = ""

    def arithmetic(self, stored: bool = True, flush: bool = True, blocks: Sequence[str] = ()) -> Arithmetic:
        """With the library's constants or correctly rounded ones, flushing or not, and with these of its blocks."""
        held = self.stored if stored else {}
        calls = {name: self.blocks[name].call for name in blocks}
        return Arithmetic(self.working, calls, held, self.flush if flush else "")

    def bits(self, dtype: str, x_bits: np.ndarray, arithmetic: Arithmetic | None = None) -> np.ndarray:
        """What it returns."""
        chosen = self.arithmetic(blocks=list(self.blocks)) if arithmetic is None else arithmetic
        return evaluate(self.form.root, dtype, x_bits, chosen)[0]


@dataclass(frozen=True)
class Ladder:
    """All rungs at the finite inputs `x_bits` (by ordinal), and the parts of the single operations."""

    model: Model
    dtype: str
    x_bits: np.ndarray
    want_bits: np.ndarray
    rungs: tuple[Rung, ...]
    operations: tuple[Share, ...]

    def rung(self, name: str) -> Rung:
        return next(rung for rung in self.rungs if rung.name == name)

    def added(self, at: int) -> dict[str, float]:
        """ULP that each source adds at the input of that index; they sum up to the error of the last rung."""
        total = dict.fromkeys(SOURCES, 0.0)
        below = 0.0
        for rung in self.rungs:
            total[rung.source] += float(rung.error[at]) - below
            below = float(rung.error[at])
        return total


def regions(dtype: str, x_bits: np.ndarray) -> np.ndarray:
    """Index into REGIONS of finite inputs."""
    place = np.searchsorted(region_edges(dtype), ordinals(get_format(dtype), x_bits), side="right") - 1
    return np.clip(place, 0, len(REGIONS) - 1)


def climb(
    model: Model, dtype: str, x_bits: np.ndarray, measured: np.ndarray | None = None, exact: int | None = None,
    known: tuple[str, np.ndarray] | None = None,
) -> Ladder:  # fmt: skip
    """The ladder at these inputs, less zeros and what is not finite.

    Parameters
    ----------
    measured : what the target returned for them; None: the ladder ends with the building blocks
    known : title and results of a kernel that explains the target better than the model
    exact : at how many inputs, evenly, exact arithmetic is done, beside the worst ones of every rung; None: at all
    """
    fmt, function = get_format(dtype), model.form.function
    usable = is_finite(fmt, x_bits) & ~is_zero(fmt, x_bits)
    x_bits = np.ascontiguousarray(x_bits[usable])
    rungs = list(_rounded_rungs(model, dtype, x_bits))
    last = [(KNOWN, *known, KNOWN)] if known is not None else []
    last += [(MEASURED, "measured", measured, "rest")] if measured is not None else []
    for name, title, returned, source in last:
        got = np.ascontiguousarray(returned[usable])
        rungs.append(Rung(name, title, source, judge(function, dtype, x_bits, got).error, got))
    want = judge(function, dtype, x_bits, x_bits).want_bits
    rounding = judge(function, dtype, x_bits, want).error
    unit = unit_of(fmt, want, rounding)
    parts = shares(
        model.form.root, dtype, x_bits, model.arithmetic(stored=False, flush=False), to_float64(fmt, want), unit
    )
    at = np.arange(len(x_bits)) if exact is None else _chosen(dtype, x_bits, rungs, exact)
    error = np.full(len(x_bits), np.nan)
    error[at] = _of_constants(model, fmt, x_bits[at], want[at], rounding[at], unit[at], _cancelled(parts, at))
    rungs.insert(0, Rung(CONSTANTS, "constants rounded, exact arithmetic", "constants", error))
    return Ladder(model, dtype, x_bits, want, tuple(rungs), tuple(parts))


def _rounded_rungs(model: Model, dtype: str, x_bits: np.ndarray) -> Iterator[Rung]:
    def rung(name: str, title: str, source: str, arithmetic: Arithmetic) -> Rung:
        got = model.bits(dtype, x_bits, arithmetic)
        return Rung(name, title, source, judge(model.form.function, dtype, x_bits, got).error, got)

    correct = model.arithmetic(stored=False, flush=False)
    yield rung(FORMULA, "every operation correctly rounded", "formula", correct)
    if model.stored:
        constants_text = ", ".join(stored_text(*each) for each in model.stored.items())
        yield rung(STORED, f"constants as stored: {constants_text}", "constants", model.arithmetic(flush=False))
    if model.flush:
        yield rung(FLUSHING, flush_text(model.flush), FLUSHING, model.arithmetic())
    so_far: list[str] = []
    for name, block in model.blocks.items():
        so_far.append(name)
        yield rung(name, block.title, "blocks", model.arithmetic(blocks=so_far))


def stored_text(name: str, decimal: str) -> str:
    """What a library has in the place of a constant, for people."""
    return f"{name} rounded to float32" if decimal == "float32" else f"{name} = {decimal}"


def flush_text(flush: str) -> str:
    """Which subnormals become zeros, for people."""
    return f"subnormal {flush} flushed to zero"


def _chosen(dtype: str, x_bits: np.ndarray, rungs: Sequence[Rung], exact: int) -> np.ndarray:
    """Indices: `exact` of them evenly, and the worst of each rung in each region."""
    chosen = set(distinct(np.linspace(0, len(x_bits) - 1, min(exact, len(x_bits))).astype(int)).tolist())
    place = regions(dtype, x_bits)
    for rung in rungs:
        chosen |= {at for at in worst_by_region(np.abs(rung.error), place) if at is not None}
    return np.array(sorted(chosen), dtype=np.int64)


def worst_by_region(size: np.ndarray, place: np.ndarray) -> list[int | None]:
    """Index of the largest `size` in each region, None where it has none."""
    found: list[int | None] = []
    for region in range(len(REGIONS)):
        inside = np.flatnonzero((place == region) & ~np.isnan(size))
        found.append(int(inside[np.argmax(size[inside])]) if len(inside) else None)
    return found


def _cancelled(parts: Sequence[Share], at: np.ndarray) -> np.ndarray:
    """Bits that the exact value may lose to cancellation on the way."""
    largest = np.max([np.nan_to_num(part.amplification[at], nan=np.inf) for part in parts], axis=0, initial=1.0)
    with np.errstate(divide="ignore"):
        bits: np.ndarray = np.clip(np.log2(largest), 0, DEEPEST)
    return bits


def _of_constants(
    model: Model, fmt: Format, x_bits: np.ndarray, want: np.ndarray, rounding: np.ndarray, unit: np.ndarray,
    cancelled: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Error in ULP of exact arithmetic with rounded constants."""
    working = get_format(model.working)
    rounded = {c.text: working.dyadic(constant_bits(c, working)) for c in constants(model.form.root)}
    if not rounded:
        return np.zeros(len(x_bits))
    errors = []
    for x, y, u, lost in zip(x_bits.tolist(), want.tolist(), unit.tolist(), cancelled.tolist(), strict=True):
        mp = precise(fmt.precision + GUARD + int(lost))
        value = exactly(model.form.root, fmt.dyadic(x), rounded, mp)
        errors.append(float((value - mp.ldexp(*fmt.dyadic(y))) / mp.mpf(u)) if fmt.is_finite(y) else np.nan)
    total: np.ndarray = np.array(errors) + rounding
    return total
