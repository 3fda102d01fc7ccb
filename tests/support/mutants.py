"""Targets that are right, and targets with one planted fault."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from gelu_verify.formats import (
    DTYPES,
    from_ordinals,
    get_format,
    is_finite,
    is_nan,
    is_negative,
    is_zero,
    numpy_dtype,
    ordinals,
    to_float64,
)
from gelu_verify.targets.base import Target
from gelu_verify.truth.values import judge, reference_bits


@lru_cache(maxsize=64)
def _all_of(function: str, dtype: str) -> np.ndarray:
    return reference_bits(function, dtype, np.arange(1 << 16, dtype=np.uint16))


def right(function: str, dtype: str, x: np.ndarray) -> np.ndarray:
    """`reference_bits`, in 16 bits of all inputs at once: checks call a target thousands of times."""
    x = np.asarray(x)
    return _all_of(function, dtype)[x] if get_format(dtype).width == 16 else reference_bits(function, dtype, x)


Answer = Callable[[str, np.ndarray], np.ndarray]
Fault = Callable[[str, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class BitsTarget(Target):
    """A target made of a function from (dtype, bits) to bits."""

    answer: Answer

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        return dtype, x_bits

    def call(self, loaded: Any) -> Any:
        return self.answer(*loaded)

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return result


def target(function: str, answer: Answer, name: str = "test.mutant") -> BitsTarget:
    return BitsTarget(name=name, function=function, dtypes=DTYPES, answer=answer)


def correct(function: str, really: str | None = None) -> BitsTarget:
    """Correctly rounded `really` under the name of `function`."""
    return target(function, lambda dtype, x: right(really or function, dtype, x))


def faulty(function: str, fault: Fault) -> BitsTarget:
    """Correctly rounded, but for `fault(dtype, x_bits, y_bits) -> y_bits`."""
    return target(function, lambda dtype, x: fault(dtype, x, np.array(right(function, dtype, x))))


def at(value: float, wrong: str) -> Fault:
    """One input, `value`, gives `wrong`."""
    return where(lambda x: x == value, wrong)


def where(condition: Callable[[np.ndarray], np.ndarray], wrong: str) -> Fault:
    """Where the condition on the value of x holds, the result is `wrong`."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        return np.where(condition(to_float64(fmt, x)), fmt.uint.type(fmt.parse(wrong)), y)

    return fault


def moved(value: float, floats: int) -> Fault:
    """The result at `value` is that many floats off."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        hit = to_float64(fmt, x) == value
        return np.where(hit, from_ordinals(fmt, ordinals(fmt, y) + floats), y)

    return fault


def rounded(function: str, way: str) -> BitsTarget:
    """Rounded "up", "down", toward "zero", "away" from it, to "odd", by "chance", or one way and the other in turn
    ("wiggling"): faithful, but not correctly rounded."""

    def answer(dtype: str, x: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        want = reference_bits(function, dtype, x)
        error = judge(function, dtype, x, want).error
        ordinal = ordinals(fmt, want)
        negative = is_negative(fmt, want)
        share = np.where(error > 0, 1 - error, -error)  # of the way from the number below y to the one above
        above = want.astype(np.uint64) + ((error < 0) ^ negative)  # for its last bit: the end of larger magnitude
        up = {
            "up": True,
            "down": False,
            "wiggling": x % 2 == 0,
            "zero": negative,
            "away": ~negative,
            "odd": (above % 2 == 1) ^ negative,
            "chance": x * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40) < share * 2**24,
        }[way]
        step = np.where(up, error < 0, 0) - np.where(up, 0, error > 0)
        beside = from_ordinals(fmt, ordinal + step)
        across = is_zero(fmt, want) & (step != 0) & (step == np.where(ordinal < 0, 1, -1))
        beside = np.where(
            across, from_ordinals(fmt, np.where(ordinal < 0, 1, -2)), beside
        )  # the other zero lies between
        return np.where(is_finite(fmt, x) & is_finite(fmt, want), beside, want).astype(fmt.uint)

    return target(function, answer)


# ---- faults of place and time --------------------------------------------------------------------


def shifted(fmt, y: np.ndarray, floats: int) -> np.ndarray:
    """Finite answers that many floats on, no farther than the largest; NaN and infinities as they are."""
    top = fmt.max_finite
    moved = from_ordinals(fmt, np.clip(ordinals(fmt, y) + floats, -1 - top, top))
    return np.where(is_finite(fmt, y), moved, y)


def in_lane(lane: int, of: int, floats: int, condition: Callable[[np.ndarray], np.ndarray] | None = None) -> Fault:
    """Every answer at an index = lane (mod of) is that many floats off, where the condition on x holds."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        hit = np.arange(len(x)) % of == lane
        if condition is not None:
            hit &= condition(to_float64(fmt, x))
        return np.where(hit, shifted(fmt, y, floats), y)

    return fault


