"""Kernels of PTX files: what they do with their parameters says what each is. tests/data/triton_*.ptx are of these:

@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):  # *fp32, *fp32, i32; BLOCK=1024
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n)
    tl.store(y_ptr + places, tl.maximum(x, 0.0), mask=places < n)

@triton.jit
def gelu_bwd(dy_ptr, x_ptr, dx_ptr, n_elements, BLOCK: tl.constexpr):  # three *fp16, i32; BLOCK=256; dy times x
"""

import re
from pathlib import Path

import numpy as np
import pytest
import requiring
from repository import ROOT

from gelu_verify import targets
from gelu_verify.errors import UsageError
from gelu_verify.formats import get_format
from gelu_verify.gpu import nvcc
from gelu_verify.ptx.parse import parse
from gelu_verify.targets.declarations.roles import prototype_of
from gelu_verify.targets.kinds._ptx_source import declared_by

DATA = ROOT / "tests" / "data"
RELU, GRADIENT = (f"{DATA / f'triton_{name}.ptx'}:{name}" for name in ("relu_kernel", "gelu_bwd"))


def declared(name, dtype):
    file, _, symbol = name.partition(":")
    return declared_by(parse(Path(file).read_text()).functions[symbol], dtype)


def test_what_is_read_is_the_input_and_what_is_written_the_output():
    made = prototype_of(declared(RELU, "float32"), "k.ptx")
    assert made.text == (
        "void relu_kernel<<<(n + 1023) / 1024, 128>>>(const float *x, float *y, int n, void *param_3=NULL, "
        "void *param_4=NULL)"
    )
    assert made.said == "param_3 is not used, param_4 is not used"


def test_two_inputs_are_a_question():
    with pytest.raises(UsageError, match="do not say which") as raised:
        prototype_of(declared(GRADIENT, "float16"), "k.ptx")
    assert re.findall(r"--call '(f<<<.*?>>>)\((.*?)\)'", str(raised.value)) == [
        ("f<<<(n + 255) / 256, 128>>>", f"{order}, y, n, param_4=NULL, param_5=NULL") for order in ("dy, x", "x, dy")
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{DATA}/triton_gelu_bwd.ptx:gelu", r"no kernel 'gelu' in .* \(it has gelu_bwd\)"),
        (f"{DATA}/triton_gelu_bwd.ptx", r"no kernel None|names no kernel"),
    ],
)
def test_misuse_is_named(name, message):
    with pytest.raises(UsageError, match=message):
        targets.select([name])


@pytest.mark.nightly
def test_they_are_executed_without_nvcc(monkeypatch):
    requiring.program("c++", "g++", "clang++")
    monkeypatch.setenv("NVCC", "no-such-compiler")
    (target,), _ = targets.select([RELU])
    assert (target.function, target.dtypes) == ("relu", ("float32",))
    x = np.linspace(-3, 3, 2001, dtype=np.float32)
    np.testing.assert_array_equal(target.evaluate("float32", x.view("u4")).view("f4"), np.maximum(x, 0))
    line = "f<<<(n + 255) / 256, 128>>>(dy, x, y, n, 0, 0)"
    (target,), _ = targets.select([GRADIENT], call=line)
    assert (target.function, target.dtypes) == ("gelu_grad", ("float16",))
    halves = x.astype(np.float16)
    np.testing.assert_array_equal(target.evaluate("float16", halves.view("u2")).view("f2"), halves)


@pytest.mark.nightly
def test_a_grid_of_whole_blocks_is_asked_for_as_many_values_as_the_contract_has():
    requiring.program("c++", "g++", "clang++")
    line = "void f<<<n / 1024, 128>>>(const float *x, float *y, int n, long p=1, long q=1)"
    (target,), _ = targets.select([RELU], call=f"{line}; multiple_of=1024")
    x = np.linspace(-3, 3, 2048, dtype=np.float32)
    np.testing.assert_array_equal(target.evaluate("float32", x.view("u4")).view("f4"), np.maximum(x, 0))
    with pytest.raises(UsageError, match="has no threads for 256 values"):
        targets.select([RELU], call=line)


