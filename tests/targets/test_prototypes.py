"""C functions of other forms, called as a prototype says: `--call`."""

import platform
import re
import subprocess

import numpy as np
import pytest
import requiring
from foreign import bits, chosen, compile_apart, needs_cc, shared_library, some_bits
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly
from program import PROGRAM

from gelu_verify import targets, verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import get_format
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.targets import incoming
from gelu_verify.targets.declarations.prototype import Prototype
from gelu_verify.work.packing import array_of_text

pytestmark = needs_cc
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="vectors of x86-64")

# Every function negates; n is the number of values.
SOURCE = """
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint16_t ggml_fp16_t;
struct params { float alpha, beta; };
#define EACH for (size_t i = 0; i < n; i++)
void bytes_first(size_t size, const float *x, float *y, const void *p)
{
    size_t n = p ? 0 : size / sizeof(float);
    EACH y[i] = -x[i];
}
void reversed(const int n, double *y, const double *x) { EACH y[i] = -x[i]; }
void halves(float *unused, int n, ggml_fp16_t *y, const ggml_fp16_t *x) { EACH y[i] = x[i] ^ 0x8000; }
void in_place(float *x, int n) { EACH x[i] = -x[i]; }
int status(const float *x, float *y, size_t n) { EACH y[i] = -x[i]; return n == 3 ? -7 : 0; }
int count(const float *x, float *y, int n) { EACH y[i] = -x[i]; return n == 3 ? 2 : n; }
bool well(const float *x, float *y, size_t n) { EACH y[i] = -x[i]; return n != 3; }
void constants(const float *x, float *y, size_t n, float alpha, int k) { EACH y[i] = k == 3 ? x[i] * alpha : 0; }
void zeroed(const float *x, float *y, size_t n, const struct params *p)
{
    EACH y[i] = p->alpha == 0 && p->beta == 0 ? -x[i] : 0;
}
float scalar(float x, int k) { return k * x; }
#define SIGMOID (1 / (1 + exp(-(double)x[i])))
#define SILU_GRAD (float)(SIGMOID * (1 + x[i] * (1 - SIGMOID)))
void times(float *dy, float *x, float *y, int n) { EACH y[i] = dy[i] * x[i]; }
float product(float dy, float x) { return dy * x; }
void silu_f32(const float *dy, const float *x, float *y, int n) { EACH y[i] = dy[i] * SILU_GRAD; }
void ignoring_f32(const float *dy, const float *x, float *y, int n) { EACH y[i] = SILU_GRAD; }
void writes(float *x, float *y, size_t n) { EACH y[i] = -x[i]; x[0] = 3; }
static float first_of(const float *x) { return x[0]; }
void reads(const float *x, float *y, size_t n) { EACH y[i] = -x[i]; volatile float v = first_of(x + n + 3); (void)v; }
void uses(const float *x, float *y, size_t n) { EACH y[i] = -x[i]; memcpy(y, x + n, 4); }
#ifdef __FLT16_MAX__
_Float16 half(_Float16 x) { return -x; }
#endif
"""
VECTORS = """
#include <immintrin.h>
__attribute__((target("avx"))) __m256 eight(__m256 x) { return _mm256_sub_ps(_mm256_set1_ps(-0.0f), x); }
__m128d two(__m128d x) { return _mm_sub_pd(_mm_set1_pd(-0.0), x); }
"""
FORMS = {
    "bytes_first": ("void f(size_t bytes, const float *x, float *y, const void *params=NULL)", "float32"),
    "reversed": ("void reversed(const int n, double *restrict y, const double *restrict x);", "float64"),
    "halves": ("void f(float *out=NULL, int n, uint16_t *y, const uint16_t *x)", "bfloat16"),
    "in_place": ("void f(float x[], int n)", "float32"),
    "status": ("int f(const float *x, float *y, size_t n)", "float32"),
    "count": ("int f(const float *x, float *y, int n)", "float32"),
    "well": ("bool f(const float *x, float *y, size_t n)", "float32"),
    "constants": ("void f(const float *x, float *y, size_t n, float alpha=-1.0f, int k=(1, 3))", "float32"),
    "scalar": ("float f(float x, int k=-1)", "float32"),
}


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    compile_apart(tmp_path, monkeypatch)


@pytest.fixture(params=["source", "library"])
def file(request, tmp_path):
    if request.param == "library":
        return shared_library(tmp_path, SOURCE, "libshapes.so", "-w")
    (tmp_path / "shapes.c").write_text(SOURCE)
    return tmp_path / "shapes.c"


def negates(target, n=19):
    """Whether it does, for n values that are not NaN."""
    (dtype,) = target.dtypes
    fmt = get_format(dtype)
    x = some_bits(dtype, n) & fmt.uint.type(fmt.sign_mask - 1) % fmt.uint.type(fmt.infinity)
    return np.array_equal(target.evaluate(dtype, x), x ^ fmt.uint.type(fmt.sign_mask))


