"""Attribution: the model rounds as IEEE 754 does, the ladder finds the planted source, and the parts sum up."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marking import nightly
from mutants import correct, target

from gelu_verify.attribution import attribute
from gelu_verify.attribution.blocks import blocks_of, libm_block
from gelu_verify.attribution.conditioning import from_input, kappa
from gelu_verify.attribution.evaluation import Arithmetic, Private, constant_bits, evaluate, exactly, precise
from gelu_verify.attribution.expression import SQRT_2_OVER_PI, Node, X, constants, decimal, fma, nodes, text
from gelu_verify.attribution.forms import FORMS
from gelu_verify.attribution.forms.gelu import erf_as7125
from gelu_verify.attribution.ladder import SOURCES, Model, climb
from gelu_verify.attribution.models import forms_for, model_of
from gelu_verify.attribution.sensitivity import unit_of
from gelu_verify.attribution.witness import witness_parts
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, is_nan, to_float64
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import make_plan
from gelu_verify.targets import find
from gelu_verify.truth.oracle import enclose
from gelu_verify.truth.values import judge, reference_bits
from gelu_verify.verification import verify

KERNELS = [t for t in find(["kernels"])[0] if t.form not in ("table", "cr", "correctly rounded")]


def bits(dtype, *values):
    fmt = get_format(dtype)
    return np.array([fmt.parse(str(value)) for value in values], fmt.uint)


def plan_bits(function, dtype, name="quick"):
    return np.concatenate([chunk.x_bits() for chunk in make_plan(name, function, dtype).chunks])


def modelled(form, *, stored=None, blocks=None, working=None):
    """A target that does exactly what a form says."""

    def answer(dtype, x):
        arithmetic = Arithmetic(working or dtype, blocks or {}, stored or {})
        return evaluate(FORMS[form].root, dtype, x, arithmetic)[0]

    return target(FORMS[form].function, answer)


# ---- one operation -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
@settings(max_examples=60)
def test_every_operation_is_rounded_once(dtype, data):
    fmt = get_format(dtype)
    finite = st.integers(0, (1 << fmt.width) - 1).filter(fmt.is_finite)
    a, b = data.draw(finite), data.draw(finite)
    x = np.array([a], fmt.uint)
    held = {"b": fmt.fraction(b)}
    other = decimal(str(held["b"]))
    wanted = {
        "add": (X + other, lambda p, q: p + q),
        "sub": (X - other, lambda p, q: p - q),
        "mul": (X * other, lambda p, q: p * q),
        "div": (X / other, lambda p, q: p / q if q else None),
        "fma": (fma(X, other, "1"), lambda p, q: p * q + 1),
    }
    for root, exact in wanted.values():
        want = exact(fmt.fraction(a), held["b"])
        if want is None:
            continue
        got = int(evaluate(root, dtype, x, Arithmetic(dtype))[0][0])
        assert fmt.magnitude(got) == fmt.magnitude(fmt.round(want)), (root.operation, hex(a), hex(b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_fma_is_no_product_and_sum(dtype):
    fmt = get_format(dtype)
    x = np.array([fmt.one + 3], fmt.uint)  # (1 + 3e)^2 - 1 = 6e + 9e^2: two roundings lose the square
    once, twice = (evaluate(root, dtype, x, Arithmetic(dtype))[0] for root in (fma(X, X, "-1"), X * X - 1))
    assert once != twice


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_are_rounded_once(dtype):
    fmt = get_format(dtype)
    each = SQRT_2_OVER_PI.constant
    held = fmt.fraction(constant_bits(each, fmt))
    mp = precise(400)
    off = abs(mp.mpf(held.numerator) / held.denominator - each.exact(mp))
    assert off <= mp.mpf(float(fmt.ulp(held))) / 2
    cut = fmt.fraction(constant_bits(each, fmt, "0.797885"))
    assert cut == fmt.fraction(fmt.round(Fraction("0.797885")))


def test_the_text_shows_the_order_of_rounding():
    assert text(X * (X * X)) == "x*(x*x)"
    assert text(X * X * X) == "x*x*x"
    assert text(X + (1 + X)) == "x + (1 + x)"
    assert text(1 - (X - 1)) == "1 - (x - 1)"
    assert text(-(X * X)) == "-x*x"
    assert FORMS["gelu_tanh_tanh"].text == "0.5*x*(1 + tanh(u)), u = sqrt(2/pi)*(x + 0.044715*(x*x*x))"


# ---- forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_form_is_its_function(form):
    """In exact arithmetic with exact constants it gives the oracle's value."""
    mp = precise(300)
    for numerator, exponent in ((1, 0), (-3, -1), (-5, -2), (7, -4), (-21, -2), (3, 1), (-1, -9)):
        low, high = enclose(get_function(form.function), (numerator, exponent), 100)
        value = exactly(form.root, (numerator, exponent), {}, mp)
        middle = mp.mpf(low.numerator) / low.denominator
        assert abs(value - middle) <= abs(middle) * mp.mpf(2) ** -95 + abs(mp.mpf(float(high - low)))


