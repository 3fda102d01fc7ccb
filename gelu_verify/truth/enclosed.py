"""Enclosures of many values of a function that has no native code, in the form that the native judge takes.

An input costs the oracle some 0.05 ms in Python. So many inputs are shared among processes, and what was computed is
kept, in this process and in a private folder of this user, under a hash of the code that computes it: the tables of
the 16-bit formats, and the inputs of a plan, on which every target of a run is judged, are computed once.

A value is the middle of a proved enclosure with a bound on the rest (src/truth/value.h). What the bound does not
decide is asked of the oracle, as for native code: every result is the correctly rounded one, or an error.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from ..atomic_files import replace_file
from ..formats import Dyadic, Format, get_format, is_finite, is_zero, ordinals
from ..functions import Function, get_function, is_registered
from ..functions.enclosures import MINUS_ZERO, ZERO, Enclosure, Terms, endpoints
from ..functions.limits import POLES
from ..paths import cache_folder
from ..plugins import code_hash
from . import _core, scaled
from .scaled import VALUE

Value = tuple[float, float, float, int]  # hi, lo, err, k
SHARED = 1 << 13  # inputs from which on several processes are worth their start, 0.3 s
STORED = 1 << 11  # inputs from which on values are written to the folder
GUARD = 48  # bits of the first enclosure beyond the precision of the format
DOUBLINGS = 3
NARROWER = (1 << 9, 1 << 12)  # bits where the rounding is open: 3/5 x of tiny x is a number of the format, often
MOST_BYTES = 1 << 29  # of that folder; the oldest files go first
_BEYOND, _VANISHING, _HUGE = 1140, -1140, 2001  # powers of two: where every format overflows or is zero (value.h)
_TINY = 199  # powers of two below a leading term from which on a correction counts by its sign
_DIGEST = 32  # bytes at the end of a file


def values_of(function: Function, fmt: Format, x: np.ndarray, *, keep: bool = True) -> np.ndarray:
    """Records of VALUE for f(x) at input bits; err is infinite at zeros, infinities and NaN, hi is NaN outside of the
    domain.

    `keep`: write many of them to the folder.
    """
    if scaled.computes(function, fmt):  # as fast as a file is read
        return _computed(function, fmt, x)
    if fmt.width > 16:
        return _stored(function, fmt, x, keep)
    key = function, fmt.name
    if key not in _whole and x.size >= STORED:
        _whole[key] = _stored(function, fmt, np.arange(1 << fmt.width, dtype=fmt.uint))
    return _whole[key][x] if key in _whole else _computed(function, fmt, x)


_whole: dict[tuple[Function, str], np.ndarray] = {}  # all values of 16-bit formats


def _stored(function: Function, fmt: Format, x: np.ndarray, keep: bool = True) -> np.ndarray:
    """From the folder, where they are not few; each input once."""
    distinct, place = np.unique(x, return_inverse=True)
    if distinct.size < x.size:
        return _stored(function, fmt, distinct, keep)[place]
    if x.size < STORED or (version := definition_hash(function)) is None:
        return _computed(function, fmt, x)
    name = hashlib.sha256(f"{function.name} {fmt.name} {version} ".encode() + x.tobytes()).hexdigest()
    path = _place(f"{name}.values") if keep else None
    values = _read(path, x.size) if path else None
    if values is None:
        shared = _shared(function, fmt, x, version) if x.size >= SHARED else None
        values = _computed(function, fmt, x) if shared is None else shared
        if path:
            _write(path, values)
    return values


def _computed(function: Function, fmt: Format, x: np.ndarray) -> np.ndarray:
    """Each enclosed narrowly enough for its error in ulp, and those whose rounding that leaves open more narrowly."""
    values = scaled.values_of(function, fmt, x)
    if values is None:
        values = np.zeros(x.size, VALUE)
        values["hi"], values["err"] = 1.0, math.inf
    wide = values["err"] > np.abs(values["hi"]) * 2.0 ** -(fmt.precision + _enough(fmt))
    first, last = function.ordinals(fmt)
    outside = is_finite(fmt, x) & ((ordinals(fmt, x) < first) | (ordinals(fmt, x) > last))
    values["hi"][outside], values["err"][outside] = math.nan, 0.0
    wide &= ~np.isin(values["k"], (_VANISHING, _HUGE)) & is_finite(fmt, x) & ~is_zero(fmt, x) & ~outside
    for bits, value in _stated(function, fmt):
        there = x == bits
        values[there], wide[there] = value, False
    for i in np.flatnonzero(wide).tolist():
        values[i] = (*_value_at(function, fmt, fmt.dyadic(int(x[i]))), 0)
    stated = np.isin(x, [bits for bits, _ in _stated(function, fmt)])
    for precision in NARROWER:
        for i in _undecided(fmt, x, values, stated):
            values[i] = (*value_of(function.enclosed(Enclosure(precision), fmt.dyadic(int(x[i])))), 0)
    return values


@lru_cache(1 << 10)
def _stated(function: Function, fmt: Format) -> list[tuple[int, tuple[float, float, float, int, int]]]:
    """Bits and records of the points where something is stated: a pole is infinite; what the oracle has to decide, as
    other results may be right, has no bound."""
    found = []
    for text in {*function.at, *function.also}:
        bits = fmt.round(Fraction(text))
        if not fmt.is_finite(bits) or fmt.fraction(bits) != Fraction(text) or fmt.magnitude(bits) == 0:
            continue
        limit = function.limit(fmt, bits)
        if limit in (*POLES, "nan"):
            found.append((bits, (float(str(limit)), 0.0, 0.0, 0, 0)))
        else:
            found.append((bits, (1.0, 0.0, math.inf, 0, 0)))
    return found


def _enough(fmt: Format) -> int:
    """Bits of a value beyond the precision, so that an error in ulp is known to 2^-38, and to 2^-30 in float64."""
    return 40 if fmt.precision <= 24 else 30


@lru_cache(maxsize=1 << 14)  # the checks ask for the same few inputs of every function, target by target
def _value_at(function: Function, fmt: Format, x: Dyadic) -> Value:
    """`value_of` an enclosure that is narrow enough, where a few doublings of the precision make it so."""
    for k in range(DOUBLINGS + 1):
        value = value_of(function.enclosed(Enclosure(fmt.precision + GUARD << k), x))
        hi, _, err, exponent = value
        if err <= abs(hi) * 2.0 ** -(fmt.precision + _enough(fmt)) or exponent in (_VANISHING, _HUGE):
            break
    return value


def _undecided(fmt: Format, x: np.ndarray, values: np.ndarray, stated: np.ndarray) -> list[int]:
    """Indices of finite non-zero inputs whose value lies too close to a number, or to a midpoint, of the format;
    what is stated apart."""
    limits, x = np.full(6, fmt.infinity, np.uint64), np.ascontiguousarray(x)
    want, error, flags = np.empty_like(x), np.empty(x.size), np.zeros(x.size, np.uint8)
    layout = fmt.width, fmt.precision, fmt.emin, fmt.emax
    _core.judge(values.view(np.uint8), layout, limits, 0.0, x.view(np.uint8), x.view(np.uint8), want.view(np.uint8),
                error, flags)  # fmt: skip
    return np.flatnonzero((flags & _core.DECIDED == 0) & is_finite(fmt, x) & ~is_zero(fmt, x) & ~stated).tolist()


def value_of(terms: Terms) -> Value:
    """(hi, lo, err, k): |y 2^-k - (hi + lo)| < err, or err = 0 and it is exact; err infinite: undecided."""
    if terms.correction is None:
        return (-0.0, 0.0, 0.0, 0) if terms.leading == MINUS_ZERO else _between(terms.leading, terms.leading)
    ends = endpoints(terms.correction)
    size = abs(terms.leading[0]).bit_length() + terms.leading[1]
    if terms.leading == ZERO or all(abs(m).bit_length() + e > max(size, _BEYOND) + 2 for m, e in ends):
        return _between(*ends)  # nothing to add, or nothing that brings the sum back from beyond every format
    far_below = size - _TINY - 2
    if all(m == 0 or abs(m).bit_length() + e < far_below for m, e in ends):
        hi, lo, err, k = _between(terms.leading, terms.leading)
        if k in (_VANISHING, _HUGE):
            return hi, lo, err, k
        if lo and not err:  # a leading term of up to 106 bits: the correction is in the bound
            return hi, lo, abs(hi) * 2.0**-200, k
        if err or not (side := _side(*ends)):
            return 1.0, 0.0, math.inf, 0
        tiny = abs(hi) * 2.0**-200
        return hi, side * tiny, tiny, k
    return _between(*(_sum(terms.leading, end) for end in ends))


def _side(low: Dyadic, high: Dyadic) -> int:
    """The sign of what lies between them; a zero end is an open end. 0: undecided."""
    return (low[0] >= 0 and high[0] > 0) - (high[0] <= 0 and low[0] < 0)


def _sum(a: Dyadic, b: Dyadic) -> Dyadic:
    e = min(a[1], b[1])
    return (a[0] << (a[1] - e)) + (b[0] << (b[1] - e)), e


def _between(low: Dyadic, high: Dyadic) -> Value:
    """The middle of [low, high] as hi + lo, and a strict bound of the distance to any number in it."""
    (a, e), (b, f) = low, high
    if a == b == 0:
        return 0.0, 0.0, 0.0, 0
    if a * b <= 0:  # an end that is zero is an open end: far below all formats the sign decides
        side = _side(low, high)
        if side and max(abs(a).bit_length() + e, abs(b).bit_length() + f) < -_BEYOND:
            return side / 2, 0.0, 0.5, _VANISHING
        return 1.0, 0.0, math.inf, 0
    k, sign = max(abs(a).bit_length() + e, abs(b).bit_length() + f), 1.0 if a > 0 else -1.0
    if k > _BEYOND:
        return sign, 0.0, 0.5, _HUGE
    if k < -_BEYOND:
        return sign / 2, 0.0, 0.5, _VANISHING
    unit = min(e, f)
    a, b = a << (e - unit), b << (f - unit)
    middle, unit = a + b, unit - 1
    hi, left = _leading(middle, 53)
    lo, left = _leading(left, 53)
    rest, _ = _leading(abs(left) + abs(b - a), 50, up=True)
    parts = (math.ldexp(float(m), shift + unit - k) for m, shift in (hi, lo, rest))
    return *parts, k  # type: ignore[return-value]


def _leading(value: int, bits: int, up: bool = False) -> tuple[tuple[int, int], int]:
    """((m, shift), rest): value = m 2^shift + rest, m of so many bits: the nearest, or one above `value`."""
    shift = max(value.bit_length() - bits, 0)
    m = (value >> shift) + 1 if up and value else (value + (1 << shift >> 1)) >> shift
    return (m, shift), value - (m << shift)


# ---- processes -----------------------------------------------------------------------------------

_WORKER = "import sys; sys.path[:] = sys.argv.pop().split('\\n'); from gelu_verify.truth.enclosed import serve; serve()"


def _shared(function: Function, fmt: Format, x: np.ndarray, version: str) -> np.ndarray | None:
    """Values computed by a process for each core; None where one does not find the same function, or fails."""
    from ..machine import cores  # brings importlib.metadata, which other look-ups do without

    path = "\n".join(entry or os.getcwd() for entry in sys.path)
    command = [sys.executable, "-c", _WORKER, function.name, fmt.name, version, path]
    count = cores()

    def computed(part: np.ndarray) -> bytes:
        return subprocess.run(command, input=part.tobytes(), capture_output=True).stdout

    with ThreadPoolExecutor(count) as pool:  # every count-th input: costs differ from region to region
        records = list(pool.map(computed, (x[k::count] for k in range(count))))
    values = np.empty(x.size, VALUE)
    for k, record in enumerate(records):
        if len(record) != values[k::count].nbytes:
            return None
        values[k::count] = np.frombuffer(record, VALUE)
    return values


def serve() -> None:
    """One of those processes: input bits on stdin, records of VALUE on stdout; the arguments say of what."""
    name, dtype, version = sys.argv[1:4]
    function, fmt = get_function(name), get_format(dtype)
    if definition_hash(function) != version:
        sys.exit("another function has that name here")
    x = np.frombuffer(sys.stdin.buffer.read(), fmt.uint)
    sys.stdout.buffer.write(_computed(function, fmt, x).tobytes())


# ---- the folder ----------------------------------------------------------------------------------


def definition_hash(function: Function) -> str | None:
    """Of all code that decides the values; None where other processes do not have this function."""
    if not is_registered(function):
        return None
    module = function.terms.__module__
    ours = module.partition(".")[0] == __name__.partition(".")[0]
    return f"{_own_hash()} {'' if ours else code_hash(sys.modules[module])}"


@cache
def _own_hash() -> str:
    """Of our own definitions, of the code here, and of the library that computes."""
    import mpmath

    package = Path(__file__).parents[1]
    digest = hashlib.sha256(mpmath.__version__.encode())
    for path in [
        package / "formats.py",
        Path(__file__),
        Path(scaled.__file__),
        *sorted((package / "functions").glob("*.py")),
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _place(name: str) -> Path | None:
    """Where a file of that name is; None where this user has no place for files."""
    try:
        folder = cache_folder() / "values"
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return folder / name


def _read(path: Path, size: int) -> np.ndarray | None:
    """The values in a file; None where it is not there or not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if len(body) != size * VALUE.itemsize or hashlib.sha256(body).digest() != digest:
        return None
    os.utime(path)
    return np.frombuffer(bytearray(body), VALUE)


def _write(path: Path, values: np.ndarray) -> None:
    """Keep values, as far as there is room: they can be computed again."""
    body = values.tobytes()
    try:
        _limit_size(path.parent, len(body))
        replace_file(path, body + hashlib.sha256(body).digest())
    except OSError:
        return


def _limit_size(folder: Path, size: int) -> None:
    found = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in folder.iterdir()), reverse=True)
    total = size
    for _, nbytes, entry in found:
        total += nbytes
        if total > MOST_BYTES:
            entry.unlink(missing_ok=True)