@pytest.mark.few(6)
@pytest.mark.parametrize("how", ["apart", "in place", "by address", "bytes", "demanding", "backward"])
@pytest.mark.parametrize("count", ["uint8_t", "signed char", "uint16_t", "short", "int"])
def test_no_call_is_longer_than_its_count_can_say(tmp_path, count, how):
    """A count that begins again at zero was blamed on the function, which was never called with so many."""
    held = {"uint8_t": 255, "signed char": 127, "uint16_t": 65535, "short": 32767}.get(count)
    call = {
        "apart": f"void f(const float *x, float *y, {count} n)",
        "in place": f"void f(float *x, {count} n)",
        "by address": f"void f(const float *x, float *y, const {count} *n)",
        "bytes": f"void f(const float *x, float *y, {count} bytes)",
        "demanding": f"void f(const float *x, float *y, {count} n); multiple_of=4; at_least=8; aligned=32",
        "backward": f"void f(const float *x, const float *dy, float *y, {count} n)",
    }[how]
    limit = "n % 4 || n < 8 || (uintptr_t)x % 32" if how == "demanding" else "0"
    number = {"by address": "*n", "bytes": "bytes / 4"}.get(how, "n")
    y, right = ("x[i]", "-x[i]") if how == "in place" else ("y[i]", "-x[i] * dy[i]" if how == "backward" else "-x[i]")
    (tmp_path / "k.c").write_text(f"""
#include <math.h>
#include <stdint.h>
{call.partition(";")[0].replace("void f", "void silu_f32")}
{{
    long m = {number}, wrong = {limit.replace("n", "m", 2)};
    for (long i = 0; i < m; i++) {y} = wrong ? NAN : {right};
}}
""")
    target = chosen(f"{tmp_path / 'k.c'}:silu_f32", call=call)
    most = held and (held // 4 if how == "bytes" else held - held % 8 if how == "demanding" else held)
    assert (f"with at most {most or 0:,} values at once" in target.note) == (held is not None)
    for n in (1, *((most, most + 1, 2 * most + 3) if most else ()), 100_000):
        assert negates(target, n)


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        ("const float *x, float *y, int n, uint8_t odd=n % 2", 0),
        ("char trans='n', const float *x, float *y, int n", 0),
        ("const float *x, float *y, int n, uint8_t pad=0 * n, uint8_t none=n * 0", 0),
        ("const float *x, float *y, int n, const uint8_t *last=(const uint8_t *)(x + n)", 0),
        ("const float *x, float *y, uint8_t rows=n / 16", 255 * 16),
        ("const float *x, float *y, int n, uint16_t nb=n * 4", 65535 // 4),
        ("const float *x, float *y, uint8_t bytes, short n", 255 // 4),
        ("const void *x, void *y, uint16_t bytes", 65535 // 4),
        ("const uint16_t *x, uint16_t *y, size_t n", 0),
    ],
)
def test_what_counts_values_in_a_narrow_type(parameters, most):
    prototype = Prototype.parsed(f"void f({parameters})", "f")
    assert prototype.most(4) == most
    assert f"at most {most:,} " in prototype.at_once(4) or not most


def test_a_count_that_holds_fewer_than_are_demanded_is_refused():
    line = "void f(const float *x, float *y, uint8_t n); at_least={}"
    assert Prototype.parsed(line.format(127), "f").most(4) == 255
    for demanded in ("128", "8; aligned=512"):  # a half of the latter would be 0
        with pytest.raises(UsageError, match="and its count does not hold two such numbers"):
            Prototype.parsed(line.format(demanded), "f")


@given(
    st.sampled_from(["uint8_t", "int8_t", "uint16_t", "int"]), st.integers(1, 300), st.integers(1, 300),
    st.sampled_from([1, 16, 64, 512]), st.integers(1, 200_000),
)  # fmt: skip
def test_calls_of_a_narrow_count_are_what_is_demanded(count, multiple, least, aligned, n):
    """Each is as long as its type holds, or shorter, and together they are all."""
    contract = f"multiple_of={multiple}; at_least={least}; aligned={aligned}"
    try:
        made = Prototype.parsed(f"void f(const float *x, float *y, {count} n); {contract}", "f")
    except UsageError:
        return
    n = made.contract.length(n)
    found = list(made.lengths(n, 4))
    held = {"uint8_t": 255, "int8_t": 127, "uint16_t": 65535}.get(count, n)
    assert sum(found) == n
    if made.most(4) or count == "int":
        assert all(least <= each <= held and each % multiple == 0 for each in found)
        assert all(4 * each % aligned == 0 for each in found[:-1])  # where the next one begins


@pytest.mark.few(4)
@pytest.mark.parametrize("symbol", FORMS)
def test_a_function_is_called_as_its_prototype_says(file, symbol):
    call, dtype = FORMS[symbol]
    target = chosen(f"{file}:{symbol}", call=call, dtype=dtype if symbol == "halves" else None)
    assert target.dtypes == (dtype,)
    assert f"called as {call.partition(';')[0]}" in target.note
    assert negates(target)
    assert negates(target, 1)


GRADIENT = "void f(const float *dy, const float *x, float *y, int n)"


@pytest.mark.parametrize(
    ("symbol", "call"),
    [
        ("times", f"{GRADIENT}; aligned=64; multiple_of=8"),
        ("times", GRADIENT),
        ("product", "float f(float dy, float x)"),
    ],
)
def test_a_gradient_takes_that_of_the_result(tmp_path, symbol, call):
    library = shared_library(tmp_path, SOURCE, "libshapes.so", "-w")
    target = chosen(f"{library}:{symbol}", call=call)
    assert target.function == "gelu_grad"
    x = bits("float32", "1", "2", "-3")
    for values in ([1.0], [-0.5], [2.0, 0.25]):
        (text,) = incoming.outputs(target, "float32", x.tolist(), [values])
        due = np.resize(np.float32(values), 3) * x.view(np.float32)
        assert array_of_text(text, np.float32).tolist() == due.tolist()


@pytest.mark.parametrize(("symbol", "ignores"), [("silu_f32", False), ("ignoring_f32", True)])
def test_a_gradient_that_ignores_that_of_the_result_is_found(tmp_path, symbol, ignores):
    library = shared_library(tmp_path, SOURCE, "libshapes.so", "-w")
    found = verify(
        chosen(f"{library}:{symbol}", call=GRADIENT, function="silu_grad"), "silu_grad", "float32", "landmarks"
    )
    assert ("incoming_gradient" in found.failed_checks) == ignores


def test_memory_of_zeros_stands_for_parameters(file):
    kind = "const struct params *" if file.suffix == ".c" else "const void *"
    call = f"void f(const float *x, float *y, size_t n, {kind}p=zeros(8))"
    assert negates(chosen(f"{file}:zeroed", call=call))


MASKED = """
#include <stddef.h>
void masked(const float *x, const float *bias, float *y, float *mask, size_t n)
{
    if ((size_t)mask % 64)
        __builtin_trap();
    for (size_t i = 0; i < n; i++) {
        mask[i] += 1;
        y[i] = -x[i] + bias[i] + (mask[i] - 1);
    }
}
"""


@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_what_a_message_says_of_further_arrays_can_be_typed(tmp_path, suffix):
    """An array for each call, of zeros, as long as x: another output, or a bias."""
    path = tmp_path / f"masked{suffix}"
    path.write_text(MASKED.replace("void masked", 'extern "C" void masked') if suffix == ".cpp" else MASKED)
    with pytest.raises(UsageError, match=r"bias and mask need a value") as said:
        chosen(f"{path}:masked")
    (call,) = re.findall(r"--call '(.*)'", str(said.value))
    assert call == "f(x, bias=zeros(bytes), y, mask=zeros(bytes), n)"
    target = chosen(f"{path}:masked", call=call)
    for n in (1, 17, 100_000):
        x = np.linspace(1, 2, n, dtype=np.float32)
        assert (target.evaluate("float32", x.view(np.uint32)).view(np.float32) == -x).all()


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(24))
def test_arrays_of_a_declared_size_are_called_with_as_many(tmp_path, seed):
    """Random shapes: of a source as declared, of a library as `--call` declares it or as `exactly` says."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 8, rng.integers(1, 4)).tolist()
    kind, dtype = (("float", "float32"), ("double", "float64"))[rng.integers(2)]
    sizes, names = "".join(f"[{n}]" for n in shape), ["x", "y"] if rng.integers(2) else ["x"]
    given = ", ".join(f"{'const ' * (name != names[-1])}{kind} {name}{sizes}" for name in names)
    values = f"{kind} *to = ({kind} *){names[-1]}; const {kind} *from = (const {kind} *)x;"
    loop = f"for (int i = 0; i < {np.prod(shape)}; i++) to[i] = -from[i];"
    source = f'extern "C" void fixed({given}) {{ {values} {loop} }}'
    suffix = (".c", ".cpp")[rng.integers(2)]
    file = tmp_path / f"fixed{suffix}"
    file.write_text(source if suffix == ".cpp" else source.removeprefix('extern "C" '))
    library = shared_library(tmp_path, source.removeprefix('extern "C" '), "libfixed.so")
    flat = ", ".join(f"{kind} *{name}" for name in names)
    calls = {file: None, library: f"void f({given})"}
    for path, call in (*calls.items(), (library, f"void f({flat}); exactly={np.prod(shape)}")):
        target = chosen(f"{path}:fixed", call=call)
        assert target.dtypes == (dtype,)
        assert f"only with {np.prod(shape)} values at once" in target.note
        assert all(negates(target, n) for n in (1, int(np.prod(shape)), 19, 1000))


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_number_of_values_is_passed_by_its_address(tmp_path, seed):
    """As Fortran does: of a source by name and type, of a library by the prototype; asked where it is written to."""
    rng = np.random.default_rng(seed)
    whole, kind = rng.choice(["int", "long", "size_t", "unsigned", "int64_t"]), rng.choice(["float", "double"])
    parts = [f"const {kind} *x", f"{kind} *y", f"{'const ' * rng.integers(2)}{whole} *n"]
    parts = [parts[i] for i in rng.permutation(3)]
    writes = "const " + whole not in " ".join(parts) and rng.integers(2)
    loop = "for (int64_t i = 0; i < (int64_t)*n; i++) y[i] = -x[i];" + " *n = 7;" * writes
    source = f"#include <stddef.h>\n#include <stdint.h>\nvoid negate_({', '.join(parts)}) {{ {loop} }}"
    (path := tmp_path / rng.choice(["k.c", "k.cpp"])).write_text(source)
    library = shared_library(tmp_path, source, "libk.so")
    asked: str | None = None
    if writes:
        with pytest.raises(UsageError, match="n may point to the number of values or not: give --call '") as said:
            chosen(f"{path}:negate_")
        (asked,) = re.findall(r"--call '(.*)'", str(said.value))
    for file, call in ((path, asked), (library, f"void f({', '.join(parts)})")):
        target = chosen(f"{file}:negate_", call=call)
        assert all(negates(target, n) for n in (1, 19, 1000))


ROWS = """
float twice(float x) { return 2 * x; }
void rows(const float x[][6], float y[][6], int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < 6; j++) y[i][j] = -x[i][j];
}
void applied(float (*of)(float), const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = of(x[i]); }
void bounded(const float *x, float *y, int n, const int *size)
{
    for (int i = 0; i < n && i < *size; i++) y[i] = -x[i];
}
void half_said(const float x[8], float *y) { for (int i = 0; i < 8; i++) y[i] = -x[i]; }
void flagged(const float x[8], float y[8], unsigned char *flag)
{
    for (int i = 0; i < 8; i++) y[i] = flag[i]++ ? 0 : -x[i];
}
"""


@pytest.mark.few(4)
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
@pytest.mark.parametrize(
    ("symbol", "why", "call"),
    [
        ("rows", "count may count values or rows of 6", "f(x, y, count=n / 6); multiple_of=6"),
        ("half_said", "it does not say how many values there are", "f(x, y); exactly=8"),
        ("bounded", "size needs a value", "f(x, y, n, size=&n)"),
        ("flagged", "flag needs a value", "f(x, y, flag=zeros(bytes))"),
        ("applied", "of needs a function, whose name replaces NAME", "f(of=NAME, x, y, n)"),
    ],
)
def test_what_a_message_says_can_be_typed(tmp_path, suffix, symbol, why, call):
    (tmp_path / f"rows{suffix}").write_text(ROWS)
    with pytest.raises(UsageError, match=re.escape(f"{why}: give --call '{call}'")):
        chosen(f"{tmp_path}/rows{suffix}:{symbol}")
    target = chosen(f"{tmp_path}/rows{suffix}:{symbol}", call=call.replace("NAME", "twice"))
    if symbol != "applied":
        assert negates(target, 1000)
        return
    x = np.linspace(1, 2, 9, dtype=np.float32)
    assert (target.evaluate("float32", x.view(np.uint32)).view(np.float32) == 2 * x).all()


def test_a_source_may_be_given_any_value(tmp_path):
    (tmp_path / "shapes.c").write_text(SOURCE)
    value = "&(struct params){.alpha = 0, .beta = 0}"
    call = f"void f(const float *x, float *y, size_t n, const struct params *p={value})"
    assert negates(chosen(f"{tmp_path}/shapes.c:zeroed", call=call))


@pytest.mark.few(3)
@pytest.mark.parametrize(("symbol", "status"), [("status", "-7"), ("well", "1"), ("count", "2")])
def test_a_status_that_says_failure_is_a_failure(file, symbol, status):
    target = chosen(f"{file}:{symbol}", call=FORMS[symbol][0])
    with pytest.raises(TargetFailure, match=rf"{symbol} returned status {status}$") as raised:
        target.evaluate("float32", bits("float32", "1", "2", "3"))
    assert raised.value.kind == "status"


def test_the_example_of_a_place_is_zero(tmp_path):
    (tmp_path / "k.c").write_text(
        "void part(float *y, const float *x, int start, int end) { while (start < end) y[start++] = x[0]; }"
    )
    with pytest.raises(UsageError, match=r"start needs a value: give --call 'f\(y, x, start=0, n\)'"):
        chosen(f"{tmp_path}/k.c:part")


@pytest.mark.parametrize(
    ("file", "result", "made"),
    [
        ("k.c", "struct s { int code; }; struct s", "(struct s){0}"),
        ("k.cpp", "enum class E { ok }; struct s {}; s", "{}"),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_result_that_is_no_status_is_refused(tmp_path, monkeypatch, file, result, made, compiler):
    requiring.program(compiler)
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setenv("CXX", {"gcc": "g++"}.get(compiler, "clang++"))
    (tmp_path / file).write_text(f"{result} odd(const float *x, float *y, int n) {{ return {made}; }}\n")
    with pytest.raises(UsageError, match=r"'odd' in .* is declared .*, and its result is no status"):
        chosen(f"{tmp_path}/{file}:odd")


def test_an_enumeration_with_a_scope_is_a_status(tmp_path):
    (tmp_path / "k.cpp").write_text(
        "enum class E { ok, no };\n"
        "E negated(const float *x, float *y, int n)\n"
        "{ for (int i = 0; i < n; i++) y[i] = -x[i]; return n == 3 ? E::no : E::ok; }\n"
    )
    target = chosen(f"{tmp_path}/k.cpp:negated")
    assert target.evaluate("float32", bits("float32", "2")) == bits("float32", "-2")
    with pytest.raises(TargetFailure, match="returned status 1"):
        target.evaluate("float32", bits("float32", "1", "2", "3"))


def test_a_scalar_half_needs_no_prototype_in_a_source(tmp_path):
    (tmp_path / "shapes.c").write_text(SOURCE)
    if (
        "__FLT16_MAX__"
        not in subprocess.run(
            ["cc", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True, check=True
        ).stdout
    ):
        pytest.skip("needs _Float16")
    target = chosen(f"{tmp_path}/shapes.c:half")
    assert target.dtypes == ("float16",)
    assert negates(target)
    library = shared_library(tmp_path, SOURCE, "libhalf.so", "-w")
    assert negates(chosen(f"{library}:half", call="_Float16 f(_Float16 x)"))


@pytest.mark.few(1)
@x86
@pytest.mark.parametrize("symbol", ["eight", "two"])
def test_vectors(tmp_path, symbol):
    (tmp_path / "vectors.c").write_text(VECTORS)
    library = shared_library(tmp_path, VECTORS, "libvectors.so")
    call, dtype = {"eight": ("__m256 f(__m256 x)", "float32"), "two": ("__m128d f(__m128d x)", "float64")}[symbol]
    for file in (library, tmp_path / "vectors.c"):
        target = chosen(f"{file}:{symbol}", call=call)
        assert target.dtypes == (dtype,)
        for n in (1, 7, 8, 19):
            assert negates(target, n)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc" or platform.machine() != "x86_64", reason="libmvec")
def test_the_vectors_of_the_c_library():
    target = chosen("libmvec.so.1:_ZGVbN4v_erff", call="__m128 f(__m128 x)", function="erf")
    assert verify(target, "erf", "float32", "landmarks").max_ulp < 4


def outcome(name, call):
    """What a call in a process of its own, between guard pages, ends with."""
    with Hosts() as hosts:
        (target,), _ = targets.select([name], call=call, find=hosts.find, load=hosts._load)
        try:
            return negates(target), target.note, target.noted("float32")
        except TargetFailure as failure:
            return failure.kind, target.note, None


READS = "void f(const float *x, float *y, size_t n)"


@pytest.mark.few(1)
def test_reading_beyond_the_input_is_allowed_by_contract_only(file):
    assert outcome(f"{file}:reads", READS)[0] == "out of bounds"
    ok, note, noted = outcome(f"{file}:reads", f"{READS}; oob_reads=16")
    assert ok is True
    assert noted is None
    assert "may read 16 bytes beyond its input" in note
    assert outcome(f"{file}:reads", f"{READS}; oob_reads=8")[0] == "segfault"


def test_what_lies_beyond_the_input_must_not_matter(file):
    *_, noted = outcome(f"{file}:uses", f"{READS}; oob_reads=16")
    assert noted is not None
    assert noted.kind == "nondeterministic"


def test_any_number_of_arguments_is_refused(tmp_path):
    (tmp_path / "v.c").write_text("void f(const float *x, float *y, int n, ...) {}\nfloat g(float x) { return x; }\n")
    with pytest.raises(UsageError, match=r"'f' in .*v.c takes any number of arguments \(...\)"):
        chosen(f"{tmp_path}/v.c:f")
    assert chosen(f"{tmp_path}/v.c:g", function="relu").dtypes == ("float32",)


@x86
def test_another_calling_convention_is_refused(tmp_path):
    """Of which no --call is to blame, as none was given."""
    text = "__attribute__((ms_abi)) void gelu_f32(const float *x, float *y, int n) { for (; n--;) y[n] = -x[n]; }"
    (tmp_path / "ms.c").write_text(text)
    with pytest.raises(UsageError, match=r"cannot be called so: another calling convention .ms_abi. is not supported"):
        chosen(f"{tmp_path}/ms.c:gelu_f32")


def test_an_input_that_is_written_to_is_a_failure_there_too(file):
    target = chosen(f"{file}:writes", call="void f(float *x, float *y, size_t n); oob_reads=16")
    with pytest.raises(TargetFailure, match="changed its input at index 0"):
        target.evaluate("float32", bits("float32", "1", "2"))


@pytest.mark.parametrize(
    ("symbol", "call", "message"),
    [
        (
            "reversed",
            "void f(size_t n, double *y, const double *x)",
            r"is declared void reversed\(const int n, double .*--call says",
        ),
        ("reversed", "void f(const int n, float *y, const float *x)", r"is declared .*double.*--call says .*float"),
        ("in_place", "int f(float *x, int n)", r"is declared void.*--call says int"),
        ("absent", "void f(float *x, int n)", r"no function 'absent' in .*shapes.c"),
        ("in_place", "void f(float *x, int n, int k=absent)", "declared"),
        ("in_place:vector", "void f(float *x, int n)", "says vector and --call says how it is called"),
    ],
)
def test_the_compiler_compares_a_prototype_with_the_source(tmp_path, symbol, call, message):
    (tmp_path / "shapes.c").write_text(SOURCE)
    with pytest.raises(UsageError, match=message) as raised:
        chosen(f"{tmp_path}/shapes.c:{symbol}", call=call)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("f", "is not a C prototype .accepted: 'void f.size_t bytes"),
        ("void f(float *x, int n) reads", "is not a C prototype"),
        ("void f(float *x, int n); oob_reads=x", "is not a C prototype"),
        ("void g(float *x, int n)", "declares 'g', but 'gelu' is tested"),
        ("void f(float *x)", "says nowhere how many values"),
        ("void f(const float *x, float *y, float *mask=zeros(bytes))", "says nowhere how many values"),
        ("float f(float x, float *p=zeros(bytes))", "bytes are those of an array"),
        ("void f(const float *x, int n)", "has no output, because x is const"),
        ("void f(const float *x, const float *y, int n)", "has no output, because y is const"),
        ("void f(const float *x, double *y, int n)", "needs x and y as pointers to the same type"),
        ("void f(float **x, int n)", "needs x and y as pointers"),
        ("void f(float *x, int n, int n)", "two parameters of one name"),
        ("void f(float *x, int n, int k)", "parameter 'int k' cannot be used .*any other needs a value"),
        ("void f(float *x, int n=3)", "parameter 'int n=3' cannot be used"),
        ("void f(float *x, int)", "parameter 'int' cannot be used"),
        ("void f(int n)", "has no input"),
        ("float f(double x)", "takes a value: it must return the same type"),
        ("float f(float x, int n)", "takes a value: .*no y, n or bytes"),
        ("void f(float *x, int n); oob_reads=16", "reads beyond no input"),
        ("float f(float x); oob_reads=16", "reads beyond no input"),
        ("float f(float x); multiple_of=16", "demands something of arrays, but takes none"),
        ("void f(float *x, int n); aligned=48", "demands what no array is"),
        ("void f(float *x, int n); multiple_of=0", "demands what no array is"),
        ("void f(float *x); exactly=0", "demands what no array is"),
        ("void f(float *x); exactly=8; multiple_of=16", "demands two numbers of values"),
        ("void f(float *x); exactly=8; aligned=64", "8 values at once and addresses that are multiples of 64"),
        ("void f(const float x[8], float y[4])", "says nowhere how many values .*; exactly=8"),
        ("void f(float *x, int n); at_least=65537", "demands more than 65,536"),
        ("void f(float *x); exactly=1048577", "demands more than 1,048,576 values at once"),
        ("void f(float *x, int n); at_least=8; at_least=9", "is not a C prototype .*'; at_least=8'"),
        ("void f(float *x, int n) at_least=8", "is not a C prototype"),
        ("long double f(long double x)", "long double, which is not one of the formats"),
    ],
)
def test_a_prototype_that_cannot_be_called_is_named(call, message):
    with pytest.raises(UsageError, match=message) as raised:
        Prototype.parsed(call, "gelu")
    assert "\n" not in str(raised.value)


def test_a_type_that_c_does_not_know_is_named(tmp_path):
    library = shared_library(tmp_path, SOURCE, "libshapes.so", "-w")
    with pytest.raises(UsageError, match=r"--call .* does not compile: error: .*'ggml_fp16_t'"):
        chosen(
            f"{library}:halves",
            call="void f(float *o=NULL, int n, ggml_fp16_t *y, const ggml_fp16_t *x)",
            dtype="float16",
        )
    with pytest.raises(UsageError, match="nothing says which dtype"):
        chosen(f"{library}:halves", call="void f(float *o=NULL, int n, ggml_fp16_t *y, const ggml_fp16_t *x)")
    with pytest.raises(UsageError, match=r"--call .* does not compile"):
        chosen(
            f"{library}:halves", call="void f(float *o=NULL, int n, uint16_t *y, const uint16_t *x)", dtype="float32"
        )


def test_two_libraries_with_one_prototype_keep_to_themselves(tmp_path):
    call, source = "void f(float *x, int n)", "void gelu_f32(float *x, int n) {{ while (n--) x[n] = {n}; }}"
    made = [shared_library(tmp_path, source.format(n=n), f"lib{n}.so") for n in (1, 2)]
    one, two = (chosen(f"{path}:gelu_f32", call=call) for path in made)
    x = bits("float32", "7")
    assert [target.evaluate("float32", x).view("f4")[0] for target in (one, two)] == [1, 2]


def test_another_value_is_another_version(tmp_path):
    library = shared_library(tmp_path, SOURCE, "libshapes.so", "-w")
    (tmp_path / "shapes.c").write_text(SOURCE)
    for file in (library, tmp_path / "shapes.c"):
        call = "float f(float x, int k={})"
        assert len({chosen(f"{file}:scalar", call=call.format(k)).version for k in (-1, 2, -1)}) == 2


@pytest.mark.nightly
def test_the_command_that_repeats_it_has_the_prototype(tmp_path):
    (tmp_path / "shapes.c").write_text(SOURCE)
    command = [*PROGRAM, "run", "shapes.c:status", "--plan", "landmarks"]
    command += ["--call", FORMS["status"][0], "--no-throughput", "--no-report", "--json", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--call 'int f(const float *x, float *y, size_t n)'" in done.stdout, done.stderr
    done = subprocess.run(
        [*command[:5], "numpy.tanh", *command[6:-1], "other"], cwd=tmp_path, capture_output=True, text=True
    )
    takes = "C or C++ source or CUDA source or ONNX model or PTX file or program or shared library or Python"
    assert f"--call is for a {takes}" in done.stderr


READ_FIRST = """
void relu_backward(float *grad, const float *x, int n) { for (int i = 0; i < n; i++) grad[i] *= x[i] > 0; }
void relu_gradient(const float *x, float *grad, int n) { for (int i = 0; i < n; i++) grad[i] = x[i] > 0 ? grad[i] : 0; }
void reglu(float *gate, const float *up, int n) {
    for (int i = 0; i < n; i++) gate[i] = (gate[i] > 0 ? gate[i] : 0) * up[i];
}
void up_reglu(float *up, const float *gate, int n) { for (int i = 0; i < n; i++) up[i] *= gate[i] > 0 ? gate[i] : 0; }
void relu(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i];
    for (int i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}
