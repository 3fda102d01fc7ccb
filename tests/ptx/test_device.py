"""`--device ptx`: what it takes, and what it refuses."""

import numpy as np
import pytest
import requiring
from foreign import chosen
from repository import SUPPORT

from gelu_verify import targets
from gelu_verify.errors import UsageError
from gelu_verify.measure.request import Request
from gelu_verify.ptx.build import compiler
from gelu_verify.targets import incoming

SOURCE = SUPPORT / "ptx_activations.cu"


@pytest.mark.nightly
def test_a_kernel_of_a_source_file_is_executed():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    (target,), _ = targets.select([f"{SOURCE}:staged_relu"], function="relu", dtype="float32", device="ptx")
    x = np.random.default_rng(0).normal(0, 1, 1001).astype(np.float32)
    y = target.evaluate("float32", x.view(np.uint32)).view(np.float32)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert target.executed.startswith("ptx on CPU, sm_90, nvcc ")
    assert target.executed in target.version


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("math:tanh", {"device": "ptx"}, "math:tanh runs on cpu, not on ptx"),
        ("kernels.gelu_erf", {"device": "ptx"}, "kernels.gelu_erf runs on cpu, not on ptx"),
        ("ptx.gelu_cr", {"device": "cuda"}, "ptx.gelu_cr runs on ptx, not on cuda"),
        ("kernel.c:gelu_f32", {"device": "cuda"}, "kernel.c:gelu_f32 runs on cpu, not on cuda"),
        ("./libm.so.6:erff:scalar", {"device": "cuda"}, "libm.so.6:erff:scalar runs on cpu, not on cuda"),
        (f"{SOURCE}:relu_f32:host", {"device": "ptx"}, "executes kernels, not functions of the host"),
        (f"{SOURCE}:relu_f32", {"approximations": "nearest"}, "--approximations is for --device ptx"),
        (
            "math:tanh",
            {"approximations": "nearest"},
            "--approximations is for a CUDA source or PTX file, and none was named",
        ),
    ],
)
def test_what_does_not_run_there_is_refused(name, options, message):
    with pytest.raises(UsageError, match=message):
        targets.select([name], **options)


@pytest.mark.nightly
def test_of_kernels_that_the_file_makes_itself_the_one_that_is_named_is_called(tmp_path):
    """As in vLLM, whose one template is that of all its functions."""
    requiring.nvcc()
    (tmp_path / "act.cu").write_text("""
namespace act {
template <typename T> __device__ T relu(const T &x) { return x > 0 ? x : 0; }
template <typename T> __device__ T same(const T &x) { return x; }
template <typename T, T (*F)(const T &)> __global__ void times(T *out, const T *input, int d)
{ for (int i = threadIdx.x; i < d; i += blockDim.x) out[i] = F(input[i]) * input[d + i]; }
}
void both(float *y, float *x, int d)
{ act::times<float, act::same<float>><<<1, 32>>>(y, x, d); act::times<float, act::relu<float>><<<1, 32>>>(y, x, d); }
""")
    x = np.array([-1.0, 2.0, -3.0], np.float32)
    for name, due in (("relu", [-0.0, 1.0, -0.0]), ("same", [-0.5, 1.0, -1.5])):
        target = chosen(
            f"{tmp_path}/act.cu:act::times<float, act::{name}<float>>",
            **{"function": "reglu", "device": "ptx", "call": "f<<<1, 64>>>(y, xg, n)"},
        )
        got = target.with_second("reglu[g=0.5]").evaluate("float32", x.view(np.uint32)).view(np.float32)
        np.testing.assert_array_equal(got, due)


def test_a_header_is_one_of_cuda_where_it_is_to_run_on_a_device(tmp_path):
    requiring.nvcc()
    header = tmp_path / "activation.h"
    header.write_text(
        "struct relu_f32 { __host__ __device__ float operator()(float x) const { return fmaxf(x, 0); } };"
    )
    (target,), _ = targets.select([f"{header}:relu_f32"], device="ptx")
    x = np.array([-1.0, 2.0], np.float32)
    np.testing.assert_array_equal(target.evaluate("float32", x.view(np.uint32)).view(np.float32), [0, 2])
    with pytest.raises(UsageError, match="does not compile"):
        targets.select([f"{header}:relu_f32"])


def test_an_output_holds_the_incoming_gradient_before_a_launch(tmp_path):
    requiring.nvcc()
    source = tmp_path / "k.cu"
    source.write_text(
        "__global__ void relu_backward(float *grad, const float *x, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) grad[i] *= x[i] > 0; }"
    )
    (target,), _ = targets.select([f"{source}:relu_backward"], device="ptx", call="f(y=dy, x, n)")
    assert target.function == "relu_grad"
    x = np.array([-1.0, 2.0, 3.0], np.float32).view(np.uint32)
    for dy in (1.0, -0.5):
        with incoming.incoming_gradient([dy]):
            got = target.evaluate("float32", x).view(np.float32)
        np.testing.assert_array_equal(got, [0.0 * dy, dy, dy])


def test_a_result_is_repeated_on_the_same_device():
    request = Request(targets=("k.cu:f",), device="ptx", approximations="lowest")
    assert request.further_options == " --device ptx --approximations lowest"


def test_every_operation_is_rounded_as_it_is_written():
    requiring.program("c++", "g++", "clang++")
    assert {"-ffp-contract=off", "-fno-fast-math", "-frounding-math"} <= set(compiler())
