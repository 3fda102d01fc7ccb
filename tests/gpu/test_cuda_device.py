"""The CUDA kernels on a device (`tox -e gpu`, which ends with 3 where there is none), and their PTX on the CPU."""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest
import requiring
from cuda_inputs import SHORT, hard_bits, some_bits, want
from marking import nightly

from gelu_verify import targets
from gelu_verify.formats import FORMATS
from gelu_verify.gpu import cuda, nvcc, ptx_device
from gelu_verify.truth.correctly_rounded import FUNCTIONS

CHUNK = 1 << 24


@dataclass
class Place:
    """Where kernels run: `every`, of float32, one input of so many; `some`: how many of float64."""

    family: str
    module: ModuleType
    every: int
    some: int

    @property
    def device(self):
        return self.module.device()

    @property
    def found(self):
        return {target.name.partition(".")[2]: target for target in targets.find([self.family])[0]}


PLACES = {"cuda": Place("cuda", cuda, 1, 1 << 24), "ptx": Place("ptx", ptx_device, 8191, 1 << 15)}


@pytest.fixture(params=[pytest.param("cuda", marks=pytest.mark.gpu), *nightly("ptx")])
def place(request):
    if request.param == "ptx":
        requiring.nvcc()
        requiring.program("c++", "g++", "clang++")
    return PLACES[request.param]


@pytest.mark.gpu
def test_every_kernel_of_every_build_is_a_target():
    modules = [cuda.device().compile(build.source, build.options) for build in nvcc.builds()]
    assert {kernel.name for module in modules for kernel in module.kernels} == set(PLACES["cuda"].found)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_every_answer_has_the_bits_of_the_cpu(place, dtype, function):
    fmt, target = FORMATS[dtype], place.found[f"{function}_cr"]
    step = place.every if dtype == "float32" else 1
    for start in range(0, 1 << fmt.width, CHUNK * step):
        x = np.arange(start, min(start + CHUNK * step, 1 << fmt.width), step, dtype=np.uint64).astype(fmt.uint)
        assert np.array_equal(target.evaluate(dtype, x), want(function, dtype, x)), f"among {x[0]:#x} to {x[-1]:#x}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_float64_has_the_bits_of_the_cpu(place, function):
    x = np.concatenate([some_bits("float64", place.some), hard_bits(function, "float64")])
    assert np.array_equal(place.found[f"{function}_cr"].evaluate("float64", x), want(function, "float64", x))


@pytest.mark.parametrize("dtype", list(SHORT))
def test_any_length_and_place(place, dtype):
    module, symbol = place.found["gelu_cr"].kernels[dtype]
    device, function, x = place.device, module.function(symbol), some_bits(dtype, 5000)
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


def test_every_target_answers_ordinary_numbers(place):
    for target in place.found.values():
        for dtype in target.dtypes:
            y = target.evaluate(dtype, np.array([FORMATS[dtype].parse("2")], FORMATS[dtype].uint))
            assert y[0] < FORMATS[dtype].infinity, target.name


@pytest.mark.gpu
def test_throughput_is_reported_beside_a_copy():
    timed = PLACES["cuda"].found["gelu_cr"].own_throughput("float32", some_bits("float32", 1 << 18))
    assert timed["elements_per_s"] > 0
    assert 0 < timed["copy_ratio"] < 1.5


def test_float32_by_ptx_has_the_bits_of_the_cpu():
    """Of the kernel with the queue in shared memory: hard inputs, every length of a vector, x itself as y."""
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    device = ptx_device.device()
    build = next(build for build in nvcc.builds() if build.source.name == "float32_cr.cu")
    function = device.compile(build.source, build.options).function("gelu_cr_f32")
    x = np.concatenate([some_bits("float32", 50_003), hard_bits("gelu", "float32")])
    memory = device.alloc(x.nbytes)
    device.copy_in(memory, x)
    device.launch(function, 2, function.threads, memory, memory, x.size)
    assert np.array_equal(device.copy_out(memory, np.empty_like(x)), want("gelu", "float32", x))


def test_what_runs_on_ptx_is_never_a_gpu_s():
    assert targets.device_of("ptx") == "ptx"
    assert "ptx" not in targets.asked_for(None, everything=False)[0]
    assert ptx_device.device().executed.startswith("ptx on CPU, sm_90, nvcc ")


@pytest.mark.nightly
def test_targets_on_ptx_say_what_they_are():
    requiring.nvcc()
    for name, target in PLACES["ptx"].found.items():
        assert target.executed.startswith("ptx on CPU, sm_90, nvcc ")
        assert not target.judges_on_device, name
        assert target.family == "ptx"
    for function in FUNCTIONS:
        assert set(PLACES["ptx"].found[f"{function}_cr"].dtypes) == set(SHORT)