void relu_rows(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[0 + i] = x[i] > 0 ? x[i] : 0; }
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("symbol", "function", "call"),
    [
        ("relu_backward", "relu_grad", "f(y=dy, x, n)"),
        ("up_reglu", "reglu", "f(y=g, x, n)"),
        ("relu", "relu", None),
        *nightly(
            ("relu_gradient", "relu_grad", "f(x, y=dy, n)"),
            ("reglu", "reglu", "f(x, g, n)"),
            ("relu_rows", "relu", None),
        ),
    ],
)
def test_an_output_that_is_read_before_it_is_written_holds_something(tmp_path, symbol, function, call):
    """Its memory has nothing in it where nobody says so: what came of that was called broken."""
    (tmp_path / "k.c").write_text(READ_FIRST)
    name, asked = f"{tmp_path}/k.c:{symbol}", {"plan": "landmarks", "budget": 0}
    if call:
        with pytest.raises(UsageError, match=f"before it writes to it: give .*--call '{re.escape(call)}'"):
            verify(name, function, "float32", **asked)
    found = verify(name, function, "float32", **asked, **({"call": call} if call else {}))
    assert not found.record.findings.keys() & {"incoming_gradient"} or "incoming_gradient" not in found.failed_checks
    assert found.max_ulp <= 0.5


