"""The CUDA kernels, their bodies compiled for the CPU: correctly rounded bit for bit, forms as on the CPU."""

from fractions import Fraction

import numpy as np
import pytest
from cuda_inputs import SHORT, hard_bits, some_bits, want
from cuda_on_cpu import compiled_for_cpu, sources

from gelu_verify import kernels
from gelu_verify.formats import FORMATS, numpy_dtype
from gelu_verify.functions import FUNCTIONS
from gelu_verify.kernels import parameterized, published
from gelu_verify.paths import resource
from gelu_verify.truth.correctly_rounded import FUNCTIONS as CORRECTLY_ROUNDED


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda")
    return lambda name: compiled_for_cpu(name, folder)


@pytest.mark.few(1)
@pytest.mark.parametrize("function", CORRECTLY_ROUNDED)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_all_16_bit_answers(library, dtype, function):
    x = np.arange(1 << 16, dtype=np.uint16)
    y = library(f"{dtype}_cr.cu").run(f"{function}_cr_{SHORT[dtype]}", x, np.empty_like(x))
    assert np.array_equal(y, np.load(resource(f"data/reference/{function}/{dtype}.npy")))


@pytest.mark.few(1)
@pytest.mark.parametrize("function", CORRECTLY_ROUNDED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_wide_answers(library, dtype, function):
    module = library(f"{dtype}_cr.cu")
    ends = [end | sign for end in (0, 1, 2, 3, 5) for sign in (0, FORMATS[dtype].sign_mask)]
    limits = [FORMATS[dtype].infinity | sign for sign in (0, FORMATS[dtype].sign_mask)] + [FORMATS[dtype].nan]
    x = np.concatenate(
        [some_bits(dtype, 100_001), hard_bits(function, dtype), np.array(ends + limits, FORMATS[dtype].uint)]
    )
    y = module.run(f"{function}_cr_{SHORT[dtype]}", x, np.empty_like(x))
    wrong = set(np.flatnonzero(y != want(function, dtype, x)).tolist())
    left = module.undecided() if dtype == "float64" else []
    assert wrong <= set(left)
    assert len(left) <= len(hard_bits(function, dtype))


@pytest.mark.nightly
@pytest.mark.parametrize("function", CORRECTLY_ROUNDED)
def test_every_64th_float32(library, function):
    x = np.arange(0, 1 << 32, 64, dtype=np.uint64).astype(np.uint32) | np.uint32(17)
    y = library("float32_cr.cu").run(f"{function}_cr_f32", x, np.empty_like(x))
    assert np.array_equal(y, want(function, "float32", x))


@pytest.mark.parametrize("dtype", list(SHORT))
def test_any_length_place_and_in_place(library, dtype):
    """Tails, arrays that do not begin at 16 bytes, y that is x: and nothing is written beyond."""
    module, symbol = library(f"{dtype}_cr.cu"), f"gelu_cr_{SHORT[dtype]}"
    x = some_bits(dtype, 200)
    y = want("gelu", dtype, x)
    for n in (0, 1, 7, 8, 9, 31, 64, 101):
        for start in (0, 1, 8, 16):
            for end in (0, 3, 8):
                room = np.full(200, 0x55, x.dtype)
                module.run(symbol, x[start : start + n], room[end : end + n])
                assert np.array_equal(room[end : end + n], y[start : start + n])
                assert (np.delete(room, range(end, end + n)) == 0x55).all()
    module.run(symbol, x, x)
    assert np.array_equal(x, y)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("float32.cu", ""),
        ("float64.cu", ""),
        ("float16.cu", ""),
        ("bfloat16.cu", ""),
        ("float16_f32.cu", "-f32"),
        ("bfloat16_f32.cu", "-f32"),
    ],
)
def test_forms_are_those_of_the_cpu(library, source, suffix):
    """The same text in the same arithmetic, through 16-byte vectors and native pairs: the same bits."""
    module = library(source)
    forms = {kernel.name: kernel for kernel in kernels.KERNELS}
    assert {f"{kernel.function}_{kernel.form}{suffix}" for kernel in module.kernels} <= forms.keys()
    for kernel in module.kernels:
        x = some_bits(kernel.dtype, 20_011)
        ours = np.empty_like(x)
        kernels.run(kernel.name, kernel.dtype, x, ours)
        same_numbers(kernel.dtype, module.run(kernel.symbol, x, np.empty_like(x)), ours)


@pytest.mark.nightly
@pytest.mark.parametrize("source", ["float32.cu", "float64.cu", "float16_f32.cu", "bfloat16_f32.cu"])
def test_forms_with_parameters_are_those_of_the_cpu(library, source):
    values = {"mu": Fraction(1, 3), "sigma": Fraction(7, 5), "beta": Fraction(17, 10), "alpha": Fraction(13, 10)}
    module = library(f"parameters/{source}")
    names = {(kernel.name, kernel.dtype) for kernel in parameterized.PARAMETERIZED}
    assert {(kernel.name, kernel.dtype) for kernel in module.kernels} <= names
    for kernel in module.kernels:
        given = {each.name: values[each.name] for each in FUNCTIONS[kernel.function].parameters}
        x = some_bits(kernel.dtype, 5_003)
        ours = np.empty_like(x)
        parameterized.run(given, kernel.name, kernel.dtype, x, ours)
        taken = parameterized.arguments(kernel.name, kernel.dtype, given)
        same_numbers(kernel.dtype, module.run(kernel.symbol, x, np.empty_like(x), *taken), ours)


@pytest.mark.few(1)
@pytest.mark.parametrize("source", ["float16_published.cu", "bfloat16_published.cu", "float32_published.cu"])
def test_published_forms_are_those_of_the_cpu(library, source):
    """Where tanh.approx is tanhf, as on a CPU."""
    for kernel in library(source).kernels:
        x = some_bits(kernel.dtype, 20_011)
        ours = np.empty_like(x)
        published.run(kernel.name, kernel.dtype, x, ours)
        same_numbers(kernel.dtype, library(source).run(kernel.symbol, x, np.empty_like(x)), ours)


def same_numbers(dtype, got, expected):
    """Bit for bit, but for the signs and payloads of NaN."""
    fmt = FORMATS[dtype]
    nan, expected_nan = (np.isnan(bits.view(numpy_dtype(dtype))) for bits in (got, expected))
    assert np.array_equal(nan, expected_nan)
    assert [fmt.bits_text(int(bits)) for bits in got[~nan & (got != expected)][:3]] == []


@pytest.mark.nightly
def test_tables_say_what_there_is(library):
    rows = [(kernel, source.name) for source in sources() for kernel in library(source.name).kernels]
    names = [(kernel.name, kernel.dtype) for kernel, _ in rows]
    assert len(set(names)) == len(names)
    for kernel, source in rows:
        assert kernel.function in FUNCTIONS
        assert source.startswith(kernel.dtype)
        assert kernel.note.isprintable()
        assert kernel.threads in (256, 1024)
        assert kernel.shared <= 64 << 10  # what every architecture lends
    for function in CORRECTLY_ROUNDED:
        assert {kernel.dtype for kernel, _ in rows if kernel.name == f"{function}_cr"} == set(SHORT)
