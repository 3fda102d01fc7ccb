"""Elementwise kernels as libraries write them, through `run --device ptx`: the verdict is that of their arithmetic."""

import json
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest
import requiring
from program import PROGRAM
from ptx_programs import bits_of
from repository import ROOT, SUPPORT

from gelu_verify import targets, verify
from gelu_verify.gpu import nvcc
from gelu_verify.ptx.executor import LoadedModule
from gelu_verify.ptx.memory import AddressedMemory
from gelu_verify.records.grades import ORDER
from gelu_verify.report.text import share_text

pytestmark = pytest.mark.nightly
SOURCE = SUPPORT / "ptx_activations.cu"


@pytest.fixture(autouse=True)
def tools():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")


def run(tmp_path, symbol, function, dtype, *options):
    words = [
        "run",
        f"{SOURCE}:{symbol}",
        "--device",
        "ptx",
        "--function",
        function,
        "--dtype",
        dtype,
        "--plan",
        "quick",
    ]
    words += ["--json", "--out", str(tmp_path / "run"), *options]
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    command = [*PROGRAM, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def record(tmp_path, *arguments):
    """Also timed in the first case that has no options; timing calls it with other lengths."""
    done = run(tmp_path, *arguments, *(["--no-throughput"] if len(arguments) > 3 else []))
    assert done.returncode in (0, 1), done.stderr
    (found,) = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("symbol", "function", "dtype", "grades"),
    [
        ("engine_gelu", "gelu_tanh", "float32", {"accurate_range"}),
        ("framework_gelu", "gelu", "float32", {"accurate_range"}),
        ("framework_gelu", "gelu", "float16", {"accurate"}),
        ("framework_gelu", "gelu", "bfloat16", {"accurate_range", "absolute"}),
        ("pairs_silu", "silu", "float16", {"correctly_rounded", "faithful"}),
        ("exact_gelu", "gelu_tanh", "float64", {"accurate_range"}),
        ("quick_gelu", "gelu_sigmoid", "bfloat16", {"correctly_rounded", "faithful", "accurate", "accurate_range"}),
    ],
)
def test_right_kernels_with_approximations(tmp_path, symbol, function, dtype, grades):
    """Anywhere within the bounds of ex2, rcp and tanh the grade is the same; that of all is not better."""
    whole = record(tmp_path, symbol, function, dtype, "--no-throughput")
    names = [each["name"] for each in whole["executions"]["each"]]
    assert names[:4] == ["lowest", "nearest", "highest", "mixed"]
    assert f"approximations: {', '.join(names[:4])} within their bounds (" in whole["executed"]
    assert whole["sentence"].startswith(f"no GPU's result: at each x the worst of {len(names)} executions, in which ")
    assert "--approximations" not in whole["repeat"]
    for approximations in names:
        found = record(tmp_path, symbol, function, dtype, "--approximations", approximations)
        assert found["grade"] in grades, found["sentence"]
        assert ORDER[whole["grade"]] >= ORDER[found["grade"]]
        assert whole["max_ulp"] >= found["max_ulp"]
        (known,) = [each for each in whole["executions"]["each"] if each["name"] == approximations]
        assert known["max_ulp"] <= found["max_ulp"] * (1 + 1e-9), "found may have others beside the plan"
        assert found["executions"] is None
        assert found["executed"].startswith(f"ptx on CPU, sm_90, nvcc {nvcc_version()}, ")
        assert f"approximations: {approximations.removesuffix('-fused')} within their bounds (" in found["executed"]
        assert re.search(
            r"\b(ex2|rcp|tanh|div)\.[a-z.0-9]+: 2?\^?[-0-9.]+ (ulp|relative|absolute)\b", found["executed"]
        )
        assert found["sentence"].startswith("no GPU's result: approximations have the ")
        assert f"--device ptx --approximations {approximations}" in found["repeat"]


@pytest.mark.nightly
def test_erfc_in_double_hardly_depends_on_the_reciprocal_that_it_begins_with(tmp_path):
    """Its Newton steps make up for 20 bits: few of 16,384 results are others at the ends of the bound."""
    source = tmp_path / "k.cu"
    source.write_text("""extern "C" __global__ void f(const double *x, double *y, size_t n) {
        size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
        if (i < n) y[i] = 0.5 * x[i] * erfc(-x[i] * 0.70710678118654752440);
    }""")
    x = np.random.default_rng(1).normal(0, 2, 16384).view(np.uint64)
    (target,), _ = targets.select([f"{source}:f"], function="gelu", dtype="float64", device="ptx")
    assert "rounded as they are written and fused" in target.executed
    assert "rcp.approx.ftz.f64: 2^-19 relative as assumed" in target.executed
    target.evaluate("float64", x)
    found = target.execution_errors("float64")
    assert 0.99 < found.same / found.outputs < 1
    assert 0 < found.apart[0] <= 4


OPEN = SUPPORT / "ptx_open_results.cu"
ROW = re.compile(r"^\| `(\w+)`, (float\d+) \| .+ \| ([\d.]+) % \| ([\d,]+) \|$", re.MULTILINE)
MEASURED = ROW.findall((ROOT / "docs" / "gpu.md").read_text())