def test_scratch_memory_may_be_of_a_wider_type(tmp_path):
    (tmp_path / "k.c").write_text("""
void relu(const float *x, float *y, double *tmp, int n) {
    for (int i = 0; i < n; i++) tmp[i] = x[i];
    for (int i = 0; i < n; i++) y[i] = tmp[i] > 0 ? tmp[i] : 0;
}
""")
    call = "f(x, y, tmp=zeros(bytes), n)"
    assert verify(f"{tmp_path}/k.c:relu", "relu", "float32", plan="landmarks", budget=0, call=call).max_ulp == 0


@pytest.mark.few(2)
@pytest.mark.parametrize(("result", "is_one"), [("n", True), ("n * sizeof *x", True), ("n + 1", False), ("-22", False)])
def test_how_many_values_or_bytes_it_wrote_is_no_error_status(tmp_path, result, is_one):
    body = f"for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; return {result};"
    (tmp_path / "k.c").write_text(f"#include <stddef.h>\nsize_t relu(const float *x, float *y, size_t n) {{ {body} }}")
    found = verify(f"{tmp_path}/k.c:relu", "relu", "float32", plan="landmarks", budget=0)
    assert (found.record.failure_kind != "status") == is_one


BROADCAST = """
#include <stddef.h>
void bias_relu(const float *x, const float *bias, float *y, int n, int hidden) {
    for (int i = 0; i < n; i++) { float v = x[i] + bias[i % hidden]; y[i] = v > 0 ? v : 0; }
}
int relu(const float *x, float *y, int n, void *workspace, size_t ws_bytes) {
    if (!workspace || ws_bytes < n * sizeof *x) return -1;
    for (int i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
    return 0;
}
"""