def in_remainder(of: int, floats: int) -> Fault:
    """Answers after the last whole vector are that many floats off."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        late = np.arange(len(x)) >= len(x) // of * of
        return np.where(late, shifted(get_format(dtype), y, floats), y)

    return fault


def beside(floats: int) -> Fault:
    """Vectors of 8 in which any |x| is above 3 take a coarser branch, for all of their lanes."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        whole = len(x) // 8 * 8
        large = (np.abs(to_float64(fmt, x[:whole])) > 3).reshape(-1, 8).any(axis=1)
        hit = np.append(np.repeat(large, 8), np.zeros(len(x) - whole, bool))
        return np.where(hit & (np.abs(to_float64(fmt, x)) < 2), shifted(fmt, y, floats), y)

    return fault


def when_long(length: int, floats: int) -> Fault:
    """Calls of fewer inputs than that go through another loop."""
    return lambda dtype, x, y: shifted(get_format(dtype), y, floats) if len(x) < length else y


def every_other_call(floats: int) -> Fault:
    calls = count()
    return lambda dtype, x, y: shifted(get_format(dtype), y, floats) if next(calls) % 2 else y


def noisy(floats: int) -> Fault:
    """As uninitialized memory: other bits each time."""
    rng = np.random.default_rng(5)

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        step = rng.integers(-floats, floats + 1, len(x))
        return np.where(is_finite(fmt, y) & ~is_zero(fmt, y), from_ordinals(fmt, ordinals(fmt, y) + step), y)

    return fault


def racing(function: str) -> BitsTarget:
    """Right alone; calls that overlap in time read each other's inputs from a shared scratch."""
    scratch: dict[int, np.ndarray] = {}

    def answer(dtype: str, x: np.ndarray) -> np.ndarray:
        scratch[len(x)] = x
        time.sleep(0.005)
        return np.array(right(function, dtype, scratch[len(x)]))

    return replace(target(function, answer), safe_in_threads=True)


# ---- faults of precision -------------------------------------------------------------------------


def through(function: str, dtype: str, *, inputs: bool = True, results: bool = True) -> BitsTarget:
    """Inputs, results or both are rounded to `dtype` on their way."""

    def answer(declared: str, x: np.ndarray) -> np.ndarray:
        fmt = get_format(declared)
        y = reference_bits(function, declared, _narrowed(declared, x, dtype) if inputs else x)
        y = _narrowed(declared, y, dtype) if results else np.array(y)
        return np.where(is_nan(fmt, x), x, y)

    return target(function, answer)


def _narrowed(declared: str, bits: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        wide = bits.view(numpy_dtype(declared))
        return wide.astype(numpy_dtype(dtype)).astype(wide.dtype).view(bits.dtype)


Formula = Callable[[np.ndarray], np.ndarray]


def formula(function: str, compute: Formula, kind: type = np.longdouble) -> BitsTarget:
    """A formula evaluated in `kind`, for |x| < 30, and rounded; beyond, and at special values, the truth."""

    def answer(dtype: str, x: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        value = to_float64(fmt, x)
        y = np.array(right(function, dtype, x))
        inside = (np.abs(value) < 30) & (value != 0)
        with np.errstate(all="ignore"):
            computed = compute(value[inside].astype(kind)).astype(np.float64).astype(numpy_dtype(dtype))
        y[inside] = computed.view(fmt.uint)
        return y

    return target(function, answer)


def cut_off(function: str, compute: Formula) -> BitsTarget:
    """bfloat16 computed in float32, of which the upper half is kept."""

    def answer(dtype: str, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            y = compute((x.astype(np.uint32) << 16).view(np.float32))
        fmt = get_format(dtype)
        cut = (y.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        special = ~is_finite(fmt, x) | ~np.isfinite(y)
        return np.where(special, reference_bits(function, dtype, x), cut)

    return target(function, answer)


SQRT_2_OVER_PI = "0.797884560802865355879892119868763737"


def tanh_form(b: float | str = SQRT_2_OVER_PI, a: float | str = "0.044715") -> Formula:
    """x sigmoid(2 b (x + a x^3)); text is taken to full precision."""
    return lambda x: x / (1 + np.exp(-2 * x.dtype.type(b) * (x + x.dtype.type(a) * x**3)))


def sigmoid_form(slope: float | str = "1.702") -> Formula:
    return lambda x: x / (1 + np.exp(-x.dtype.type(slope) * x))


def erfc_form(root: float = math.sqrt(0.5)) -> Formula:
    erfc = np.vectorize(lambda v: math.erfc(-v * root), otypes=[np.float64])
    return lambda x: 0.5 * x * erfc(x.astype(np.float64))


def tanh_form_derivative(b: float | str = SQRT_2_OVER_PI, a: float | str = "0.044715") -> Formula:
    def compute(x: np.ndarray) -> np.ndarray:
        b_, a_ = x.dtype.type(b), x.dtype.type(a)
        s = 1 / (1 + np.exp(-2 * b_ * (x + a_ * x**3)))
        return s + x * 2 * b_ * (1 + 3 * a_ * x**2) * s * (1 - s)

    return compute


def approximate_tanh(share: float = 2.0**-11) -> Formula:
    """The tanh form with an intrinsic that is off by up to `share`, at random as a table is."""

    def compute(x: np.ndarray) -> np.ndarray:
        u = np.longdouble(SQRT_2_OVER_PI) * (x + np.longdouble("0.044715") * x**3)
        noise = (x.astype(np.float64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) / 2.0**23 - 1
        return x / 2 * (1 + np.tanh(u) * (1 + share * noise))

    return compute