def test_a_wrong_form_is_seen_by_that_test():
    wrong = FORMS["gelu_erf"].root + decimal("1e-20")
    mp = precise(300)
    low, _ = enclose(get_function("gelu"), (1, 0), 100)
    assert abs(exactly(wrong, (1, 0), {}, mp) - mp.mpf(low.numerator) / low.denominator) > mp.mpf(2) ** -70


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda t: t.name)
def test_our_kernels_do_what_their_forms_say(kernel):
    """Bit for bit, on every dtype: the same operations, constants and blocks of the same C library."""
    for dtype in kernel.dtypes:
        x = plan_bits(kernel.function, dtype)
        (form,) = forms_for(kernel.name, kernel.function, kernel.note, kernel.form)
        working = "float32" if kernel.name.endswith("-f32") else dtype
        model = Model(form, working, {}, blocks_of(form, working, "kernels", {}))
        ours, theirs = model.bits(dtype, x), kernel.evaluate(dtype, x)
        same = (ours == theirs) | (is_nan(get_format(dtype), ours) & is_nan(get_format(dtype), theirs))
        assert same.all(), get_format(dtype).hex_float(int(x[np.flatnonzero(~same)[0]]))


def test_forms_are_found_by_what_a_target_says():
    def named(*arguments):
        return [form.name for form in forms_for(*arguments)]

    assert named("kernels.gelu_erfc", "gelu", "", "erfc") == ["gelu_erfc"]
    assert named("x.y", "gelu", "nn.gelu: 0.5 x erfc(-x/sqrt 2); CPU") == ["gelu_erfc"]
    assert named("x.y", "gelu", "0.5 (x (1 + Erf(x/sqrt 2)))") == ["gelu_erf"]
    assert named("x.y", "silu", "nn.silu: x logistic(x)") == ["silu_sigmoid"]
    assert named("x.y", "gelu_sigmoid", "x expit(1.702 x)") == ["gelu_sigmoid_sigmoid"]
    assert named("onnxruntime.gelu", "gelu", "Gelu-20") == ["gelu_erf"]
    assert named("x.y", "gelu", "no formula") == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_spellings_are_written_as_they_are_compared(form):
    for spelling in form.spellings:
        assert spelling in form.spellings
        assert spelling == "".join(spelling.lower().split())
        assert not set(spelling) & set("()*")


# ---- the ladder ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype"), [("gelu_erf", "float32"), ("gelu_tanh_tanh", "float64"), ("gelu_erfc", "bfloat16")]
)
def test_the_parts_sum_up_to_the_measured_error(name, dtype):
    found = attribute(modelled(name), dtype, "quick", form=name)
    for row in [found.record["worst"], *(region["worst"] for region in found.record["regions"])]:
        if row is not None:
            assert sum(row[source] for source in SOURCES) == pytest.approx(row["error"], rel=1e-9, abs=1e-9)


def test_the_erf_form_has_a_zero_tail_even_with_everything_rounded_correctly():
    found = attribute(modelled("gelu_erf"), "float32", form="erf").record
    rungs = {rung["name"]: rung for rung in found["rungs"]}
    assert float(to_float64(get_format("float32"), bits("float32", rungs["formula"]["zero_from"]))[0]) > -5.6
    assert rungs["formula"]["max_ulp"] > 1.6e7
    assert rungs["constants"]["max_ulp"] < 60
    assert found["worst"]["main"] == "formula"
    assert found["operations"][0]["operation"] == "erf(x*sqrt(1/2))"
    assert found["agreement"] == 1


