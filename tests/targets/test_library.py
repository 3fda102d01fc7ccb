"""Functions of shared libraries: called with the right bits, and every misuse named."""

import ctypes.util
import platform
import re

import numpy as np
import pytest
from foreign import chosen, needs_cc, shared_library, some_bits

from gelu_verify import targets, verify
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format

pytestmark = needs_cc

SOURCE = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
void magnitude_f16(const uint16_t *x, uint16_t *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = x[i] & 0x7fff; }
void magnitude_bf16(const uint16_t *x, uint16_t *y, size_t n) { magnitude_f16(x, y, n); }
void magnitude_f32(const float *x, float *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = fabsf(x[i]); }
void magnitude_f64(const double *x, double *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = fabs(x[i]); }
uint16_t each_f16(uint16_t x) { return x & 0x7fff; }
uint16_t each_bf16(uint16_t x) { return x & 0x7fff; }
float each_f32(float x) { return fabsf(x); }
double each_f64(double x) { return fabs(x); }
void gelu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float v = x[i];
        y[i] = 0.5f * v * (1 + tanhf(0.7978846f * (v + 0.044715f * v * v * v)));
    }
}
float gelu_sigmoid(float x) { return x / (1 + expf(-1.702f * x)); }
static float hidden(float x) { return x; }
float (*keep)(float) = hidden;
"""
MARKS = dict(zip(DTYPES, ("f16", "bf16", "f32", "f64"), strict=True))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp("library"), SOURCE)


@pytest.mark.few(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("typed", ["magnitude_{}", "magnitude_{}:vector", "each_{}:scalar"])
def test_bits_go_in_and_come_out_as_they_are(library, dtype, typed):
    """NaN payloads, subnormals and infinities too: fabs touches the sign only."""
    assert set(MARKS) == set(DTYPES)
    target = chosen(f"{library}:{typed.format(MARKS[dtype])}")
    assert target.dtypes == (dtype,)
    for n in (1, 7, 4099):
        x = some_bits(dtype, n, seed=n)
        np.testing.assert_array_equal(target.evaluate(dtype, x), x & (get_format(dtype).sign_mask - 1))


def test_read_only_input_is_taken_and_left_alone(library):
    x = some_bits("float32", 100)
    before = x.copy()
    x.setflags(write=False)
    target = chosen(f"{library}:magnitude_f32")
    target.timed("float32", x)
    np.testing.assert_array_equal(x, before)


def test_its_description(library):
    target = chosen(f"{library}:gelu_sigmoid:scalar", dtype="float32")
    assert (target.name, target.function, target.family) == (
        f"{library}:gelu_sigmoid:scalar",
        "gelu_sigmoid",
        "callable",
    )
    assert "float gelu_sigmoid(float x)" in target.note
    assert re.fullmatch("sha256:[0-9a-f]{12}", target.version)
    assert "uint16_t" in chosen(f"{library}:magnitude_bf16").note


@pytest.mark.nightly
def test_the_run_says_what_it_really_computes(library):
    result = verify(f"{library}:gelu_f32", "gelu", "float32", "landmarks")
    assert result.record.variant == "gelu_tanh"
    assert "variant" in result.failed_checks
    assert "variant" not in verify(f"{library}:gelu_f32", "gelu_tanh", "float32", "landmarks").failed_checks


@pytest.mark.skipif(ctypes.util.find_library("m") != "libm.so.6", reason="another C library")
def test_a_name_without_a_folder_is_the_loaders():
    target = chosen("libm.so.6:tanhf:scalar")
    assert (target.function, target.dtypes) == ("tanh", ("float32",))
    assert target.version.startswith("sha256:")
    assert verify(target, "tanh", "float32", "landmarks").max_ulp < 4


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("{folder}/absent.so:gelu", "^no such file: .*absent.so$"),
        ("{folder}/folder.so:gelu", "folder.so is a folder, not a file"),
        ("{folder}/text.so:gelu", "text.so cannot be loaded: .*(invalid ELF header|too short)"),
        ("absent_everywhere.so:gelu", "absent_everywhere.so cannot be loaded: .*cannot open shared object"),
        ("{library}", "names no symbol .*exported: .*gelu_f32"),
        ("{library}:", "names no symbol"),
        ("{library}:gelu_f23", r"no symbol 'gelu_f23' in .*\(it has gelu_f32"),
        ("{library}:hidden", "no symbol 'hidden' in "),
        ("{library}:gelu_f32:scaler", "'scaler'; did you mean 'scalar'\\? .accepted: vector, scalar"),
        ("{library}:gelu_sigmoid:scalar", "nothing says which dtype .*gelu_sigmoid:scalar computes in"),
    ],
)
def test_misuse_is_named(library, typed, message):
    (library.parent / "folder.so").mkdir(exist_ok=True)
    (library.parent / "text.so").write_text("int main;" * 10)
    with pytest.raises(UsageError, match=message):
        targets.select([typed.format(folder=library.parent, library=library)])


def test_another_dtype_than_the_symbol_says_is_refused(library):
    with pytest.raises(UsageError, match=r"no target of .*gelu_f32 computes float64"):
        targets.select([f"{library}:gelu_f32"], dtype="float64")


def test_cplusplus_names_are_explained(tmp_path):
    library = shared_library(tmp_path, "void _Z4gelufPKf(void) {}")
    with pytest.raises(UsageError, match=r'_Z4gelufPKf, which is a C.. name: declare it extern "C"'):
        targets.select([f"{library}:gelu"], dtype="float32")


FAST_MATH = """
#include <stddef.h>
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
void half_f32(const float *x, float *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = x[i] * 0.5f; }
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="sets MXCSR, as crtfastmath.o does")
def test_a_library_that_flushes_subnormals_does_so_alone(tmp_path):
    """gcc before 13 links that into what is made with -ffast-math: its fault must show, ours must not begin."""
    library = shared_library(tmp_path, FAST_MATH)
    subnormal = np.array([3, 0x007FFFFF, 0x3F800000], np.uint32)
    for _ in range(2):  # its constructor runs once
        target = chosen(f"{library}:half_f32")
        assert target.evaluate("float32", subnormal).tolist() == [0, 0, 0x3F000000]
        assert "flushes subnormals" in target.note
        assert (subnormal.view(np.float32) * np.float32(0.5)).view(np.uint32).tolist() == [2, 0x00400000, 0x3F000000]
