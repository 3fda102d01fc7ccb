"""float64 kernels with one planted region of bad results: everywhere else they are correctly rounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gelu_verify.formats import FORMATS, ordinals
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth import correctly_rounded

FMT = FORMATS["float64"]
ONE = 1 << 52  # ordinals in a binade


@dataclass(frozen=True)
class Planted:
    """`about`: where it is bad; `change(x, y)` gives its results from the correctly rounded ones. It is found when an
    error is at least `least` ULP or, where that is 0, when an output is not finite or has the wrong sign;
    `evaluations`: inputs that are enough for that."""

    name: str
    about: str
    change: Callable[[np.ndarray, np.ndarray], np.ndarray]
    least: float
    evaluations: int
    function: str = "silu"

    def is_found(self, state) -> bool:
        if self.least == 0:
            return any(state.counts)
        return state.worst is not None and state.worst.error >= self.least

    def target(self, dtype: str = "float64"):
        correct = getattr(correctly_rounded, self.function)

        def kernel(x: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return self.change(x, correct(x))

        return callable_target(kernel, self.function, dtype, name=f"planted:{self.name}")


def off(y: np.ndarray, ulps: int) -> np.ndarray:
    """Results that are so many floats farther from zero."""
    return (y.view(f"i{y.itemsize}") + ulps).astype(f"i{y.itemsize}").view(y.dtype)


def where(inside: Callable[[np.ndarray], np.ndarray], ulps: int = 3):
    """Results that are off by `ulps` where `inside` says so."""
    return lambda x, y: np.where(inside(x) & np.isfinite(y), off(y, ulps), y)


def between(low: float, high: float):
    return lambda x: (x >= low) & (x < high)


def consecutive(start: float, count: int):
    """`count` consecutive floats from `start` on."""
    first = FMT.ordinal(int(np.float64(start).view(np.uint64)))
    return lambda x: (ordinals(FMT, x.view(np.uint64)) >= first) & (ordinals(FMT, x.view(np.uint64)) < first + count)


def growing(low: float, high: float, ulps: float):
    """An error that grows as a polynomial's beyond its interval: up to `ulps` at `high`."""

    def change(x, y):
        t = np.clip((x - low) / (high - low), 0, 1)
        return np.where((x > low) & (x < high), off(y, np.rint(ulps * t**8).astype(np.int64)), y)

    return change


def beside_edges(x):
    """Within 2^-36 of its size of an edge (k + 1/2) log(2)/64, as where a table's index is rounded the wrong way."""
    t = x * (64 / np.log(2)) - 0.5
    return (np.abs(t - np.rint(t)) < 2.0**-36 * np.maximum(np.abs(t), 1)) & (np.abs(x) < 30) & (np.abs(x) > 0.01)


def table_edges(x, y):
    """As beside_edges; and within each interval of the table the results drift by half a ULP, as an unbalanced
    reduction makes them."""
    t = x * (64 / np.log(2)) - 0.5
    drift = ((t - np.floor(t)) > 0.5) & (x.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) < np.uint64(1 << 63))
    core = (np.abs(x) < 30) & (np.abs(x) > 0.01)
    return np.where(beside_edges(x), off(y, 5), np.where(drift & core, off(y, 1), y))


def table_entry(x):
    """One of 256 intervals of the binade [8, 16)."""
    return (x.view(np.int64) >> 44) == (np.float64(11.40625).view(np.int64) >> 44)


PLANTED = (
    Planted("binade", "3 ULP in [0.25, 0.5)", where(between(0.25, 0.5)), 3, 4_000_000),
    Planted(
        "tiny binade",
        "2 ULP for abs(x) in [2^-27, 2^-26]",
        where(lambda x: (np.abs(x) >= 2.0**-27) & (np.abs(x) <= 2.0**-26), 2),
        2,
        4_000_000,
    ),
    Planted(
        "far binade",
        "3 ULP for abs(x) in [2^-700, 2^-699)",
        where(lambda x: (np.abs(x) >= 2.0**-700) & (np.abs(x) < 2.0**-699)),
        3,
        4_000_000,
    ),
    Planted("table entry", "3 ULP in one of 256 parts of [8, 16)", where(table_entry), 3, 4_000_000),
    Planted(
        "wrong branch point",
        "an error that grows to 40 ULP, up to x = -1.6906",
        growing(-1.7320508, -1.6906, 40),
        40,
        60_000_000,
    ),
    Planted(
        "narrow branch error",
        "an error that grows to 6 ULP, in [3.14159, 3.1416)",
        growing(3.14159, 3.1416, 6),
        6,
        300_000_000,
    ),
    Planted(
        "NaN in an interval",
        "NaN at 2^36 consecutive floats",
        lambda x, y: np.where(consecutive(-2.7182818, 1 << 36)(x), np.nan, y),
        0,
        20_000_000,
    ),
    Planted(
        "wrong sign in the tail",
        "the wrong sign in [-741.7, -741.6)",
        lambda x, y: np.where(between(-741.7, -741.6)(x), -y, y),
        0,
        20_000_000,
    ),
    Planted("early zero", "zero for x < -744", lambda x, y: np.where(x < -744.0, -0.0, y), 1, 20_000_000),
    Planted("overflow", "infinity for x > 1.7e308", lambda x, y: np.where(x > 1.7e308, np.inf, y), 0, 4_000_000),
    Planted(
        "short numbers", "3 ULP at multiples of 1/64 only", where(lambda x: x * 64 == np.rint(x * 64)), 3, 4_000_000
    ),
    Planted(
        "behind powers of two",
        "3 ULP at 2^k (1 + 2^-52) only",
        where(lambda x: (x.view(np.int64) & (ONE - 1)) == 1),
        3,
        4_000_000,
    ),
    Planted(
        "2^20 from a short number",
        "3 ULP at 2^20 consecutive floats from 1.625 on",
        where(consecutive(1.625, 1 << 20)),
        3,
        60_000_000,
    ),
    Planted(
        "2^20 from a decimal",
        "3 ULP at 2^20 consecutive floats from -0.37 on",
        where(consecutive(-0.37, 1 << 20)),
        3,
        60_000_000,
    ),
    Planted(
        "2^36 anywhere",
        "3 ULP at 2^36 consecutive floats, 2^-16 of a binade",
        where(consecutive(-5.391280172, 1 << 36)),
        3,
        60_000_000,
    ),
    Planted(
        "2^32 anywhere",
        "3 ULP at 2^32 consecutive floats, 2^-20 of a binade",
        where(consecutive(0.0817262534, 1 << 32)),
        3,
        400_000_000,
    ),
    Planted(
        "beside table edges",
        "5 ULP within 2^-36 of the edges of a table, 1 ULP elsewhere",
        table_edges,
        4.5,
        200_000_000,
    ),
)
NOT_FOUND = (
    Planted(
        "2^20 anywhere", "3 ULP at 2^20 consecutive floats", where(consecutive(-5.391280172, 1 << 20)), 3, 1_000_000_000
    ),
    Planted("one input", "3 ULP at one float", where(consecutive(-5.391280172, 1)), 3, 1_000_000_000),
)
