"""The kernels with parameters: a second writing in Python's own doubles, bit for bit; and what is rounded where."""

import math
from fractions import Fraction

import numpy as np
import pytest
from marking import nightly

from gelu_verify.formats import DTYPES, FORMATS, converted, to_float64
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.kernels.parameterized import PARAMETERIZED, arguments, run
from gelu_verify.targets import find, select
from gelu_verify.truth.values import reference

SQRT_HALF, ROOT = math.sqrt(0.5), float.fromhex("0x1.9884533d43651p-2")
INV_PI = 1 / math.pi


def density(t):
    return ROOT * math.exp(-0.5 * (t * t))


def sigmoid(s):
    return 1 / (1 + math.exp(-s))


MODELS = {
    "gelu_erfc": lambda x, m, s: 0.5 * x * math.erfc(-SQRT_HALF * ((x - m) / s)),
    "gelu_erf": lambda x, m, s: 0.5 * x * (1 + math.erf(SQRT_HALF * ((x - m) / s))),
    "gelu_grad_erfc": lambda x, m, s: 0.5 * math.erfc(-SQRT_HALF * ((x - m) / s)) + x / s * density((x - m) / s),
    "gelu_grad_mu_exp": lambda x, m, s: -(x / s) * density((x - m) / s),
    "gelu_grad_sigma_exp": lambda x, m, s: -(x / s) * ((x - m) / s) * density((x - m) / s),
    "silu_exp": lambda x, b, _: x / (1 + math.exp(-(b * x))),
    "silu_grad_exp": lambda x, b, _: sigmoid(b * x) * (1 + b * x * (1 - sigmoid(b * x))),
    "silu_grad_beta_exp": lambda x, b, _: x * sigmoid(b * x) * (x * (1 - sigmoid(b * x))),
    "elu_expm1": lambda x, a, _: x if x > 0 else a * math.expm1(x),
    "elu_exp": lambda x, a, _: x if x > 0 else a * (math.exp(x) - 1),
    "elu_grad_exp": lambda x, a, _: 1.0 if x >= 0 else a * math.exp(x),
    "cauchy_unit_atan": lambda x, *_: x * (0.5 + math.atan(x) * INV_PI),
    "cauchy_unit_atan2": lambda x, *_: x * (math.atan2(1, -x) * INV_PI),
    "cauchy_unit_grad_atan": lambda x, *_: 0.5 + math.atan(x) * INV_PI + INV_PI * (x / (1 + x * x)),
}
VALUES = {"mu": Fraction(1, 3), "sigma": Fraction(7, 5), "beta": Fraction(17, 10), "alpha": Fraction(13, 10)}


def values_of(kernel):
    return {each.name: VALUES[each.name] for each in FUNCTIONS[kernel.function].parameters}


def outputs(kernel, x_bits):
    y_bits = np.empty_like(x_bits)
    run(values_of(kernel), kernel.name, kernel.dtype, x_bits, y_bits)
    return y_bits


def test_every_kernel_has_a_second_writing():
    assert {kernel.name.removesuffix("-f32") for kernel in PARAMETERIZED} == MODELS.keys()
    assert {kernel.dtype for kernel in PARAMETERIZED} == set(DTYPES)


@pytest.mark.parametrize("name", MODELS)
def test_a_kernel_is_its_second_writing(name):
    (kernel,) = [k for k in PARAMETERIZED if (k.name, k.dtype) == (name, "float64")]
    x = np.concatenate([np.random.default_rng(2).normal(0, 6, 400), [0.0, -0.0, 1e-310, -1e-310]])
    first, second = arguments(name, "float64", values_of(kernel))
    want = np.array([MODELS[name](each, first, second) for each in x.tolist()])
    assert np.array_equal(outputs(kernel, x.view(np.uint64)), want.view(np.uint64))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_kernel_that_computes_in_float32_is_that_of_float32_rounded_once(dtype):
    narrow, wide = FORMATS[dtype], FORMATS["float32"]
    x = np.arange(0, 1 << 16, 7, dtype=np.uint16)
    for kernel in PARAMETERIZED:
        if kernel.dtype == dtype and kernel.name.endswith("-f32"):
            (same,) = [k for k in PARAMETERIZED if f"{k.name}-f32" == kernel.name and k.dtype == "float32"]
            want = converted(wide, outputs(same, converted(narrow, x, wide)), narrow)
            got, numbers = outputs(kernel, x), ~np.isnan(to_float64(narrow, want))
            assert np.array_equal(got[numbers], want[numbers]), kernel.name


def test_parameters_are_rounded_once_to_the_format_of_the_arithmetic():
    third = {"mu": Fraction(1, 3), "sigma": Fraction(1, 10)}
    assert arguments("gelu_erf", "float64", third) == (1 / 3, 0.1)
    assert arguments("gelu_erf", "float32", third) == (float(np.float32(1 / 3)), float(np.float32(0.1)))
    assert arguments("gelu_erf-f32", "bfloat16", third) == arguments("gelu_erf", "float32", third)
    assert arguments("gelu_erf", "float16", third)[0] == float(np.float16(1 / 3))
    assert arguments("silu_exp", "float64", {"beta": Fraction(2)}) == (2.0, 0.0)


def test_targets_are_made_for_the_function_that_is_asked_for():
    name = get_function("gelu[mu=1/3,sigma=1.4]").name
    found, absent = find(["kernels"], function=name)
    assert {target.name for target in found} == {
        f"kernels.gelu_{form}" for form in ("erf", "erf-f32", "erfc", "erfc-f32")
    }
    assert ({target.function for target in found}, absent) == ({name}, {})
    assert not any("[" in target.function for target in find(["kernels"])[0])


@pytest.mark.nightly
def test_a_family_without_the_function_is_left_out():
    found, _ = select(["kernels", "numpy"], function="gelu[sigma=2]", dtype="float64")
    assert {target.family for target in found} == {"kernels"}


@pytest.mark.parametrize("family", ["kernels", "numpy", *nightly("scipy")])
@pytest.mark.parametrize(
    "name", ["gelu[mu=1/3,sigma=1.4]", "silu[beta=1.7]", "silu_grad_beta[beta=3]", "elu[alpha=1.3]", "cauchy_unit"]
)
def test_a_target_computes_with_the_parameters(family, name):
    """Not with the default ones: far from the function without them, and close to the one with them."""
    found, _ = find([family], function=name, dtype="float64")
    x = np.array([-1.5, -0.5, 0.75, 2.0])
    for target in (each for each in found if "float64" in each.dtypes):
        y = target.evaluate("float64", x.view(np.uint64)).view(np.float64)
        want, plain = (reference(each, x) for each in (name, name.partition("[")[0]))
        assert np.allclose(y, want, rtol=1e-12, atol=0)
        assert "[" not in name or not np.allclose(y[:2], plain[:2], rtol=1e-3)
