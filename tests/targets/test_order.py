"""Two pointers without const: names say which is the output, or the user is asked; no verdict is guessed."""

import re

import pytest
from foreign import bits, chosen, needs_cc, shared_library

from gelu_verify import targets
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import Limits
from gelu_verify.measure.sweep import sweep
from gelu_verify.targets.kinds._c_abi import ABIS
from gelu_verify.targets.names import symbol_of

pytestmark = needs_cc
SOURCE = """
#include <stddef.h>
#include <stdint.h>
#define EACH for (int i = 0; i < (int)n; i++)
void gelu_forward(float* out, float* inp, int N) { for (int i = 0; i < N; i++) out[i] = -inp[i]; }
void doubles(double *dst, /* a, b */ double *src, size_t n) { EACH dst[i] = -src[i]; }
void halves_bf16(uint16_t *restrict y, uint16_t *restrict x, long n) { EACH y[i] = x[i] ^ 0x8000; }
void arrays(float result[], float input[], unsigned n) { EACH result[i] = -input[i]; }
void forward(float *x, float *y, int n) { EACH y[i] = -x[i]; }
void in_out(float *in, float *out, int n) { EACH out[i] = -in[i]; }
void unclear(float *a, float *b, int n) { EACH b[i] = -a[i]; }
void both(float *x_out, float *y_in, int n) { EACH x_out[i] = -y_in[i]; }
#define MADE(name) void name(float *out, float *in, int n) { EACH out[i] = -in[i]; }
MADE(made)
void first(float *out, const float *in, int n) { EACH out[i] = -in[i]; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    file = tmp_path_factory.mktemp("order") / "order.c"
    file.write_text(SOURCE)
    return file


def selected(source, symbol, **options):
    (found,), _ = targets.select([f"{source}:{symbol}"], function="relu", **options)
    return found


def negated(target):
    fmt = get_format(target.dtypes[0])
    got = target.evaluate(fmt.name, fmt.uint.type(fmt.one).repeat(3))
    return (got == fmt.one | fmt.sign_mask).all()


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("gelu_forward", "void gelu_forward(float *y, float *x, int n), y is out, x is inp"),
        ("doubles", "void doubles(double *y, double *x, size_t n), y is dst, x is src"),
        ("halves_bf16", "void halves_bf16(uint16_t *y, uint16_t *x, long n)"),
        ("arrays", "void arrays(float *y, float *x, unsigned int n), y is result, x is input"),
        ("made", "y is out, x is in"),
        ("forward", "void forward(float *x, float *y, int n)"),
        ("in_out", "x is in, y is out"),
    ],
)
def test_names_that_say_it_are_taken_and_the_note_says_so(source, symbol, said):
    target = selected(source, symbol)
    assert negated(target)
    assert said in target.note


@pytest.mark.parametrize("symbol", ["unclear", "both"])
def test_names_that_say_nothing_are_a_question_with_the_lines_that_answer_it(source, symbol):
    with pytest.raises(UsageError, match="do not say which pointer is the input") as raised:
        selected(source, symbol)
    lines = re.findall(r"--call '(.*?)'", str(raised.value))
    assert sorted(lines) == ["f(x, y, n)", "f(y, x, n)"]
    assert negated(selected(source, symbol, call=lines[symbol == "both"]))


LIBRARY = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#define EACH for (size_t i = 0; i < n; i++)
void reversed_f32(float *out, float *in, size_t n) { EACH out[i] = fmaxf(in[i], 0); }
void reversed_bf16(uint16_t *out, uint16_t *in, size_t n) { EACH out[i] = in[i] & 0x8000 ? 0 : in[i]; }
void forward_f32(float *x, float *y, size_t n) { EACH y[i] = fmaxf(x[i], 0); }
void scratch_f32(float *x, float *y, size_t n) { EACH { x[i] = fmaxf(x[i], 0); y[i] = x[i]; } }
void restores_f32(float *x, float *y, size_t n) { EACH { float v = x[i]; x[i] = 7; y[i] = fmaxf(v, 0); x[i] = v; } }
void crashes_f32(float *x, float *y, size_t n) { x[0] = 7; abort(); }
void ends_f32(float *x, float *y, size_t n) { x[0] = 7; exit(0); }
void nothing_f32(float *x, float *y, size_t n) { }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp("order"), LIBRARY)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("reversed_f32", "void f(float *y, const float *x, size_t n)"),
        ("reversed_bf16", "void f(uint16_t *y, const uint16_t *x, size_t n)"),
    ],
)
def test_a_symbol_of_a_library_that_writes_only_its_first_array_is_a_question(library, symbol, line):
    with pytest.raises(UsageError, match="the output comes first") as raised:
        chosen(f"{library}:{symbol}", function="relu")
    (offered,) = re.findall(r"--call '(.*?)'", str(raised.value))
    assert offered == line
    result = judged(library, symbol, call=offered, dtype="bfloat16" if symbol.endswith("bf16") else None)
    assert (result.failure, result.max_ulp) == (None, 0)


def judged(library, symbol, **options):
    with Hosts(Limits(seconds=3)) as hosts:
        (target,), _ = hosts.select([f"{library}:{symbol}"], function="relu", **options)
        return sweep(target, make_plan("landmarks", "relu", target.dtypes[0]))


@pytest.mark.parametrize("symbol", ["forward_f32", "restores_f32"])
def test_other_symbols_are_called_as_ever(library, symbol):
    target = chosen(f"{library}:{symbol}", function="relu")
    assert target.evaluate("float32", bits("float32", "-1", "2")).tolist() == bits("float32", "0", "2").tolist()


def test_a_library_that_writes_both_arrays_is_broken_and_told_what_else_it_may_be(library):
    line = "void f(float *y, const float *x, size_t n)"
    with Hosts(Limits(seconds=3)) as hosts:
        (target,), _ = hosts.select([f"{library}:scratch_f32"], function="relu")
        with pytest.raises(TargetFailure) as raised:
            target.evaluate("float32", bits("float32", "-1", "2"))
    assert raised.value.kind == "changed input"
    assert f"wrote to its input (if the output comes first, --call '{line}' says so)" in str(raised.value)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("symbol", "kind"),
    [("ends_f32", "changed input"), ("crashes_f32", "changed input"), ("nothing_f32", "partial write")],
)
def test_what_returns_in_no_form_is_loaded_and_judged_as_ever(library, symbol, kind):
    result = judged(library, symbol)
    assert result.record.failure_kind == kind
    assert result.record.failure_range


FORMS = {
    "{T} {name}({T} x) {{ return RELU(x); }}": r":scalar",
    "void {name}(int n, const {T} *x, {T} *y) {{ EACH y[i] = RELU(x[i]); }}": r"void f\(size_t n, const",
    "void {name}(const {T} *x, {T} *y, const int *k) {{ int n = *k; EACH y[i] = RELU(x[i]); }}": r"\*y, const int64_t",
    "void {name}(int n, const {T} *x, int s, {T} *y, int t) {{ EACH y[i * t] = RELU(x[i * s]); }}": r"step=1, \w+ \*y",
}
TYPES = {"f32": "float", "f64": "double", "f16": "_Float16"}


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    functions = [
        form.format(T=typed, name=f"relu{k}_{mark}") for mark, typed in TYPES.items() for k, form in enumerate(FORMS)
    ]
    text = "#define EACH for (long i = 0; i < n; i++)\n#define RELU(v) ((v) > 0 ? (v) : 0)\n" + "\n".join(functions)
    return shared_library(tmp_path_factory.mktemp("forms"), text + "\nunsigned short relu5_bf16(unsigned short x)"
                          "{ return x >> 15 ? 0 : x; }\n")  # fmt: skip


@pytest.mark.parametrize("mark", TYPES)
@pytest.mark.parametrize("form", range(len(FORMS)))
def test_a_symbol_that_is_called_in_another_way_is_a_question_whose_answer_works(forms, form, mark):
    name = f"{forms}:relu{form}_{mark}"
    with pytest.raises(UsageError) as raised:
        chosen(name, function="relu")
    said = re.search(rf"give (?:{re.escape(name)}(:scalar)|--call '(.*?)'), or another --call$", str(raised.value))
    assert said, str(raised.value)
    is_half = (form, mark) == (0, "f16")
    assert re.search(r"_Float16 f\(_Float16 x\)" if is_half else list(FORMS.values())[form], said[1] or said[2])
    target = chosen(name + (said[1] or ""), function="relu", **({"call": said[2]} if said[2] else {}))
    dtype = target.dtypes[0]
    assert target.evaluate(dtype, bits(dtype, "-1", "2")).tolist() == bits(dtype, "0", "2").tolist()


OTHERS = """
#include <math.h>
#define EACH for (int i = 0; i < n; i++)
void inplace_f32(float *x, long n) { EACH x[i] = fmaxf(x[i], 0); }
void inplace_after_f32(long n, float *x) { EACH x[i] = fmaxf(x[i], 0); }
void elu_f32(int n, float alpha, const float *x, float *y) { EACH y[i] = x[i] > 0 ? x[i] : alpha * expm1f(x[i]); }
double erf_f32(double x) { return erf(x); }
float erf_f64(float x) { return erff(x); }
"""


@pytest.mark.parametrize("symbol", re.findall(r"(\w+_f\d+)\(", OTHERS))
def test_no_form_is_offered_that_is_not_its_own(tmp_path, symbol):
    """Of what is in place, takes a number besides, or has another width than its name says: judged as it was."""
    library = shared_library(tmp_path, OTHERS)
    try:
        (target,), _ = targets.select([f"{library}:{symbol}"], function="relu")
        assert target.note.startswith("called as void")
    except UsageError as error:
        assert (symbol.partition("_")[0], "writes to its first array" in str(error)) == ("inplace", True)  # noqa: PT017


def test_16_bits_of_one_value_are_whole_numbers_or_have_a_fraction(forms):
    target = chosen(f"{forms}:relu5_bf16:scalar", function="relu")
    assert target.evaluate("bfloat16", bits("bfloat16", "-1", "2")).tolist() == bits("bfloat16", "0", "2").tolist()
    with pytest.raises(UsageError, match=r"takes no uint16_t: give --call '_Float16 f\(_Float16 x\)' in place of :sc"):
        chosen(f"{forms}:relu0_f16:scalar", function="relu")


def test_a_convention_is_no_part_of_the_symbol():
    assert {symbol_of(f"./libk.so:gelu_f32:{abi}") for abi in ABIS} == {"gelu_f32"}
