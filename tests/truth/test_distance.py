"""Absolute and relative errors as numbers: against an enclosure of 4000 bits, and at the ends of the range."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelu_verify.formats import FORMATS, get_format
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.truth.distance import distance
from gelu_verify.truth.oracle import enclose
from gelu_verify.truth.values import reference_bits

INSIDE = {name: min(30.0, float(fmt.fraction(fmt.max_finite))) for name, fmt in FORMATS.items()}


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", FORMATS)
@settings(max_examples=40)  # each is enclosed to 4000 bits
@given(data=st.data())
def test_it_is_the_difference_from_the_exact_value(dtype, data):
    fmt = get_format(dtype)
    function = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    x = data.draw(st.floats(-INSIDE[dtype], INSIDE[dtype]).map(lambda value: fmt.round(Fraction(value))))
    if not fmt.magnitude(x):
        return
    want = reference_bits(function, dtype, x)
    got = data.draw(st.sampled_from([want, max(want - 1, 0), want + 1, fmt.one, 0]))
    found = distance(function, dtype, x, got)
    if not fmt.is_finite(got) or not get_function(function).has_value(fmt, x):
        assert found is None
        return
    low, high = enclose(get_function(function), fmt.dyadic(x), 4000)
    y, output = (low + high) / 2, fmt.fraction(got)
    difference = abs(output - y)
    if not y:
        assert found == (float(difference), math.inf if difference else 0.0)
        return
    for error, exact in zip(found, (difference, difference / abs(y)), strict=True):
        if exact < Fraction(2) ** -1022:  # below the smallest normal number digits are lost
            assert abs(Fraction(error) - exact) <= Fraction(2) ** -1074
        elif exact > Fraction(2) ** 1024:
            assert error == math.inf
        else:
            assert abs(Fraction(error) - exact) <= exact * Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("function", "dtype", "x", "got", "found"),
    [
        ("gelu", "float32", "0", "0", (0.0, 0.0)),
        ("gelu", "float32", "0", "1", (1.0, math.inf)),
        ("sigmoid", "float32", "-0", "0.5", (0.0, 0.0)),
        ("gelu", "float64", "-1e300", "-0", (0.0, 1.0)),
        ("gelu", "float64", "-1e300", "-1", (1.0, math.inf)),
        ("exp", "float64", "1e300", "1", (math.inf, 1.0)),
        ("gelu", "bfloat16", "3e38", "3e38", (0.0, 0.0)),
        ("elu", "float64", "-0x1p-900", "-0x1p-900", (0.0, 2.0**-901)),
        ("relu", "float16", "-2", "0.5", (0.5, math.inf)),
        ("gelu", "float32", "inf", "inf", None),
        ("gelu", "float32", "1", "nan", None),
    ],
)
def test_ends_of_the_range(function, dtype, x, got, found):
    fmt = get_format(dtype)
    assert distance(function, dtype, fmt.parse(x), fmt.parse(got)) == found


@pytest.mark.parametrize(
    ("function", "dtype", "x"), [("erfc", "float64", 4628855992006737920), ("gelu_tanh", "float32", 3250061312)]
)
def test_beside_a_value_that_vanishes(function, dtype, x):
    """The exact value is far below every number of the dtype: no output but zero has a small relative error."""
    fmt = get_format(dtype)
    low, high = enclose(get_function(function), fmt.dyadic(x), 4000)
    exact = fmt.fraction(1) / ((low + high) / 2)
    found = distance(function, dtype, x, 1)[1]
    assert found == math.inf if abs(exact) > 2**1024 else found == pytest.approx(abs(float(exact - 1)), rel=1e-6)
    assert distance(function, dtype, x, 0)[1] == 1.0


def test_a_lost_tail_is_lost_whole():
    x = get_format("float32").parse("-6.5")
    assert distance("gelu", "float32", x, 0) == (2.6104003795084265e-10, 1.0)
