"""float32 kernels of every instruction set against the core's own values, which come from other formulas."""

import shutil
import subprocess

import numpy as np
import pytest
import requiring
from emulated import COMPILER
from marking import nightly
from repository import ROOT, SUPPORT

NAMES = ["gelu", "gelu_tanh", "gelu_sigmoid", "silu", "gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad"]
PLACES = [0.0, 1e-30, 1e-8, 0.01, 0.75, 1.0, 2.0, 4.5, 5.5, 9.75, 13.0, 14.2, 15.0, 16.2, 48.0, 61.0, 83.0, 88.0, 104.0]
PLACES += [200.0, 500.0, 3e38]
WIDTH = 1 << 14


def compiled(compiler, folder, *more):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    path = folder / "all_float32"
    sources = [SUPPORT / "all_float32.c", *(ROOT / "src" / "truth").glob("*.c"), *(ROOT / "src" / "cr").glob("*.c")]
    flags = ["-std=c99", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]
    flags += ["-DGV_PORTABLE", f"-I{ROOT / 'src'}"]
    command = [compiler, *flags, *more, *map(str, sources), "-o", str(path), "-lm"]
    subprocess.run(command, check=True)
    return path


@pytest.fixture(scope="module", params=["gcc", *nightly("clang")])
def program(request, tmp_path_factory):
    return [compiled(request.param, tmp_path_factory.mktemp("float32"))]


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    path = compiled(COMPILER, tmp_path_factory.mktemp("aarch64"), "-static")
    return [requiring.program("qemu-aarch64", "qemu-aarch64-static"), path]


def differences(program, name, first, end, levels=None):
    """Kernels that differ and inputs that the core leaves open, of the inputs from `first` to `end`."""
    done = subprocess.run([*program, name, str(first), str(end)], stdout=subprocess.PIPE, text=True)
    found, inputs, different, undecided, tried = done.stdout.split()
    assert (found, int(inputs), levels or tried) == (name, end - first, tried)
    return int(different), int(undecided)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_set_rounds_correctly_around(program, name):
    check_around_places(program, name)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_aarch64_rounds_correctly_around(emulated, name):
    check_around_places(emulated, name, "12")  # portable C and NEON


def check_around_places(program, name, levels=None):
    centres = np.array(PLACES, np.float32).view(np.uint32).astype(int)
    for centre in [*centres, 0x7F800000]:
        for sign in (0, 1 << 31):
            first = max(centre - WIDTH // 2, 0)
            found = differences(program, name, sign + first, sign + first + WIDTH, levels)
            assert found == (0, 0), hex(sign + centre)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_all_inputs(program, name):
    assert differences(program, name, 0, 1 << 32) == (0, 0)
