"""The reference sampler: thresholds against Arb, quick decisions against exact ones, the same bits everywhere."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
import requiring
from flint import arb, ctx
from marking import nightly

from gelu_verify import stochastic
from gelu_verify.errors import UsageError
from gelu_verify.formats import get_format, numpy_dtype
from gelu_verify.gpu import nvcc, ptx_device
from gelu_verify.paths import resource
from gelu_verify.stochastic import _native, device, sampler
from gelu_verify.stochastic.maps import Map

ONE = 1 << 128
LAWS = ("normal", "logistic")
MAPS = [Map("gelu"), Map("adaptive_dropout"), Map("dropout", 0.3, False)]


def exact(law, x):
    """p 2^128 as a ball."""
    ctx.prec = 1600
    t = arb(x)
    p = (-t / arb(2).sqrt()).erfc() / 2 if law == "normal" else 1 / (1 + (-t).exp())
    return p * ONE


def points(n, seed=0):
    random = np.random.default_rng(seed)
    tiny = np.exp2(random.uniform(-300, 0, n)) * random.choice([-1, 1], n)
    return np.concatenate([random.normal(0, 2, n), random.uniform(-39, 39, n), tiny]).tolist()


@pytest.mark.parametrize("n", [60, *nightly(20_000)])
@pytest.mark.parametrize("law", LAWS)
def test_a_threshold_is_within_its_bound(law, n):
    """As src/stochastic/sampler.h states it: absolute, and relative on the left."""
    for x in points(n):
        p = exact(law, x)
        off = abs(p - _native.threshold(law, x))
        assert off < ONE >> (89 if law == "normal" else 88)
        assert x > -1 or off < p / (1 << 88) + 4


@pytest.mark.parametrize("law", LAWS)
def test_where_the_probability_is_hardly_0_or_1(law):
    assert _native.threshold(law, -float("inf")) == 0
    assert _native.threshold(law, -1e300) == 0
    assert _native.threshold(law, float("inf")) == _native.threshold(law, 1e300) == ONE - 1
    assert _native.threshold(law, 0.0) == _native.threshold(law, -0.0) == ONE // 2


def test_a_constant_probability_is_exact():
    for rate in (0.1, 0.5, 1 / 3, 2.0**-75, 1 - 2.0**-53):
        assert _native.threshold("constant", 0.0, rate) == ONE - int(Fraction(rate) * ONE)
    assert _native.threshold("constant", 0.0, 1.0) == 0
    assert _native.threshold("constant", 0.0, 0.0) == ONE - 1


@pytest.mark.parametrize("n", [100, *nightly(50_000)])
@pytest.mark.parametrize("law", _native.LAWS)
def test_the_quick_decision_is_the_exact_one_at_its_edges(law, n):
    """At the first bits around those at which it gives up, and beside T itself."""
    for x in points(n, seed=1):
        rate = abs(x) % 1
        t, err = _native.quick_threshold(law, x, rate)
        t = t if np.isfinite(t) else 0.0
        err = min(err, 2.0**31) if np.isfinite(err) else 2.0**31
        exactly = _native.threshold(law, x, rate)
        edges = [int((t + side * err) // 1) + step << 96 for side in (-1, 1) for step in (-1, 0, 1)]
        for bits in (*edges, exactly - 1, exactly, exactly + 1):
            if 0 <= bits < ONE:
                assert _native.keeps(law, x, rate, bits) == _native.keeps(law, x, rate, bits, True) == (bits < exactly)


@pytest.mark.parametrize("of", MAPS, ids=lambda of: of.name)
def test_an_array_is_decided_as_its_elements_are(of):
    x = np.random.default_rng(2).normal(0, 3, 1000)
    kept = sampler.mask(of, x, 7, call=3, start=5)
    for i, value in enumerate(x.tolist()):
        bits = _native.element_bits(5 + i, 3, 7)
        assert kept[i] == (bits < _native.threshold(of.law, value, of.rate))


def undecided_inputs(n, seed, call):
    """x for which the first 64 bits of each element equal those of Phi(x), or nearly do."""
    from statistics import NormalDist

    first = [_native.element_bits(i, call, seed) >> 64 for i in range(n)]
    return np.array([NormalDist().inv_cdf((bits + 0.5) / 2.0**64) for bits in first])


def test_what_the_first_bits_leave_open_is_decided_exactly():
    x = undecided_inputs(300, 11, 1)
    kept = sampler.mask(Map("gelu"), x, 11, call=1)
    t, err = zip(*(_native.quick_threshold("normal", value) for value in x.tolist()), strict=True)
    first = [_native.element_bits(i, 1, 11) >> 96 for i in range(len(x))]
    undecided = [f + 1 > a - e and f < a + e for f, a, e in zip(first, t, err, strict=True)]
    assert sum(undecided) > 290
    wanted = [_native.element_bits(i, 1, 11) < _native.threshold("normal", value) for i, value in enumerate(x.tolist())]
    assert kept.tolist() == wanted


def test_chunks_and_threads_change_nothing():
    x = np.random.default_rng(3).normal(0, 2, 5000).astype(np.float32)
    whole = stochastic.gelu(x, 5, call=2, start=17)
    ends = [0, 1, 2, 3, 258, 1000, 1001, 4999, 5000]
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda at, end: stochastic.gelu(x[at:end], 5, call=2, start=17 + at), ends[:-1], ends[1:])
        assert np.array_equal(np.concatenate(list(parts)), whole)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_outputs_are_x_or_a_zero_with_its_sign(dtype):
    fmt = get_format(dtype)
    x = np.random.default_rng(4).normal(0, 2, 400).astype(numpy_dtype(dtype)).reshape(20, 20)
    x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    for y in (stochastic.gelu(x, 1), stochastic.adaptive_dropout(x, 1), stochastic.dropout(x, 1, scaled=False)):
        bits, x_bits = y.view(fmt.uint), x.view(fmt.uint)
        assert y.shape == x.shape
        assert ((bits == x_bits) | (bits == x_bits & fmt.uint.type(fmt.sign_mask))).all()
    assert stochastic.gelu(x, 1).view(fmt.uint)[0, 1:4].tolist() == [fmt.infinity, fmt.sign_mask, fmt.sign_mask]


def test_the_relatives():
    x, old = np.linspace(-3, 3, 101, dtype=np.float32), np.full(101, 9, np.float32)
    kept = sampler.mask(Map("dropout", 0.25), x, 2)
    assert np.array_equal(stochastic.dropout(x, 2, rate=0.25), np.where(kept, x / np.float32(0.75), x * 0))
    assert np.array_equal(
        stochastic.relu_dropout(x, 2, rate=0.25), np.where(kept, np.maximum(x, 0) / np.float32(0.75), 0)
    )
    assert np.array_equal(stochastic.zoneout(x, old, 2, rate=0.25), np.where(kept, x, old))


def test_bad_arguments():
    with pytest.raises(UsageError, match="seed"):
        stochastic.gelu(np.ones(2), -1)
    with pytest.raises(UsageError, match="rate"):
        stochastic.dropout(np.ones(2), 1, rate=1.5)
    with pytest.raises(UsageError, match="previous"):
        stochastic.zoneout(np.ones(2), np.ones(3), 1)


@pytest.mark.nightly
def test_the_device_code_compiles_without_warnings():
    source, flags = resource("src/stochastic/maps.cu"), ["-fmad=false", f"-I{resource('src')}"]
    options = [*nvcc.STRICT, *nvcc.code_for(nvcc.ARCHITECTURES), "-O3", "-t", "2", *flags]
    command = [*requiring.nvcc(), "-fatbin", *options, str(source), "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


# ---- CUDA: nvcc's PTX, executed on the CPU ----


@pytest.fixture(scope="module")
def ptx():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    return ptx_device.device()


def on_cpu(of, x, seed, call, start):
    return np.where(sampler.mask(of, x, seed, call=call, start=start), x, np.copysign(x.dtype.type(0), x))


def same(a, b):
    unsigned = f"u{a.dtype.itemsize}"
    return np.array_equal(a.view(unsigned), b.view(unsigned))


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of", MAPS, ids=lambda of: of.name)
def test_the_same_bits(ptx, of, dtype):
    x = np.random.default_rng(0).normal(0, 3, 200_001).astype(dtype)
    x[:5] = [np.inf, -np.inf, 0.0, -0.0, 1e-40]
    for seed, call, start in ((0, 0, 0), (1 << 63 | 12345, 1 << 40, (1 << 45) + 3)):
        assert same(device.applied(of, ptx, x, seed, call=call, start=start), on_cpu(of, x, seed, call, start))


@pytest.mark.nightly
def test_the_device_decides_exactly_too(ptx):
    x = undecided_inputs(2000, 13, 2)
    assert same(device.applied(Map("gelu"), ptx, x, 13, call=2), on_cpu(Map("gelu"), x, 13, 2, 0))
