"""The CUDA kernels on a device: `tox -e gpu`, which ends with 3 where there is none."""

import hashlib

import numpy as np
import pytest
from cuda_inputs import SHORT, hard_bits, some_bits, want

from gelu_verify import targets
from gelu_verify.formats import FORMATS
from gelu_verify.gpu import cuda, nvcc
from gelu_verify.truth.correctly_rounded import FUNCTIONS

pytestmark = pytest.mark.gpu
CHUNK = 1 << 24


@pytest.fixture(scope="module")
def found():
    return {target.name: target for target in targets.find(["cuda"])[0]}


def test_every_kernel_of_every_build_is_a_target(found):
    modules = [cuda.device().compile(build.source, build.options) for build in nvcc.builds()]
    assert {f"cuda.{kernel.name}" for module in modules for kernel in module.kernels} == set(found)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_every_answer_has_the_bits_of_the_cpu(found, dtype, function):
    """Hashes of the outputs, over all inputs in order."""
    on_device, here = hashlib.sha256(), hashlib.sha256()
    fmt = FORMATS[dtype]
    for start in range(0, 1 << fmt.width, CHUNK):
        x = np.arange(start, min(start + CHUNK, 1 << fmt.width), dtype=np.uint64).astype(fmt.uint)
        on_device.update(found[f"cuda.{function}_cr"].evaluate(dtype, x).data)
        here.update(want(function, dtype, x).data)
    assert on_device.hexdigest() == here.hexdigest()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_float64_has_the_bits_of_the_cpu(found, function):
    x = np.concatenate([some_bits("float64", 1 << 24), hard_bits(function, "float64")])
    assert np.array_equal(found[f"cuda.{function}_cr"].evaluate("float64", x), want(function, "float64", x))


@pytest.mark.parametrize("dtype", list(SHORT))
def test_any_length_and_place(found, dtype):
    module, symbol = found["cuda.gelu_cr"].kernels[dtype]
    device, function, x = cuda.device(), module.function(symbol), some_bits(dtype, 5000)
    y, size = want("gelu", dtype, x), x.itemsize
    source, room = device.alloc(x.nbytes), device.alloc(x.nbytes)
    device.copy_in(source, x)
    for n in (1, 7, 255, 256, 1023, 4001):
        for start, end in ((0, 0), (1, 0), (0, 3), (8, 16)):
            device.fill(room, 0x55, x.nbytes)
            device.launch(function, 3, function.threads, int(source) + start * size, int(room) + end * size, n)
            got = device.copy_out(room, np.empty_like(x))
            assert np.array_equal(got[end : end + n], y[start : start + n])
            assert (np.delete(got, range(end, end + n)).view(np.uint8) == 0x55).all()


def test_every_target_answers_ordinary_numbers(found):
    for target in found.values():
        for dtype in target.dtypes:
            y = target.evaluate(dtype, np.array([FORMATS[dtype].parse("2")], FORMATS[dtype].uint))
            assert y[0] < FORMATS[dtype].infinity, target.name


def test_throughput_is_reported_beside_a_copy(found):
    timed = found["cuda.gelu_cr"].own_throughput("float32", some_bits("float32", 1 << 18))
    assert timed["elements_per_s"] > 0
    assert 0 < timed["copy_ratio"] < 1.5