@pytest.mark.parametrize(
    ("symbol", "dtype", "same", "floats"), MEASURED, ids=[f"{row[0]}-{row[1]}" for row in MEASURED]
)
def test_how_far_open_results_matter_is_what_the_page_says(symbol, dtype, same, floats):
    function = "gelu_tanh" if "tanh" in symbol else symbol.partition("_")[0]
    found = verify(f"{OPEN}:{symbol}", function, dtype, "quick", device="ptx").record.executions
    assert (share_text(found.same), f"{found.floats:,}") == (f"{same} %", floats)


def test_the_page_has_all_kernels():
    assert [row[0] for row in MEASURED] == re.findall(r"^KERNEL\(\w+, (\w+),", OPEN.read_text(), re.MULTILINE)


def nvcc_version():
    printed = subprocess.run([*nvcc.command(), "--version"], capture_output=True, text=True).stdout
    return printed.rpartition(", V")[2].split()[0]


@pytest.mark.parametrize(
    ("symbol", "function", "dtype"), [("staged_relu", "relu", "float32"), ("relu_by_max", "relu", "float16")]
)
def test_right_kernels_to_the_last_bit(tmp_path, symbol, function, dtype):
    found = record(tmp_path, symbol, function, dtype)
    assert (found["grade"], found["max_ulp"]) == ("correctly_rounded", 0)
    assert found["throughput"] is None, "it would be that of the CPU"
    assert found["executed"].startswith("ptx on CPU, sm_90, nvcc ")


@pytest.mark.parametrize(
    ("symbol", "function", "kind", "words"),
    [
        ("engine_gelu_wrong_digit", "gelu_tanh", None, "broken|coarse|absolute"),
        ("engine_gelu_wrong_lane", "gelu_tanh", None, "position"),
        ("framework_gelu_no_tail", "gelu", "illegal address", "out of bounds"),
        ("staged_relu_without_barrier", "relu", "unwritten read", "is a barrier missing"),
    ],
)
def test_wrong_kernels_are_found(tmp_path, symbol, function, kind, words):
    found = record(tmp_path, symbol, function, "float32", "--no-throughput")
    assert found["failure_kind"] == kind
    if kind is None:
        assert found["grade"] in ("broken", "coarse", "absolute"), found["sentence"]
        assert any(word in f"{found['grade']} {found['sentence']}" for word in words.split("|")), found["sentence"]
    else:
        assert words in found["failure"]
        assert f"{SOURCE.name}:" in found["failure"]


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("inverse_root", "rsqrt.approx.f64 (PTX bounds no error of it) is not supported (ptx_activations.cu:"),
        ("absent", "no function 'absent' in "),
        ("engine_gelu:host", "--device ptx executes kernels, not functions of the host"),
    ],
)
def test_what_cannot_be_executed_is_named(tmp_path, symbol, message):
    dtype = "float64" if symbol == "inverse_root" else "float32"
    done = run(tmp_path, symbol, "gelu_tanh", dtype)
    assert done.returncode in (2, 3)
    assert message in done.stderr


def polynomial(symbol, *flags):
    """x*x + 1.5e-40 of many x, with these flags of nvcc."""
    memory = AddressedMemory()
    module = LoadedModule(nvcc.ptx_of(SOURCE, flags, "sm_90").read_text(), memory)
    x = np.random.default_rng(6).normal(0, 1, 4096).astype(np.float32) * np.float32(2.0**-63)
    x[2048:] *= np.float32(2.0**60)
    source, to = memory.alloc(x.nbytes), memory.alloc(x.nbytes)
    memory.write(source, x)
    parameters = b"".join(int(word).to_bytes(8, "little") for word in (source, to, x.size))
    kernel = next(name for name in module.module.functions if symbol in name)
    module.kernel(kernel).launch((16, 1, 1), (256, 1, 1), parameters)
    y = np.empty_like(x)
    memory.read(to, y)
    memory.close()
    return x, y


def test_contraction_flushing_and_roundings_are_what_the_flags_say():
    c = np.float32(1.5e-40)
    x, plain = polynomial("polynomial", "-fmad=false")
    np.testing.assert_array_equal(plain, x * x + c)
    _, fused = polynomial("polynomial", "-fmad=true")
    exact = [bits_of(Fraction(float(each)) ** 2 + Fraction(float(c)), "f32") for each in x]
    np.testing.assert_array_equal(fused, np.array(exact, np.uint32).view(np.float32))
    assert (fused != plain).any()
    _, flushed = polynomial("polynomial", "-fmad=false", "-ftz=true")
    tiny = np.finfo(np.float32).tiny
    small = np.where(np.abs(x) < tiny, 0, x)
    square = np.where(small * small < tiny, 0, small * small)
    np.testing.assert_array_equal(flushed, square)  # 1.5e-40 is flushed, too
    assert (flushed != plain).any()
    _, down = polynomial("toward_zero", "-fmad=false")
    assert (down <= plain).all()
    assert (down < plain).any()
