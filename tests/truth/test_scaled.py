"""The quick values of gelu and silu with parameters: within their bound, and narrow enough."""

from fractions import Fraction

import numpy as np
import pytest
from marking import nightly

from gelu_verify.formats import FORMATS
from gelu_verify.functions import get_function
from gelu_verify.functions.parameters import exact_number, split_name
from gelu_verify.truth import scaled
from gelu_verify.truth.oracle import enclose

NAMES = [
    "gelu[mu=0.5,sigma=1/3]", "gelu[mu=-1/7]", "gelu[sigma=0x1p-40]", "gelu[sigma=0x1p+40]",
    "gelu[mu=1048575.3,sigma=1/1000]", "gelu[mu=1048576,sigma=0x1p-18]", "gelu[mu=0x1.999999999999ap-4,sigma=3]",
    "silu[beta=1/3]", "silu[beta=0x1p-40]", "silu[beta=0x1p+40]", "silu[beta=1.7]",
]  # fmt: skip


def inputs(function, fmt, count):
    """Where t is moderate, around mu, and of every size."""
    rng = np.random.default_rng(7)
    values = {key: exact_number(key, text) for key, text in split_name(function.name)[1].items()}
    scale = values.get("sigma", 1 / values.get("beta", Fraction(1)))
    near = [values.get("mu", Fraction(0)) + scale * Fraction(t) for t in rng.normal(0, 12, count)]
    far = rng.integers(0, fmt.infinity, count) | (rng.integers(0, 2, count) << (fmt.width - 1))
    return np.array([fmt.round(x) for x in near] + far.tolist(), fmt.uint)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", *nightly("float16", "bfloat16")])
@pytest.mark.parametrize("count", [6, *nightly(150)])
def test_a_value_lies_within_its_bound(name, dtype, count):
    function, fmt = get_function(name), FORMATS[dtype]
    x = inputs(function, fmt, count)
    for bits, (hi, lo, err, k, _) in zip(x.tolist(), scaled.values_of(function, fmt, x).tolist(), strict=True):
        if not fmt.is_finite(bits) or not fmt.magnitude(bits) or not np.isfinite(err):
            continue
        if err >= abs(hi):  # a tail below all formats
            assert (k, lo, hi < 0) == (-1140, 0, fmt.is_negative(bits))
            continue
        if abs(lo) == err:  # beside x
            assert Fraction(hi) * Fraction(2) ** k == fmt.fraction(bits)
            assert (hi < 0) != (lo < 0)
            continue
        middle = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
        ends = enclose(function, fmt.dyadic(bits), 1300)
        assert max(abs(end - middle) for end in ends) < Fraction(err) * Fraction(2) ** k
        assert err <= abs(hi) * 2.0**-64, fmt.hex_float(bits)


def test_most_inputs_are_answered():
    fmt = FORMATS["float32"]
    for name in NAMES:
        if "p-18" in name:  # whose moderate t are 0 alone in float32: exactly x/2
            continue
        x = inputs(get_function(name), fmt, 400)
        err = scaled.values_of(get_function(name), fmt, x)["err"]
        assert np.isfinite(err).mean() > 0.9


def test_what_is_not_done_here():
    bits = np.array([FORMATS["float64"].one], np.uint64)
    assert scaled.values_of(get_function("gelu[mu=1]"), FORMATS["float64"], bits) is None
    for name in ("gelu", "gelu_grad[mu=1]", "elu[alpha=2]"):
        assert scaled.values_of(get_function(name), FORMATS["float32"], bits.astype(np.uint32)) is None
