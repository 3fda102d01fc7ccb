"""Every check: its planted fault is caught, and what is correct is never accused."""

import numpy as np
import pytest
from mutants import at, correct, faulty, moved, rounded, target, where

from gelu_verify.checks import CHECKS
from gelu_verify.formats import DTYPES, from_ordinals, get_format, is_nan, is_negative, ordinals
from gelu_verify.functions import FUNCTIONS
from gelu_verify.plans import make_plan
from gelu_verify.reference import reference_bits, zero_threshold
from gelu_verify.sweep import sweep

PLAN = {"float16": "default", "bfloat16": "default", "float32": "quick", "float64": "quick"}


def judged(mutant, dtype="float16", plan=None, policy="limit"):
    return sweep(mutant, make_plan(plan or PLAN[dtype], mutant.function, dtype), policy=policy).record


def positive_nan_lost(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x) & ~is_negative(fmt, x), fmt.uint.type(0), y)


def below_minimum(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(y == reference_bits("gelu", dtype, x).max(), y + fmt.uint.type(2), y)


def subnormals_flushed(dtype, x, y):
    fmt = get_format(dtype)
    small = (y & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(1 << (fmt.precision - 1))
    return np.where(small, y & fmt.uint.type(fmt.sign_mask), y)


def identity_when_tiny(dtype, x, y):
    fmt = get_format(dtype)
    return np.where((x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(fmt.parse("1e-4")), x, y)


# name of the check -> targets that it must catch, each with a dtype
MUTANTS = {
    "plus_infinity": [
        (faulty("gelu", at(np.inf, "nan")), "float16"),
        (faulty("gelu", at(np.inf, "1e4")), "float32"),
        (faulty("gelu_grad", at(np.inf, "nan")), "bfloat16"),
    ],
    "minus_infinity": [
        (faulty("gelu", at(-np.inf, "nan")), "float16"),
        (faulty("silu", at(-np.inf, "0")), "float64"),
        (faulty("gelu_tanh_grad", at(-np.inf, "nan")), "float32"),
    ],
    "nan": [(faulty("gelu", positive_nan_lost), d) for d in DTYPES],
    "signed_zero": [
        (faulty("gelu", at(0.0, "0")), "float32"),
        (faulty("gelu", at(0.0, "-0")), "bfloat16"),
        (faulty("gelu_grad", at(0.0, "0")), "float64"),
    ],
    "finite": [
        (faulty("gelu", where(lambda x: (x > 33000) & np.isfinite(x), "inf")), "float16"),
        (faulty("gelu_grad", at(41.0, "nan")), "float32"),
        (faulty("silu", where(lambda x: (x < -88) & np.isfinite(x), "nan")), "float64"),
    ],
    "tail_zero": [
        (faulty("gelu", where(lambda x: x < -3, "-0")), "float16"),
        (faulty("gelu", where(lambda x: x < -5.54, "-0")), "float32"),
        (faulty("gelu", where(lambda x: x < -8.3, "0")), "float64"),
        (faulty("silu", where(lambda x: x < -89, "-0")), "bfloat16"),
        (faulty("gelu_grad", where(lambda x: x < -5, "0")), "float32"),
    ],
    "sign": [
        (faulty("gelu", where(lambda x: (x < -4) & (x > -5), "1e-3")), "float16"),
        (faulty("gelu_tanh", where(lambda x: x < -5.0, "1e-30")), "float32"),
        (faulty("sigmoid", at(-3.0, "-1e-3")), "bfloat16"),
    ],
    "range": [
        (faulty("gelu", at(-1.0, "-0.171")), "float16"),
        (faulty("gelu", below_minimum), "bfloat16"),
        (faulty("tanh", at(2.0, "1.01")), "bfloat16"),
        (faulty("gelu", moved(8.0, 1)), "float16"),
        (faulty("gelu_grad", at(2.0, "1.13")), "float64"),
    ],
    "monotone": [
        (faulty("gelu", moved(2.0, -3)), "float16"),
        (faulty("gelu", moved(-2.0, 12)), "bfloat16"),
        (faulty("gelu", moved(-3.0, -400)), "float32"),
        (faulty("gelu_grad", moved(1.0, 20)), "float64"),
        (faulty("erfc", moved(1.0, 3)), "float16"),
    ],
    "variant": [
        *((correct("gelu", "gelu_tanh"), d) for d in DTYPES),
        *((correct("gelu_tanh", "gelu"), d) for d in DTYPES),
        *((correct("gelu_sigmoid", "silu"), d) for d in DTYPES),
        *((correct("gelu_grad", "gelu_tanh_grad"), d) for d in DTYPES),
        (correct("silu_grad", "gelu_sigmoid_grad"), "bfloat16"),
        (correct("gelu", "relu"), "float32"),
        (correct("gelu", "exp"), "float32"),
    ],
    "half_slope": [
        *((faulty("gelu", identity_when_tiny), d) for d in DTYPES),
        *((faulty("silu", subnormals_flushed), d) for d in DTYPES),
        (faulty("gelu_tanh", moved(2.0**-10, 2)), "bfloat16"),
    ],
}


def test_every_check_has_a_mutant():
    assert set(MUTANTS) == set(CHECKS)


@pytest.mark.parametrize(
    ("check", "mutant", "dtype"),
    [
        pytest.param(check, mutant, dtype, id=f"{check}-{k}-{mutant.function}-{dtype}")
        for check, cases in MUTANTS.items()
        for k, (mutant, dtype) in enumerate(cases)
    ],
)
def test_a_planted_fault_is_caught(check, mutant, dtype):
    record = judged(mutant, dtype)
    assert record["checks"][check] == "fail"
    finding, fmt = record["findings"][check], get_format(dtype)
    assert finding["detail"]
    assert "\n" not in finding["detail"]
    assert {len(finding[key]) for key in ("x_bits", "got_bits", "want_bits")} == {2 + fmt.width // 4}
    if check != "monotone":  # of two neighbours the other one may be wrong
        assert finding["got_bits"] != finding["want_bits"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_correct_implementation_is_never_accused(function, dtype):
    record = judged(correct(function), dtype)
    assert {name for name, verdict in record["checks"].items() if verdict == "fail"} == set()
    assert record["max_ulp"] <= 0.5000001
    assert record["correctly_rounded"] == record["faithful"] == 1
    assert record["zero_from"] is None


@pytest.mark.parametrize("way", ["up", "down", "wiggling"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function", ["gelu", "gelu_tanh", "silu", "gelu_grad", "silu_grad", "erf", "exp", "sigmoid", "elu"]
)
def test_a_faithful_implementation_is_not_accused(function, dtype, way):
    record = judged(rounded(function, way), dtype)
    assert record["faithful"] == 1
    assert {name for name, verdict in record["checks"].items() if verdict == "fail"} == set()
    assert record["max_ulp"] <= 1


def test_policy_formula_accepts_nan_at_minus_infinity_and_says_so():
    mutant = faulty("gelu", at(-np.inf, "nan"))
    record = judged(mutant, policy="formula")
    assert record["checks"]["minus_infinity"] == "pass"
    assert "policy formula" in record["findings"]["minus_infinity"]["detail"]
    assert judged(mutant)["checks"]["minus_infinity"] == "fail"
    assert judged(faulty("gelu", at(-np.inf, "-1")), policy="formula")["checks"]["minus_infinity"] == "fail"
    assert judged(faulty("gelu", at(np.inf, "nan")), policy="formula")["checks"]["plus_infinity"] == "fail"


def test_a_gradient_may_end_in_either_zero():
    for zero in ("0", "-0"):
        mutant = faulty("gelu_grad", where(lambda x: x < -30, zero))
        record = judged(mutant, "float32")
        assert record["checks"]["minus_infinity"] == "pass"
        assert record["correctly_rounded"] == 1


def test_relu_may_return_either_zero_at_minus_zero():
    for zero in ("0", "-0"):
        record = judged(faulty("relu", at(0.0, zero)))
        assert record["checks"]["signed_zero"] == "pass"
        assert record["correctly_rounded"] == 1


def test_not_applicable_is_said():
    assert judged(correct("erf"))["checks"] | {"monotone": "pass"} == {
        **dict.fromkeys(CHECKS, "pass"),
        **dict.fromkeys(("half_slope", "tail_zero", "variant"), "not applicable"),
    }
    assert judged(correct("gelu_grad"))["checks"]["sign"] == "not applicable"
    assert judged(correct("exp"))["checks"]["range"] == "pass"  # never negative


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_from_is_where_the_tail_is_lost(dtype):
    fmt = get_format(dtype)
    record = judged(faulty("gelu", where(lambda x: x <= -3, "-0")), dtype)
    assert record["zero_from"] == {"x_bits": fmt.bits_text(fmt.parse("-3")), "x": -3.0}
    threshold = zero_threshold("gelu", dtype)
    assert record["zero_threshold"]["x_bits"] == fmt.bits_text(threshold)


def test_a_zero_at_the_root_of_a_gradient_is_no_tail():
    record = judged(faulty("silu_grad", where(lambda x: (x > -1.28) & (x < -1.277), "0")))
    assert record["zero_from"] is None
    assert record["checks"]["tail_zero"] == "pass"


@pytest.mark.parametrize("dtype", DTYPES)
def test_variant_names_what_is_computed(dtype):
    for claimed in ("gelu", "gelu_tanh", "silu", "gelu_sigmoid", "relu"):
        for computed in ("gelu", "gelu_tanh", "silu", "gelu_sigmoid", "relu", "elu"):
            assert judged(correct(claimed, computed), dtype, "landmarks")["variant"] == computed
    assert judged(correct("gelu", "gelu_grad"), dtype, "landmarks")["variant"] == "none"
    assert judged(correct("tanh"), dtype, "landmarks")["variant"] is None


@pytest.mark.parametrize(
    ("function", "noise"), [("gelu", 3), ("gelu_tanh", 3), ("silu", 3), ("gelu_grad", 1), ("gelu", 30)]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_noisy_implementation_keeps_its_name(function, noise, dtype):
    if noise == 30 and dtype in ("float16", "bfloat16"):
        pytest.skip("30 ulp of a 16-bit dtype are more than the functions differ")

    def shaken(dtype, x, y):
        fmt = get_format(dtype)
        step = np.random.default_rng(1).integers(-noise, noise + 1, len(x))
        return from_ordinals(fmt, ordinals(fmt, y) + step)

    assert judged(faulty(function, shaken), dtype, "landmarks")["variant"] == function


def test_half_slope_says_when_only_subnormals_are_lost():
    assert "flush to zero" in judged(faulty("gelu", subnormals_flushed))["findings"]["half_slope"]["detail"]
    assert "flush to zero" not in judged(faulty("gelu", identity_when_tiny))["findings"]["half_slope"]["detail"]


def test_checks_work_on_a_plan_without_special_values():
    plan = make_plan("default", "gelu", "float32", ranges=["1:1"])
    record = sweep(faulty("gelu", at(np.inf, "nan")), plan).record
    assert record["n"] == 1
    assert record["checks"]["plus_infinity"] == "fail"
    assert record["checks"]["monotone"] == "not applicable"
    assert record["max_ulp"] <= 0.5


def test_all_nan_fails_what_it_should():
    record = judged(target("gelu", lambda dtype, x: np.full_like(x, get_format(dtype).nan)))
    assert record["checks"]["finite"] == record["checks"]["variant"] == record["checks"]["half_slope"] == "fail"
    assert record["max_ulp"] is None
    assert record["nonfinite"]["count"] == 2 * get_format("float16").infinity
    assert record["variant"] == "none"


def test_findings_name_the_reason():
    assert all(check.reason and check.name == name for name, check in CHECKS.items())
