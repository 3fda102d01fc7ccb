"""The re-implementations of src/published/: each against a second writing of its formula in exact arithmetic, against
the library itself where that installs, and with the fault that it is known for."""

from fractions import Fraction

import numpy as np
import pytest
from published_models import HALVES, HEADERS, MODELS, SQRT_2_OVER_PI, Number, pytorch_tanh_grad, tanh_grad, u_cubic

from gelu_verify import targets
from gelu_verify.formats import from_ordinals, get_format, numpy_dtype, values
from gelu_verify.kernels.published import PUBLISHED, run
from gelu_verify.machine import machine
from gelu_verify.truth.values import judge, reference_bits

EVERY_16 = np.arange(1 << 16, dtype=np.uint16)


def answer(name, dtype, x_bits):
    out = np.empty_like(x_bits)
    run(name, dtype, x_bits, out)
    return out


def at(name, dtype, *numbers):
    """What it answers at those numbers, as float64."""
    x = np.array(numbers).astype(numpy_dtype(dtype)).view(get_format(dtype).uint)
    return values(get_format(dtype), answer(name, dtype, x)).astype(np.float64)


CASES = [(name, dtype, formula) for name, pairs in MODELS.items() for dtypes, formula in pairs for dtype in dtypes]


def test_every_reimplementation_has_a_second_writing():
    assert sorted((k.name, k.dtype) for k in PUBLISHED) == sorted((name, dtype) for name, dtype, _ in CASES)


@pytest.mark.few(37)
@pytest.mark.parametrize(("name", "dtype", "formula"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES])
def test_formula(name, dtype, formula):
    fmt, rng = get_format(dtype), np.random.default_rng(7)
    numbers = np.concatenate([rng.uniform(-6.5, 4, 60), rng.uniform(-0.05, 0.05, 10), [-5.53, -3.4, 0.25, 1.0, 6.0]])
    x_bits = numbers.astype(numpy_dtype(dtype)).view(fmt.uint)
    got = [fmt.fraction(int(bits)) for bits in answer(name, dtype, x_bits)]
    assert got == [formula(Number(fmt, fmt.fraction(int(bits)))).value for bits in x_bits]


def test_the_family_is_found_only_when_it_is_asked_for():
    here, absent = targets.find(["published"])
    assert not absent
    assert {(t.name, d) for t in here for d in t.dtypes} == {(f"published.{k.name}", k.dtype) for k in PUBLISHED}
    assert all(target.note.startswith("re-implementation of ") for target in here)


@pytest.mark.parametrize("header", sorted(path.name for path in HEADERS.glob("*.h")))
def test_every_header_is_compiled(header):
    shared = {"instance.h", "libraries.h", "onednn_erf.h", "published.h", "rational_tanh.h", "rounding.h", "words.h"}
    listed = (HEADERS / "libraries.h").read_text(encoding="utf-8")
    assert header in shared or f'#include "{header}"' in listed


@pytest.mark.parametrize("dtype", HALVES)
def test_float64_is_rounded_once(dtype):
    fmt = get_format(dtype)
    for bits in np.random.default_rng(0).integers(1, fmt.infinity - 1, 50):
        middle = (fmt.fraction(int(bits)) + fmt.fraction(int(bits) + 1)) / 2
        just_above = Number(get_format("float64"), Fraction(float(middle) * (1 + 2**-52)))
        assert just_above.to(dtype).value == fmt.fraction(int(bits) + 1)


# ---- what each is known for


def test_burn_differentiates_the_other_variant():
    x = np.linspace(-6, 6, 100_001).astype(np.float32)
    truth = reference_bits("gelu_grad", "float32", x.view(np.uint32)).view(np.float32)
    error = np.abs(answer("burn-gelu_grad", "float32", x.view(np.uint32)).view(np.float32) - truth)
    assert 8.6e-4 < error.max() < 8.7e-4
    assert abs(abs(x[error.argmax()]) - 2.0187) < 5e-3


@pytest.mark.parametrize("name", ["burn-gelu", "mlx-gelu_metal"])
def test_halving_last_overflows(name):
    assert np.array_equal(at(name, "float16", 32752, 32768, 65504), [32752, np.inf, np.inf])


