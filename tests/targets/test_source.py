"""C, C++ and CUDA sources: compiled once, with the flags that were asked for, and every misuse named."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
import requiring
from foreign import bits, chosen, compile_apart, needs_cc, some_bits
from marking import nightly
from program import PROGRAM

from gelu_verify import targets, verify
from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.formats import get_format
from gelu_verify.gpu.info import why_no_device
from gelu_verify.targets.kinds import _compiler

C = """
#include <stddef.h>
#include <math.h>
#include "gain.h"
#ifndef SCALE
#define SCALE 1.0f
#endif
void gelu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = GAIN * SCALE * 0.5f * x[i] * erfcf(-0.70710678f * x[i]);
}
float silu(float x) { return x / (1 + expf(-x)); }
"""
CPP = """
template <class T> static T half(T x) { return x / 2; }
extern "C" double gelu_f64(double x) { return half(x); }
double mangled_f64(double x) noexcept { return x; }
template <class T> static void halves(const T *x, T *y, unsigned n)
{
    for (unsigned i = 0; i < n; i++) y[i] = x[i] / 2;
}
static float overloaded(float x) { return x; }
static double overloaded(double x, double y) { return x + y; }
"""
DECLARATIONS = """
#include <stddef.h>
#include <stdint.h>
static float scalar(float x) { return -x; }
double scalar_f64(double x) { return -x; }
uint16_t scalar_bits(uint16_t x) { return x ^ 0x8000; }
void vector(const float *restrict x, float *restrict y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = -x[i]; }
void counted(double *x, double *y, int n) { for (int i = 0; i < n; i++) y[i] = -x[i]; }
void bits(const unsigned short *x, uint16_t *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] ^ 0x8000; }
#ifdef __FLT16_MAX__
void half(const _Float16 *x, _Float16 *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = -x[i]; }
#else
void half(const uint16_t *x, uint16_t *y, size_t n) { bits(x, y, n); }
#endif
float two(float x, float y) { return x + y; }
void reversed(double *y, size_t n, const double *x) { for (size_t i = 0; i < n; i++) y[i] = -x[i]; }
void mixed(const float *x, double *y, size_t n) {}
float lies_f64(float x) { return x; }
int number = 3;
"""


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    compile_apart(tmp_path, monkeypatch, "NVCC")


@pytest.fixture
def source(tmp_path):
    (tmp_path / "gain.h").write_text("#define GAIN 1.0f\n")
    path = tmp_path / "kernel.c"
    path.write_text(C)
    return path


def compilations():
    return sorted(path.name for path in _compiler.cache_folder().iterdir())


# ---- C and C++ -----------------------------------------------------------------------------------


@needs_cc
def test_a_c_function_is_compiled_and_judged(source):
    result = verify(f"{source}:gelu_f32", "gelu", "float32", "landmarks")
    assert result.record.variant == "gelu"
    assert 10 < result.max_ulp < 1000  # erfc of a rounded argument
    assert result.record.version.count("sha256:") == 1
    assert "-O2" in result.record.version
    assert verify(f"{source}:silu:scalar", "silu", "float32", "landmarks").record.variant == "silu"


@needs_cc
def test_flags_are_used_and_named(source):
    x = bits("float32", "1", "-2")
    plain = chosen(f"{source}:gelu_f32")
    doubled = chosen(f"{source}:gelu_f32", cflags="-O1 -DSCALE=2.0f")
    np.testing.assert_array_equal(
        doubled.evaluate("float32", x).view("f4"), 2 * plain.evaluate("float32", x).view("f4")
    )
    assert "-DSCALE=2.0f" in doubled.version
    assert "-DSCALE=2.0f" in doubled.note
    assert plain.version != doubled.version
    assert "no flags" in chosen(f"{source}:gelu_f32", cflags="").note


@needs_cc
@pytest.mark.nightly
def test_the_same_is_compiled_once_and_whatever_changes_anew(source, monkeypatch):
    chosen(f"{source}:gelu_f32")
    chosen(f"{source}:gelu_f32")
    moved = source.with_name("moved.c")
    moved.write_text(C)
    chosen(f"{moved}:gelu_f32")
    assert len(compilations()) == 1
    seen = {chosen(f"{source}:gelu_f32").version}
    source.with_name("gain.h").write_text("#define GAIN 3.0f\n")  # a header says what it is, too
    x = bits("float32", "20")
    assert chosen(f"{source}:gelu_f32").evaluate("float32", x).view("f4") == [60]
    seen.add(chosen(f"{source}:gelu_f32").version)
    chosen(f"{source}:gelu_f32", cflags="-O1")
    monkeypatch.setenv("CC", f"{shutil.which('cc')} -DUNUSED")
    chosen(f"{source}:gelu_f32")
    assert len(compilations()) == 4
    assert len(seen) == 2


@needs_cc
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_cplusplus(tmp_path):
    path = tmp_path / "kernel.cpp"
    path.write_text(CPP)
    assert chosen(f"{path}:gelu_f64:scalar").evaluate("float64", bits("float64", "3")).view("f8") == [1.5]
    assert chosen(f"{path}:mangled_f64").dtypes == ("float64",)
    np.testing.assert_array_equal(
        chosen(f"{path}:halves<double>").evaluate("float64", bits("float64", "3", "-1")).view("f8"), [1.5, -0.5]
    )
    assert chosen(f"{path}:overloaded").dtypes == ("float32",), "the other one takes two numbers"
    assert chosen(f"{path}:halves", dtype="float64").dtypes == ("float64",)
    with pytest.raises(UsageError, match=r"'halves' in .* is a template of class T: --dtype says for which type"):
        targets.select([f"{path}:halves"])
    with pytest.raises(UsageError, match=r"no function 'halve' in .*kernel.cpp .it has halves, half"):
        targets.select([f"{path}:halve"])


@needs_cc
@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("symbol", "dtype", "called"),
    [
        ("scalar", "float32", "float scalar(float x)"),
        ("scalar_f64", "float64", "double scalar_f64(double x)"),
        ("scalar_bits", "float16", "uint16_t scalar_bits(uint16_t x)"),
        ("scalar_bits", "bfloat16", "uint16_t scalar_bits(uint16_t x)"),
        ("vector", "float32", "void vector(const float *x, float *y, size_t n)"),
        ("counted", "float64", "void counted(double *x, double *y, int n)"),
        ("bits", "bfloat16", "void bits(const unsigned short *x, uint16_t *y, long n)"),
        ("half", "float16", "void half(const "),
        ("reversed", "float64", "void reversed(double *y, size_t n, const double *x)"),
    ],
)
def test_the_declaration_says_how_it_is_called(tmp_path, symbol, dtype, called):
    path = tmp_path / "declared.c"
    path.write_text(DECLARATIONS)
    target = chosen(f"{path}:{symbol}", dtype=dtype)
    assert target.dtypes == (dtype,)
    assert called in target.note
    numbers = bits(dtype, "1", "-2.5", "0", "inf")
    got = target.evaluate(dtype, numbers)
    np.testing.assert_array_equal(got, numbers ^ numbers.dtype.type(get_format(dtype).sign_mask))


@needs_cc
@pytest.mark.parametrize(
    ("typed", "options", "message"),
    [
        (
            "two",
            {},
            r"'two' in .* is declared float two\(float x, float y\): .* y needs a value: give --call 'f\(x, p2=",
        ),
        ("mixed", {}, "its input and its output are of different types"),
        ("number", {}, "'number' in .* is a variable, not a function"),
        ("vector:scalar", {}, "'vector' in .* is declared vector, not scalar"),
        ("scalar:vector", {}, "is declared scalar, not vector"),
        ("lies_f64", {}, "lies_f64 says float64 by its name, but is declared with float"),
        ("bits", {}, "nothing says which dtype .*:bits computes in"),
        ("bits", {"dtype": "float64"}, "is declared with uint16_t, which is not float64 .accepted: float16, bfloat16"),
        ("vector", {"dtype": "float64"}, "no target of .*:vector computes float64"),
    ],
)
def test_a_declaration_that_does_not_fit_is_named(tmp_path, typed, options, message):
    path = tmp_path / "declared.c"
    path.write_text(DECLARATIONS)
    with pytest.raises(UsageError, match=message):
        targets.select([f"{path}:{typed}"], **options)


@needs_cc
@pytest.mark.parametrize(
    ("typed", "options", "message"),
    [
        ("{folder}/absent.c:gelu", {}, "^no such file: .*absent.c"),
        ("{folder}/kernel.c", {}, "names no function .*kernel.c:function"),
        ("{folder}/kernel.c:glu_f32", {}, r"no function 'glu_f32' in .*kernel.c \(it has gelu_f32"),
        ("{folder}/kernel.c:gelu_f32:both", {}, "unknown convention of .*kernel.c:gelu_f32 'both'"),
        ("{folder}/broken.c:f", {}, r"does not compile: .*broken.c:2:\d+: error: .*undeclared.*to see all: .*cc"),
        ("{folder}/lost.c:f", {}, "lost.c does not compile: .*no_such_header.h"),
        ("{folder}/kernel.c:gelu_f32", {"cflags": "-lno_such_library"}, "does not compile: .*no_such_library"),
        ("{folder}/kernel.c:gelu_f32", {"cflags": "--no-such-flag"}, "does not compile: .*no-such-flag"),
        ("{folder}/kernel.c:gelu_f32", {"cflags": "'"}, "--cflags .* cannot be split into words: No closing quotation"),
    ],
)
def test_misuse_is_named(source, typed, options, message):
    source.with_name("broken.c").write_text("float f(float x) {\n    return absent + missing;\n}\n")
    source.with_name("lost.c").write_text('#include "no_such_header.h"\n')
    with pytest.raises(UsageError, match=message) as raised:
        targets.select([typed.format(folder=source.parent)], **options)
    assert "\n" not in str(raised.value)


def test_without_a_compiler_the_measurement_is_missing(source, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    with pytest.raises(MissingMeasurement, match=r"no C compiler: there is no no-such-compiler here; .CC may name"):
        targets.select([f"{source}:gelu_f32"])
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingMeasurement, match="no C compiler: there is no cc, gcc, clang here"):
        targets.select([f"{source}:gelu_f32"])


@needs_cc
def test_a_folder_that_others_can_write_to_is_refused(source):
    _compiler.cache_folder().chmod(0o777)
    with pytest.raises(UsageError, match="is not private"):
        targets.select([f"{source}:gelu_f32"])


@needs_cc
@pytest.mark.nightly
def test_the_command_line_says_what_it_computes(source, tmp_path):
    command = [*PROGRAM, "run", f"{source}:silu:scalar", "--function", "gelu"]
    command += [
        "--dtype",
        "float32",
        "--plan",
        "landmarks",
        "--no-throughput",
        "--no-report",
        "--cflags=-O1",
        "--out",
        "run",
    ]
    wide = {**os.environ, "COLUMNS": "500"}  # a long path is not broken over lines
    done = subprocess.run(command, cwd=tmp_path, env=wide, capture_output=True, text=True, check=True)
    printed = " ".join(done.stdout.split())
    assert re.search(r":silu:scalar gelu float32 is broken: computes silu, not gelu", printed)
    (result,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["results"]
    assert re.search("silu:scalar .*--cflags=-O1", result["repeat"])


# ---- CUDA ----------------------------------------------------------------------------------------

CUDA = """
__global__ void gelu_f32(const float *x, float *y, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(0.70710678f * x[i]));
}
__global__ void gelu_f16(const __half *x, __half *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
void launched_bf16(const __nv_bfloat16 *x, __nv_bfloat16 *y, size_t n) {}
"""


@pytest.fixture
def nvcc():
    return requiring.nvcc()


@pytest.fixture
def cuda(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text(CUDA)
    return path


@pytest.mark.few(1)
@pytest.mark.usefixtures("nvcc")
@pytest.mark.skipif(why_no_device() == "", reason="a device is there")
@pytest.mark.parametrize("typed", ["gelu_f32", "launched_bf16:host", *nightly("gelu_f16")])
def test_cuda_compiles_and_says_that_there_is_no_device(cuda, typed):
    with pytest.raises(MissingMeasurement, match=f"{typed} compiles, but there is no CUDA device"):
        targets.select([f"{cuda}:{typed}"])
    assert len(compilations()) == 1


@pytest.mark.usefixtures("nvcc")
@pytest.mark.skipif(why_no_device() != "", reason="no CUDA device")
def test_cuda_runs(cuda):
    x = some_bits("float32", 1000)
    assert chosen(f"{cuda}:gelu_f32").evaluate("float32", x).shape == x.shape
    assert verify(f"{cuda}:gelu_f32", "gelu", "float32", "landmarks").record.variant == "gelu"


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("kernel.cu:gelu_f64", "no function 'gelu_f64' in .*kernel.cu"),
        ("broken.cu:gelu_f32", r"broken.cu does not compile: .*broken.cu\(1\): error"),
    ],
)
def test_cuda_that_does_not_compile(cuda, typed, message):
    cuda.with_name("broken.cu").write_text("__global__ void gelu_f32(float *x, int n) { absent(x, n); }")
    with pytest.raises(UsageError, match=message):
        targets.select([str(cuda.with_name(typed.partition(":")[0])) + ":" + typed.partition(":")[2]])


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("absent.cu:gelu_f32", "^no such file"),
        ("kernel.cu", "names no kernel"),
        ("kernel.cu:gelu", "no function 'gelu' in .*kernel.cu .it has gelu_f32, gelu_f16, launched_bf16"),
        ("kernel.cu:gelu_f32:scalar", "'scalar' .accepted: kernel, host"),
    ],
)
def test_cuda_misuse_is_named_before_anything_is_compiled(cuda, monkeypatch, typed, message):
    monkeypatch.setenv("NVCC", "no-such-compiler")
    with pytest.raises(UsageError, match=message):
        targets.select([str(cuda.parent / typed)])


def test_without_nvcc_the_measurement_is_missing(cuda, monkeypatch):
    monkeypatch.setenv("NVCC", "no-such-compiler")
    with pytest.raises(MissingMeasurement, match="no CUDA compiler: there is no no-such-compiler"):
        targets.select([f"{cuda}:gelu_f32"])
