"""IEEE doubles: Python's own, with fma through Fraction. Gives the bits that the compiled core gives."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from prove.interpreter import Arithmetic


def fma(a: float, b: float, c: float) -> float:
    """a b + c with one rounding, subnormal numbers and signs of zeros included."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        rounded = float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
    return rounded if rounded else math.copysign(0.0, exact)


def rint(a: float) -> float:
    return math.copysign(float(round(a)), a)


def from_bits(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits & 0xFFFFFFFFFFFFFFFF))[0]


def to_bits(a: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", a))[0]


class Exact(Arithmetic):
    def __init__(self) -> None:
        self.intrinsics = {
            "fma": fma,
            "rint": rint,
            "fabs": abs,
            "floor": lambda a: float(math.floor(a)),
            "gv_from_bits": from_bits,
            "gv_to_bits": to_bits,
            "gv_as_real": from_bits,
            "gv_as_bits": to_bits,
        }
