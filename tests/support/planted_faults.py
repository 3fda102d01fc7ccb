"""Random faults of a kernel that is correctly rounded else, so that all outputs are known without 2^32 calls.

A fault is wrong at up to 2^17 inputs of an interval; what it returns there depends on x alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mutants import BitsTarget, target
from outputs import Outputs

from gelu_verify.formats import from_ordinals, get_format, is_finite, is_nan, ordinals, to_float64
from gelu_verify.truth.values import reference_bits

PLACES = (
    *("point", "few", "narrow", "wide", "left", "tail", "far", "large", "largest", "subnormal", "tiny", "one", "root"),
)
WRONG = (
    *("nan", "inf", "-inf", "0", "-0", "1", "ulp", "ulps", "sign", "zeroed", "scaled", "cut", "noise", "x", "silu"),
    *("ulp", "ulps", "scaled", "zeroed", "signs"),  # the likely ones, and zeros of the other sign
)
SHARES = (1.0, 1.0, 0.3, 2.0**-10, 2.0**-14)
MOST, WIDEST = 1 << 17, 1 << 22  # inputs that are wrong, and the interval


@dataclass(frozen=True)
class Fault:
    """Wrong from one ordinal to another, at `share` of the inputs; `size`: how much."""

    first: int
    last: int
    wrong: str
    share: float
    size: float
    seed: int

    @classmethod
    def drawn(cls, rng: np.random.Generator, dtype: str) -> Fault:
        fmt = get_format(dtype)
        first, last = _place(rng, str(rng.choice(PLACES)), dtype)
        most = fmt.infinity - 1
        first, last = max(first, -most - 1), min(last, most)
        share = float(rng.choice(SHARES))
        last = min(last, first + (MOST if share == 1 else WIDEST))
        return cls(first, last, str(rng.choice(WRONG)), min(share, MOST / (last - first + 1)),
                   float(rng.choice([1, 2, 3, 5, 9, 40, 3000, 2.0**20])), int(rng.integers(1 << 30)))  # fmt: skip

    def hits(self, dtype: str, x: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        ordinal = ordinals(fmt, x)
        chance = (ordinal.astype(np.uint64) + np.uint64(self.seed)) * np.uint64(0x9E3779B97F4A7C15)
        inside = (ordinal >= self.first) & (ordinal <= self.last)
        return np.asarray(inside & (chance >> np.uint64(32) < self.share * 2.0**32))

    def applied(self, function: str, dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        hit = self.hits(dtype, x)
        found = y.copy()
        if hit.any():
            found[hit] = self._outputs(function, dtype, x[hit], y[hit])
        return found

    def _outputs(self, function: str, dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        if self.wrong in ("nan", "inf", "-inf", "0", "-0", "1"):
            return np.full_like(y, fmt.parse(self.wrong))
        if self.wrong == "x":
            return x
        if self.wrong == "silu":
            return np.array(reference_bits("silu", dtype, x))
        value, ends = to_float64(fmt, y), (-fmt.infinity, fmt.infinity - 1)
        noise = (x * fmt.uint.type(0x9E37) >> fmt.uint.type(3)).astype(np.int64) % 1001 / 500 - 1
        with np.errstate(all="ignore"):
            found = {
                "ulp": lambda: from_ordinals(fmt, np.clip(ordinals(fmt, y) + 1, *ends)),
                "ulps": lambda: from_ordinals(fmt, np.clip(ordinals(fmt, y) + (noise * self.size).astype(int), *ends)),
                "sign": lambda: y ^ fmt.uint.type(fmt.sign_mask),
                "signs": lambda: np.where(value == 0, y ^ fmt.uint.type(fmt.sign_mask), y),
                "zeroed": lambda: y & fmt.uint.type(fmt.sign_mask),
                "scaled": lambda: rounded(dtype, value * (1 + 2.0 ** -(np.log2(self.size) + 1))),
                "cut": lambda: y & ~fmt.uint.type((1 << min(int(np.log2(self.size)) + 1, fmt.precision - 1)) - 1),
                "noise": lambda: rounded(dtype, value + noise * 2.0**-fmt.precision * self.size),
            }[self.wrong]()
        return np.where(is_nan(fmt, y) | ~is_finite(fmt, x), y, found).astype(fmt.uint)


def rounded(dtype: str, value: np.ndarray) -> np.ndarray:
    """Bits of numbers in the dtype, rounded or cut off: which is the same to a fault."""
    if dtype == "bfloat16":
        return (value.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return value.astype(dtype).view(get_format(dtype).uint)


def _place(rng: np.random.Generator, place: str, dtype: str) -> tuple[int, int]:
    """Ordinals."""
    fmt = get_format(dtype)

    def at(value: float) -> int:
        return fmt.ordinal(fmt.parse(repr(float(value))))

    most = fmt.infinity - 1
    x, width = float(rng.normal(0, 2)), int(2.0 ** rng.uniform(0, fmt.width - 10))
    span = sorted(at(each) for each in rng.normal(0, 3, 2))
    subnormal = (1 << (fmt.precision - 1)) - 1
    return {
        "point": lambda: (at(x), at(x)),
        "few": lambda: (at(x), at(x) + 5),
        "narrow": lambda: (at(x), at(x) + width),
        "wide": lambda: tuple(span),
        "left": lambda: (at(-abs(x) - 1), at(-abs(x) / 2)),
        "tail": lambda: (at(-30.0), at(-5 - 2 * abs(x))),
        "far": lambda: (-most - 1, -most + int(width)),
        "large": lambda: (at(abs(100 * x)), at(abs(200 * x))),
        "largest": lambda: (most - width, most),
        "subnormal": lambda: (1, subnormal) if x > 0 else (-1 - subnormal, -2),
        "tiny": lambda: (-1 - width, width),
        "one": lambda: (at(1.0), at(1.0)),
        "root": lambda: (at(-0.7517915), at(-0.7517915) + width),
    }[place]()  # type: ignore[return-value]


@dataclass(frozen=True)
class Planted:
    """A kernel with those faults."""

    function: str
    dtype: str
    faults: Sequence[Fault]

    @classmethod
    def drawn(cls, rng: np.random.Generator, function: str, dtype: str) -> Planted:
        return cls(function, dtype, [Fault.drawn(rng, dtype) for _ in range(rng.integers(1, 4))])

    def answer(self, x: np.ndarray) -> np.ndarray:
        y = np.array(reference_bits(self.function, self.dtype, x))
        for fault in self.faults:
            y = fault.applied(self.function, self.dtype, x, y)
        return y

    def target(self) -> BitsTarget:
        return target(self.function, lambda dtype, x: self.answer(x))

    def outputs(self) -> Outputs:
        """All of them."""
        fmt = get_format(self.dtype)
        spans = (from_ordinals(fmt, np.arange(fault.first, fault.last + 1)) for fault in self.faults)
        hits = [x[fault.hits(self.dtype, x)] for fault, x in zip(self.faults, spans, strict=True)]
        x = np.unique(np.concatenate(hits))
        return Outputs.of(self.function, self.dtype, x, self.answer(x))
