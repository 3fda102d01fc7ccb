"""Targets of two inputs: how each kind of them takes the second one, and what is asked where that is open."""

import gated_forms
import numpy as np
import pytest
import requiring
from foreign import bits, chosen

from gelu_verify import targets
from gelu_verify.errors import UsageError
from gelu_verify.functions import FUNCTIONS, second_of
from gelu_verify.targets.call_line import SECOND, CallLine
from gelu_verify.targets.parameter_names import OF_SECOND
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.second_input import judge_pair

X, G = bits("float32", "1", "-2", "0.5", "3", "-1", "7", "0.25"), bits("float32", "2", "-0.5", "3")
SOURCE = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
static float silu(float x) { return x / (1.0f + expf(-x)); }
void swiglu_f32(const float *x, const float *g, float *y, size_t n)
{ for (size_t i = 0; i < n; i++) y[i] = silu(x[i]) * g[i]; }
void silu_and_mul(float *out, const float *input, size_t d)
{ for (size_t i = 0; i < d; i++) out[i] = silu(input[i]) * input[d + i]; }
void glu(const float *gate, const float *up, float *y, size_t n)
{ for (size_t i = 0; i < n; i++) y[i] = silu(gate[i]) * up[i]; }
float swiglu_of_one(float x, float g) { return silu(x) * g; }
void swiglu_by(const float *x, float *y, float g, size_t n)
{ for (size_t i = 0; i < n; i++) y[i] = silu(x[i]) * g; }
void swiglu_by_wider(const float *x, float *y, double g, size_t n) { swiglu_by(x, y, (float)g, n); }
float swiglu_of_two_types(float x, double g) { return silu(x) * (float)g; }
void swiglu_by_half(const double *x, double *y, float g, size_t n)
{ for (size_t i = 0; i < n; i++) y[i] = x[i] * g; }
double swiglu_of_float(double x, float g) { return x * g; }
void swiglu_bits(const uint16_t *x, uint16_t *y, float g, size_t n) { (void)x, (void)y, (void)g, (void)n; }
void swiglu_mixed(const float *x, const double *g, float *y, size_t n) { (void)x, (void)y, (void)g, (void)n; }
"""


def outputs(target, values):
    return target.with_second("swiglu", tuple(values.tolist())).evaluate("float32", X).view(np.float32)


def due(values):
    g = np.resize(values.view(np.float32), len(X))
    return gated_forms.swiglu(X.view(np.float32), g)


@pytest.mark.parametrize(
    ("name", "call", "array"),
    [
        ("swiglu", None, None),
        ("swiglu", "f(x, g)", "numpy"),
        ("swapped", "f(g, x)", None),
        ("side_by_side", "f(packed(x, g))", None),
        ("swapped_halves", "f(packed(g, x))", None),
        ("in_turn", "f(interleaved(x, g))", None),
    ],
)
def test_a_python_function_gets_the_second_input_as_its_call_says(name, call, array):
    target = callable_target(getattr(gated_forms, name), "swiglu", "float32", call=call, array=array)
    assert target.second == "g"
    assert not target.one_second
    for values in (G, G[:1], G[1:]):
        assert outputs(target, values).tolist() == due(values).tolist()


def test_arrays_have_the_shape_that_is_asked_for():
    seen = []

    def packed(both):
        seen.append(both.shape)
        return gated_forms.side_by_side(both)

    target = callable_target(packed, "swiglu", "float32", call="f(packed(x, g))", shape="(n, 7)", array="numpy")
    assert outputs(target, G).tolist() == due(G).tolist()
    assert seen[-1] == (1, 14)


def test_one_number_at_a_time_and_one_value_for_all():
    def one(x, g):
        return float(x) / (1 + np.exp(-float(x))) * g

    target = callable_target(one, "swiglu", "float32", call="rounded(f(x, g))", array="scalar")
    assert np.allclose(outputs(target, G), due(G), rtol=1e-6)
    target = callable_target(gated_forms.swiglu, "swiglu", "float32", call="f(x, g[0])")
    assert target.one_second
    assert outputs(target, G[:1]).tolist() == due(G[:1]).tolist()


def test_a_value_in_the_name_is_the_value_that_is_passed():
    target = callable_target(gated_forms.swiglu, "swiglu[g=-0.5]", "float32")
    got = target.evaluate("float32", X).view(np.float32)
    assert got.tolist() == gated_forms.swiglu(X.view(np.float32), np.full(len(X), -0.5, np.float32)).tolist()


@pytest.mark.parametrize(
    ("function", "call", "words"),
    [
        ("gelu", "f(x, g)", "has no second input g"),
        ("bias_gelu", "f(x, g)", "has no second input g"),
        ("swiglu", "f(x, g + b)", "two second inputs"),
        ("swiglu", "f(packed(x, 3))", "packed and interleaved take x and a second input"),
        ("swiglu", "f(packed(x, dy))", "packed and interleaved take x and a second input"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(function, call, words):
    with pytest.raises(UsageError, match=words):
        callable_target(gated_forms.swiglu, function, "float32", call=call)


def test_two_names_that_may_be_either_factor_are_asked_for():
    def glu(gate, up):
        return gate * up

    with pytest.raises(UsageError, match=r"--call says how, such as --call 'f\(x, g\)'"):
        callable_target(glu, "swiglu", "float32")


@pytest.mark.parametrize("second", ["swiglu", "bias_gelu"])
def test_a_function_of_one_array_that_holds_both_is_asked_about(second):
    def halves(both):
        return np.maximum(both[: len(both) // 2] + both[len(both) // 2 :], 0)

    def writes_halves(p, both):
        p[:] = halves(both)

    name = second_of(second)
    with pytest.raises(UsageError, match=rf"returns shape \(2,\) for .*: give --call 'f\(packed\(x, {name}\)\)'"):
        callable_target(halves, second, "float32")
    with pytest.raises(UsageError, match=rf"--call says how, such as --call 'f\(y, packed\(x, {name}\)\)'"):
        callable_target(writes_halves, second, "float32")


def test_what_halves_its_input_is_asked_what_it_computes(tmp_path):
    """Nothing in its name says that it takes two inputs; of an odd number of values it raises."""
    (tmp_path / "f.py").write_text(
        "import numpy as np\n\n\ndef act(x):\n    a, b = np.split(x, 2)\n    return a / (1 + np.exp(-a)) * b\n"
    )
    with pytest.raises(UsageError, match=r"returns shape \(2,\) for an input of shape \(4,\): give what it computes"):
        targets.select([f"{tmp_path}/f.py:act"])
    (target,), _ = targets.select([f"{tmp_path}/f.py:act"], function="swiglu", call="f(packed(x, g))")
    assert target.second == "g"


def test_a_second_input_that_is_changed_is_found():
    def clears(x, g):
        result = gated_forms.swiglu(x, g)
        g[:] = 0
        return result

    target = callable_target(clears, "swiglu", "float32")
    with pytest.raises(Exception, match="changed its input"):
        outputs(target, G)


def test_a_call_has_a_name_for_every_second_input():
    assert {each.name for entry in FUNCTIONS.values() for each in entry.parameters if each.is_input} == {*SECOND}
    assert set(OF_SECOND.values()) == {*SECOND}


def test_packing_is_done_before_the_call():
    line = CallLine.parsed("f(packed(x, g), n)")
    assert line.packings == {"packed_x_g": ("packed", "x", "g")}
    assert line.run({"f": lambda both, n: (both, n), "packed_x_g": 5, "n": 3}) == (5, 3)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    requiring.program("cc", "gcc", "clang")
    path = tmp_path_factory.mktemp("gated") / "gated.c"
    path.write_text(SOURCE)
    return path


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("symbol", "asked"),
    [
        ("swiglu_f32", {}),
        ("silu_and_mul", {"call": "f(y, xg, n)"}),
        ("glu", {"call": "f(x, g, y, n)", "function": "swiglu"}),
        ("swiglu_of_one", {}),
        ("swiglu_by", {}),
        ("swiglu_by_wider", {}),
        ("swiglu_of_two_types", {}),
    ],
)
def test_a_c_function_gets_it_by_name_or_as_the_call_says(source, symbol, asked):
    target = chosen(f"{source}:{symbol}", **asked)
    assert (target.function, target.second) == ("swiglu", "g")
    assert target.one_second == symbol.startswith("swiglu_by")
    for values in (G[:1],) if target.one_second else (G, G[:1]):
        assert np.allclose(outputs(target, values), due(values), rtol=1e-6)


@pytest.mark.parametrize(
    ("symbol", "function", "words"),
    [
        ("glu", "swiglu", r"give --call 'f\(x, g, y, n\)', or --call 'f\(g, x, y, n\)'"),
        ("silu_and_mul", None, r"nothing says how it takes g: give --call 'f\(y, xg, n\)'"),
        ("swiglu_f32", "gelu", r"give --call"),
        ("swiglu_by_half", None, r"takes g as float, which does not have every double \(accepted: double, or a wider"),
        ("swiglu_of_float", None, r"takes g as float, which does not have every double"),
        ("swiglu_mixed", None, r"needs x and y, and g, as pointers to the same type"),
    ],
)
def test_what_is_open_in_c_is_asked_for(source, symbol, function, words):
    with pytest.raises(UsageError, match=words):
        chosen(f"{source}:{symbol}", function=function)


def test_bits_are_not_taken_for_the_number_that_they_are(source):
    with pytest.raises(UsageError, match="takes g as float, which does not have every uint16_t"):
        chosen(f"{source}:swiglu_bits", dtype="bfloat16")


def test_a_second_input_by_value_is_no_parameter_of_a_kernel(source):
    with pytest.raises(UsageError, match="takes g by value"):
        chosen(f"{source}:swiglu_f32", call="f<<<1, 1>>>(x, y, n, float g)")


@pytest.mark.few(6)
@pytest.mark.parametrize("family", ["jax", "onnxruntime"])
@pytest.mark.parametrize("function", ["geglu", "geglu_tanh", "swiglu", "reglu", "bias_gelu", "bias_gelu_tanh"])
def test_families_have_them_as_models_do(family, function):
    requiring.module(family)
    found, absent = targets.find([family], function=function)
    assert not absent.get(family)
    if (family, function) != ("onnxruntime", "geglu_tanh"):
        assert found
    for target in found:
        assert (target.function, target.second) == (function, second_of(function))
        for values in (G, G[:1]):
            got = target.with_second(function, tuple(values.tolist())).evaluate("float32", X)
            for at, bits_of_g in enumerate(np.resize(values, len(X)).tolist()):
                error = judge_pair(function, "float32", bits_of_g, X[at : at + 1], got[at : at + 1]).error
                assert abs(error[0]) < 64