def test_what_is_offered_for_sizes_fits(tmp_path):
    (tmp_path / "k.c").write_text(BROADCAST)
    with pytest.raises(UsageError, match=r"hidden needs a value: give --call 'f\(x, b, y, n, hidden=n\)'"):
        chosen(f"{tmp_path}/k.c:bias_relu", function="bias_gelu")
    call = "f(x, y, n, workspace=zeros(bytes), ws_bytes=bytes)"
    with pytest.raises(UsageError, match=re.escape(f"--call '{call}'")):
        chosen(f"{tmp_path}/k.c:relu")
    assert verify(f"{tmp_path}/k.c:relu", "relu", "float32", plan="landmarks", budget=0, call=call).max_ulp == 0


def test_an_alpha_and_a_beta_make_no_sum(tmp_path):
    """BLAS's beta is that of y; of hard_sigmoid both are of x."""
    (tmp_path / "k.c").write_text("""
void hard_sigmoid(const float *x, float *y, int n, float alpha, float beta) {
    for (int i = 0; i < n; i++) { float v = alpha * x[i] + beta; y[i] = v < 0 ? 0 : v > 1 ? 1 : v; }
}
void relu(int n, float alpha, const float *x, float beta, float *y) {
    for (int i = 0; i < n; i++) y[i] = alpha * (x[i] > 0 ? x[i] : 0) + (beta == 0 ? 0 : beta * y[i]);
}
""")
    for symbol, line in (
        ("hard_sigmoid", r"f\(x, y, n, alpha=1.0f, beta=1.0f\)"),
        ("relu", r"f\(n, alpha=1.0f, x, beta=1.0f, y=zeros\)"),
    ):
        with pytest.raises(UsageError, match=rf"alpha and beta need a value: give --call '{line}'$"):
            chosen(f"{tmp_path}/k.c:{symbol}", function="relu")