def test_the_erfc_form_pays_for_its_rounded_argument_in_proportion_to_x_squared():
    kernel = next(t for t in KERNELS if t.name == "kernels.gelu_erfc")
    found = attribute(kernel, "float32")
    by_region = {row["region"]: row["max_ulp"] for row in found.record["rungs"][1]["regions"]}
    assert 15 < by_region["[-5,-3)"] <= 29
    assert 150 < by_region["(-inf,-8)"] <= 200
    costs = {row["operation"]: row for row in found.record["operations"]}
    assert costs["-x*sqrt(1/2)"]["max_ulp"] > 100
    assert costs["erfc(-x*sqrt(1/2))"]["max_ulp"] < 8
    assert found.record["worst"]["main"] == "formula"
    assert found.record["worst"]["rest"] == 0  # measured exactly as the model with the C library's erfc


@pytest.mark.parametrize(("dtype", "least", "most"), [("float32", 6, 12), ("float64", 4e9, 7e9)])
def test_truncated_constants_are_found_and_named(dtype, least, most):
    """0.797885 and 0.0356774 (candle): research says 6 to 12 ULP in float32, 5e9 in float64, for |x| < 1."""
    held = {"sqrt(2/pi)": "0.797885", "sqrt(2/pi)*0.044715": "0.0356774"}
    found = attribute(modelled("gelu_tanh_horner", stored=held), dtype, form="horner").record
    assert found["constants"] == held
    near_zero = {row["region"]: row["worst"] for row in found["regions"] if row["region"] in ("[-1,0)", "[0,1)")}
    assert {worst["main"] for worst in near_zero.values()} == {"constants"}
    assert least < max(abs(worst["error"]) for worst in near_zero.values()) < most


def test_double_constants_rounded_to_float32_are_found():
    found = attribute(modelled("gelu_erfc", stored={"sqrt(1/2)": "float32"}), "float64", "quick", form="erfc").record
    assert found["constants"] == {"sqrt(1/2)": "float32"}
    assert found["worst"]["main"] == "constants"


RIGHT = list(zip(("gelu_erf", "gelu_tanh_horner", "gelu_tanh_tanh", "gelu_erf"), DTYPES, strict=True))
OTHERS = [pair for pair in product(sorted({name for name, _ in RIGHT}), DTYPES) if pair not in RIGHT]


@pytest.mark.parametrize(("name", "dtype"), [*RIGHT, *nightly(*OTHERS)])
def test_right_constants_are_not_called_wrong(name, dtype):
    assert attribute(modelled(name), dtype, "quick", form=name).record["constants"] == {}


def test_a_coarse_erf_is_the_block():
    private = Private.of(FORMS["gelu_as7126"].private["erf"])
    mutant = modelled("gelu_erf", blocks={"erf": private})
    seen = attribute(mutant, "float32", "quick", form="as7126").record
    regions = {row["region"]: row["worst"] for row in seen["regions"]}
    assert regions["[0,1)"]["main"] == regions["[-1,0)"]["main"] == "blocks"
    assert 5 < abs(regions["[0,1)"]["error"]) < 12
    unseen = attribute(
        mutant, "float32", "quick", form="erf"
    ).record  # nobody says whose erf it is, but a kernel has its bits
    assert {row["region"]: row["worst"]["main"] for row in unseen["regions"]}["[0,1)"] == "known"
    private = Private(erf_as7125(Node("x")) * decimal("1.0001"))  # and this one no kernel has
    unseen = attribute(modelled("gelu_erf", blocks={"erf": private}), "float32", "quick", form="erf").record
    assert {row["region"]: row["worst"] for row in unseen["regions"]}["[0,1)"]["main"] == "rest"


def test_the_form_that_explains_the_results_is_taken():
    x = plan_bits("gelu", "float32")
    for name in ("gelu_erf", "gelu_as7126"):
        private = {"erf": Private.of(FORMS[name].private["erf"])} if FORMS[name].private else {}
        base = modelled("gelu_erf", blocks=private)
        named = type(base)(name="test.mutant", function="gelu", dtypes=DTYPES, form="0.5 x (1 + erf(x/sqrt 2)), fused",
                          answer=base.answer)  # fmt: skip
        assert model_of(named, "float32", x, named.evaluate("float32", x)).form.name == name


