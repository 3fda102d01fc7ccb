"""Binary floating-point formats: bits <-> ordinal <-> exact value, and the one rounding.

A value that crosses a module border is unsigned bits plus a dtype name; everything here works on
bits. Scalars are Python ints (exact, any exponent), arrays are NumPy arrays of `Format.uint`.

Ordinals number the bit patterns along the real line: +0 is 0, the smallest subnormal 1, -0 is -1,
its neighbour below -2, so that they are a bijection onto [-2^(w-1), 2^(w-1)). Ranks count floats:
both zeros have rank 0.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .errors import UsageError, one_of
from .fenv import in_default_environment

Mode = Literal["nearest", "up", "down", "zero", "odd"]
MODES: tuple[Mode, ...] = ("nearest", "up", "down", "zero", "odd")
Dyadic = tuple[int, int]  # (m, e): the exact value m * 2^e, m signed


@dataclass(frozen=True)
class Format:
    """One binary format: precision p (with the hidden bit), exponents emin..emax of normal numbers."""

    name: str
    width: int
    precision: int
    emin: int
    emax: int
    has_infinity: bool = True

    # ---- fields and particular bit patterns -------------------------------------------------

    @cached_property
    def sign_mask(self) -> int:
        return 1 << (self.width - 1)

    @cached_property
    def infinity(self) -> int:
        """Bits of +inf; for a format without infinities, of the NaN that overflow gives."""
        return ((1 << (self.width - self.precision)) - 1 << (self.precision - 1)) | (
            0 if self.has_infinity else (1 << (self.precision - 1)) - 1
        )

    @cached_property
    def nan(self) -> int:
        """Bits of the canonical quiet NaN."""
        return self.infinity | ((1 << (self.precision - 2)) if self.has_infinity else 0)

    @cached_property
    def max_finite(self) -> int:
        return self.infinity - 1

    def cut_off(self, mode: Mode) -> int:
        """Magnitude of an overflow where the mode does not point away from zero: odd too, where it must be odd."""
        return self.max_finite | (mode == "odd")

    @cached_property
    def one(self) -> int:
        return -self.emin + 1 << (self.precision - 1)

    @cached_property
    def min_exponent(self) -> int:
        """Exponent of the spacing of subnormals: the smallest positive value is 2^min_exponent."""
        return self.emin - self.precision + 1

    @cached_property
    def layout(self) -> tuple[int, int, int, int]:
        """What native code takes of a format."""
        return self.width, self.precision, self.emin, self.emax

    @cached_property
    def uint(self) -> np.dtype:
        """NumPy dtype that holds the bits."""
        return np.dtype(f"u{self.width // 8}")

    # ---- scalars ----------------------------------------------------------------------------

    def check_bits(self, bits: int) -> int:
        """`bits` as an int, or UsageError when it is not a pattern of this format."""
        try:
            bits = operator.index(bits)
        except TypeError:
            raise UsageError(f"bits {bits!r} are not an integer") from None
        if not 0 <= bits < 1 << self.width:
            raise UsageError(f"bits {_shortened(f'{bits:#x}')} are too wide for {self.name} ({self.width} bits)")
        return bits

    def is_negative(self, bits: int) -> bool:
        return bool(bits & self.sign_mask)

    def magnitude(self, bits: int) -> int:
        return bits & (self.sign_mask - 1)

    def is_nan(self, bits: int) -> bool:
        return self.magnitude(bits) > self.infinity - (not self.has_infinity)

    def is_finite(self, bits: int) -> bool:
        return self.magnitude(bits) < self.infinity

    def dyadic(self, bits: int) -> Dyadic:
        """The exact value of finite bits as (m, e)."""
        magnitude = self.magnitude(bits)
        field = magnitude >> (self.precision - 1)
        significand = magnitude & ((1 << (self.precision - 1)) - 1)
        if field:
            significand |= 1 << (self.precision - 1)
        exponent = self.min_exponent + max(field - 1, 0)
        return (-significand if self.is_negative(bits) else significand), exponent

    def fraction(self, bits: int) -> Fraction:
        """The exact value of finite bits."""
        m, e = self.dyadic(bits)
        return Fraction(m) * Fraction(2) ** e

    def ordinal(self, bits: int) -> int:
        magnitude = self.magnitude(bits)
        return -1 - magnitude if self.is_negative(bits) else magnitude

    def from_ordinal(self, ordinal: int) -> int:
        return ordinal if ordinal >= 0 else self.sign_mask | (-1 - ordinal)

    def rank(self, bits: int) -> int:
        magnitude = self.magnitude(bits)
        return -magnitude if self.is_negative(bits) else magnitude

    def round(self, value: Fraction | int | Dyadic, mode: Mode = "nearest", negative_zero: bool = False) -> int:
        """THE rounding: bits of `value` rounded once, from its exact value.

        `value` is a Fraction, an int or an exact (m, e) = m * 2^e. "nearest" is round to nearest,
        ties to even; "down", "up" and "zero" round towards -inf, +inf and zero; "odd" rounds what is
        no number of the format to the neighbour whose last bit is 1 (`converted` rounds it again).
        Subnormals are kept; overflow gives an infinity, or the largest finite number where the mode
        points away from it; a format without infinities overflows to NaN. A non-zero value that
        rounds to zero keeps its sign; an exact zero is +0 unless `negative_zero`.
        """
        m, e = value if isinstance(value, tuple) else _dyadic_with_sticky(Fraction(value), self)
        if m == 0:
            return self.sign_mask if negative_zero else 0
        negative, m = m < 0, abs(m)
        top = m.bit_length() - 1 + e  # floor(log2 |value|)
        unit = max(top, self.emin) - self.precision + 1
        if top > self.emax + 1:  # far above: no need for a huge shift
            n, rest, half = 1 << self.precision, 0, 1
            unit = self.emax - self.precision + 1
        elif e >= unit:
            n, rest, half = m << (e - unit), 0, 1
        elif unit - e > m.bit_length() + 1:  # far below half the smallest number
            n, rest, half = 0, 1, 2
        else:
            shift = unit - e
            n, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        away = mode == ("down" if negative else "up")  # from zero
        if mode == "nearest":
            n += rest > half or (rest == half and n & 1)
        elif rest:
            n = n | 1 if mode == "odd" else n + away
        magnitude = n if n < 1 << (self.precision - 1) else (unit - self.min_exponent << (self.precision - 1)) + n
        if magnitude > self.max_finite:
            magnitude = self.infinity if away or mode == "nearest" else self.cut_off(mode)
        return magnitude | (self.sign_mask if negative else 0)

    def ulp(self, value: Fraction) -> Fraction:
        """u(y) = 2^(max(floor(log2 |y|), emin) - p + 1), exponent of the exact y; u(0) = 2^(emin-p+1)."""
        exponent = max(floor_log2(value), self.emin) if value else self.emin
        return Fraction(2) ** (exponent - self.precision + 1)

    # ---- text -------------------------------------------------------------------------------

    def bits_text(self, bits: int) -> str:
        """Fixed-width hex: '0xc0d00000'."""
        return f"0x{bits:0{self.width // 4}x}"

    @in_default_environment
    def hex_float(self, bits: int) -> str:
        """C99 hex float, exact: '-0x1.ap+2'; 'inf', '-inf', 'nan'."""
        sign = "-" if self.is_negative(bits) else ""
        if self.is_nan(bits):
            return "nan"
        if not self.is_finite(bits):
            return f"{sign}inf"
        m, e = self.dyadic(bits)
        m = abs(m)
        if m == 0:
            return f"{sign}0x0p+0"
        if m.bit_length() + e > -1022:  # normal in float64: the C library writes it, four times as fast
            significand, _, exponent = math.ldexp(m, e).hex().partition("p")
            return f"{sign}{significand.rstrip('0').rstrip('.')}p{exponent}"
        return f"{sign}{hex_text(m, e)}"

    @in_default_environment
    def parse(self, text: str) -> int:
        """Bits named by `text`: bits ('0xc0d00000'), hex float ('-0x1.ap+2'), decimal, inf or nan.

        Decimals and hex floats are rounded to the format, once. UsageError when it is not a number.
        """
        if _SHORT_DECIMAL.fullmatch(text) and (magnitude := self._nearest_to_all(abs(float(text)))) is not None:
            return magnitude | (self.sign_mask if text[0] == "-" else 0)
        word = text.strip(" ").lower() if text.isascii() else ""
        if re.fullmatch(r"0x[0-9a-f]+", word):
            return self.check_bits(int(word, 16))
        sign, body = ("-", word[1:]) if word.startswith("-") else ("", word.removeprefix("+"))
        flip = self.sign_mask if sign else 0
        if body in ("inf", "infinity"):
            return self.infinity | flip
        if body == "nan":
            return self.nan | flip
        return self.round(_parse_magnitude(body, text)) | flip

    def _nearest_to_all(self, value: float) -> int | None:
        """Bits of the number nearest to every number that float64 rounds to `value` >= 0; None where they have several.

        A border between the numbers that round alike is a float64. So they lie on the side of it that `value` lies on,
        unless it is the border.
        """
        significand, exponent = math.frexp(value)  # value = significand * 2^exponent, significand in [0.5, 1)
        drop = 53 - self.precision + max(0, self.emin - (exponent - 1))  # bits to round away
        if not 0 < value < math.inf or drop > 53:
            return None
        whole, half = int(significand * 2.0**53), (1 << drop) >> 1
        if half and whole & (2 * half - 1) == half:
            return None
        bits = (max(exponent - 1 - self.emin, 0) << (self.precision - 1)) + ((whole + half) >> drop)
        return bits if bits <= self.max_finite else None


_SHORT_DECIMAL = re.compile(r"-?\d{1,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,3})?", re.ASCII)
MOST_DIGITS = 4000  # of a decimal: the longest float64 has 767


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


def _parse_magnitude(body: str, text: str) -> Dyadic | Fraction:
    match = re.fullmatch(r"0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d{1,9})", body)
    if match and (match[1] or match[2]):
        return int(match[1] + match[2], 16), int(match[3]) - 4 * len(match[2])
    match = re.fullmatch(r"(\d*)\.?(\d*)(?:e([+-]?\d{1,9}))?", body)
    if not match or not (match[1] or match[2]) or len(match[1] + match[2]) > MOST_DIGITS:
        raise UsageError(
            f"{_shortened(repr(text))} is not a number (accepted: decimal of up to {MOST_DIGITS} digits, "
            "hex float such as -0x1.ap+2, bits such as 0xc0d00000, inf, nan)"
        )
    digits, exponent = int(match[1] + match[2]), int(match[3] or 0) - len(match[2])
    if digits == 0:
        return Fraction(0)
    if abs(exponent + len(str(digits))) > 5000:  # beyond every format: keep only on which side
        return (1, 20000) if exponent > 0 else (1, -20000)
    return Fraction(digits * 10**exponent) if exponent >= 0 else Fraction(digits, 10**-exponent)


def hex_text(m: int, e: int) -> str:
    """m * 2^e as a C99 hex float, m > 0."""
    shift = m.bit_length() - 1
    digits = f"{(m - (1 << shift)) << (-shift % 4):x}".rjust((shift + 3) // 4, "0").rstrip("0")
    return f"0x1{'.' + digits if digits else ''}p{e + shift:+d}"


def floor_log2(value: Fraction) -> int:
    """floor(log2 |value|) of a non-zero Fraction, exact."""
    n, d = abs(value.numerator), value.denominator
    guess = n.bit_length() - d.bit_length()
    return guess if (n << max(-guess, 0)) >= (d << max(guess, 0)) else guess - 1


def _dyadic_with_sticky(value: Fraction, fmt: Format) -> Dyadic:
    """(m, e) that rounds as `value` does: exact when it is dyadic, else with a sticky last bit."""
    n, d = value.numerator, value.denominator
    if d & (d - 1) == 0:
        return n, -(d.bit_length() - 1)
    e = max(floor_log2(value), fmt.emin) - fmt.precision - 4
    scaled = abs(n) << max(-e, 0)
    quotient, rest = divmod(scaled, d << max(e, 0))
    m = 2 * quotient + bool(rest)
    return (-m if n < 0 else m), e - 1


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format("float16", 16, 11, -14, 15),
        Format("bfloat16", 16, 8, -126, 127),
        Format("float32", 32, 24, -126, 127),
        Format("float64", 64, 53, -1022, 1023),
        Format("float8_e4m3fn", 8, 4, -6, 8, has_infinity=False),
        Format("float8_e5m2", 8, 3, -14, 15),
    )
}
DTYPES = ("float16", "bfloat16", "float32", "float64")  # what targets are judged in


def get_mode(rounding: str) -> Mode:
    """The rounding mode of that name; UsageError names the accepted ones."""
    if rounding not in MODES:
        raise one_of("rounding", rounding, list(MODES))
    return rounding


def get_format(dtype: Any) -> Format:
    """The Format named `dtype`, or of a dtype of NumPy, ml_dtypes, torch or JAX; UsageError names the accepted ones."""
    name = dtype if isinstance(dtype, str) else named_dtype(dtype)
    if name not in FORMATS:
        raise one_of("dtype", name, list(FORMATS))
    return FORMATS[name]


def named_dtype(dtype: Any) -> str:
    """What a dtype of NumPy, ml_dtypes, torch or JAX calls itself."""
    for name in (dtype, getattr(dtype, "name", None), getattr(dtype, "__name__", None)):
        if isinstance(name, str):
            return name
    return str(dtype).rpartition(".")[2]  # torch.float32


# ---- arrays of bits ------------------------------------------------------------------------------


def magnitudes(ordinal: np.ndarray | int) -> np.ndarray:
    """The bits of |x| of ordinals."""
    signed = np.asarray(ordinal)
    return np.where(signed < 0, -1 - signed, signed)


def ordinals(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """Signed ordinals (int64) of an array of bits, any shape."""
    signed = bits.astype(np.int64) if fmt.width < 64 else bits.view(np.int64)
    if fmt.width < 64:
        return np.where(signed >= fmt.sign_mask, fmt.sign_mask - 1 - signed, signed)
    return np.where(signed < 0, signed ^ np.int64(np.iinfo(np.int64).max), signed)


def from_ordinals(fmt: Format, ordinal: np.ndarray) -> np.ndarray:
    """Bits (`fmt.uint`) of an int64 array of ordinals."""
    if fmt.width == 64:
        return np.where(ordinal < 0, ordinal ^ np.int64(np.iinfo(np.int64).max), ordinal).view(np.uint64)
    return np.where(ordinal < 0, fmt.sign_mask - 1 - ordinal, ordinal).astype(fmt.uint)


def buckets(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """Bucket (uint16): the top 16 bits of the ordinal, counted from the most negative NaN."""
    if fmt.width < 16:
        return ((ordinals(fmt, bits) << (16 - fmt.width)) + 0x8000).astype(np.uint16)
    high: np.ndarray = (bits >> fmt.uint.type(fmt.width - 16)).astype(np.uint16)
    return np.where(high & 0x8000, ~high, high | 0x8000)


def is_nan(fmt: Format, bits: np.ndarray) -> np.ndarray:
    found: np.ndarray = _magnitudes(fmt, bits) > fmt.uint.type(fmt.infinity - (not fmt.has_infinity))
    return found


def is_finite(fmt: Format, bits: np.ndarray) -> np.ndarray:
    found: np.ndarray = _magnitudes(fmt, bits) < fmt.uint.type(fmt.infinity)
    return found


def is_zero(fmt: Format, bits: np.ndarray) -> np.ndarray:
    found: np.ndarray = _magnitudes(fmt, bits) == 0
    return found


def is_negative(fmt: Format, bits: np.ndarray) -> np.ndarray:
    found: np.ndarray = bits >= fmt.uint.type(fmt.sign_mask)
    return found


def differ(fmt: Format, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of bits are not the same; a NaN is a NaN."""
    found: np.ndarray = (a != b) & ~(is_nan(fmt, a) & is_nan(fmt, b))
    return found


