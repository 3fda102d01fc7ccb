"""The same bits with and without hardware fma and vectors: the core's sources compiled for each instruction set."""

import hashlib
import platform
import shutil
import subprocess

import numpy as np
import pytest
from marking import nightly
from repository import ROOT, SUPPORT

from gelu_verify.formats import FORMATS
from gelu_verify.machine import machine
from gelu_verify.truth import _core

PLAIN = "plain"  # for x86-64, nearly as written: nothing is vectorized, and it compiles in half the time
TARGETS = {PLAIN: (), "x86-64": (), "x86-64-v3": ("avx2", "fma"), "x86-64-v4": ("avx512f", "avx512bw", "avx512vl")}
ENDS = (PLAIN, "x86-64-v4")
of_these = pytest.mark.parametrize("targets", [ENDS, *nightly((tuple(TARGETS),))], ids=["ends", "all"])
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="these instruction sets are those of x86-64")


def compiled(compiler, target, folder, program="clones"):
    sources = [str(SUPPORT / f"{program}.c"), *map(str, (ROOT / "src" / "truth").glob("*.c"))]
    program = folder / f"{program}-{compiler}-{target}"
    march, level = ("x86-64", "-O1") if target == PLAIN else (target, "-O3")
    flags = ["-std=c99", level, "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]
    command = [
        compiler,
        f"-march={march}",
        *flags,
        "-DGV_CLONES=",
        f"-I{ROOT / 'src'}",
        *sources,
        "-o",
        str(program),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return program


def outputs_of(compiler, targets, folder, *program):
    """What the program of every instruction set that runs here writes."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    here = set(machine()["isa"])
    runnable = [target for target in targets if here >= set(TARGETS[target])]
    programs = {target: compiled(compiler, target, folder, *program) for target in runnable}
    return {target: subprocess.check_output([program]) for target, program in programs.items()}


VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("unused", "i4")])


@pytest.mark.parametrize("function", ["erf", "erfc", "exp", "expm1", "tanh"])
def test_values_in_blocks_have_the_bits_of_the_formula(function):
    """src/truth/blocks.h, also where a block holds inputs of all branches, few of one, or no multiple of its size."""
    rng = np.random.default_rng(20261122)
    edges = [2.0**-300, 2.0**-250, 2.0**-55, 2.0**-26, 2.0**-5, 0.7, 1.0, 13.0, 28.2, 100.0, 150.0, 500.0, 800.0]
    edges = np.concatenate([np.nextafter(edges, np.inf), edges, np.nextafter(edges, 0)])
    middle = rng.uniform(-1, 1, 500) * 2.0 ** rng.integers(-12, 6, 500)
    x = np.concatenate([edges, -edges, middle, np.sort(middle), rng.uniform(-30, 30, 157)])
    fmt = FORMATS["float64"]
    values = np.empty(x.size * _core.VALUE_SIZE, np.uint8)
    _core.evaluate(function, (fmt.width, fmt.precision, fmt.emin, fmt.emax), x.view(np.uint8), values)
    found = values.view(VALUE)[["hi", "lo", "err", "k"]].tolist()
    assert found == [_core.value(function, each) for each in x.tolist()]


@pytest.mark.nightly
@of_these
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_instruction_set_reduces_to_the_same_bytes(compiler, targets, tmp_path):
    outputs = outputs_of(compiler, targets, tmp_path, "reduction_clones")
    assert len(outputs[PLAIN]) > 8 * 65536 * 200
    assert len({hashlib.sha256(output).hexdigest() for output in outputs.values()}) == 1


@pytest.mark.nightly
@of_these
@pytest.mark.parametrize("compiler", ["gcc", *nightly("clang")])
def test_every_instruction_set_gives_the_same_bits(compiler, targets, tmp_path):
    outputs = outputs_of(compiler, targets, tmp_path)
    assert len(outputs[PLAIN]) == len(_core.functions()) * 2 * 20_000 * 32
    assert len({hashlib.sha256(output).hexdigest() for output in outputs.values()}) == 1