COUNTS = """#include <cuda_fp16.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__device__ float relu1(const float &x) { return fmaxf(x, 0); }
struct Relu { __device__ float operator()(float x) const { return fmaxf(x, 0); } };
__global__ void relu_values(const __half2 *x, __half2 *y, int n)
{ if (INDEX < n / 2) y[INDEX] = __hmax2(x[INDEX], {}); }
__global__ void relu_of_both(const __half2 *x, __half2 *y, int n)
{ if (n / 2 >= 0 && INDEX < n) y[INDEX] = __hmax2(x[INDEX], {}); }
__global__ void relu_vectors(const __half2 *x, __half2 *y, int n) { if (INDEX < n) y[INDEX] = __hmax2(x[INDEX], {}); }
__global__ void relu_few(const __half *x, __half *y, unsigned char n) { if (INDEX < n) y[INDEX] = __hmax(x[INDEX], 0); }
template <class F> __global__ void map(const float *x, float *y, int n, F f) { if (INDEX < n) y[INDEX] = f(x[INDEX]); }
template <float (*F)(const float &), bool first> __global__ void gated(float *out, const float *input, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = F(input[blockIdx.x * 2 * d + i]) * input[blockIdx.x * 2 * d + d + i];
}
"""


@pytest.mark.parametrize(
    ("symbol", "dtype"),
    [*((f"relu_{each}", "float16") for each in ("values", "vectors", "of_both")), ("map<Relu>", "float32")],
)
def test_what_is_offered_for_a_kernel_computes(tmp_path, symbol, dtype):
    requiring.nvcc()
    (tmp_path / "k.cu").write_text(COUNTS)
    name = f"{tmp_path / 'k.cu'}:{symbol}"
    with pytest.raises(UsageError, match="give --call") as asked:
        targets.select([name], function="relu", device="ptx")
    lines = re.findall(r"--call '([^']*)'", str(asked.value))
    assert lines
    for line in lines:
        (target,), _ = targets.select([name], function="relu", device="ptx", call=line)
        x = np.linspace(-3, 3, 4096, dtype=dtype)
        got = target.evaluate(dtype, x.view(f"u{x.itemsize}")).view(dtype)
        np.testing.assert_array_equal(got, np.maximum(x, 0))


def test_a_kernel_gets_as_many_values_as_its_count_holds(tmp_path):
    requiring.nvcc()
    (tmp_path / "k.cu").write_text(COUNTS)
    (target,), _ = targets.select([f"{tmp_path / 'k.cu'}:relu_few"], function="relu", device="ptx")
    for n in (1, 255, 256, 1000):
        x = np.linspace(-3, 3, n, dtype=np.float16)
        np.testing.assert_array_equal(target.evaluate("float16", x.view("u2")).view("f2"), np.maximum(x, 0))


def test_a_line_that_is_offered_although_it_fails_is_said_to(tmp_path):
    """It takes two inputs, and is asked for a function of one."""
    requiring.nvcc()
    (tmp_path / "k.cu").write_text(COUNTS)
    with pytest.raises(UsageError, match=r"x, n\)' \(none writes all outputs, the same for the same inputs"):
        targets.select([f"{tmp_path / 'k.cu'}:gated<relu1, true>"], function="relu", device="ptx")
    with pytest.raises(UsageError, match=r"name what it is made for, such as '.*:gated<NAME, true>'"):
        targets.select([f"{tmp_path / 'k.cu'}:gated"], function="relu", device="ptx")


@pytest.mark.parametrize(("vector", "lanes", "space"), [("float4", 4, ""), ("__half2", 2, ""), ("float4", 4, "a::b::")])
def test_vectors_that_a_mangled_name_says_are_asked_about(tmp_path, vector, lanes, space):
    """Its number counts values or vectors; called with as many vectors as values it reads memory of others."""
    requiring.nvcc()
    inside, ends = "".join(f"namespace {each} {{ " for each in space.split("::")[:-1]), "}" * space.count("::")
    (tmp_path / "k.cu").write_text(f"""#include <cuda_fp16.h>
{inside}__global__ void relu({vector} const *x, {vector} *y, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}}{ends}""")
    file = nvcc.ptx_of(tmp_path / "k.cu", [], "sm_90")
    mangled = re.search(r"\.entry (\w+)", Path(file).read_text())[1]
    line = rf"f<<<\(n / {lanes} \+ 255\) / 256, 256>>>\(x, y, p3=n / {lanes}\); multiple_of={lanes}"
    for symbol in (mangled, f"{space}relu"):
        with pytest.raises(UsageError, match=f"may count values or vectors of {lanes}: give --call '{line}'"):
            targets.select([f"{file}:{symbol}"], function="relu", dtype={4: "float32", 2: "float16"}[lanes])


