"""Everything that is said about one input, against the oracle."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gelu_verify.errors import UsageError
from gelu_verify.formats import FORMATS, get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.truth import _core
from gelu_verify.truth.lookup import NATIVE_DIGITS, answer, converted, is_quick, neighbours
from gelu_verify.truth.oracle import judge_exactly, round_exactly
from gelu_verify.truth.values import exact, reference_bits

ANYTHING = st.sampled_from(list(FUNCTIONS)), st.sampled_from(list(FORMATS)), st.integers(0, 2**64 - 1)


@given(*ANYTHING)
@example("gelu", "float32", 0xC0D00000)
@example("gelu", "float64", 0x1)
@example("exp", "float8_e4m3fn", 0x50)  # overflows where there is no infinity
@example("exp", "float32", 0x7F000000)
@example("silu_grad", "float16", 0x8000)
@example("gelu_tanh", "float8_e5m2", 0x82)  # rounded up to a zero that keeps its sign
@example("gelu", "float64", 0x8000000000000002)
@example("log", "float32", 0xBF800000)
@example("log", "float64", 0x8000000000000000)
@example("log", "float16", 0x3C00)
@example("softplus", "float16", 0x7BFF)  # above the largest number by less than any digit shows: rounded up to infinity
def test_a_lookup_agrees_with_the_oracle(function, dtype, number):
    entry, fmt = FUNCTIONS[function], get_format(dtype)
    x = number >> (64 - fmt.width) if number >> fmt.width else number
    found = answer(function, dtype, x, NATIVE_DIGITS)
    assert int(found["x_bits"], 16) == x
    assert int(found["y_bits"], 16) == reference_bits(function, dtype, x)
    if not fmt.is_finite(x) or found["exact"] is None:
        return
    for key, mode in (("round_down", "down"), ("round_up", "up")):
        assert int(found[key]["bits"], 16) == round_exactly(entry, fmt, x, mode)
    assert found["exact"] == exact(function, fmt.bits_text(x), dtype, digits=NATIVE_DIGITS)
    y = int(found["y_bits"], 16)
    if found["rounding_error_ulp"] is not None:
        want = judge_exactly(entry, fmt, x, y)[1]
        assert found["rounding_error_ulp"] == pytest.approx(want, abs=2.0**-12)


@pytest.mark.parametrize("dtype", FORMATS)
def test_numbers_are_written_so_that_they_read_back(dtype):
    fmt = get_format(dtype)
    for bits in np.random.default_rng(3).integers(0, 2**fmt.width, 300, dtype=fmt.uint).tolist():
        if not fmt.is_nan(bits):
            found = answer("relu", dtype, bits, 1000)
            assert fmt.parse(found["x_hex"]) == fmt.parse(found["x"]) == fmt.parse(found["x_bits"]) == bits
            assert found["x_hex"] == fmt.hex_float(bits)


@pytest.mark.parametrize(
    ("function", "x", "kappa"),
    [("exp", "3.25", 3.25), ("relu", "2", 1.0), ("gelu", "1e-30", 1.0), ("gelu", "40", 1.0), ("elu", "1", 1.0)],
)
def test_kappa_where_it_is_known(function, x, kappa):
    assert answer(function, "float64", FORMATS["float64"].parse(x))["kappa"] == pytest.approx(kappa, rel=1e-10)


@given(st.sampled_from([name for name in _core.functions() if f"{name}_grad" in _core.functions()]), st.floats(-8, 30))
def test_kappa_by_gradient_is_kappa_by_difference(function, x):
    bits = FORMATS["float64"].round(Fraction(x), negative_zero=True)
    quick = answer(function, "float64", bits, NATIVE_DIGITS)["kappa"]
    if not abs(x) > 1e-200:
        return
    step = Fraction(x) / 2**40
    low, high = (Fraction(exact(function, Fraction(x) + side * step, digits=60)) for side in (-1, 1))
    slow = float(abs((high - low) * 2**40 / (high + low)))
    assert quick == pytest.approx(slow, rel=1e-6, abs=1e-9)


def test_digits_are_given_as_far_as_decimals_have_exponents():
    found = answer("gelu", "float64", FORMATS["float64"].parse("-2000"))
    assert found["y"] == "-0"
    assert found["exact"] == "-4.336141576174956852365926660004045753735e-868590"
    assert found["kappa"] == 4e6
    assert answer("gelu", "float64", FORMATS["float64"].parse("-1e300"))["exact"] is None
    assert found["round_down"]["bits"] == "0x8000000000000001"
    assert found["round_up"]["bits"] == "0x8000000000000000"


def test_neighbours_count_both_zeros_as_one_and_end_at_the_infinities():
    fmt = FORMATS["float16"]
    assert neighbours(fmt, 0x8000) == neighbours(fmt, 0) == (0x8001, 1)
    assert neighbours(fmt, fmt.infinity) == (fmt.max_finite, None)
    assert neighbours(fmt, fmt.nan) == (None, None)


def test_bits_keep_their_value_in_other_dtypes_and_decimals_are_rounded_anew():
    f16, f64 = FORMATS["float16"], FORMATS["float64"]
    assert converted(f64, f16, 0x2E66, "0x2e66") == f64.round(f16.fraction(0x2E66))
    assert converted(f64, f16, 0x2E66, "0.1") == f64.parse("0.1") != f64.round(f16.fraction(0x2E66))
    assert converted(f64, f16, 0x8000, "0x8000") == f64.sign_mask
    assert converted(f64, f16, 0xFC00, "0xfc00") == f64.parse("-inf")
    assert converted(FORMATS["bfloat16"], FORMATS["float32"], 0x3DCCCCCD, "0.1") == 0x3DCD


def test_the_quick_path_is_the_native_one():
    assert is_quick("gelu", "float32", 0xC0D00000, NATIVE_DIGITS)
    assert not is_quick("gelu", "float32", 0xC0D00000, NATIVE_DIGITS + 1)
    assert not is_quick("gelu", "float64", FORMATS["float64"].parse("-50"), NATIVE_DIGITS)
    assert not is_quick("erf", "float32", 0x3F800000, NATIVE_DIGITS)


def test_bits_too_wide_are_refused():
    with pytest.raises(UsageError, match="too wide"):
        answer("gelu", "float16", 0x10000)
