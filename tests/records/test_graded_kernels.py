"""Kernels, good and bad, whose grades were written down before any of them was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from judging import judged
from marking import nightly
from mutants import BitsTarget, correct, formula, in_lane, moved, rounded, tanh_form, target, where

from gelu_verify.formats import get_format, numpy_dtype, to_float64
from gelu_verify.truth.values import reference_bits

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def erf(v):
    return _erf(v.astype(np.float64)).astype(v.dtype)


def erfc(v):
    return _erfc(v.astype(np.float64)).astype(v.dtype)


def computed(function, compute, inside=None):
    """`compute`, in the dtype `inside` (default: that of the target), its result rounded once."""

    def answer(dtype, x):
        with np.errstate(all="ignore"):
            value = x.view(numpy_dtype(dtype)).astype(inside or numpy_dtype(dtype))
            return compute(value).astype(numpy_dtype(dtype)).view(x.dtype)

    return target(function, answer)


def changed(function, *changes):
    """Correctly rounded, but for `change(x, y) -> y` of the values."""

    def answer(dtype, x):
        value, y = to_float64(get_format(dtype), x), reference_bits(function, dtype, x).view(numpy_dtype(dtype))
        with np.errstate(all="ignore"):
            for change in changes:
                y = change(value, y).astype(y.dtype)
        return y.view(x.dtype)

    return target(function, answer)


def planted(function, fault):
    return target(function, lambda dtype, x: fault(dtype, x, np.array(reference_bits(function, dtype, x))))


def clamped(function, low, high):
    """The inputs are clamped first."""

    def answer(dtype, x):
        value = x.view(numpy_dtype(dtype))
        with np.errstate(invalid="ignore"):
            inputs = np.where(value < low, value.dtype.type(low), np.where(value > high, value.dtype.type(high), value))
        return reference_bits(function, dtype, inputs.view(x.dtype))

    return target(function, answer)


def composed(step):
    """Each operation of the erf form is rounded to the dtype."""

    def answer(dtype, x):
        kind = numpy_dtype(dtype)
        v = x.view(kind)
        with np.errstate(all="ignore"):
            one_plus = (erf((v * kind.type(math.sqrt(0.5))).astype(np.float64)).astype(kind) + kind.type(1)).astype(
                kind
            )
            return ((v * kind.type(0.5)).astype(kind) * one_plus).astype(kind).view(x.dtype)

    return target(step, answer)


def interpolated(x, y):
    """A table of 257 entries on [-4, 4]; 0 and x beyond."""
    nodes = np.linspace(-4, 4, 257)
    inner = np.interp(x, nodes, nodes * _erfc(-nodes * math.sqrt(0.5)) / 2)
    return np.where(np.isnan(x), y, np.where(x < -4, -0.0, np.where(x > 4, x, inner)))


def through_half(x, y):
    """Between -10 and 10 inputs and results are float16."""
    half = x.astype(np.float16).astype(np.float64)
    inner = (half * _erfc(-half * math.sqrt(0.5)) / 2).astype(np.float16)
    return np.where(x <= -10, -0.0, np.where(x >= 10, x, np.where(np.isnan(x), y, inner)))


def through_single(x, y):
    """float64 that is float32 inside, guarded against overflow."""
    single = x.astype(np.float32).astype(np.float64)
    inner = (single * _erfc(-single * math.sqrt(0.5)) / 2).astype(np.float32)
    return np.where(np.abs(x) < 1e30, inner, y)


def erf_form(v):
    return v.dtype.type(0.5) * v * (1 + erf(v * v.dtype.type(math.sqrt(0.5))))


def erfc_form(v):
    return v.dtype.type(0.5) * v * erfc(-v * v.dtype.type(math.sqrt(0.5)))


def derivative(v):
    kind = v.dtype.type
    density = np.exp(v * v * kind(-0.5)) * kind(1 / math.sqrt(2 * math.pi))
    return kind(0.5) * (1 + erf(v * kind(math.sqrt(0.5)))) + v * density


def tanh_derivative(v):
    """As a textbook has it: x^2 overflows, times 0."""
    kind = v.dtype.type
    b, a = kind(math.sqrt(2 / math.pi)), kind(0.044715)
    t = np.tanh(b * (v + a * v * v * v))
    return kind(0.5) * (1 + t) + kind(0.5) * v * (1 - t * t) * b * (1 + 3 * a * v * v)


def overflowing(v):
    return v * (np.exp(v) / (1 + np.exp(v)))


def half_as_steep(v):
    return v * erfc(-v / v.dtype.type(8**0.5)) / 2


def sigmoid_product(v):
    """exp of -|x| only: nothing overflows."""
    small = np.exp(-np.abs(v))
    return v * np.where(v < 0, small / (1 + small), 1 / (1 + small))


def when(condition, value, function="gelu"):
    """Correctly rounded, but for `value` where the condition on x holds."""
    return changed(function, lambda x, y: np.where(condition(x), value(x, y) if callable(value) else value, y))


def relu_beyond(end):
    return when(lambda x: np.abs(x) > end, lambda x, y: np.where(x > 0, x, -0.0))


def fixed_point(x, y):
    return np.round(y.astype(np.float64) * 2.0**24) / 2**24


def nothing(x, y):
    return y * 0


def tanh_of_11_bits(x):
    noise = (x.astype(np.float64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) / 2.0**23 - 1
    exact = tanh_form()(x)
    return exact + x / 2 * (2 * exact / x - 1) * 2.0**-11 * noise


def tanh_in_a_lane(dtype, x, y):
    return np.where(np.arange(len(x)) % 8 == 5, reference_bits("gelu_tanh", dtype, x), y)


@dataclass(frozen=True)
class Kernel:
    name: str
    dtype: str
    target: BitsTarget
    grade: str
    says: str = ""  # what the sentence must contain
    conventions: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.name}, {self.dtype}"


LEFT, BOTH, LOST = ("NaN at -inf",), ("NaN at -inf", "NaN at +inf"), ("f(-0) = 0, must be -0",)
IN_DOUBLE = computed("gelu", erfc_form, np.float64)
RANGE, ABSOLUTE, COARSE, BROKEN = "accurate_range", "absolute", "coarse", "broken"

KERNELS = (
    # x Phi(x) in double precision, rounded once
    Kernel("in double", "float16", IN_DOUBLE, "correctly_rounded", conventions=LEFT),
    Kernel("in double", "bfloat16", IN_DOUBLE, "faithful", conventions=LEFT),
    Kernel("in double", "float32", IN_DOUBLE, "faithful", conventions=LEFT),
    # textbook forms in their own precision
    Kernel("erf form in float32", "float16", computed("gelu", erf_form, np.float32), "accurate", "", LEFT),
    Kernel("erf form in float32", "bfloat16", computed("gelu", erf_form, np.float32), RANGE, "returns 0 ", LEFT),
    Kernel("erf form", "float32", computed("gelu", erf_form), RANGE, "returns 0 ", LEFT),
    Kernel("erf form", "float64", computed("gelu", erf_form), RANGE, "returns 0 ", LEFT),
    Kernel("erf form, each step rounded", "bfloat16", composed("gelu"), RANGE, "returns 0 ", LEFT),
    Kernel("erfc form", "float32", computed("gelu", erfc_form), RANGE, "at least", LEFT),
    Kernel("erfc form", "float64", computed("gelu", erfc_form), RANGE, "at least", LEFT),
    Kernel("x / (1 + e^-x)", "float32", computed("silu", lambda v: v / (1 + np.exp(-v))), RANGE, "returns 0 ", LEFT),
    Kernel("x e^x / (1 + e^x)", "float32", computed("silu", overflowing), BROKEN, "NaN or infinite for", LEFT),
    Kernel("x sigmoid(x), stable", "float32", computed("silu", sigmoid_product), RANGE, "x >= -8", LEFT),
    Kernel("Phi + x phi", "float32", computed("gelu_grad", derivative), RANGE, conventions=BOTH),
    Kernel("textbook derivative", "float32", computed("gelu_tanh_grad", tanh_derivative), BROKEN, "NaN", BOTH),
    # another function
    Kernel("tanh form", "float32", correct("gelu", "gelu_tanh"), BROKEN, "gelu_tanh"),
    Kernel("tanh form", "bfloat16", correct("gelu", "gelu_tanh"), BROKEN, "gelu_tanh"),
    Kernel("quick gelu", "float16", correct("gelu", "gelu_sigmoid"), BROKEN, "gelu_sigmoid"),
    Kernel("tanh derivative", "float32", correct("gelu_grad", "gelu_tanh_grad"), BROKEN, "gelu_tanh_grad"),
    Kernel("x Phi(x/2)", "float32", computed("gelu", half_as_steep), BROKEN, "neither gelu", LEFT),
    # special values
    Kernel("NaN at -inf", "float32", when(lambda x: x == -np.inf, np.nan), "correctly_rounded", "", LEFT),
    Kernel("positive zeros", "float32", changed("gelu", lambda x, y: y + 0.0), "faithful", "",
           ("0 at -inf", *LOST,
            "662 zeros of the wrong sign, the nearest to zero (x = 0 apart) at x = -1.40129846e-45")),
    Kernel("largest at +inf", "bfloat16", planted("gelu", where(lambda x: x == np.inf, "3.38e38")), BROKEN, "at +inf"),
    Kernel("0 at +inf", "float16", planted("silu", where(lambda x: x == np.inf, "0")), BROKEN, "0 at +inf"),
    Kernel("-inf at -inf", "float32", when(lambda x: x == -np.inf, -np.inf), BROKEN, "infinite at -inf"),
    Kernel("2x, halved", "float32", when(lambda x: x > 1.7014118e38, np.inf), BROKEN, "x >= 1.7014118e+38 (inf"),
    Kernel("inputs flushed", "bfloat16", when(lambda x: np.abs(x) < 2.0**-126, nothing, "silu"), "faithful", "",
           ("flushes subnormal inputs",)),
    # ranges and tails
    Kernel("clamped at -6", "float32", clamped("gelu", -6.0, np.inf), RANGE, "-5.92e-09 at -inf"),
    Kernel("clamped at -4", "float16", clamped("gelu", -4.0, np.inf), RANGE, "x >= -4"),
    Kernel("clamped at -4 and 4", "float32", clamped("gelu", -4.0, 4.0), BROKEN, "4 at +inf"),
    Kernel("4 for finite x > 4", "float32", when(lambda x: (x > 4) & np.isfinite(x), 4.0), BROKEN, "4 instead of"),
    Kernel("zero below -5.5", "float32", when(lambda x: x < -5.5, -0.0), RANGE, "returns 0 "),
    Kernel("relu beyond 6", "float32", relu_beyond(6), RANGE, "returns 0 "),
    Kernel("relu beyond 4", "float32", relu_beyond(4), COARSE, "returns 0 "),
    Kernel("relu beyond 4", "float16", relu_beyond(4), RANGE, "returns 0 "),
    Kernel("positive tail", "float32", when(lambda x: x < -6, lambda x, y: -y), RANGE, "wrong sign",
           ("0 at -inf", "660 zeros of the wrong sign, the nearest to zero (x = 0 apart) at x = -14.3560686")),
    # absolute accuracy
    Kernel("multiples of 2^-24", "float32", when(lambda x: np.abs(x) < 8, fixed_point), ABSOLUTE),
    Kernel("zero to 1e-6", "float32", when(lambda x: np.abs(x) < 1e-6, nothing), ABSOLUTE, "zero at"),
    Kernel("zero to 1e-4", "float32", when(lambda x: np.abs(x) < 1e-4, nothing, "gelu_tanh"), COARSE, "zero at"),
    Kernel("table", "float16", changed("gelu", interpolated), ABSOLUTE, "", LOST),
    Kernel("table", "float32", changed("gelu", interpolated), COARSE, "",
           (*LOST, "2 zeros of the wrong sign, the nearest to zero (x = 0 apart) at x = -1.40129846e-45")),
    Kernel("float16 inside", "float32", changed("gelu", through_half), COARSE, "computes in float16"),
    Kernel("float32 inside", "float64", changed("gelu", through_single), COARSE, "computes in float32"),
    Kernel("tanh of 11 bits", "float32", formula("gelu_tanh", tanh_of_11_bits), COARSE),
    # single inputs, positions, roundings
    Kernel("0 at 1.75", "float32", when(lambda x: x == 1.75, 0.0), BROKEN, "0 instead of 1.68 at x = 1.75"),
    Kernel("two floats off at 1.75", "float16", planted("gelu", moved(1.75, 2)), "accurate", "1.75, which stands out"),
    Kernel("tanh form in a lane", "float32", planted("gelu", tanh_in_a_lane), BROKEN, "position"),
    Kernel("a float off in a lane", "float64", planted("gelu", in_lane(3, 8, 1, lambda x: (x > 1) & (x < 2))),
           "accurate", "slightly"),
    Kernel("cut off", "bfloat16", rounded("silu", "zero"), "faithful", "rounds toward zero"),
)  # fmt: skip
QUICK = ("clamped at -6", "4 for finite x > 4", "0 at 1.75", "tanh of 11 bits", "positive tail", "table")


@pytest.mark.parametrize(
    "kernel",
    [*(k for k in KERNELS if k.name in QUICK), *nightly(*(k for k in KERNELS if k.name not in QUICK))],
    ids=str,
)
def test_an_analyst_agrees(kernel):
    record = judged(kernel.target, kernel.dtype)
    assert (record.grade, record.conventions) == (kernel.grade, kernel.conventions), record.sentence
    assert kernel.says in record.sentence


@pytest.mark.nightly
def test_no_two_look_the_same():
    """But for those that are as good as can be."""
    looks = {}
    for kernel in KERNELS:
        record = judged(kernel.target, kernel.dtype)
        look = (record.function, record.dtype, record.grade, record.sentence, record.conventions)
        assert look not in looks, (str(kernel), looks[look])
        looks[look] = str(kernel)