def test_candle_in_half_ends_early():
    assert at("candle-gelu", "float16", -4)[0] == 0
    assert at("candle-gelu", "bfloat16", -3.5)[0] == 0
    assert at("candle-gelu_erf", "float16", -5.5)[0] < 0  # the erf form is computed in float64


def test_cutlass_rounds_one_plus_erf_to_half():
    zeros = at("cutlass-gelu", "float16", *np.linspace(-5, -3.7, 50))
    assert not zeros.any()
    assert np.isnan(at("cutlass-dgelu", "float16", 1000)).all()


def test_fastertransformer_rounds_the_factor_to_half():
    assert at("fastertransformer-gelu", "float16", -5.5)[0] == 0
    assert at("fastertransformer-gelu", "float16", -4)[0] < 0


def test_flaggems_halves_in_the_format():
    assert at("flaggems-gelu", "float16", 5 * 2**-24)[0] == 2 * 2**-24  # 2.5 is tied to even; the truth is above it


def test_pytorch_squares_before_the_constant():
    fmt, x = get_format("float32"), np.linspace(-3, 3, 301).astype(np.float32)
    got = at("pytorch-gelu_tanh_grad_cuda", "float32", *x)
    numbers = [Number(fmt, Fraction(float(each))) for each in x]
    assert [Fraction(each) for each in got] == [pytorch_tanh_grad(each).value for each in numbers]
    other = [tanh_grad(n, u_cubic(n), (n * (n * 0.044715 * 3) + 1) * SQRT_2_OVER_PI).value for n in numbers]
    assert [Fraction(each) for each in got] != other


def test_ggml_quick_has_no_number_for_large_negative_x():
    assert np.array_equal(np.isnan(at("ggml-gelu_quick", "float32", -65519, -65520, -1e6)), [False, True, True])


def test_ggml_table_loses_small_x():
    assert at("ggml-gelu", "float32", 2e-8)[0] == 0
    assert np.array_equal(at("ggml-gelu", "float32", -11, 11), [0, 11])


def test_ggml_vulkan_is_finite_for_large_x():
    assert np.array_equal(at("ggml-gelu_vulkan", "float32", 100, -100), [100, 0])


def test_mlas_tanh_exceeds_one_and_gelu_has_the_wrong_sign():
    assert at("mlas-tanh", "float32", *np.linspace(8.13, 9, 1000)).max() == 1 + 2**-22
    x = np.linspace(-6, -4, 20_001)
    wrong = x[at("mlas-gelu_tanh", "float32", *x) > 0]
    assert -5.155 <= wrong.min() < wrong.max() <= -4.927
    assert at("eigen-tanh", "float32", *np.linspace(7.9, 9, 1000)).max() == 1


def test_ncnn_in_half_is_positive_at_minus_100():
    assert 2.1 < at("ncnn-gelu_fp16", "float16", -100)[0] < 2.3
    assert 1.04 < at("ncnn-tanh_fp16", "float16", 9)[0] < 1.05


def test_onednn_specials():
    fmt = get_format("float32")
    specials = np.array([fmt.infinity, fmt.infinity | 1 << 31, 1 << 31], np.uint32)
    avx2 = answer("onednn-gelu_erf_avx2", "float32", specials).view(np.float32)
    avx512 = answer("onednn-gelu_erf_avx512", "float32", specials).view(np.float32)
    assert np.isposinf(avx2[0])
    assert np.isnan(avx512[0])
    assert np.isnan(avx2[1])
    assert not np.signbit(avx2[2])  # fma(erf, S, S) of -0
    assert at("onednn-gelu_erf_avx2", "float32", -5.6)[0] == 0


def test_onnx_in_double_has_float_constants():
    error = abs(at("onnx-gelu_tanh", "float64", -3.0)[0] / at("pytorch-gelu_tanh_cuda", "float64", -3.0)[0] - 1)
    assert 1e-9 < error < 1e-6


def test_fairseq_accurate_is_the_tanh_form():
    truth = float(reference_bits("gelu", "float64", np.float64([2.69894]).view(np.uint64)).view(np.float64)[0])
    assert abs(abs(at("fairseq-gelu_accurate", "float64", 2.69894)[0] - truth) - 4.7324e-4) < 1e-7


