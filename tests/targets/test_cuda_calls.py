"""CUDA sources: kernels, functions of the device and of the host are called as they are declared."""

import re

import numpy as np
import pytest
import requiring
from marking import nightly

from gelu_verify import targets
from gelu_verify.errors import UsageError
from gelu_verify.targets.declarations.parameters import CParameter
from gelu_verify.targets.declarations.prototype import Prototype
from gelu_verify.targets.kinds import _cuda_source as cuda_source
from gelu_verify.targets.kinds._launch import launch_of, packed
from gelu_verify.targets.kinds._stubs import is_of_a_library, missing_of, opaque, with_empty, write_header
from gelu_verify.targets.kinds.base import Asked

# Every function is relu of float32, but for those of another name.
SOURCE = """
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
typedef float floatX;
static cublasHandle_t handle;
const char *prepare(cublasStatus_t last)
{
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || last == CUBLAS_STATUS_NOT_INITIALIZED) return nullptr;
    switch (last) { case CUBLAS_STATUS_SUCCESS: return ""; case CUBLAS_STATUS_NOT_INITIALIZED: return "none"; }
    return cublasGetStatusString(last);
}
__global__ void reversed(floatX *out, const floatX *inp, int N) { int i = INDEX; if (i < N) out[i] = fmaxf(inp[i], 0); }
__global__ void unclear(float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] = fmaxf(a[i], 0); }
__global__ void adds(float *dinp, const float *inp, const float *dout, int N)
{ int i = INDEX; if (i < N) dinp[i] += dout[i] * fmaxf(inp[i], 0); }
__global__ void in_place(float *x, int n, float scale) { int i = INDEX; if (i < n) x[i] = fmaxf(x[i], 0) * scale; }
__global__ void multiplies(float *grad, const float *x, int n) { int i = INDEX; if (i < n) grad[i] *= fmaxf(x[i], 0); }
__global__ void whole(float *x) { x[INDEX] = fmaxf(x[INDEX], 0); }
__global__ void with_params(const float *x, float *y, size_t n, const float *p)
{ size_t i = INDEX; if (i < n) y[i] = fmaxf(x[i], 0) + p[1]; }
template <typename T> __device__ __forceinline__ T of_any(const T &x) { return x > (T)0.0f ? x : (T)0.0f; }
__device__ float4 of_four(float4 v)
{ return make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0)); }
__device__ float leaky(float x, float slope) { return x > 0 ? x : slope * x; }
__device__ float with_slope(float x, float *dx) { *dx = x > 0; return fmaxf(x, 0); }
struct Relu { __device__ float operator()(float const &x) const { return fmaxf(x, 0.0f); } };
namespace inner { __host__ __device__ inline float relu(float x) { return x > 0 ? x : 0; } }
__device__ void many(float *x, float *y, int n) {}
void launched(const float *x, float *y, int n, cudaStream_t s) { reversed<<<(n + 255) / 256, 256, 0, s>>>(y, x, n); }
"""
# symbol: options, and what is launched or called
CALLED = {
    "reversed": ({}, "reversed<<<(n + 255) / 256, 256>>>((floatX *)y, (const floatX *)x, n)"),
    "adds": ({}, "adds<<<(n + 255) / 256, 256>>>((float *)y, (const float *)x, (const float *)beside, n)"),
    "unclear": (
        {"call": "f<<<(n + 63) / 64, 64>>>(x, y, n)"},
        "unclear<<<(n + 63) / 64, 64>>>((float *)x, (float *)y, n)",
    ),
    "in_place": ({"call": "f(x, n, scale=1.0f)"}, "in_place<<<(n + 255) / 256, 256>>>((float *)y, n, 1.0f)"),
    "multiplies": ({"call": "f(y=dy, x, n)"}, "multiplies<<<(n + 255) / 256, 256>>>((float *)y, (const float *)x, n)"),
    "whole": ({"call": "f<<<n / 256, 256>>>(x); multiple_of=256"}, "whole<<<n / 256, 256>>>((float *)y)"),
    "with_params": (
        {"call": "f(x, y, n, p=zeros(8))"},
        "with_params<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n, (const float *)gelu_verify_zeros3(8))",
    ),
    "of_any<float>": ({}, "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)"),
    "of_any": ({"dtype": "float32"}, "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)"),
    "of_four": ({}, "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)"),
    "leaky": (
        {"call": "f(x, slope=0.0f)"},
        "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)",
    ),
    "with_slope": (
        {"call": "f(x, dx=zeros(4))"},
        "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)",
    ),
    "Relu": ({}, "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)"),
    "relu": ({}, "gelu_verify_kernel<<<(n + 255) / 256, 256>>>((const float *)x, (float *)y, n)"),
}
ASKED = {
    "unclear": ["f<<<(n + 255) / 256, 256>>>(x, y, n)", "f<<<(n + 255) / 256, 256>>>(y, x, n)"],
    "in_place": ["f<<<(n + 255) / 256, 256>>>(x, n, scale=1.0f)"],
    "multiplies": ["f<<<(n + 255) / 256, 256>>>(y=dy, x, n)"],
    "whole": ["f<<<n / 256, 256>>>(x); multiple_of=256"],
    "with_params": ["f<<<(n + 255) / 256, 256>>>(x, y, n, p=zeros(bytes))"],
    "leaky": ["f(x, slope=1.0f)"],
    "with_slope": ["f(x, dx=zeros(8))"],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    requiring.program("c++", "g++", "clang++")
    path = tmp_path_factory.mktemp("cuda") / "kernels.cu"
    path.write_text(SOURCE)
    return path


def called(file, symbol, convention=None, **options):
    return cuda_source.as_called(f"{file}:{symbol}", file, str(file), symbol, convention, Asked(**options))


OFTEN = ("reversed", "adds", "multiplies", "in_place", "of_any", "of_four", "Relu")


@pytest.mark.few(3)
@pytest.mark.parametrize("symbol", [*OFTEN, *nightly(*(each for each in CALLED if each not in OFTEN))])
def test_what_is_launched(file, symbol):
    options, text = CALLED[symbol]
    found = called(file, symbol, **options)
    assert found.call == text
    assert found.dtype == "float32"


def test_a_function_of_the_host_gets_the_default_stream(file):
    found = called(file, "launched", "host")
    assert found.call == "launched((const float *)x, (float *)y, n, (cudaStream_t)0)" or found.call.endswith(", n, 0)")
    assert not found.prototype.launch


@pytest.mark.parametrize(
    "symbol", ["unclear", "whole", *nightly(*(each for each in ASKED if each not in ("unclear", "whole")))]
)
def test_what_is_open_is_asked_with_lines_that_answer_it(file, symbol):
    with pytest.raises(UsageError, match="is declared") as raised:
        called(file, symbol)
    lines = re.findall(r"--call '(.*?)'", str(raised.value))
    assert lines == ASKED[symbol]
    assert all(called(file, symbol, call=line).prototype for line in lines)


@pytest.mark.parametrize(
    ("symbol", "options", "message"),
    [
        ("absent", {}, "no function 'absent' in .*kernels.cu .it has"),
        ("many", {}, "'many' in .* is"),
        ("of_any", {}, "is a template of typename T: --dtype says"),
        ("of_four", {"call": "f<<<n, 1>>>(x)"}, "launches 'of_four', which is no kernel"),
        ("reversed", {"call": "f(x, y, n, 3)"}, "has 4 parameters, but it is declared"),
    ],
)
def test_misuse_is_named(file, symbol, options, message):
    with pytest.raises(UsageError, match=message):
        called(file, symbol, **options)


@pytest.mark.parametrize(
    ("symbol", "convention", "message"), [("reversed", "host", "is a kernel"), ("leaky", "kernel", "is no kernel")]
)
def test_a_convention_that_is_another_is_named(file, symbol, convention, message):
    with pytest.raises(UsageError, match=message):
        called(file, symbol, convention)


def test_numbers_of_a_launch_without_a_compiler():
    made = Prototype("", "void", (), launch="(n + 255) / 256, 256, 2 * bytes")
    assert launch_of(made, 300, 4) == (2, 256, 2400)
    values = {
        "-1.5f": ("float", 4, 0xBFC00000),
        "n / 4": ("int", 4, 75),
        "NULL": ("void *", 8, 0),
        "(int)-1": ("int", 4, 2**32 - 1),
    }
    for value, (typed, size, want) in values.items():
        assert packed(made, CParameter(typed, "p", value), size, 300, 4) == want
    with pytest.raises(UsageError, match="is not known without the compiler of the host"):
        packed(made, CParameter("int", "p", "sizeof(int)"), 4, 300, 4)
    with pytest.raises(UsageError, match="has no threads for 300 values"):
        launch_of(Prototype("", "void", (), launch="n / 512, 512"), 300, 4)


def test_headers_that_are_not_here(tmp_path):
    missing = "k.cu:1:10: fatal error: nccl/nccl.h: No such file or directory"
    assert missing_of(missing) == "nccl/nccl.h"
    assert is_of_a_library("nccl/nccl.h")
    assert not is_of_a_library("mine.h")
    text = opaque("ncclComm_t c; if (ncclCommInitAll(&c) != ncclSuccess) cublasHandle_t cublas_h; mine_cublas();"
                  "void cublasCheck(cublasStatus_t s) {} cublasCheck(1);")  # fmt: skip
    assert "typedef struct ncclComm_t_absent *ncclComm_t;" in text
    assert "gelu_verify_absent ncclCommInitAll(T &&...)" in text
    assert "static const int ncclSuccess = " in text
    assert "mine" not in text
    assert "cublas_h" not in text
    assert "cublasCheck" not in text
    tried = []

    def preprocess():
        tried.append(sorted(path.name for path in tmp_path.rglob("*.h")))
        if len(tried) < 3:
            raise UsageError(f"k.cu does not compile: fatal error: '{'ab'[len(tried) - 1]}.h' file not found")
        return "text"

    assert with_empty(tmp_path, preprocess) == "text"
    assert tried == [[], ["a.h"], ["a.h", "b.h"]]
    with pytest.raises(UsageError, match="no such header"):
        write_header(tmp_path, "../out.h", "")


@pytest.mark.parametrize("symbol", nightly(*CALLED))
def test_each_is_executed(file, symbol):
    requiring.nvcc()
    options, _ = CALLED[symbol]
    (target,), _ = targets.select([f"{file}:{symbol}"], function="relu", device="ptx", **options)
    x = np.linspace(-3, 3, 301, dtype=np.float32)
    for n in (301, 3):
        got = target.evaluate("float32", x[:n].view("u4")).view("f4")
        np.testing.assert_array_equal(got, np.maximum(x[:n], 0))


@pytest.mark.parametrize("noinline", ["__noinline__", *nightly("")])
def test_the_version_of_a_kernel_on_ptx_is_of_its_code_not_of_its_place(tmp_path, noinline):
    requiring.nvcc()
    text = """namespace {{ __device__ __noinline__ float part(float x) {{ return {factor} * x; }} }}
    __global__ void relu(const float *x, float *y, int n) {{ for (int i = 0; i < n; i++) y[i] = 2 * part(x[i]); }}"""

    def version(folder, comment, factor):
        source = tmp_path / folder / "k.cu"
        source.parent.mkdir(exist_ok=True)
        source.write_text(comment + text.format(factor=factor))
        (target,), _ = targets.load(f"{source}:relu", asked=Asked(dtype="float32", device="ptx"))
        return target.version

    text = text.replace("__noinline__", noinline)
    assert version("a", "", "0.5f") == version("b", "// said\n", "0.5f") != version("a", "", "0.25f")
