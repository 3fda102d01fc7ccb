"""What an H100 returned for our CUDA kernels, and what their PTX returns when it is executed on the CPU.

`h100_outputs.npz` was written there by `tools/outputs_on_device.py` on 2026-11-26 (nvcc 13.0.88, driver 580.159.04).
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import requiring
from cuda_inputs import few_bits

from gelu_verify.formats import differ, get_format, ordinals
from gelu_verify.gpu import nvcc, ptx_device
from gelu_verify.targets.executions import worst_of
from gelu_verify.targets.frameworks.cuda_ import targets_of

pytestmark = pytest.mark.nightly
OUTPUTS = dict(np.load(Path(__file__).with_name("h100_outputs.npz")))


@cache
def kernels():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    found = targets_of(ptx_device.device(ptx_device.ALL), nvcc.builds(), "ptx")
    return {target.name.partition(".")[2]: target for target in found}


def test_every_kernel_was_executed_there():
    assert set(OUTPUTS) == {f"{name}|{dtype}" for name, target in kernels().items() for dtype in target.dtypes}


@pytest.mark.parametrize("key", sorted(OUTPUTS))
def test_an_h100_errs_no_more_than_the_executions(key):
    """A kernel of which PTX leaves nothing open has the bits of the GPU. Of others the worst execution is the worst,
    and the outputs of the GPU are between those of the executions, but for one of twenty at most."""
    name, _, dtype = key.partition("|")
    target, device, x, there = kernels()[name], ptx_device.device(ptx_device.ALL), few_bits(dtype), OUTPUTS[key]
    executions = device.executions([target.kernels[dtype]])
    if not executions:
        assert not differ(get_format(dtype), target.evaluate(dtype, x), there).any()
        return
    outputs = {}
    for execution in executions:
        with device.taking(execution):
            outputs[execution] = target.evaluate(dtype, x)
    _, here = worst_of(target.function, dtype, x, {name: each.copy() for name, each in outputs.items()})
    _, on_device = worst_of(target.function, dtype, x, {"H100": there.copy()})
    assert on_device.largest["H100"][0] <= max(found[0] for found in here.largest.values())
    fmt, found = get_format(dtype), list(outputs.values())
    places, place = np.array([ordinals(fmt, each) for each in found]), ordinals(fmt, there)
    is_one = ~np.array([differ(fmt, each, there) for each in found]).all(axis=0)
    assert np.mean(is_one | ((places.min(axis=0) <= place) & (place <= places.max(axis=0)))) >= 0.95
