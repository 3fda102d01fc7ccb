"""Code that nobody described: which form, dtype, constants and building blocks its results show, and when none."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from foreign import chosen, needs_cc
from marking import nightly
from mutants import correct, target

from gelu_verify.attribution import attribute
from gelu_verify.attribution.evaluation import Arithmetic, evaluate, exactly, precise
from gelu_verify.attribution.expression import X, contracted, cube, decimal, leftward, text
from gelu_verify.attribution.forms import FORMS
from gelu_verify.attribution.models import distance, form_named
from gelu_verify.attribution.search import informative_sample
from gelu_verify.cli import main
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.report.attribution_page import headline
from gelu_verify.report.attribution_text import attribution_lines
from gelu_verify.truth.values import reference_bits

C = """
#include <math.h>
#include <stddef.h>
#define EACH(name, T, expression) \\
    void name(const T *X, T *Y, size_t n) { for (size_t i = 0; i < n; i++) { T x = X[i]; Y[i] = expression; } }
static float as7126(float v) {
    float t = 1 / (1 + 0.3275911f * fabsf(v));
    float s = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
    return copysignf(1 - s * expf(-v * v), v);
}
static float hard(float v) { return fminf(fmaxf(v, 0), 6) / 6; }
EACH(k_erf, float, 0.5f * x * (1.0f + erff(x * 0.70710678f)))
EACH(k_erf_div, float, x * 0.5f * (1.0f + erff(x / 1.41421356f)))
EACH(k_erfc, float, 0.5f * x * erfcf(-x * 0.70710678f))
EACH(k_by_double_f32, float, (float)(0.5 * x * (1.0 + erf(x * 0.70710678118654752440))))
EACH(k_of_double, double, 0.5 * x * (1.0 + erf(x * 0.70710678118654752440)))
EACH(k_handbook, float, 0.5f * x * (1.0f + as7126(x * 0.70710678f)))
EACH(k_tanh_left, float, 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))))
EACH(k_tanh_misprint, float, 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.0447f * x * x * x))))
EACH(k_tanh_short, float, 0.5f * x * (1.0f + tanhf(0.79788f * (x + 0.044715f * (x * x * x)))))
EACH(k_tanh_factored, float, 0.5f * x * (1.0f + tanhf(0.7978845608f * x * (1.0f + 0.044715f * x * x))))
EACH(k_tanh_fused, float, 0.5f * x * (1.0f + tanhf(0.7978845608f * fmaf(0.044715f * x * x, x, x))))
EACH(k_tanh_sigmoid, float, x / (1.0f + expf(-2.0f * 0.7978845608f * (x + 0.044715f * x * x * x))))
EACH(k_quick, float, x / (1.0f + expf(-1.702f * x)))
EACH(k_quick_short, float, x * (1.0f / (1.0f + expf(-1.7f * x))))
EACH(k_swish, float, x / (1.0f + expf(-x)))
EACH(k_hard_swish, float, x * hard(1.702f * x + 3.0f))
"""
TANH = {"sqrt(2/pi)": "0.79788"}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "kernels.c"
    path.write_text(C, encoding="utf-8")
    return path


@pytest.mark.few(1)
@needs_cc
@pytest.mark.parametrize(
    ("name", "form", "computes", "constants"),
    [
        ("erf_div", "gelu_erf_div", "gelu", {}),
        ("handbook", "gelu_as7126", "gelu", {}),
        ("tanh_misprint", "gelu_tanh_tanh+left", "gelu_tanh", {"0.044715": "0.0447"}),
        ("tanh_fused", "gelu_tanh_tanh+left+fma", "gelu_tanh", {}),
        ("tanh_sigmoid", "gelu_tanh_sigmoid+left", "gelu_tanh", {}),
        ("quick_short", "gelu_sigmoid_exp", "gelu_sigmoid", {"1.702": "1.7"}),
        ("swish", "silu_exp", "silu", {}),
        *nightly(
            ("erf", "gelu_erf", "gelu", {}),
            ("erfc", "gelu_erfc", "gelu", {}),
            ("tanh_left", "gelu_tanh_tanh+left", "gelu_tanh", {}),
            ("tanh_short", "gelu_tanh_tanh", "gelu_tanh", {"sqrt(2/pi)": "0.79788"}),
            ("tanh_factored", "gelu_tanh_factored", "gelu_tanh", {}),
            ("quick", "gelu_sigmoid_div", "gelu_sigmoid", {}),
        ),
    ],
)
def test_a_kernel_in_c_is_explained_by_its_results(source, name, form, computes, constants):
    """Its name says gelu of all of them, and nothing else is said."""
    found = attribute(chosen(f"{source}:k_{name}", dtype="float32", function="gelu"), "float32", "quick").record
    assert (found["form"], found["computes"], found["constants"]) == (form, computes, constants)
    assert found["working"] == "float32"
    assert found["explains"] > 0.999
    assert found["chosen"] == "found"
    assert all("of the C library" in title or "Stegun" in title for title in found["blocks"].values())
    assert [row["function"] for row in found["errors"]] == list(dict.fromkeys(["gelu", computes]))


@needs_cc
@pytest.mark.parametrize(("name", "dtype"), [("by_double_f32", "float32"), *nightly(("of_double", "float64"))])
def test_the_dtype_that_it_is_computed_in_is_found(source, name, dtype):
    found = attribute(chosen(f"{source}:k_{name}", dtype=dtype, function="gelu"), dtype, "quick").record
    assert found["working"] == "float64"
    assert found["form"] == "gelu_erf"
    assert found["explains"] > 0.999


@needs_cc
def test_what_no_form_explains_is_not_named(source):
    found = attribute(chosen(f"{source}:k_hard_swish", dtype="float32", function="gelu"), "float32", "quick")
    record, lines = found.record, list(attribution_lines(found.record))
    assert not record["explained"]
    assert record["explains"] < 0.6
    printed = "\n".join(lines)
    assert "no known formula reproduces more than" in printed
    assert f"nearest: {record['form']}" in printed
    assert record["formula"] not in printed
    assert "the sum of" not in printed
    assert "ULP against gelu, at x = " in printed
    assert "half ULP in x" in printed
    assert headline(record).endswith("no known formula explains it.")


@pytest.mark.parametrize("dtype", ["float16", *nightly("bfloat16", "float32", "float64")])
def test_correct_results_tell_of_no_formula(dtype):
    record = attribute(replace(correct("gelu"), name="user:correct"), dtype, "quick").record
    assert record["rounded"] == 1
    assert "100 % of those are correctly rounded" in "\n".join(attribution_lines(record))


def user(function, answer):
    return replace(target(function, answer), name="user:kernel")


def modelled(form, working=None, stored=None):
    root = form_named(FORMS[form.partition("+")[0]].function, form).root
    return lambda dtype, x: evaluate(root, dtype, x, Arithmetic(working or dtype, {}, stored or {}))[0]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("gelu_erf", "float16"),
        ("gelu_tanh_tanh", "float64"),
        ("silu_grad_exp", "float32"),
        *nightly(
            ("gelu_erfc", "bfloat16"),
            ("gelu_tanh_sigmoid", "float32"),
            ("silu_exp", "float64"),
            ("gelu_grad_erf", "float64"),
        ),
    ],
)
def test_every_dtype_and_gradients(form, dtype):
    function = FORMS[form].function
    found = attribute(user(function, modelled(form)), dtype, "quick").record
    assert found["explains"] > 0.999
    assert form in (found["form"].partition("+")[0], *found["alike"])
    assert found["working"] == dtype
    assert found["worst"]["rest"] == 0


@pytest.mark.nightly
def test_two_misprints_are_found():
    held = {"sqrt(2/pi)": "0.8", "0.044715": "0.045"}
    found = attribute(user("gelu_tanh", modelled("gelu_tanh_tanh", stored=held)), "float32", "quick").record
    assert found["constants"] == held
    assert found["explains"] == 1


@pytest.mark.parametrize("form", ["gelu_tanh_tanh", *nightly("gelu_tanh_horner", "gelu_erf", "gelu_sigmoid_exp")])
@pytest.mark.parametrize("dtype", ["float32", *nightly("float64")])
def test_right_constants_are_not_called_wrong(form, dtype):
    found = attribute(user(FORMS[form].function, modelled(form)), dtype, "quick").record
    assert found["constants"] == {}


@pytest.mark.nightly
def test_a_sibling_is_named_only_where_it_is_clearly_better():
    """A coarse gelu of its own is not taken for another variant."""

    def coarse(dtype, x):
        y = np.asarray(reference_bits("gelu", dtype, x)).view(numpy_dtype(dtype))
        with np.errstate(all="ignore"):
            return (y * y.dtype.type(1 + 2.0**-10)).view(get_format(dtype).uint)

    found = attribute(user("gelu", coarse), "float32", "quick").record
    assert found["computes"] == "gelu"
    assert not found["explained"]


@pytest.mark.nightly
def test_what_is_given_is_not_searched():
    kernel = user("gelu", modelled("gelu_erfc"))
    asked = attribute(kernel, "float32", "quick", form="erf").record
    assert (asked["form"], asked["chosen"], asked["explained"]) == ("gelu_erf", "asked", False)
    assert "so it does not explain them" in "\n".join(attribution_lines(asked))
    working = attribute(kernel, "bfloat16", "quick", working="float32").record
    assert working["working"] == "float32"
    with pytest.raises(UsageError, match="variant of a form"):
        attribute(kernel, "float32", "quick", form="erf+fma")


def test_one_float_apart_is_seen_in_every_dtype():
    for dtype in DTYPES:
        fmt = get_format(dtype)
        a, b = np.array([fmt.one, fmt.one], fmt.uint), np.array([fmt.one, fmt.one + 1], fmt.uint)
        assert distance(dtype, a, b) == 0.5
        ends = np.array([fmt.infinity], fmt.uint), np.array([fmt.infinity | fmt.sign_mask], fmt.uint)
        assert distance(dtype, *ends) == pytest.approx(np.log2(2.0 * fmt.infinity), rel=1e-3)


def test_informative_inputs_have_results_that_differ():
    x = np.array([0.0, -0.0, np.inf, np.nan, 1e-5, 1e30, -1e30, 1.0, -3.0], np.float32).view(np.uint32)
    assert informative_sample("gelu", "float32", x, x).x.view("f4").tolist() == [1.0, -3.0]


def test_variants_are_the_same_function():
    """In exact arithmetic; only the roundings differ."""
    mp = precise(300)
    for form in FORMS.values():
        for variant in form.variants():
            for point in ((1, 0), (-3, -1), (7, -4)):
                held = exactly(form.root, point, {}, mp), exactly(variant.root, point, {}, mp)
                assert abs(held[0] - held[1]) <= abs(held[0]) * mp.mpf(2) ** -280, variant.name


def test_how_formulas_are_changed():
    c = decimal("3")
    assert text(leftward(c * (X * X * X))) == "3*x*x*x"
    assert text(leftward(c * (X * (X * X)) * X)) == "3*x*x*x*x"
    assert text(contracted(X + c * X)) == "fma(3, x, x)"
    assert text(contracted(X - c * X)) == "fma(-3, x, x)"
    unchanged = 1 + cube(X)
    assert contracted(unchanged) is unchanged
    assert leftward(unchanged) is unchanged


@needs_cc
@pytest.mark.nightly
def test_the_command_takes_every_target(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import math\ndef gelu(x): return 0.5 * x * math.erfc(-x * math.sqrt(0.5))\n")
    (tmp_path / "out.py").write_text("import numpy\ndef gelu(x, out): out[...] = x / (1 + numpy.exp(-x))\n")
    for command, form in (
        ([f"{source}:k_swish", "--dtype", "float32", "--function", "silu", "--cflags", "-O1"], "x/(1 + exp(-x))"),
        (["mine.py:gelu"], "0.5*x*erfc(-x*sqrt(1/2))"),
        (["out.py:gelu", "--call", "f(x, out=y)"], "x/(1 + exp(-x))"),
    ):
        done = CliRunner().invoke(main, ["attribute", *command, "--plan", "quick"])
        assert done.exit_code == 0, done.output
        assert f"formula   {form}" in done.stdout
    assert "--call 'f(x, out=y)'" in done.stdout
