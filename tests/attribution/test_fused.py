"""a*b + c with one rounding, as the hardware has it, whatever the numbers are."""

import ctypes
import ctypes.util

import numpy as np
import pytest

from gelu_verify.attribution.fused import fused

FMA = ctypes.CDLL(ctypes.util.find_library("m")).fma
FMA.restype, FMA.argtypes = ctypes.c_double, [ctypes.c_double] * 3
EXACT = np.frompyfunc(FMA, 3, 1)


def numbers(rng, n, least, most):
    return np.ldexp(rng.uniform(1, 2, n) * rng.choice([-1, 1], n), rng.integers(least, most, n, endpoint=True))


def triples(rng, n):
    """Of any size; close to what a product needs to cancel it, or to make a tie of it; special numbers."""
    for least, most in ((-1074, 1023), (-500, 500), (-3, 3)):
        yield [numbers(rng, n, least, most) for _ in range(3)]
    a, b = (numbers(rng, n, -400, 400) for _ in range(2))
    yield a, b, -a * b * (1 + rng.integers(-2, 3, n) * 2.0**-52)
    short = [np.ldexp(rng.integers(1 << 26, 1 << 27, n).astype(float), rng.integers(-60, 60, n)) for _ in range(2)]
    yield *short, np.ldexp(short[0] * short[1], rng.integers(-110, 110, n)) * rng.choice([-1, 1], n)
    ends = (5e-324, 2.0**-960, 2.0**-800, 2.0**900, 2.0**990)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, *ends])
    yield [rng.choice(special, n) for _ in range(3)]


@pytest.mark.parametrize("seed", range(3))
def test_float64_has_the_bits_of_libm(seed):
    for a, b, c in triples(np.random.default_rng(seed), 4000):
        with np.errstate(all="ignore"):
            want = EXACT(a, b, c).astype(np.float64)
        got = fused(53, a, b, c)
        np.testing.assert_array_equal(got, want)
        right = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[right]), np.signbit(want[right]))


def test_a_number_stands_for_an_array_of_it():
    x = np.linspace(-2, 2, 7)
    np.testing.assert_array_equal(fused(53, x, np.float64(0.1), np.float64(3)), fused(53, x, x * 0 + 0.1, x * 0 + 3))
