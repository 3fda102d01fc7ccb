"""Our CUDA kernels with parameters on the device `ptx`: they get theirs, and the record says what was approximated."""

import numpy as np
import pytest
import requiring

from gelu_verify.formats import FORMATS
from gelu_verify.targets import find
from gelu_verify.truth.values import judge

pytestmark = pytest.mark.nightly


EXACT = {"ptx.cauchy_unit_atan2", "ptx.cauchy_unit_atan2-f32"}  # CUDA's erfc, exp and expm1 have ex2.approx


@pytest.mark.parametrize(
    "function",
    ["gelu[mu=0.5,sigma=1/3]", "gelu_grad_mu[mu=0.5,sigma=1/3]", "silu[beta=1.7]", "elu[alpha=1.3]", "cauchy_unit"],
)
def test_kernels_get_their_parameters(function):
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    found, absent = find(["ptx"], function=function)
    assert found, absent
    for target in found:
        assert ("approximations: lowest, nearest, highest, mixed" in target.executed) == (target.name not in EXACT)
        assert target.executions[:2] == (() if target.name in EXACT else ("lowest", "nearest"))
        for dtype in target.dtypes:
            fmt = FORMATS[dtype]
            x = np.array([fmt.parse(text) for text in ("0.5", "0.75", "1", "1.5", "2")], fmt.uint)
            error = judge(function, dtype, x, target.evaluate(dtype, x)).error
            assert np.abs(error).max() < 64, (target.name, dtype)
