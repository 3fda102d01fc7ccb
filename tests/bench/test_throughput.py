"""How fast our kernels and the reference judge are. Never fails on time: `tox -e bench` prints and stores.

`extra_info` holds elements per second and, as the yardstick of the machine, a copy of the same bytes.
"""

import numpy as np
import pytest

from gelu_verify.buckets.pairs import PairReduction
from gelu_verify.formats import DTYPES, from_ordinals, get_format, numpy_dtype
from gelu_verify.targets import find
from gelu_verify.truth import correctly_rounded
from gelu_verify.truth.second_input import judge_pair
from gelu_verify.truth.values import judge, reference_bits

ELEMENTS = 1 << 18
KERNELS = [(target, dtype) for target in find(["kernels"])[0] for dtype in target.dtypes]


def inputs(dtype):
    values = np.random.default_rng(0).normal(0, 2, ELEMENTS).astype(numpy_dtype(dtype))
    return values.view(get_format(dtype).uint)


def note_rate(benchmark):
    if benchmark.stats:  # not with --benchmark-disable
        benchmark.extra_info["elements_per_s"] = ELEMENTS / benchmark.stats.stats.median


@pytest.mark.parametrize(("target", "dtype"), KERNELS, ids=[f"{target.name}-{dtype}" for target, dtype in KERNELS])
def test_kernel(benchmark, target, dtype):
    x = inputs(dtype)
    loaded = target.load(dtype, x)
    y = target.store(dtype, loaded, benchmark(target.call, loaded))
    note_rate(benchmark)
    assert y.shape == x.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", correctly_rounded.FUNCTIONS)
def test_correctly_rounded(benchmark, function, dtype):
    x = inputs(dtype)
    floats, out = x.view(numpy_dtype(dtype)), np.empty(ELEMENTS, numpy_dtype(dtype))
    benchmark(getattr(correctly_rounded, function), floats, out)
    note_rate(benchmark)
    assert (out.view(x.dtype) == reference_bits(function, dtype, x)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_copy(benchmark, dtype):
    x = inputs(dtype)
    y = np.empty_like(x)
    benchmark(np.copyto, y, x)
    note_rate(benchmark)
    assert (x == y).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ["gelu", "gelu_tanh", "gelu_sigmoid", "silu", "gelu_grad"])
def test_judge(benchmark, function, dtype):
    x = inputs(dtype)
    want = reference_bits(function, dtype, x)
    verdict = benchmark(judge, function, dtype, x, want)
    note_rate(benchmark)
    assert np.nanmax(np.abs(verdict.error)) <= 0.5


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", ["geglu", "swiglu_grad", "reglu", "bias_gelu", "bias_gelu_tanh_grad"])
def test_pairs(benchmark, function, dtype):
    """Judged and counted: 256 second inputs with every x; `elements_per_s` are pairs, all of them are 2^32."""
    fmt, seconds = get_format(dtype), 2 if benchmark.disabled else 256
    x = from_ordinals(fmt, np.arange(-(1 << 15), 1 << 15))
    outputs = {fmt.one + k: judge_pair(function, dtype, fmt.one + k, x, x).want_bits for k in range(seconds)}
    reduction = PairReduction(function, dtype)

    def add_all():
        for second, got in outputs.items():
            reduction.add(second, got)
        return reduction.worst

    worst = benchmark.pedantic(add_all, rounds=3, warmup_rounds=1)
    if benchmark.stats:
        benchmark.extra_info["elements_per_s"] = seconds * x.size / benchmark.stats.stats.median
    assert worst[0] <= 0.5
