"""The maps: with which probability an element is kept, and what a kept and a dropped element are.

| map | kept with probability | kept | dropped |
|---|---|---|---|
| `gelu` | Phi(x) | x | 0 |
| `adaptive_dropout` | sigmoid(x) | x | 0 |
| `dropout` | 1 - rate | x/(1 - rate), or x | 0 |
| `relu_dropout` | 1 - rate | max(x, 0)/(1 - rate), or max(x, 0) | 0 |
| `zoneout` | 1 - rate | x, the new state | the old state, here -x |
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import mpmath
import numpy as np

from ..errors import UsageError, one_of
from ..formats import Format, converted, get_format, to_float64
from ..parsing import real
from ._native import probabilities

Law = Literal["normal", "logistic", "constant"]
LAWS: dict[str, Law] = {
    "gelu": "normal",
    "adaptive_dropout": "logistic",
    "dropout": "constant",
    "relu_dropout": "constant",
    "zoneout": "constant",
}
_NEAR = 2.0**-51  # of its size, the error of a quotient of doubles, at most
SCALED_SLACK = 2  # ULP that x/(1 - rate) may be off: the scale and the product are rounded


@dataclass(frozen=True)
class Map:
    """One map. `rate`: probability of being dropped, where it does not depend on x; `scaled`: kept values are divided
    by 1 - rate."""

    name: str
    rate: float = 0.5
    scaled: bool = True

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise one_of("map", self.name, list(LAWS))
        real("rate", self.rate, 0.0, 1.0)
        if self.rate == 1.0 and self.is_scaled:
            raise UsageError("rate 1 divides by zero (accepted: a number from 0 to below 1, or --unscaled)")

    @property
    def law(self) -> Law:
        return LAWS[self.name]

    @property
    def can_be_scaled(self) -> bool:
        return self.name in ("dropout", "relu_dropout")

    @property
    def is_scaled(self) -> bool:
        return self.scaled and self.can_be_scaled

    @property
    def slack(self) -> int:
        """How many ULP a kept value may be off."""
        return SCALED_SLACK if self.is_scaled and self.rate else 0

    @property
    def drops_to_zero(self) -> bool:
        return self.name != "zoneout"

    def described(self) -> str:
        """The map in one line."""
        keep = {"normal": "Phi(x)", "logistic": "sigmoid(x)", "constant": f"1 - {self.rate!r}"}[self.law]
        kept = {"relu_dropout": "max(x, 0)"}.get(self.name, "x") + (f"/(1 - {self.rate!r})" if self.is_scaled else "")
        return f"{kept} with probability {keep}, else {'0' if self.drops_to_zero else 'the old state'}"

    def probability(self, x: float) -> tuple[float, float]:
        """(p, 1 - p) of being kept, each correctly rounded but for 2^-52 of its size."""
        if self.law == "constant":
            return 1.0 - self.rate, self.rate
        return _probability(self.law, x)

    def probabilities(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`probability` of an array of doubles."""
        p, q = np.empty(len(x)), np.empty(len(x))
        if self.law == "constant":
            p[:], q[:] = self.probability(0.0)
            return p, q
        probabilities(self.law, -np.abs(x), self.rate, p)  # the smaller one
        np.subtract(1.0, p, out=q)
        negative = x < 0
        return np.where(negative, p, q), np.where(negative, q, p)

    def kept(self, fmt: Format, x_bits: np.ndarray) -> np.ndarray:
        """Bits of kept elements; x/(1 - rate) is rounded once."""
        x_bits = self.rectified(fmt, x_bits)
        if not self.is_scaled or not self.rate:
            return x_bits
        keep, double = 1 - Fraction(self.rate), get_format("float64")
        with np.errstate(over="ignore", invalid="ignore"):
            quotient = to_float64(fmt, x_bits) / float(keep)
            ends = [converted(double, (quotient * (1 + apart)).view(double.uint), fmt) for apart in (-_NEAR, _NEAR)]
        found = ends[0]
        for k in np.flatnonzero(ends[0] != ends[1]).tolist():  # what a double does not decide
            found[k] = _quotient(fmt, int(x_bits[k]), keep)
        return found

    def dropped(self, fmt: Format, x_bits: np.ndarray) -> np.ndarray:
        """Bits of dropped elements: a zero with the sign of x, as the product 0 x is; in zoneout -x."""
        sign = fmt.uint.type(fmt.sign_mask)
        found: np.ndarray = x_bits & sign if self.drops_to_zero else x_bits ^ sign
        return found

    def rectified(self, fmt: Format, x_bits: np.ndarray) -> np.ndarray:
        if self.name != "relu_dropout":
            return x_bits
        return np.where(x_bits & fmt.uint.type(fmt.sign_mask) != 0, fmt.uint.type(0), x_bits)


def _quotient(fmt: Format, bits: int, divisor: Fraction) -> int:
    sign, magnitude = bits & fmt.sign_mask, bits & ~fmt.sign_mask
    if magnitude == 0 or magnitude >= fmt.infinity:
        return bits
    return fmt.round(fmt.fraction(magnitude) / divisor) | sign


@lru_cache(maxsize=1 << 16)
def _probability(law: Law, x: float) -> tuple[float, float]:
    with mpmath.workprec(120):
        return (float(_cdf(law, x)), float(_cdf(law, -x)))


def _cdf(law: Law, x: float) -> mpmath.mpf:
    if law == "logistic":
        return 1 / (1 + mpmath.exp(-mpmath.mpf(x)))
    return mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2


def of_dtype(dtype: str, x: np.ndarray) -> np.ndarray:
    """Bits of the nearest numbers of the dtype."""
    double, fmt = get_format("float64"), get_format(dtype)
    return converted(double, np.ascontiguousarray(x, np.float64).view(double.uint), fmt)