def test_transformers_swapped_coefficients():
    assert abs(at("transformers-tf_gelu_fast_4_1", "float32", 0.1)[0] - 0.054) > 0.04  # nearly relu


def test_ttnn():
    assert at("ttnn-gelu_chebyshev", "bfloat16", 1e-6)[0] > 2.9e-5
    assert at("ttnn-gelu_chebyshev", "bfloat16", -6)[0] == 0
    assert 0.02 < abs(at("ttnn-gelu_lut", "bfloat16", 0.25)[0] - 0.14967) < 0.03
    assert at("ttnn-gelu_erf", "float32", -6)[0] == 0


def test_xnnpack_in_half_ends_early():
    assert not at("xnnpack-gelu", "float16", -3.5, -4, -5).any()
    assert not at("xnnpack-gelu_nofma", "float16", -3.6).any()
    assert at("xnnpack-gelu_tanh_f32acc_2025", "float16", -1000)[0] < -0.5  # where the truth is 0
    assert at("xnnpack-gelu_tanh_f32acc", "float16", -1000)[0] > -0.05


# ---- the library itself


def same_as_library(ours, theirs, dtype):
    """Whether both give the same numbers: all of 16 bits, else a sample; how many differ, results of subnormal size
    aside, which some libraries flush."""
    family, fmt = theirs.partition(".")[0], get_format(dtype)
    here, absent = targets.find([family])
    if absent:
        pytest.skip(absent[family])
    target = next(target for target in here if target.name == theirs)
    rng = np.random.default_rng(3)
    x = EVERY_16
    if fmt.width > 16:
        numbers = np.concatenate([rng.uniform(-14, 14, 100_000), rng.uniform(-1, 1, 20_000)]).astype(np.float32)
        anywhere = from_ordinals(fmt, rng.integers(-fmt.infinity, fmt.infinity, 50_000))
        x = np.concatenate([anywhere, numbers.view(fmt.uint)])
    x = x[: x.size // 64 * 64]  # tails go another way in some libraries
    a, b = answer(ours, dtype, x), target.evaluate(dtype, x)
    size_a, size_b = (y & fmt.uint.type((1 << fmt.width - 1) - 1) for y in (a, b))
    nan = (size_a > fmt.infinity) & (size_b > fmt.infinity)
    tiny = np.maximum(size_a, size_b) < (1 << fmt.precision - 1 if fmt.width > 16 else 0)
    return np.count_nonzero((a != b) & ~nan & ~tiny)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("mlas-erf", "onnxruntime.erf"),
        ("mlas-tanh", "onnxruntime.tanh"),
        ("mlas-gelu", "onnxruntime.gelu"),
        ("mlas-gelu_tanh", "onnxruntime.gelu_tanh"),
        ("eigen-tanh", "jax.tanh"),
    ],
)
def test_same_bits_as_the_library(ours, theirs):
    assert same_as_library(ours, theirs, "float32") == 0


WIDE = "avx512f" in machine()["isa"]


@pytest.mark.frameworks
@pytest.mark.parametrize("path", ["gelu_erf", "gelu_erf_grad"])
def test_same_bits_as_onednn_in_torch(path):
    ours = f"onednn-{path}_{'avx512' if WIDE and path == 'gelu_erf' else 'avx2'}"
    assert same_as_library(ours, "torch.gelu" if path == "gelu_erf" else "torch.gelu_grad", "float32") == 0


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("ours", "theirs", "dtype"),
    [
        ("xnnpack-gelu", "litert.gelu", "float32"),
        ("xnnpack-gelu", "litert.gelu", "float16"),
        ("xnnpack-gelu_tanh", "litert.gelu_tanh", "float32"),
        (f"xnnpack-gelu_tanh_f32acc_2025{'_avx512' if WIDE else ''}", "litert.gelu_tanh", "float16"),
        ("fairseq-gelu_accurate", "huggingface.gelu_new", "float16"),
    ],
)
def test_same_bits_as_xnnpack_and_transformers(ours, theirs, dtype):
    assert same_as_library(ours, theirs, dtype) == 0


def test_errors_are_judged_as_of_any_target():
    x = np.array([np.float32(-5.0)]).view(np.uint32)
    assert abs(judge("gelu_tanh", "float32", x, answer("mlas-gelu_tanh", "float32", x)).error[0]) > 1e6
