"""What a function's entry says: exact definition, limits, landmarks, constants, and what it approximates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..formats import Dyadic, Format
from .enclosures import Enclosure, Terms


@dataclass(frozen=True)
class Constant:
    """A number in a definition; when it grows by a small share e, f(x) changes by `effect(x)` e."""

    name: str
    value: str
    effect: Callable[[np.ndarray], np.ndarray]

    def in_derivative(self) -> Constant:
        """The same number in f': its effect to 9 digits, which is more than a fit can use."""
        whole = self.effect
        return Constant(self.name, self.value, lambda x: (whole(x + _STEP) - whole(x - _STEP)) / (2 * _STEP))


_STEP = 1e-5  # of a central difference in double: truncated and rounded by about 1e-10


@dataclass(frozen=True, kw_only=True)
class Function:
    """One mathematical function of the family.

    `terms(enclosure, x)` gives the value at an exact non-zero dyadic x as leading + correction.
    Decimals (limits, landmarks, bounds) are strings with at least 20 digits, so that no float
    rounds them on the way.
    """

    name: str
    formula: str
    family: str
    terms: Callable[[Enclosure, Dyadic], Terms]
    at_minus_infinity: str
    at_plus_infinity: str
    at_zero: str
    approximates: str | None = None
    gradient_of: str | None = None
    landmarks: dict[str, str] = field(default_factory=dict)
    constants: tuple[Constant, ...] = ()
    turning_points: tuple[str, ...] = ()
    falls_first: bool = False
    lower: str | None = None
    upper: str | None = None
    sign: str = ""

    def limit_bits(self, fmt: Format, x_bits: int) -> int:
        """Bits required at a zero, an infinity or a NaN (policy `limit`)."""
        if fmt.is_nan(x_bits):
            return fmt.nan
        if fmt.magnitude(x_bits) == 0:
            return x_bits if self.at_zero == "x" else fmt.parse(self.at_zero)
        limit = self.at_minus_infinity if fmt.is_negative(x_bits) else self.at_plus_infinity
        return fmt.parse(limit)
