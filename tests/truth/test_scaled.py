"""The quick values of functions with parameters: within their bound, and narrow enough."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from marking import nightly

from gelu_verify.errors import OracleError
from gelu_verify.formats import FORMATS
from gelu_verify.functions import get_function
from gelu_verify.truth import scaled
from gelu_verify.truth.oracle import enclose, round_exactly

GAUSS = ("gelu", "gelu_grad", "gelu_grad_mu", "gelu_grad_sigma")
FEW = [
    "gelu[mu=0.5,sigma=1/3]", "gelu[sigma=3]", "gelu[mu=1048575.3,sigma=1/1000]", "gelu_grad[mu=-1/7]",
    "gelu_grad[sigma=3]", "gelu_grad_mu[mu=0.5,sigma=1/3]", "gelu_grad_mu", "gelu_grad_sigma[mu=0x1p-400]",
    "gelu_grad_sigma", "silu[beta=1.7]", "silu_grad[beta=1/3]", "silu_grad_beta", "elu[alpha=1.3]", "elu[alpha=4]",
    "elu_grad[alpha=1/3]",
]  # fmt: skip
MORE = [
    *(
        f"{base}[{values}]"
        for base in GAUSS
        for values in (
            "mu=-1/7", "sigma=0x1p-40", "sigma=0x1p+40", "mu=1048576,sigma=0x1p-40", "mu=1048576,sigma=0x1p-18",
            "mu=0x1.999999999999ap-4,sigma=3", "mu=-1000.1,sigma=0x1p+40", "mu=1e-20,sigma=1/7",
        )
    ),
    *(
        f"{base}[beta={beta}]"
        for base in ("silu", "silu_grad", "silu_grad_beta")
        for beta in ("0x1p-40", "0x1p+40", "1.702", "1/7")
    ),
    *(f"{base}[alpha={alpha}]" for base in ("elu", "elu_grad") for alpha in ("0x1p-40", "0x1p+40", "0.1", "2")),
]  # fmt: skip


def inputs(function, fmt, count):
    """Where t is moderate, around mu, small, and of every size."""
    rng = np.random.default_rng(7)
    values = function.values
    mu = values.get("mu", Fraction(0))
    scale = values["sigma"] if "sigma" in values else 1 / values.get("beta", Fraction(1))
    ts = [
        *rng.normal(0, 12, count),
        *rng.normal(0, 1, count),
        *(rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-260, 11, count)),
    ]
    near = [fmt.round(mu + scale * Fraction(t)) for t in ts]
    far = [int(b) | int(s) * fmt.sign_mask for b, s in rng.integers((1, 0), (fmt.infinity, 2), (count, 2))]
    edges = [b | s for b in (1, 1 << fmt.precision - 1, fmt.max_finite) for s in (0, fmt.sign_mask)]
    usual = {b for b in [*near, *far, *edges] if fmt.is_finite(b) and fmt.magnitude(b)}
    return np.array(sorted(usual), fmt.uint)


@pytest.mark.parametrize("name", [*FEW, *nightly(*MORE)])
@pytest.mark.parametrize("dtype", ["float32", "float64", *nightly("float16", "bfloat16")])
@pytest.mark.parametrize("count", [4, *nightly(60)])
def test_a_value_lies_within_its_bound(name, dtype, count):
    function, fmt = get_function(name), FORMATS[dtype]
    x = inputs(function, fmt, count)
    for bits, (hi, lo, err, k, _) in zip(x.tolist(), scaled.values_of(function, fmt, x).tolist(), strict=True):
        if not np.isfinite(err):
            continue
        if k == scaled.VANISHING and err == abs(hi):
            assert vanishes(function, bits, fmt, hi)
            continue
        middle = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
        digits = 30 + int(log2(abs(hi)) - log2(err)) if err else 30
        ends = enclose(function, fmt.dyadic(bits), digits)
        assert max(abs(end - middle) for end in ends) <= Fraction(err) * Fraction(2) ** k, fmt.hex_float(bits)


def vanishes(function, bits, fmt, sign):
    try:
        low, high = enclose(function, fmt.dyadic(bits), 30)
    except OracleError:  # smaller still
        wide = FORMATS["float64"]
        x = wide.round(fmt.fraction(bits))
        return round_exactly(function, wide, x, "up" if sign > 0 else "down") == (1 if sign > 0 else 1 | wide.sign_mask)
    return max(abs(low), abs(high)) < Fraction(2) ** scaled.VANISHING and low * int(2 * sign) > 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_most_inputs_are_answered_narrowly(dtype):
    """Not where terms cancel, near the zeros of gradients, and where a correctly rounded tail is about to vanish."""
    fmt = FORMATS[dtype]
    for name in FEW:
        x = np.random.default_rng(5).normal(0.1, 3, 500).astype(dtype).view(fmt.uint)
        values = scaled.values_of(get_function(name), fmt, x)
        narrow = (values["err"] <= np.abs(values["hi"]) * 2.0**-83) | (values["k"] == scaled.VANISHING)
        assert narrow.mean() > 0.85, name


def test_what_is_not_done_here():
    bits = np.array([FORMATS["float64"].one], np.uint64)
    for name in ("gelu_tanh", "mish", "cauchy_unit", "softplus"):
        assert scaled.values_of(get_function(name), FORMATS["float64"], bits) is None
