"""Random wrong kernels: on random intervals of x outputs that are lost, constant, another function's, or noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mutants import BitsTarget, faulty

from gelu_verify.formats import Format, from_ordinals, get_format, is_nan, ordinals, to_float64
from gelu_verify.truth.values import reference_bits

CONSTANT = ("nan", "inf", "-inf", "0", "-0", "1", "-1")
WRONG = (*CONSTANT, "x", "largest", "least", "random", "shifted", "noise", "negated", "reversed", "silu")
ENDS = (-np.inf, np.inf, -1.0, -3.0, 1.0, 3.0, 0.25, -0.25, 0.0, 8.0, -8.0, 100.0, -100.0)


@dataclass(frozen=True)
class Piece:
    """What is wrong from `low` to `high`, or everywhere else."""

    low: float
    high: float
    outside: bool
    wrong: str
    seed: int

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Piece:
        wide = 10.0 ** rng.uniform(-40, 38, 2) * rng.choice([-1, 1])
        low, high = np.sort([rng.normal(0, 3, 2), rng.choice(ENDS, 2), wide, [-np.inf, np.inf]][rng.integers(4)])
        return cls(float(low), float(high), rng.integers(5) == 0, str(rng.choice(WRONG)), int(rng.integers(1 << 30)))

    def applied(self, fmt: Format, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        value = to_float64(fmt, x)
        inside = (value >= self.low) & (value <= self.high)
        where = (~inside if self.outside else inside) & ~(is_nan(fmt, x) & (self.seed % 2 == 0))
        return np.where(where, self._outputs(fmt, x, y), y).astype(fmt.uint)

    def _outputs(self, fmt: Format, x: np.ndarray, y: np.ndarray) -> np.ndarray | np.unsignedinteger:
        if self.wrong in CONSTANT:
            return fmt.uint.type(fmt.parse(self.wrong))
        ends = fmt.ordinal(fmt.max_finite | fmt.sign_mask), fmt.ordinal(fmt.max_finite)
        return {
            "x": lambda: x,
            "largest": lambda: fmt.uint.type(fmt.max_finite),
            "least": lambda: fmt.uint.type(1),
            "random": lambda: np.random.default_rng(self.seed + len(x)).integers(
                0, 1 << fmt.width, len(x), np.uint64 if fmt.width == 64 else fmt.uint
            ),
            "shifted": lambda: from_ordinals(fmt, np.clip(ordinals(fmt, y) + 5, *ends)),
            "noise": lambda: y ^ (x & fmt.uint.type(15)),
            "negated": lambda: y ^ fmt.uint.type(fmt.sign_mask),
            "reversed": lambda: y[::-1],
            "silu": lambda: reference_bits("silu", fmt.name, x),
        }[self.wrong]()


def random_kernel(rng: np.random.Generator, function: str) -> BitsTarget:
    """Correctly rounded, but for up to three pieces."""
    pieces = [Piece.drawn(rng) for _ in range(rng.integers(1, 4))]

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        for piece in pieces:
            y = piece.applied(get_format(dtype), x, y)
        return y

    return faulty(function, fault)