TYPES = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
extern "C" {
__global__ void wider_inside(const float *x, float *y, int n) { INDEX; y[i] = (float)fmax((double)x[i], 0.0); }
__global__ void narrower_inside(const float *x, float *y, int n)
{ INDEX; y[i] = x[i] > 0 ? x[i] : __half2float(__float2half(fmaxf(x[i], 0))); }
__global__ void doubles(const double *x, double *y, int n) { INDEX; y[i] = fmaxf((float)x[i], 0); }
__global__ void halves(const __half *x, __half *y, int n) { INDEX; y[i] = __float2half(fmaxf(__half2float(x[i]), 0)); }
__global__ void bits(const unsigned short *x, unsigned short *y, int n) { INDEX; y[i] = x[i] >> 15 ? 0 : x[i]; }
__global__ void wider(const __half *x, float *y, int n) { INDEX; y[i] = fmaxf(__half2float(x[i]), 0); }
__global__ void fours(const float4 *x, float4 *y, int n)
{ INDEX; float4 v = x[i]; y[i] = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0)); }
__global__ void pairs(const __half2 *x, __half2 *y, int n) { INDEX; y[i] = __hmax2(x[i], __float2half2_rn(0)); }
__global__ void rounded(const __nv_bfloat162 *x, __nv_bfloat162 *y, int n)
{ INDEX; float2 v = __bfloat1622float2(x[i]); y[i] = __float22bfloat162_rn(make_float2(fmaxf(v.x, 0), fmaxf(v.y, 0))); }
__global__ void whole(const __half2 *x, __half2 *y, int n) { INDEX; y[i] = __hmax2_nan(x[i], __hsub2(x[i], x[i])); }
__global__ void by_int2(const int2 *x, double *y, int n)
{ INDEX; int2 v = __ldg(x + i); double d = __hiloint2double(v.y, v.x); y[i] = d < 0 ? 0 : d; }
__global__ void eights(const uint4 *x, uint4 *y, int n)
{
    INDEX; uint4 v = x[i]; __half2 *h = (__half2 *)&v;
    for (int k = 0; k < 4; k++) h[k] = __hmax2(h[k], __float2half2_rn(0));
    y[i] = v;
}
__global__ void shifted(const unsigned *x, unsigned *y, int n)
{
    INDEX; float low = fmaxf(__uint_as_float(x[i] << 16), 0), high = fmaxf(__uint_as_float(x[i] & 0xffff0000u), 0);
    y[i] = __float_as_uint(low) >> 16 | __float_as_uint(high);
}
__global__ void split(const float *x, float *y, int n)
{ INDEX; float high = __uint_as_float(__float_as_uint(x[i]) & ~0xffffu); y[i] = x[i] > 0 ? high + (x[i] - high) : 0; }
__global__ void quantised(const float *x, unsigned char *y, int n) { INDEX; y[i] = (unsigned char)fmaxf(x[i], 0); }
__global__ void of_integers(const int *x, float *y, int n) { INDEX; y[i] = fmaxf((float)x[i], 0); }
__global__ void integers(const int *x, int *y, int n) { INDEX; y[i] = max(x[i], 0); }
__global__ void masked(const float *x, float *y, unsigned char *keep, int n)
{ INDEX; y[i] = fmaxf(x[i], 0); keep[i] = x[i] > 0; }
}
__global__ void wide_bits(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n)
{ INDEX; unsigned short b = ((const unsigned short *)x)[i]; ((unsigned short *)y)[i] = b >> 15 ? 0 : b; }
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory):
    requiring.nvcc()
    folder = tmp_path_factory.mktemp("types")
    (folder / "k.cu").write_text(TYPES)
    text = nvcc.ptx_of(folder / "k.cu", [], "sm_90").read_bytes()
    (folder / "k.ptx").write_bytes(b"// M\xfcller\n" + text)
    return folder / "k.ptx"