@pytest.mark.parametrize("working", ["bfloat16", "float32"])
def test_the_dtype_that_it_computes_in_is_found(working):
    x = plan_bits("gelu", "bfloat16")
    mutant = modelled("gelu_erfc", working=working)
    assert model_of(mutant, "bfloat16", x, mutant.evaluate("bfloat16", x), form="erfc").working == working


def test_a_correct_implementation_is_all_rest():
    """It is better than the formula: what it does otherwise makes up for the formula's error."""
    found = attribute(correct("gelu"), "float32", "quick", form="erf").record
    assert found["rungs"][-1]["max_ulp"] <= 0.5
    assert all(abs(row["worst"]["error"]) <= 0.5 for row in found["regions"] if row["worst"])


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("gelu_erfc", "float32"), ("gelu_erfc", "float64"), ("silu_exp", "float32"), ("gelu_tanh_sigmoid", "float64")],
)
def test_first_order_parts_sum_up_to_the_error_of_the_formula_where_it_is_small(name, dtype):
    x = plan_bits(FORMS[name].function, dtype)
    value = np.abs(to_float64(get_format(dtype), x))
    ladder = climb(Model(FORMS[name], dtype, {}, {}), dtype, x[(value < 5) & (value > 1e-3)], exact=0)
    total = sum(share.error for share in ladder.operations)
    assert np.abs(total - ladder.rung("formula").error).max() < 0.02


def test_amplification_of_the_cancelled_sum():
    """1 + erf at -3: 1/(1 + erf) = 1/(2 Phi(-3)) = 370."""
    ladder = climb(Model(FORMS["gelu_erf"], "float32", {}, {}), "float32", bits("float32", -3))
    share = next(s for s in ladder.operations if s.node is not None and s.node.operation == "erf")
    assert share.amplification[0] == pytest.approx(369.4, rel=1e-3)


def test_units_are_those_of_the_exact_value():
    for dtype in DTYPES:
        fmt = get_format(dtype)
        x = plan_bits("gelu", dtype)[:4000:7]
        want = judge("gelu", dtype, x, x).want_bits
        error = judge("gelu", dtype, x, want).error
        finite = ~np.isnan(error)
        unit = unit_of(fmt, want[finite], error[finite])
        beside = want[finite] ^ fmt.uint.type(1)  # one float away: the error moves by the spacing over the unit
        moved = judge("gelu", dtype, x[finite], beside).error - error[finite]
        apart = to_float64(fmt, beside) - to_float64(fmt, want[finite])
        assert np.allclose(apart / unit, moved, rtol=2.0**-10, atol=2.0**-10)


# ---- conditioning --------------------------------------------------------------------------------


def test_kappa():
    x = np.array([1e-3, 1.0, -1.0, -6.0, -20.0])
    want = []
    for value in x:
        point = np.array([value]).view(np.uint64)
        f, slope = (reference_bits(name, "float64", point).view(np.float64)[0] for name in ("gelu", "gelu_grad"))
        want.append(abs(value * slope / f))
    assert kappa("gelu", x) == pytest.approx(want, rel=1e-3)
    assert kappa("gelu", np.array([-50.0]))[0] != kappa("gelu", np.array([-50.0]))[0]  # f is zero there


def test_what_a_rounded_input_costs():
    assert from_input("relu", "float32", bits("float32", 1.5))[0] == pytest.approx(0.5, rel=1e-4)
    tail = from_input("gelu", "float32", bits("float32", -13))[0]  # about x^2/2 ULP, less or more by the binades
    assert 169 / 4 < tail < 169 * 2


# ---- one witness, and what is asked for ----------------------------------------------------------


@pytest.mark.parametrize("name", ["gelu_erf", "gelu_tanh_sigmoid-f32", "silu_exp"])
def test_a_stored_witness_is_taken_apart_without_the_target(name):
    kernel = next(t for t in KERNELS if t.name == f"kernels.{name}")
    record = verify(kernel, kernel.function, "bfloat16", "quick").record
    parts = witness_parts(record)
    assert parts["working"] == ("float32" if name.endswith("-f32") else "bfloat16")
    total = sum(parts[name] for name in ("constants", "formula", "flushing", "rest"))
    assert abs(total) == pytest.approx(record.max_ulp, rel=1e-6)
    assert (parts["main"], parts["known"]) == ("formula", "")


