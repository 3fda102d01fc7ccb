"""Kernels, good and bad, whose grades were written down before any of them was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from judging import judged
from marking import nightly
from mutants import correct, formula, in_lane, moved, rounded, target, tanh_form, where

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


def sigmoid_product(v):
    """exp of -|x| only: nothing overflows."""
    small = np.exp(-np.abs(v))
    return v * np.where(v < 0, small / (1 + small), 1 / (1 + small))


@dataclass(frozen=True)
class Kernel:
    name: str
    dtype: str
    make: Callable
    grade: str
    says: tuple[str, ...] = ()  # what the sentence must contain
    conventions: tuple[str, ...] = ()


NAN_LEFT = ("NaN at -inf",)
NAN_BOTH = ("NaN at -inf", "NaN at +inf")

KERNELS = (
    # x Phi(x) in double precision, rounded once
    Kernel("in double", "float16", lambda: computed("gelu", erfc_form, np.float64), "correctly_rounded", (), NAN_LEFT),
    Kernel("in double", "bfloat16", lambda: computed("gelu", erfc_form, np.float64), "faithful", (), NAN_LEFT),
    Kernel("in double", "float32", lambda: computed("gelu", erfc_form, np.float64), "faithful", (), NAN_LEFT),
    # textbook forms in their own precision
    Kernel("erf form in float32", "float16", lambda: computed("gelu", erf_form, np.float32), "accurate", (), NAN_LEFT),
    Kernel("erf form in float32", "bfloat16", lambda: computed("gelu", erf_form, np.float32), "accurate_range", ("zero from -5.",), NAN_LEFT),
    Kernel("erf form", "float32", lambda: computed("gelu", erf_form), "accurate_range", ("zero from -5.",), NAN_LEFT),
    Kernel("erf form", "float64", lambda: computed("gelu", erf_form), "accurate_range", ("zero from -8.",), NAN_LEFT),
    Kernel("erf form, each step rounded", "bfloat16", lambda: composed("gelu"), "accurate_range", ("zero from",), NAN_LEFT),
    Kernel("erfc form", "float32", lambda: computed("gelu", erfc_form), "accurate_range", ("up to", "zero from"), NAN_LEFT),
    Kernel("erfc form", "float64", lambda: computed("gelu", erfc_form), "accurate_range", ("up to", "zero from"), NAN_LEFT),
    Kernel("x / (1 + exp(-x))", "float32", lambda: computed("silu", lambda v: v / (1 + np.exp(-v))), "accurate_range", ("x >= -88", "zero from -88"), NAN_LEFT),
    Kernel("exp(x) / (1 + exp(x))", "float32", lambda: computed("silu", lambda v: v * (np.exp(v) / (1 + np.exp(v)))), "broken", ("NaN for x >= 88",), NAN_LEFT),
    Kernel("x sigmoid(x), stable", "float32", lambda: computed("silu", sigmoid_product), "accurate_range", ("x >= -8",), NAN_LEFT),
    Kernel("Phi + x phi", "float32", lambda: computed("gelu_grad", derivative), "accurate_range", (), NAN_BOTH),
    Kernel("textbook derivative", "float32", lambda: computed("gelu_tanh_grad", tanh_derivative), "broken", ("NaN", "6.61e+19"), NAN_BOTH),
    # another function
    Kernel("tanh form as gelu", "float32", lambda: correct("gelu", "gelu_tanh"), "broken", ("gelu_tanh",)),
    Kernel("tanh form as gelu", "bfloat16", lambda: correct("gelu", "gelu_tanh"), "broken", ("gelu_tanh",)),
    Kernel("quick gelu as gelu", "float16", lambda: correct("gelu", "gelu_sigmoid"), "broken", ("gelu_sigmoid",)),
    Kernel("tanh derivative as gelu_grad", "float32", lambda: correct("gelu_grad", "gelu_tanh_grad"), "broken", ("gelu_tanh_grad",)),
    Kernel("x Phi(x/2)", "float32", lambda: computed("gelu", lambda v: v * erfc(-v / np.float32(8**0.5)) / 2), "broken", ("neither gelu",), NAN_LEFT),
    # special values
    Kernel("NaN at -inf", "float32", lambda: changed("gelu", lambda x, y: np.where(x == -np.inf, np.nan, y)), "correctly_rounded", (), NAN_LEFT),
    Kernel("zeros lose their sign", "float32", lambda: changed("gelu", lambda x, y: y + 0.0), "faithful", (), ("0 at -inf", "zeros lose their sign")),
    Kernel("largest number at +inf", "bfloat16", lambda: planted("gelu", where(lambda x: x == np.inf, "3.3895313892515355e38")), "broken", ("at +inf",)),
    Kernel("0 at +inf", "float16", lambda: planted("silu", where(lambda x: x == np.inf, "0")), "broken", ("0 at +inf",)),
    Kernel("-inf at -inf", "float32", lambda: planted("gelu", where(lambda x: x == -np.inf, "-inf")), "broken", ("infinite at -inf",)),
    Kernel("2x, halved", "float32", lambda: changed("gelu", lambda x, y: np.where(x > 1.7014118e38, np.inf, y)), "broken", ("infinite for x >= 1.701e+38",)),
    Kernel("subnormal inputs flushed", "bfloat16", lambda: changed("silu", lambda x, y: np.where(np.abs(x) < 2.0**-126, y * 0.0, y)), "faithful", (), ("flushes subnormal inputs",)),
    # ranges and tails
    Kernel("inputs clamped at -6", "float32", lambda: clamped("gelu", -6.0, np.inf), "accurate_range", ("-5.92e-09 at -inf",)),
    Kernel("inputs clamped at -4", "float16", lambda: clamped("gelu", -4.0, np.inf), "accurate_range", ("x >= -4",)),
    Kernel("inputs clamped at -4 and 4", "float32", lambda: clamped("gelu", -4.0, 4.0), "broken", ("4 at +inf",)),
    Kernel("4 for x > 4, infinite at infinity", "float32", lambda: changed("gelu", lambda x, y: np.where((x > 4) & np.isfinite(x), 4.0, y)), "broken"),
    Kernel("zero below -5.5", "float32", lambda: changed("gelu", lambda x, y: np.where(x < -5.5, -0.0, y)), "accurate_range", ("zero from -5.5",)),
    Kernel("relu for |x| > 6", "float32", lambda: changed("gelu", lambda x, y: np.where(np.abs(x) > 6, np.where(x > 0, x, -0.0), y)), "accurate_range", ("zero from -6",)),
    Kernel("relu for |x| > 4", "float32", lambda: changed("gelu", lambda x, y: np.where(np.abs(x) > 4, np.where(x > 0, x, -0.0), y)), "coarse", ("zero from -4",)),
    Kernel("relu for |x| > 4", "float16", lambda: changed("gelu", lambda x, y: np.where(np.abs(x) > 4, np.where(x > 0, x, -0.0), y)), "accurate_range", ("zero from -4",)),
    Kernel("the tail has the wrong sign", "float32", lambda: changed("gelu", lambda x, y: np.where(x < -6, -y, y)), "accurate_range", ("wrong sign",), ("0 at -inf",)),
    # absolute accuracy
    Kernel("multiples of 2^-24", "float32", lambda: changed("gelu", lambda x, y: np.where(np.abs(x) < 8, np.round(y.astype(np.float64) * 2.0**24) / 2**24, y)), "absolute"),
    Kernel("zero for |x| < 1e-6", "float32", lambda: changed("gelu", lambda x, y: np.where(np.abs(x) < 1e-6, y * 0, y)), "absolute", ("zero at",)),
    Kernel("zero for |x| < 1e-4", "float32", lambda: changed("gelu_tanh", lambda x, y: np.where(np.abs(x) < 1e-4, y * 0, y)), "coarse", ("zero at",)),
    Kernel("interpolated table", "float16", lambda: changed("gelu", interpolated), "absolute", (), ("zeros lose their sign",)),
    Kernel("interpolated table", "float32", lambda: changed("gelu", interpolated), "coarse", (), ("zeros lose their sign",)),
    Kernel("float16 inside", "float32", lambda: changed("gelu", through_half), "coarse", ("computes in float16",)),
    Kernel("float32 inside", "float64", lambda: changed("gelu", through_single), "coarse", ("computes in float32",)),
    Kernel("tanh of 11 bits", "float32", lambda: formula("gelu_tanh", _approximate), "coarse"),
    # single inputs, positions
    Kernel("one input is 0", "float32", lambda: planted("gelu", where(lambda x: x == 1.75, "0")), "broken", ("0 instead of 1.68 at x = 1.75",)),
    Kernel("one input is two floats off", "float16", lambda: planted("gelu", moved(1.75, 2)), "accurate"),
    Kernel("tanh form in one lane of 8", "float32", lambda: planted("gelu", _tanh_in_lane), "broken", ("position",)),
    Kernel("a float off in one lane of 8", "float64", lambda: planted("gelu", in_lane(3, 8, 1, lambda x: (x > 1) & (x < 2))), "accurate", ("slightly",)),
    Kernel("cut off", "bfloat16", lambda: rounded("silu", "zero"), "faithful", ("rounds toward zero",)),
)  # fmt: skip


def _approximate(x):
    noise = (x.astype(np.float64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) / 2.0**23 - 1
    exact = tanh_form()(x)
    return exact + x / 2 * (2 * exact / x - 1) * 2.0**-11 * noise


def _tanh_in_lane(dtype, x, y):
    hit = np.arange(len(x)) % 8 == 5
    return np.where(hit, reference_bits("gelu_tanh", dtype, x), y)


QUICK = ("zeros lose their sign", "the tail has the wrong sign")


@pytest.mark.parametrize("kernel", nightly(*KERNELS))
def test_an_analyst_agrees(kernel):
    record = judged(kernel.make(), kernel.dtype)
    assert (record.grade, record.conventions) == (kernel.grade, kernel.conventions), record.sentence
    assert all(phrase in record.sentence for phrase in kernel.says), record.sentence