@pytest.mark.parametrize(
    ("symbol", "options", "dtype"),
    [
        ("wider_inside", {}, "float32"),
        ("narrower_inside", {}, "float32"),
        ("doubles", {}, "float64"),
        ("halves", {}, "float16"),
        ("wide_bits", {}, "bfloat16"),
        ("bits", {"dtype": "bfloat16"}, "bfloat16"),
        ("fours", {"call": "f<<<(n / 4 + 255) / 256, 256>>>(x, y, n / 4); multiple_of=4"}, "float32"),
        ("pairs", {"call": "f<<<(n / 2 + 255) / 256, 256>>>(x, y, n / 2); multiple_of=2"}, "float16"),
        ("rounded", {"call": "f<<<(n / 2 + 255) / 256, 256>>>(x, y, n / 2); multiple_of=2"}, "bfloat16"),
        ("whole", {"call": "f<<<(n / 2 + 255) / 256, 256>>>(x, y, n / 2); multiple_of=2"}, "float16"),
        ("eights", {"call": "f<<<(n / 8 + 255) / 256, 256>>>(x, y, n / 8); multiple_of=8"}, "float16"),
        ("by_int2", {}, "float64"),
        ("shifted", {"call": "f<<<(n / 2 + 255) / 256, 256>>>(x, y, n / 2); multiple_of=2"}, "bfloat16"),
        ("split", {}, "float32"),
        ("masked", {"call": "f(x, y, zeros(bytes), n)"}, "float32"),
    ],
)
def test_its_dtype_is_that_of_what_it_reads_and_writes(types, symbol, options, dtype):
    (target,), _ = targets.select([f"{types}:{symbol}"], function="relu", **options)
    fmt = get_format(dtype)
    x = [fmt.parse(text) for text in ("-2", "-0.5", "0.25", "3") * 64]
    want = [0 if fmt.is_negative(each) else each for each in x]
    assert (target.dtypes, target.executed.split(",")[1]) == ((dtype,), " sm_90")
    assert target.evaluate(dtype, np.array(x, fmt.uint)).tolist() == want


@pytest.mark.parametrize(
    ("symbol", "options", "message"),
    [
        ("wider", {}, "its input and its output are of different types"),
        ("bits", {}, "nothing says which dtype"),
        ("bits", {"dtype": "float32"}, "its values have at most 16 bits, and float32 was said"),
        ("wider_inside", {"dtype": "float64"}, "its values are of float32, and float64 was said"),
        ("fours", {}, r"n may count values or vectors of 4: .*p3=n / 4\); multiple_of=4"),
        ("eights", {}, r"n may count values or rows of 8: .*p3=n / 8\); multiple_of=8"),
        ("quantised", {}, "reads or writes only bytes"),
        ("integers", {}, "nothing says which dtype"),
        ("of_integers", {}, "nothing says which dtype"),
        ("pairs", {}, r"n may count values or vectors of 2: .*p3=n / 2\); multiple_of=2"),
    ],
)
def test_what_is_not_clear_of_its_values_is_asked(types, symbol, options, message):
    with pytest.raises(UsageError, match=message):
        targets.select([f"{types}:{symbol}"], function="relu", **options)