def spacing(fmt: Format, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distance from each number to the next one away from zero (float64), and where that towards zero is half."""
    magnitude = _magnitudes(fmt, bits)
    field = (magnitude >> fmt.uint.type(fmt.precision - 1)).astype(np.int64)
    unit: np.ndarray = np.ldexp(1.0, np.maximum(field, 1) - 1 + fmt.min_exponent)
    return unit, (magnitude & fmt.uint.type((1 << (fmt.precision - 1)) - 1) == 0) & (field > 1)


def _magnitudes(fmt: Format, bits: np.ndarray) -> np.ndarray:
    magnitudes: np.ndarray = bits & fmt.uint.type(fmt.sign_mask - 1)
    return magnitudes


@in_default_environment
def to_float64(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """The values as float64: exact for every format here."""
    with np.errstate(invalid="ignore"):  # signaling NaNs of bfloat16
        return values(fmt, bits).astype(np.float64)


def value_text(fmt: Format, bits: int, digits: int = 6) -> str:
    """A value for a reader, to so many significant digits."""
    sign = "-" if fmt.is_negative(bits) else ""
    if fmt.is_nan(bits):
        return "NaN"
    if not fmt.is_finite(bits):
        return f"{sign}inf"
    return f"{float(fmt.fraction(bits)):.{digits}g}" if fmt.magnitude(bits) else f"{sign}0"


def texts_apart(fmt: Format, *bits: int, digits: int = 6) -> list[str]:
    """Values shown beside each other, with as many digits as it takes for different ones to read differently."""
    texts = [value_text(fmt, each, digits) for each in bits]
    different = len({"NaN" if fmt.is_nan(each) else each for each in bits})
    return texts if len(set(texts)) == different or digits >= 17 else texts_apart(fmt, *bits, digits=digits + 1)


def values(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """The same bytes seen as floats (NumPy or ml_dtypes dtype): for the edges only."""
    return bits.view(numpy_dtype(fmt.name))


def converted(source: Format, bits: np.ndarray, to: Format, mode: Mode = "nearest") -> np.ndarray:
    """Bits of `source` rounded once to the format `to`: integer arithmetic, whatever the environment.

    NaN becomes the format's NaN with the same sign. What was rounded to odd in a format with two bits more than `to`,
    and no narrower a range, is rounded as the exact value is, whatever the mode.
    """
    magnitude = _magnitudes(source, bits).astype(np.int64)
    field = magnitude >> (source.precision - 1)
    hidden = np.where(field > 0, 1 << (source.precision - 1), 0)
    m = magnitude - (field << (source.precision - 1)) + hidden  # the value is m * 2**e
    e = np.maximum(field, 1) - 1 + source.min_exponent
    length = np.frexp(m.astype(np.float64))[1].astype(np.int64)  # of m in bits: m < 2**53 is exact
    unit = np.maximum(length + e - to.precision, to.min_exponent)
    shift = np.minimum(unit - e, 62)
    right, left = np.maximum(shift, 0), np.maximum(-shift, 0)
    n = (m << left) >> right
    rest, half = (m << left) - (n << right), (np.int64(1) << right) >> 1
    negative = is_negative(source, bits)
    away = negative if mode == "down" else ~negative if mode == "up" else np.zeros_like(negative)
    if mode == "nearest":
        n += (right > 0) & ((rest > half) | ((rest == half) & (n & 1 == 1)))
    else:
        n = n | (rest > 0) if mode == "odd" else n + (away & (rest > 0))
    found = np.where(n < 1 << (to.precision - 1), n, ((unit - to.min_exponent) << (to.precision - 1)) + n)
    overflow = np.where(away | (mode == "nearest"), to.infinity, to.cut_off(mode))
    found = np.where(found > to.max_finite, overflow, found)
    found = np.where(is_finite(source, bits), found, to.infinity)
    found = np.where(is_nan(source, bits), to.nan, found).astype(to.uint)
    return np.where(negative, found | to.uint.type(to.sign_mask), found)


def numpy_dtype(dtype: str) -> np.dtype:
    """NumPy dtype of that name; bfloat16 and float8 come from ml_dtypes."""
    if dtype in ("float16", "float32", "float64"):
        return np.dtype(dtype)
    import ml_dtypes

    found: np.dtype = np.dtype(getattr(ml_dtypes, get_format(dtype).name))
    return found


def dtype_name(array: np.ndarray) -> str:
    """Name of the format of a float array; UsageError for anything else (integers, '<V2', float128)."""
    if array.dtype.name in FORMATS and array.dtype == numpy_dtype(array.dtype.name):
        return str(array.dtype.name)
    raise one_of("array dtype", array.dtype.name, list(FORMATS))
