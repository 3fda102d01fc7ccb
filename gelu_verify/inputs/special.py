"""The fixed inputs: special values, and those at which the checks look. Sampling plans hold them all."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from ..arrays import distinct
from ..formats import Format, get_format, numpy_dtype
from ..functions import Function, compared_with, get_function

# Where the world's implementations overflowed: e^x, x^2, x^3, x * 2.
LARGE = ("10", "13.3", "41", "88", "147.9", "255", "1e4", "1.85e19")
SPECIALS = {"minus_infinity": "-inf", "plus_infinity": "+inf", "nan": "NaN", "signed_zero": "-0"}  # check: its input
POSITIONS = 257  # inputs that stand at many places of a call: a prime, so that in a cycle each meets every lane


def special_bits(fmt: Format) -> list[int]:
    """Zeros, infinities, NaNs of several payloads, and the ends of the subnormal and normal numbers."""
    magnitudes = {0, 1, 2, 3, (1 << (fmt.precision - 1)) - 1, 1 << (fmt.precision - 1), fmt.one, fmt.max_finite}
    return both_signs(fmt, magnitudes | {fmt.infinity, *nan_magnitudes(fmt)})


def nan_magnitudes(fmt: Format) -> list[int]:
    """NaNs without their sign: canonical, signalling, with a payload, all ones."""
    return sorted({fmt.nan, min(fmt.infinity + 1, fmt.nan), min(fmt.nan + 1, fmt.sign_mask - 1), fmt.sign_mask - 1})


def large_bits(fmt: Format) -> list[int]:
    """Finite values at which arithmetic inside an implementation may overflow, both signs."""
    half = fmt.max_finite - (1 << (fmt.precision - 1))
    magnitudes = {fmt.round(Fraction(text)) for text in LARGE} | {half, half + 1, fmt.max_finite}
    return both_signs(fmt, {m for m in magnitudes if fmt.is_finite(m)})


def tiny_bits(fmt: Format) -> list[int]:
    """Powers of two from 2^-(p+2) down, with their neighbours, and subnormals, both signs."""
    step = 1 << (fmt.precision - 1)
    fields = distinct(np.linspace(1, fmt.one // step - fmt.precision - 2, 40).round().astype(int))
    normal = {int(field) * step + off for field in fields for off in (-1, 0, 1)}
    return both_signs(fmt, normal | {step // 2, 3, 2, 1})


@cache
def short_bits(fmt: Format) -> list[int]:
    """Numbers that people type, both signs: sixteenths up to 32, and two decimal digits from 1e-5 to 99."""
    sixteenths = (Fraction(k, 16) for k in range(1, 513))
    decimals = (Fraction(digits) * Fraction(10) ** exponent for exponent in range(-6, 1) for digits in range(10, 100))
    return both_signs(fmt, {fmt.round(value) for value in (*sixteenths, *decimals)})


def both_signs(fmt: Format, magnitudes: set[int]) -> list[int]:
    """Those magnitudes and their negatives, the larger magnitudes first."""
    return [m | sign for m in sorted(magnitudes, reverse=True) for sign in (0, fmt.sign_mask)]


def relatives(function: Function) -> list[Function]:
    """The functions that could be meant: all activations, or all gradients; none for a building block."""
    if function.group == "block":
        return []
    gradient = function.gradient_of is not None
    others = compared_with(function)
    return [f for f in others if f.group != "block" and (f.gradient_of is not None) == gradient]


def variant_bits(function: Function, fmt: Format) -> list[int]:
    """x where the relatives differ most, up to 3: farther left only the best implementations have any digits."""
    texts = {t for f in relatives(function) for name, t in f.landmarks.items() if "farthest" in name}
    texts |= {sign + digits for sign in ("", "-") for digits in ("1", "2", "2.5", "3")}
    return sorted({fmt.round(Fraction(text)) for text in texts if abs(Fraction(text)) <= 3})


@lru_cache(maxsize=512)
def position_bits(function: str, dtype: str) -> np.ndarray:
    """Inputs of every kind, to stand at many places of one call: POSITIONS of them, all different."""
    fmt = get_format(dtype)
    fixed = fixed_bits(function, dtype)
    ends = both_signs(fmt, {0, 1, fmt.max_finite, fmt.infinity, fmt.nan})
    spread = [fmt.round(Fraction(k, 16)) for k in range(-96, 97)]  # -6 to 6: where the function is not trivial
    count = POSITIONS - len(spread) - len(ends)
    some = fixed[np.linspace(0, len(fixed) - 1, count).round().astype(int)].tolist()
    filling = (fmt.round(Fraction(2 * k + 1, 32)) for k in range(-96, 96))
    chosen = dict.fromkeys([*ends, *some, *spread])
    while len(chosen) < POSITIONS:
        chosen.setdefault(next(filling))
    return np.array(list(chosen), dtype=fmt.uint)


@lru_cache(maxsize=512)
def fixed_bits(function: str, dtype: str) -> np.ndarray:
    """All of them, unsigned bits, by ordinal."""
    fmt = get_format(dtype)
    bits = {*special_bits(fmt), *large_bits(fmt), *tiny_bits(fmt), *variant_bits(get_function(function), fmt)}
    return np.array(sorted(bits, key=fmt.ordinal), dtype=fmt.uint)


@lru_cache(maxsize=8)
def normal_bits(dtype: str, n: int, scale: float = 2.0) -> np.ndarray:
    """Bits of normal(0, scale) numbers, which all callers share; of more of them these are the first."""
    return np.random.default_rng(0).normal(0.0, scale, n).astype(numpy_dtype(dtype)).view(get_format(dtype).uint)