FORMS = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define INDEX(n) int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
extern "C" {
__global__ void scaled(const float *x, float *y, float a, int n) { INDEX(n); y[i] = a * fmaxf(x[i], 0); }
__global__ void scaled_half(const __half *x, __half *y, __half a, int n)
{ INDEX(n); y[i] = __hmul(a, __hmax(x[i], 0)); }
__global__ void counted_short(const float *x, float *y, short n) { INDEX(n); y[i] = fmaxf(x[i], 0); }
__global__ void mixed(const float *x, float *y, int n)
{
    INDEX(n); __nv_bfloat162 pair = __hmul2(__floats2bfloat162_rn(x[i], 1), __floats2bfloat162_rn(0, 0));
    y[i] = x[i] > 0 ? x[i] + __low2float(pair) : 0;
}
__global__ void packed(const float4 *x, float4 *y, int n)
{
    INDEX(n / 8); float4 v = x[i]; __half2 *h = (__half2 *)&v;
    for (int k = 0; k < 4; k++) h[k] = __hmax2(h[k], __float2half2_rn(0));
    y[i] = v;
}
__global__ void relu_half(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n)
{ INDEX(n); y[i] = __float2bfloat16(fmaxf(__bfloat162float(x[i]), 0)); }
__global__ void quarters(const float *x, float *y, int n)
{ INDEX(n); for (int k = 0; k < 4; k++) y[4 * i + k] = fmaxf(x[4 * i + k], 0); }
__global__ void in_bytes(const float *x, float *y, long size) { INDEX(size / 4); y[i] = fmaxf(x[i], 0); }
__global__ void added(const float *x, float *y, int n) { INDEX(n); y[i] += fmaxf(x[i], 0); }
__global__ void one_more(const float *x, float *y, int n) { INDEX(n + 1); y[i] = fmaxf(x[i], 0); }
__global__ void no_tail(const float *x, float *y, int n) { INDEX((n & ~255)); y[i] = fmaxf(x[i], 0); }
__global__ void no_tail_of_16(const float *x, float *y, int n) { INDEX((n & ~15)); y[i] = fmaxf(x[i], 0); }
__global__ void positive_only(const float *x, float *y, int n) { INDEX(n); if (x[i] > 0) y[i] = x[i]; }
__global__ void __launch_bounds__(64) in_shared(const float *x, float *y, int n)
{ extern __shared__ float s[]; s[threadIdx.x] = 0; INDEX(n); y[i] = fmaxf(x[i], s[threadIdx.x]); }
__global__ void rows(const float *x, float *y)
{ for (int k = threadIdx.x; k < 768; k += blockDim.x) y[blockIdx.x * 768 + k] = fmaxf(x[blockIdx.x * 768 + k], 0); }
}
"""


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    requiring.nvcc()
    folder = tmp_path_factory.mktemp("forms")
    (folder / "k.cu").write_text(FORMS)
    text = nvcc.ptx_of(folder / "k.cu", [], "sm_90").read_text()
    text = re.sub(r"(ld|st)\.(param|global)\.f32", r"\1.\2.b32", text)  # as LLVM writes them since 21: bits
    (folder / "k.ptx").write_text(text)
    return folder / "k.ptx"


@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("scaled", "(x, y, param_2=1.0f, n)"),
        ("scaled_half", "(x, y, param_2=1.0, n)"),
        ("counted_short", ""),
        ("packed", "(x, y, n); multiple_of=8"),
        ("relu_half", ""),
        ("quarters", "p3=n / 4); multiple_of=4"),
        ("in_bytes", "(x, y, p3=bytes)"),
        ("added", "(x, y=zeros, n)"),
        ("in_shared", "<<<(n + 63) / 64, 64, 49152>>>(x, y, n)"),
        ("rows", "<<<n / 768, 256>>>(x, y); multiple_of=768"),
    ],
)
def test_a_form_that_works_is_offered_where_the_first_does_not(forms, symbol, line):
    dtype, options = {"scaled_half": "float16", "packed": "float16", "relu_half": "bfloat16"}.get(symbol, "float32"), {}
    if line:
        with pytest.raises(UsageError, match="give --call") as raised:
            targets.select([f"{forms}:{symbol}"], function="relu")
        (offered, *_) = re.findall(r"--call '(.*?)'", str(raised.value))
        assert line in offered
        options = {"call": offered}
    (target,), _ = targets.select([f"{forms}:{symbol}"], function="relu", **options)
    fmt = get_format(dtype)
    x = [fmt.parse(text) for text in ("-2", "-0.5", "0.25", "3", "1") * 200]
    want = [0 if fmt.is_negative(each) else each for each in x]
    assert target.dtypes == (dtype,)
    assert target.evaluate(dtype, np.array(x, fmt.uint)).tolist() == want


@pytest.mark.parametrize("symbol", ["one_more", "no_tail", "no_tail_of_16", "positive_only"])
def test_no_form_hides_a_fault(forms, symbol):
    """An overrun, outputs that are left: the kernel is judged as it is called, and nothing is asked."""
    (target,), _ = targets.select([f"{forms}:{symbol}"], function="relu")
    assert "n / " not in target.note.partition("(")[2]
    assert "zeros" not in target.note
    x = np.array([-1, 2] * 150 + [1], np.float32).view(np.uint32)
    if symbol != "one_more":  # after which nothing is executed in this process
        assert not (target.evaluate("float32", x) == np.where(x >> 31, 0, x)).all()


def test_pairs_that_are_neither_loaded_nor_stored_say_nothing(forms):
    with pytest.raises(UsageError, match=r"give --dtype \(bfloat16 or float32\)"):
        targets.select([f"{forms}:mixed"], function="relu")
    (target,), _ = targets.select([f"{forms}:mixed"], function="relu", dtype="float32")
    assert target.evaluate("float32", np.array([0xBF800000, 0x40000000], np.uint32)).tolist() == [0, 0x40000000]