@pytest.mark.parametrize(
    ("declared", "does", "line"),
    [
        ("const float *x, float *dst, const int k, const long *ne", "dst[i] = R;", None),
        ("const float *x, float *y, const int *ne", "y[i] = R;", None),
        ("const float *x, float *y, int threads, int start_idx, int end_idx", "y[i] = R;",
         "f(x, y, threads=1, start_idx=0, n)"),
        ("int n, float alpha, float beta, const float *x, float *dy", "dy[i] *= alpha * R + beta;",
         "f(n, alpha=1.0f, beta=1.0f, x, y=dy)"),
        ("const float *x, float *y, const long *x_shape, const long *out_shape, int num_dims", "y[i] = R;",
         "f(x, y, x_shape=&n, out_shape=&n, num_dims=1)"),
    ],
)  # fmt: skip
def test_what_was_decided_or_offered_is_so_beside_names_that_mean_more(tmp_path, declared, does, line):
    """An array that is called ne and not read, a range whose ends are called so, factors called as those of a sum."""
    count = {"const int k": "k", "*ne": "*ne", "end_idx": "end_idx", "int n,": "n", "num_dims": "x_shape[0]"}
    last = next(value for words, value in count.items() if words in declared)
    also = "long m = 1; for (int k = 0; k < num_dims; k++) m *= x_shape[k] == out_shape[k];" * ("num_dims" in declared)
    loop = f"for (long i = 0; i < {last}; i++) {{ {does.replace('R', '(x[i] > 0 ? x[i] : 0)')} }}"
    (tmp_path / "k.c").write_text(f"void relu({declared}) {{ {also} {loop} }}\n")
    if line is None:
        chosen(f"{tmp_path}/k.c:relu", function="relu")
    else:
        with pytest.raises(UsageError, match=re.escape(f"give --call '{line}'")):
            chosen(f"{tmp_path}/k.c:relu", function="relu")


