"""The bfloat16 kernels: right for every input, in vectors and in one lane of portable C, which is their model."""

import ctypes
import platform
import subprocess

import numpy as np
import pytest
from core_bits import core_bits
from repository import ROOT, SUPPORT

import gelu_verify
from gelu_verify.formats import numpy_dtype
from gelu_verify.truth._correctly_rounded import BEST_LEVEL
from gelu_verify.truth.correctly_rounded import FUNCTIONS

BFLOAT16 = numpy_dtype("bfloat16")
LANES = {"one lane": (1, ()), "AVX-512": (32, ("-march=x86-64-v4",))}
ARRAYS = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
EVERY = np.arange(1 << 16, dtype=np.uint16)


@pytest.fixture(scope="module", params=LANES)
def by_pieces(request, tmp_path_factory):
    lanes, flags = LANES[request.param]
    if lanes > 1 and (platform.machine() != "x86_64" or BEST_LEVEL < 4):
        pytest.skip("this machine has no AVX-512")
    path = tmp_path_factory.mktemp("pieces") / "pieces.so"
    command = ["cc", "-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", *flags, f"-DGV_BF16_LANES={lanes}"]
    source = str(SUPPORT / "bfloat16_pieces.c")
    subprocess.run([*command, f"-I{ROOT / 'src'}", source, "-o", str(path), "-lm"], check=True)
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_input_that_is_evaluated(by_pieces, function):
    y, evaluated = np.empty_like(EVERY), np.empty(len(EVERY), np.uint8)
    run = getattr(by_pieces, f"by_pieces_{function}")
    run.argtypes = ARRAYS
    run(EVERY.ctypes.data, y.ctypes.data, evaluated.ctypes.data, len(EVERY))
    done = evaluated.astype(bool)
    x = EVERY.view(BFLOAT16).astype(np.float32)
    assert done[(np.abs(x) >= 2.0**-125) & (x >= -6)].all()
    assert not done[np.isnan(x) | (x < -32)].any()
    assert np.array_equal(y[done], core_bits(function, "bfloat16", EVERY[done]))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [63, 1100, 5000])
def test_usual_inputs_and_wide_ones(function, n):
    """Zeros and inputs that are looked up, few and many, at the beginning, in the middle and at the end."""
    rng = np.random.default_rng(n)
    for scales in ((2,), (2, 100, 2), (100, 2), (0, 2)):
        x = np.concatenate([scale * rng.standard_normal(n) for scale in scales]).astype(BFLOAT16)
        y = getattr(gelu_verify, function)(x)
        assert np.array_equal(y.view(np.uint16), core_bits(function, "bfloat16", x.view(np.uint16)))
