"""Reference values: from a table, a kernel, the native core or the oracle, whichever is fastest, with the same bits.

The native core gives a value and an error bound, `enclosed` does so for functions that it lacks; what the bound does
not decide goes to the oracle. So every reference value is the correctly rounded one, or an error.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, partial
from hashlib import blake2b
from threading import local
from typing import Any, NamedTuple, overload

import numpy as np

from ..arrays import float_array
from ..errors import OracleError, UsageError
from ..fenv import in_default_environment
from ..formats import FORMATS, Dyadic, Format, Mode, converted, get_format, get_mode, is_zero, numpy_dtype
from ..functions import Function, get_function, named
from ..functions.enclosures import fraction
from ..functions.limits import Limit, clamped, ends_of_limit
from ..functions.parameters import exact_number
from ..parsing import whole
from ..paths import resource
from . import _core, correctly_rounded
from .enclosed import values_of
from .oracle import enclosed_ends, judge_exactly, round_exactly

_NATIVE = frozenset(_core.functions())  # all others: `enclosed`
_WITH_KERNELS = frozenset(correctly_rounded.FUNCTIONS)  # ten and more times as fast where only the bits are asked


class Judgement(NamedTuple):
    """An array of outputs against the exact values; all arrays have the shape of the outputs."""

    want_bits: np.ndarray
    """Correctly rounded results (the format's unsigned dtype)."""
    error: np.ndarray
    """float64: (got - y)/u(y), signed, fractional, itself within 2^(p - 40) for the precision p <= 24 and 2^-30 for
    float64; an infinity beside a y beyond the largest number counts as 2^(emax+1). inf: not finite without cause, or a
    number where NaN or a pole is due; NaN: x is not finite, or outside of the domain with the output NaN."""
    faithful: np.ndarray
    """bool: no number of the format lies between the output and the exact value."""


def judge(function: str, dtype: str, x_bits: np.ndarray, got_bits: np.ndarray, *, keep: bool = True) -> Judgement:
    """Judge outputs against the exact values, for every input of every function and dtype.

    Parameters
    ----------
    function, dtype : str
    x_bits, got_bits : unsigned arrays of one shape, of the format's width

    Raises
    ------
    UsageError
        Unknown names; arrays of the wrong dtype or of different shapes.
    """
    entry, fmt = get_function(function), get_format(dtype)
    x, got = _checked_bits(fmt, x_bits, "x_bits"), _checked_bits(fmt, got_bits, "got_bits")
    if x.shape != got.shape:
        raise UsageError(f"x_bits has shape {x.shape}, got_bits {got.shape}")
    shape, x, got = x.shape, x.reshape(-1), got.reshape(-1)
    want, error, flags = np.empty_like(x), np.empty(x.size), np.zeros(x.size, np.uint8)
    if fmt.width >= 16:
        limits, at_zero = _limits(entry, fmt)
        x_bytes, got_bytes, want_bytes = (a.view(np.uint8) for a in (x, got, want))
        values = _values(entry, fmt, x, keep)
        _core.judge(values, fmt.layout, limits, at_zero, x_bytes, got_bytes, want_bytes, error, flags)
        if entry.double_at_zero is None:
            flags[is_zero(fmt, x)] = 0
    faithful = flags & _core.FAITHFUL != 0
    for i in np.flatnonzero(flags & _core.DECIDED == 0):
        want[i], error[i], faithful[i] = judge_exactly(entry, fmt, int(x[i]), int(got[i]))
    return Judgement(want.reshape(shape), error.reshape(shape), faithful.reshape(shape))


class Enclosures(NamedTuple):
    """Exact values at inputs as src/truth/value.h has them, and what src/truth/judge.h needs beside them."""

    values: np.ndarray
    """uint8, VALUE_SIZE bytes an input; good until this thread asks for the next ones."""
    layout: tuple[int, int, int, int]
    limits: np.ndarray
    at_zero: float


def enclosures(function: str, dtype: str, x_bits: np.ndarray) -> Enclosures:
    """Enclosures of the exact values at x, for native code that scores outputs itself: formats of 16 bits and more."""
    entry, fmt = get_function(function), get_format(dtype)
    limits, at_zero = _limits(entry, fmt)
    return Enclosures(_values(entry, fmt, x_bits, keep=False), fmt.layout, limits, at_zero)


@overload
def reference_bits(function: str, dtype: Any, bits: int, *, rounding: str = "nearest", **parameters: Any) -> int: ...
@overload
def reference_bits(
    function: str, dtype: Any, bits: np.ndarray, *, rounding: str = "nearest", **parameters: Any
) -> np.ndarray: ...
@in_default_environment
def reference_bits(function: str, dtype: Any, bits: Any, *, rounding: str = "nearest", **parameters: Any) -> Any:
    """Correctly rounded result bits for input bits: an int for an int, an array for an array.

    Rounded once: to nearest, ties to even, or in the direction that `reference` takes; subnormals kept; NaN, and what
    is outside of the domain, give the canonical quiet NaN; zeros and infinities give the limits. Parameters are those
    of the function, as `reference` takes them.

    >>> hex(reference_bits("gelu", "float32", 0xC0D00000))
    '0xaf8f821f'
    >>> hex(reference_bits("gelu", "float32", 0xC0D00000, rounding="up"))
    '0xaf8f821e'
    """
    fmt, function, mode = get_format(dtype), get_function(named(function, parameters)).name, get_mode(rounding)
    if isinstance(bits, (int, np.integer)):
        one = np.array([fmt.check_bits(int(bits))], fmt.uint)
        return int(reference_bits(function, dtype, one, rounding=mode)[0])
    x = _checked_bits(fmt, bits, "bits")
    if mode != "nearest":
        return _directed(function, fmt, x, mode)
    table = _table(function, fmt.name)
    if table is not None:
        return table[x]
    if function in _WITH_KERNELS and fmt.width >= 32:
        kernel = getattr(correctly_rounded, function)
        return kernel(x.view(numpy_dtype(fmt.name))).view(fmt.uint)
    want = judge(function, fmt.name, x, x).want_bits
    entry = get_function(function)
    for bits in entry.jumps(fmt):  # there the judge names what the output is nearest to
        want[x == bits] = round_exactly(entry, fmt, bits)
    return want


def _directed(function: str, fmt: Format, x: np.ndarray, mode: Mode) -> np.ndarray:
    """Results rounded in a mode other than "nearest"."""
    if fmt.width == 8:
        return _by_odd(function, fmt, x, mode)
    entry, flat = get_function(function), x.reshape(-1)
    want, decided = np.empty_like(flat), np.zeros(flat.size, np.uint8)
    limits, _ = _limits(entry, fmt, mode)
    values = _values(entry, fmt, flat)
    _core.round_directed(values, fmt.layout, limits, mode, flat.view(np.uint8), want.view(np.uint8), decided)
    for i in np.flatnonzero(decided == 0):
        want[i] = round_exactly(entry, fmt, int(flat[i]), mode)
    return want.reshape(x.shape)


def _by_odd(function: str, fmt: Format, x: np.ndarray, mode: Mode) -> np.ndarray:
    """Results in a narrow format, from those in float32 rounded to odd: rounding these again is rounding once."""
    wide = FORMATS["float32"]
    return converted(wide, _directed(function, wide, converted(fmt, x, wide), "odd"), fmt, mode)


@in_default_environment
def reference(function: str, x: Any, dtype: Any = None, *, rounding: str = "nearest", **parameters: Any) -> Any:
    """Correctly rounded f(x), in the dtype of x (or in `dtype`, for Python numbers; default float64).

    `x` is a NumPy or ml_dtypes array or scalar, anything with `__array__`, or a number. Returns an
    array of x's shape, or a scalar for a scalar. UsageError where the dtype is not certain.

    `rounding`: "nearest" (ties to even), "up", "down", "zero", or "odd": towards zero, then the last bit set where the
    result is not exact. Rounded again, to a format that has two bits less, an odd result is rounded as the exact value.

    Parameters of the function (mu and sigma of gelu, beta of silu, alpha of elu) are exact numbers: an int, a Fraction,
    a float for its own value, or text: a decimal, a fraction, a hex float.

    >>> reference("gelu", 1.0)
    np.float64(0.8413447460685429)
    >>> reference("gelu", 1.0, mu=0.5, sigma="1/3")
    np.float64(0.9331927987311419)
    >>> reference("gelu", 1.0, rounding="up")
    np.float64(0.841344746068543)
    """
    array, fmt = float_array(x, dtype)
    function = named(function, parameters)
    y = reference_bits(function, fmt.name, array.view(fmt.uint), rounding=rounding).view(array.dtype)
    return y if np.ndim(x) or isinstance(x, np.ndarray) else y[()]


@in_default_environment
def ulp_error(function: str, x: Any, y: Any, dtype: Any = None, **parameters: Any) -> Any:
    """(y - f(x))/u(f(x)): signed, fractional, against the unrounded truth; float64 of the common shape.

    inf where x is finite and y is inf or NaN without cause, or a number where NaN or a pole is due; NaN where x is not
    finite, or outside of the domain and y is NaN.

    >>> round(float(ulp_error("gelu", np.float32(-6.5), np.float32(-0.0))))
    9404959
    """
    function = named(function, parameters)
    xs, fmt = float_array(x, dtype)
    ys, other = float_array(y, dtype)
    if fmt != other:
        raise UsageError(f"x is {fmt.name}, y is {other.name}: they must have one dtype")
    try:
        xs, ys = np.broadcast_arrays(xs, ys)
    except ValueError:
        raise UsageError(f"x has the shape {xs.shape}, y {ys.shape}: they have no common one") from None
    error = judge(function, fmt.name, xs.copy().view(fmt.uint), ys.copy().view(fmt.uint)).error
    return error if error.ndim else float(error)


@in_default_environment
def exact(function: str, x: Any, dtype: Any = None, *, digits: int = 40, **parameters: Any) -> str:
    """f(x) as a decimal with `digits` significant digits, correctly rounded.

    `x` is a float, int, Fraction, NumPy scalar or text (decimal, hex float; with `dtype` also bits,
    and then rounded to it). Without `dtype`, x must be a binary fraction. 'inf' and 'nan' for those,
    and 'nan' outside of the domain.

    >>> exact("gelu", -6.5, digits=20)
    '-2.6104003795084265754e-10'
    """
    entry = get_function(named(function, parameters))
    digits = whole("digits", digits, 1, 5000)
    value = _exact_number(x, dtype)
    if isinstance(value, str):
        return _limit_text({"inf": entry.at_plus_infinity, "-inf": entry.at_minus_infinity}.get(value, "nan"), digits)
    point = (value.numerator, 1 - value.denominator.bit_length())
    if not entry.is_defined_at(point):
        return "nan"
    limit = entry.stated_at(value)
    if limit is not None:
        return _limit_text(limit, digits)
    if (number := entry.rational_at(point)) is not None:
        return decimal_text(number, digits)
    return _digits(partial(enclosed_ends, entry, point), digits)


def _limit_text(limit: Limit, digits: int) -> str:
    """A limit as it is stated where that is exact and no longer than asked for."""
    if callable(limit):
        return _digits(partial(ends_of_limit, limit), digits)
    if limit in ("x", "-x"):
        return "0"
    return (
        limit if sum(map(str.isdigit, limit)) <= digits and "/" not in limit else decimal_text(Fraction(limit), digits)
    )


def _digits(enclosed: Callable[[int], tuple[Dyadic, Dyadic]], digits: int) -> str:
    """Digits on which both ends of an enclosure agree; `enclosed` takes its bits."""
    bits = math.ceil(digits * 3.33) + 8
    while True:
        ends = enclosed(bits)
        if ends[0] == ends[1]:
            return decimal_text(fraction(clamped(ends[0])), digits)
        low, high = _written_out(*ends, digits, bits)
        if low == high:
            return low
        bits *= 2


def _written_out(low: Dyadic, high: Dyadic, digits: int, bits: int) -> tuple[str, str]:
    """Both ends as decimals; far from 1 each is moved outwards by what a power of two as a decimal may be off."""
    size = abs(low[0]).bit_length() + low[1]
    if abs(size) <= _NEAR:
        return decimal_text(fraction(low), digits), decimal_text(fraction(high), digits)
    if abs(size) > _FAR:
        raise OracleError(f"a value beyond 2^+-{_FAR} has no decimal")
    places = math.ceil(bits * 0.31) + 10
    context = _context(places + 20)
    side = 1 if low[0] > 0 else -1
    texts = []
    for (m, e), outwards in ((low, -side), (high, side)):
        value = context.multiply(decimal.Decimal(m), context.power(decimal.Decimal(2), e))
        share = context.add(1, decimal.Decimal((outwards < 0, (1,), -places)))  # far more than three operations lose
        texts.append(rounded_text(context.multiply(value, share), digits))
    return texts[0], texts[1]


def decimal_text(value: Fraction, digits: int) -> str:
    """A Fraction as a decimal of `digits` significant digits, rounded to nearest even; '0' for zero."""
    if value == 0:
        return "0"
    quotient = _context(digits).divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return rounded_text(quotient, digits)


@cache
def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def rounded_text(value: decimal.Decimal, digits: int) -> str:
    """As `decimal_text`, of a non-zero Decimal."""
    if -5 <= value.adjusted() < digits:
        text = f"{value:.{digits - 1 - value.adjusted()}f}"
        if text[-1] != "0":  # else it may have been rounded up to a power of ten, with a digit too many
            return text
    text = f"{value:.{digits - 1}e}"
    exponent = int(text[text.index("e") + 1 :])
    if -5 <= exponent < digits:
        return f"{value:.{digits - 1 - exponent}f}"
    return f"{text[: text.index('e')]}e{exponent:+03d}"


def float_text(value: float, digits: int) -> str:
    """As `rounded_text`, of a non-zero finite double: C's conversions are exact, and a tenth of the work."""
    text = f"{value:.{digits - 1}e}"
    significand, _, exponent = text.partition("e")
    if -5 <= int(exponent) < digits:
        return f"{value:.{digits - 1 - int(exponent)}f}"
    return f"{significand}e{int(exponent):+03d}"


@lru_cache(maxsize=512)
def zero_threshold(function: str, dtype: str) -> int | None:
    """Bits of the negative x nearest to zero from which on, towards -inf, the rounded result is zero.

    None where the function does not vanish at -inf, vanishes before -2 (relu: on the whole half line), or is not stated
    to be monotone there.
    """
    entry, fmt = get_function(function), get_format(dtype)
    if entry.at_minus_infinity not in ("0", "-0") or entry.turning_points is None:
        return None
    turns = [Fraction(text) for text in entry.turning_points[:1]]  # left of it |f| falls towards -inf
    start = fmt.ordinal(fmt.round(min([Fraction(-2), *turns]), "down"))

    def is_not_zero(ordinal: int) -> bool:
        return fmt.magnitude(reference_bits(function, dtype, fmt.from_ordinal(ordinal))) != 0

    if not is_not_zero(start):
        return None
    tail = range(fmt.ordinal(fmt.max_finite | fmt.sign_mask), start)
    zeros = bisect_left(tail, True, key=is_not_zero)
    return fmt.from_ordinal(tail[zeros - 1]) if zeros else None


_NEAR = 1 << 14  # powers of two up to which a value is written out as a fraction
_FAR = 1 << 61  # and up to which the decimal module has exponents
MEMORY = 1 << 28
"""Bytes of values that are kept: a run judges many targets on the same inputs, and judging with them is 2.5 (16 and 32
bits) to 13 times (float64) as fast: `tox -e bench`."""
WORTH_KEEPING = 1 << 12
"""Inputs: fewer are evaluated anew each time, so that memory holds few entries."""
FEW = 64
"""Inputs at most whose values are kept where no native loop gives them: 1 MB in all."""
_most_bytes = MEMORY
_memory: dict[tuple[Function, str, bytes], np.ndarray] = {}


class _Scratch(local):
    """Memory for values that are not kept, one for each thread."""

    def __init__(self) -> None:
        self.values = np.empty(0, np.uint8)


_scratch = _Scratch()


def _values(function: Function, fmt: Format, x: np.ndarray, keep: bool = True) -> np.ndarray:
    """Values with their bounds at each input (bytes): from memory where the same inputs were asked for before.

    What is not kept is good until this thread asks for the next values.
    """
    native = function.name in _NATIVE
    size = x.size * _core.VALUE_SIZE
    keep = keep and x.size >= WORTH_KEEPING
    if keep:
        key = function, fmt.name, blake2b(x.data, digest_size=16).digest()
        kept = _memory.get(key)
        if kept is not None:
            return kept
        keep = sum(values.nbytes for values in list(_memory.values())) + size <= _most_bytes
    if not keep and _scratch.values.size < size:
        _scratch.values = np.empty(size, np.uint8)
    values = np.empty(size, np.uint8) if keep else _scratch.values[:size]
    if native:
        _core.evaluate(function.name, fmt.layout, x.view(np.uint8), values)
    else:
        few = x.size <= FEW
        values[:] = _few_values(function, fmt, x.tobytes()) if few else values_of(function, fmt, x).view(np.uint8)
    if keep:
        _memory[key] = values
    return values


@lru_cache(maxsize=512)
def _few_values(function: Function, fmt: Format, x: bytes) -> np.ndarray:
    """Values that no native loop gives, of few inputs: checks ask for the same ones of every target."""
    return values_of(function, fmt, np.frombuffer(x, fmt.uint)).view(np.uint8)


def forget_values(most_bytes: int = MEMORY) -> None:
    """Forget what is kept for further targets on the same inputs, and from now on keep at most so many bytes."""
    global _most_bytes
    _few_values.cache_clear()
    _memory.clear()
    _most_bytes = most_bytes


@lru_cache(maxsize=512)
def _table(function: str, dtype: str) -> np.ndarray | None:
    """All results, indexed by input bits: shipped for 16-bit formats, computed for 8-bit ones."""
    fmt = FORMATS[dtype]
    if fmt.width == 8:
        return _by_odd(function, fmt, np.arange(256, dtype=fmt.uint), "nearest")
    if "[" in function:
        return None
    path = resource(f"data/reference/{function}/{dtype}.npy")
    return np.load(path, mmap_mode="r") if fmt.width == 16 and path.exists() else None


@lru_cache(maxsize=512)
def _limits(function: Function, fmt: Format, mode: Mode = "nearest") -> tuple[np.ndarray, float]:
    """What is stated of f, as native code takes it: shared by all calls, and so not to be written to."""
    minus = fmt.sign_mask
    limits = [function.limit_bits(fmt, b, mode) for b in (fmt.nan, fmt.infinity | minus, fmt.infinity, minus, 0)]
    return np.array([*limits, fmt.infinity], np.uint64), function.double_at_zero or 0.0


def _checked_bits(fmt: Format, bits: Any, name: str) -> np.ndarray:
    array = np.asarray(bits)
    if array.dtype != fmt.uint:
        raise UsageError(f"{name} must be {fmt.uint} for {fmt.name}, not {array.dtype}")
    return np.ascontiguousarray(array).reshape(array.shape)


def _exact_number(x: Any, dtype: Any) -> Fraction | str:
    """The exact value of x, or 'inf', '-inf', 'nan'."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and not x.ndim):
        array, fmt = float_array(x, dtype)
        return _bits_number(fmt, int(array.view(fmt.uint)))
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    rounding = None if dtype is None else get_format(dtype)
    if rounding is not None and isinstance(x, str):
        return _bits_number(rounding, rounding.parse(x))
    value = x if isinstance(x, Fraction) else exact_number("x", x)
    if rounding is not None:
        return _bits_number(rounding, rounding.round(value))
    if value.denominator & (value.denominator - 1):
        raise UsageError(f"{x!r} is not a binary fraction: name the dtype that it is to be rounded to")
    return value


def _bits_number(fmt: Format, bits: int) -> Fraction | str:
    return fmt.fraction(bits) if fmt.is_finite(bits) else fmt.hex_float(bits)