@needs_cc
@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["n", "bytes", "x", "y", "dy", "g", "b"])
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_value_is_what_is_passed_whatever_the_parameter_is_called(tmp_path, name, language):
    default = " = 3" if language == "cpp" else ""
    (tmp_path / f"k.{language}").write_text(
        f"void relu_f32(const float *in, float *out, long count, int {name}{default})\n"
        f"{{ for (long i = 0; i < count; i++) out[i] = {name} == 3 && in[i] > 0 ? in[i] : 0; }}\n"
    )
    for line in ("f(x, y, n, 3)", *["f(x, y, n)"] * bool(default)):
        assert np.array_equal(*relu_of(chosen(f"{tmp_path}/k.{language}:relu_f32", call=line)))


def relu_of(target):
    x = np.linspace(-2, 2, 37, dtype=np.float32)
    return target.evaluate("float32", x.view(np.uint32)).view(np.float32), np.maximum(x, 0)


@needs_cc
def test_a_template_over_iterators_is_made_for_pointers(tmp_path):
    (tmp_path / "k.cpp").write_text(
        "template <class It, class Out> Out relu(It first, It last, Out out)\n"
        "{ for (; first != last; ++first) *out++ = *first > 0 ? *first : 0; return out; }\n"
        "template <class It> void in_place(It begin, It end) { for (; begin != end; ++begin) *begin *= *begin > 0; }\n"
        "template <class T, class U> U converting(T end) { return end > 0 ? end : 0; }\n"
        "template <class T> concept Any = true;\n"
        "template <Any T> T constrained(T x) { return x > 0 ? x : 0; }\n"
    )
    target = chosen(f"{tmp_path / 'k.cpp'}:constrained", function="relu", dtype="float32", cflags="-std=c++20")
    assert np.array_equal(*relu_of(target))
    for name, types in (("relu", "const float *, float *"), ("in_place", "float *"), ("converting", "float, float")):
        with pytest.raises(UsageError, match=rf"such as '.*k\.cpp:{name}<{re.escape(types)}>'"):
            chosen(f"{tmp_path / 'k.cpp'}:{name}", cflags="-std=c++20")


