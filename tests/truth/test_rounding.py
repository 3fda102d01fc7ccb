"""The rounding of results is named, whatever does it: a conversion, or the mode that the processor is in."""

import ctypes
import subprocess

import numpy as np
import pytest
from foreign import CC, needs_cc
from judging import failing, judged
from marking import nightly
from mutants import correct, cut_off, formula, rounded, sigmoid_form, tanh_form, tanh_form_derivative, target

from gelu_verify.formats import DTYPES, get_format

SOURCE = r"""
#include <fenv.h>
#include <math.h>
#include <stddef.h>
#define KERNEL(T, name, body) \
    void name(const T *x, T *y, size_t n, int mode) { \
        fesetround(mode); \
        for (volatile size_t i = 0; i < n; i++) { T v = x[i]; y[i] = body; } \
        fesetround(FE_TONEAREST); \
    }
KERNEL(float, gelu_float32, v * 0.5f * (1 + erff(v * 0.70710678118f)))
KERNEL(double, gelu_float64, v * 0.5 * (1 + erf(v * 0.70710678118654752440)))
KERNEL(float, gelu_tanh_float32, 0.5f * v * (1 + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v))))
KERNEL(double, gelu_tanh_float64, 0.5 * v * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v))))
KERNEL(float, silu_float32, v / (1 + expf(-v)))
KERNEL(double, silu_float64, v / (1 + exp(-v)))
"""
MODES = {"nearest_even": 0, "down": 0x400, "up": 0x800, "toward_zero": 0xC00}  # of the SSE control register


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modes")
    (folder / "modes.c").write_text(SOURCE)
    flags = ["-O1", "-frounding-math", "-shared", "-fPIC", str(folder / "modes.c"), "-o", str(folder / "modes.so")]
    subprocess.run([CC, *flags, "-lm"], check=True)
    return ctypes.CDLL(str(folder / "modes.so"))


def in_mode(library, function, mode):
    def answer(dtype, x):
        x, y = np.ascontiguousarray(x), np.empty_like(x)
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in (x, y)]
        getattr(library, f"{function}_{dtype}")(*addresses, ctypes.c_size_t(len(x)), MODES[mode])
        return y

    return target(function, answer)


@pytest.mark.few(3)
@needs_cc
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "fesetround"), reason="no fesetround")
@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero", "down"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", ["gelu", "gelu_tanh"])
def test_the_mode_of_the_processor_is_named(library, function, dtype, mode):
    record = judged(in_mode(library, function, mode), dtype)
    assert record.rounding_mode == mode
    assert record.checks["rounding"] == ("pass" if mode == "nearest_even" else "fail")


@needs_cc
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_direction_that_is_not_certain_is_not_named(library, dtype, mode):
    record = judged(in_mode(library, "silu", mode), dtype)
    assert record.rounding_mode in (mode, None)


def test_what_is_cut_off_is_no_composition():
    for mutant in cut_off("gelu_sigmoid", sigmoid_form()), rounded("gelu_sigmoid", "zero"):
        record = judged(mutant, "bfloat16")
        assert (record.rounding, record.rounding_mode) == ("once", "toward_zero")
        assert "toward zero (cut off)" in record.findings["rounding"].detail
    assert 0.99 < record.max_ulp <= 1
    assert failing(record) == {"rounding"}


def half_away(x):
    """float32 to bfloat16 by adding half of what is cut off: ties go away from zero."""
    y = sigmoid_form()((x.astype(np.uint32) << 16).view(np.float32)).view(np.uint32)
    return ((y + 0x8000) >> 16).astype(np.uint16)


def test_where_ties_go_is_reported():
    def answer(dtype, x):
        with np.errstate(all="ignore"):
            return np.where(x & 0x7FFF < 0x7F80, half_away(x), rounded("gelu_sigmoid", "down").answer(dtype, x))

    record = judged(target("gelu_sigmoid", answer), "bfloat16")
    assert record.rounding_mode == "nearest_away"
    assert record.checks["rounding"] == "pass"
    assert judged(formula("gelu_sigmoid", sigmoid_form(), np.float32), "bfloat16").rounding_mode == "nearest_even"
    assert judged(correct("gelu_sigmoid"), "bfloat16").rounding_mode == "nearest"


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("share", [-0.6, 0.75, *nightly(-3, -1.25, -1, -0.9, -0.75, -0.5, 0.5, 1, 3)])
def test_a_formula_that_is_a_little_off_is_rounded_to_nearest(dtype, share):
    """By a factor of some 2^-p: nearly all errors have one sign, as those of results that are cut off."""
    factor = 1 + share * np.longdouble(2) ** -get_format(dtype).precision
    for wide in (
        ("gelu_tanh", tanh_form()),
        ("gelu_sigmoid", sigmoid_form()),
        ("gelu_tanh_grad", tanh_form_derivative()),
    ):
        record = judged(formula(wide[0], lambda x, compute=wide[1]: compute(x) * factor), dtype)
        assert record.checks["rounding"] != "fail"
