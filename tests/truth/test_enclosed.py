"""Functions without native code: enclosures in the form of the native judge."""

import math
from fractions import Fraction

import numpy as np
import pytest
from marking import NATIVE, NATIVE_FIRST
from points import delicate_inputs

from gelu_verify.formats import DTYPES, FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.truth import enclosed, values
from gelu_verify.truth.oracle import enclose
from gelu_verify.truth.values import judge, reference_bits

every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
@pytest.mark.parametrize("name", NATIVE)
def test_judging_without_native_code_finds_the_same(name, dtype, monkeypatch):
    fmt = FORMATS[dtype]
    ends = [bits | sign for bits in (0, fmt.infinity, fmt.nan) for sign in (0, fmt.sign_mask)]
    x = np.array(delicate_inputs(FUNCTIONS[name], fmt, 150, 9) + ends, fmt.uint)
    right = reference_bits(name, dtype, x)
    for got in (right, right + fmt.uint.type(1)):
        native = judge(name, dtype, x, got)
        with monkeypatch.context() as without:
            without.setattr(values, "_NATIVE", frozenset())
            ours = judge(name, dtype, x, got)
        assert np.array_equal(native.want_bits, ours.want_bits)
        assert np.array_equal(native.faithful, ours.faithful)
        close = 2.0 ** (fmt.precision - 40) if fmt.precision <= 24 else 2.0**-30
        np.testing.assert_allclose(ours.error, native.error, rtol=1e-9, atol=close)


@every_dtype
@pytest.mark.parametrize("name", NATIVE_FIRST)
def test_a_value_lies_within_its_bound(name, dtype):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    x = np.array([b for b in delicate_inputs(function, fmt, 60, 5) if abs(fmt.fraction(b)) < 30], fmt.uint)
    for bits, (hi, lo, err, k, _) in zip(x.tolist(), enclosed.values_of(function, fmt, x).tolist(), strict=True):
        if not function.is_defined(fmt, bits):
            assert math.isnan(hi)
            continue
        y = [Fraction(0)] * 2 if hi == 0 else enclose(function, fmt.dyadic(bits), 400)
        middle = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
        assert max(abs(end - middle) for end in y) <= (Fraction(err) + abs(Fraction(hi)) / 2**390) * Fraction(2) ** k