@needs_cc
def test_what_is_wrong_with_a_call_is_what_the_compiler_says(tmp_path):
    (tmp_path / "k.cpp").write_text("void relu_f32(const float *x, float *y, const float *w, int n) {}\n")
    with pytest.raises(UsageError, match=r"invalid operands"):
        chosen(f"{tmp_path / 'k.cpp'}:relu_f32", call="f(x, y, w=y + 1.5f, n)")


@pytest.mark.parametrize(
    ("parameters", "body", "line"),
    [
        ("const float *x, int nx, float *y, int ny", "if (nx != ny) return 1; y[i] = F(x[i])", "f(x, n, y, ny=n)"),
        ("const float *x, int x_offset, float *y, int offy, int n", "y[i + offy] = F(x[i + x_offset])", "x_offset=0,"),
        ("const float *x, float *y, int n, float scale, float bias", "y[i] = scale * F(x[i]) + bias", "bias=0.0f)"),
        ("const float *x, float *y, int n, float zero_point", "y[i] = F(x[i] - zero_point)", "zero_point=0.0f)"),
        ("const double *x, double *y, int n, double eps", "y[i] = F(x[i]) * (1 + eps)", "eps=0.0)"),
        ("const float *x, float *y, int n, float lo, float hi", "y[i] = fminf(fmaxf(F(x[i]), lo), hi)", "lo=-__built"),
        ("const float *x, float *y, int n, int inverse", "y[i] = inverse ? x[i] : F(x[i])", "inverse=0)"),
        ("const float *x, float *y, int n, float beta", "y[i] = F(x[i]) + beta * y[i]", "y=zeros, n, beta=1.0f)"),
    ],
)
def test_a_value_that_is_offered_changes_nothing(tmp_path, parameters, body, line):
    """What is added is 0, a factor 1, a bound infinite: the line that is offered gives what the function is."""
    count = "nx" if "nx" in parameters else "n"
    source = tmp_path / "k.c"
    source.write_text(
        "#include <math.h>\n#define F(x) ((x) > 0 ? (x) : 0)\n"
        f"int relu({parameters}) {{ for (int i = 0; i < {count}; i++) {{ {body}; }} return 0; }}\n"
    )
    with pytest.raises(UsageError, match="give --call") as raised:
        chosen(f"{source}:relu", function="relu")
    offered = re.findall(r"--call '(.*?)'", str(raised.value))[0]
    assert line in offered
    target = chosen(f"{source}:relu", function="relu", call=offered)
    dtype = target.dtypes[0]
    assert target.evaluate(dtype, bits(dtype, "-1", "2", "inf")).tolist() == bits(dtype, "0", "2", "inf").tolist()