def test_a_stored_witness_knows_the_re_implementations_as_attribute_does():
    """Of oneDNN's erf, as if it were a library's; and of no other where one result is another."""
    kernel = next(t for t in find(["published"])[0] if t.name == "published.onednn-gelu_erf_avx512")
    record = (
        verify(kernel, "gelu", "float32", "landmarks").updated(target="torch.gelu", family="torch", form="erf").record
    )
    parts = witness_parts(record)
    assert parts["known"] == kernel.name
    at = next(k for k, each in enumerate(record.intervals) if each.got_bits and each.max_ulp > 1)
    other = f"{int(record.intervals[at].got_bits, 16) ^ 1:#010x}"
    intervals = [*record.intervals[:at], replace(record.intervals[at], got_bits=other), *record.intervals[at + 1 :]]
    assert witness_parts(replace(record, intervals=tuple(intervals)))["known"] == ""


def test_a_stored_witness_that_was_flushed_says_so():
    arithmetic = Arithmetic("float32", {}, {}, "inputs and results")
    flushing = target("silu", lambda dtype, x: evaluate(FORMS["silu_sigmoid"].root, dtype, x, arithmetic)[0])
    parts = witness_parts(verify(flushing, "silu", "float32", "landmarks").updated(form="sigmoid").record)
    assert parts["main"] == "flushing"
    assert abs(parts["flushing"]) > 1e6
    assert abs(parts["rest"]) < 1


def test_a_result_without_a_form_or_a_witness_has_no_parts():
    record = verify(correct("gelu"), "gelu", "bfloat16", "quick").record
    assert witness_parts(record) is None
    kernel = next(t for t in KERNELS if t.name == "kernels.gelu_erf")
    assert witness_parts(verify(kernel, "gelu", "bfloat16", "quick").updated(witness=None).record) is None


def test_what_cannot_be_asked_for():
    kernel = next(t for t in KERNELS if t.name == "kernels.gelu_erf")
    with pytest.raises(UsageError, match="form of gelu"):
        attribute(kernel, "float32", "quick", form="sine")
    with pytest.raises(UsageError, match="constant of gelu_erf"):
        attribute(kernel, "float32", "quick", constants={"pi": "3"})
    with pytest.raises(UsageError, match="building block of gelu_erf"):
        attribute(kernel, "float32", "quick", blocks={"cos": "libm"})
    with pytest.raises(UsageError, match="no formula of relu is known"):
        attribute(correct("relu"), "float32", "quick")
    with pytest.raises(UsageError, match="inputs of float32"):
        attribute(kernel, "float32", "exhaustive")


def test_blocks_can_be_named():
    kernel = next(t for t in KERNELS if t.name == "kernels.gelu_erf")
    assert attribute(kernel, "float32", "quick", blocks={"erf": "exact"}).record["blocks"] == {}
    found = attribute(kernel, "float32", "quick", blocks={"erf": "libm"})
    assert found.record["blocks"] == {"erf": "erff of the C library"}
    assert "--block erf=libm" in found.repeat
    assert libm_block("sigmoid", "float32") is None


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_constant_that_libraries_hold_is_near_its_value(form):
    mp = precise(100)
    for each in constants(form.root):
        for held in each.also:
            assert abs(mp.mpf(held) / each.exact(mp) - 1) < 1e-5
    assert all(node.operation for node in nodes(form.root))


def test_a_library_is_what_its_own_blocks_make_it():
    """SciPy's x*ndtr(x), bit for bit; in float64 its ndtr is what errs."""
    pytest.importorskip("scipy")
    scipy = {t.name: t for t in find(["scipy"])[0]}
    for dtype in ("float32", "float64"):
        found = attribute(scipy["scipy.gelu"], dtype, "quick").record
        assert found["form"] == "gelu_normcdf"
        assert found["blocks"] == {"normcdf": "normcdf of scipy.normcdf"}
        assert found["agreement"] == 1
        assert found["worst"]["rest"] == 0
        assert found["worst"]["main"] == ("formula" if dtype == "float32" else "blocks")  # a subnormal ndtr; its tail
