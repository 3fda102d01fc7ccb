"""Every check: its planted fault is caught, and what is correct is never accused."""

import dataclasses
import math
import re

import numpy as np
import pytest
from judging import failing, judged, scaled, subnormals_flushed
from mutants import (
    approximate_tanh,
    at,
    beside,
    correct,
    cut_off,
    erfc_form,
    every_other_call,
    faulty,
    formula,
    in_lane,
    in_remainder,
    moved,
    noisy,
    racing,
    rounded,
    sigmoid_form,
    tanh_form,
    tanh_form_derivative,
    target,
    through,
    when_long,
    where,
)

from gelu_verify.checks import CHECKS, _endurance, lengths
from gelu_verify.checks.nan import is_quiet
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES, from_ordinals, get_format, is_nan, is_negative, ordinals
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.truth.values import reference_bits, zero_threshold


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float32])(x)


def leaking(nbytes):
    """Every call keeps so many bytes."""
    kept = []
    return lambda dtype, x, y: kept.append(np.ones(nbytes, np.uint8)) or y


def at_length(length, floats):
    """Calls of that length are off."""
    return lambda dtype, x, y: np.where((len(x) == length) & (y > 9), y + y.dtype.type(floats), y)


def positive_nan_lost(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x) & ~is_negative(fmt, x), fmt.uint.type(0), y)


def signalling_nan_lost(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x) & ~is_quiet(fmt, x), fmt.uint.type(0), y)


def quiet_nan_signals(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x), (x & ~fmt.uint.type(1 << (fmt.precision - 2))) | fmt.uint.type(1), y)


def nan_lost_at(bits, given=0):
    """One NaN of all gives a number."""
    return lambda dtype, x, y: np.where(x == x.dtype.type(bits), x.dtype.type(given), y)


def below_minimum(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(y == reference_bits("gelu", dtype, x).max(), y + fmt.uint.type(2), y)


def subnormal_inputs_flushed(dtype, x, y):
    fmt = get_format(dtype)
    small = (x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(1 << (fmt.precision - 1))
    return np.where(small, x & fmt.uint.type(fmt.sign_mask), y)


def identity_when_tiny(dtype, x, y):
    fmt = get_format(dtype)
    return np.where((x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(fmt.parse("1e-4")), x, y)


CUT_OFF = [
    ("gelu", lambda x: x * np.float32(0.5) * (1 + _erf(x * np.float32(0.5**0.5)))),
    ("gelu_tanh", tanh_form()),
    ("gelu_tanh", lambda x: tanh_form()(x) * np.float32(1 + 2.0**-13)),  # by a coarse tanh
    ("gelu_sigmoid", sigmoid_form()),
    ("silu", sigmoid_form("1")),
    ("gelu_tanh_grad", tanh_form_derivative()),
]


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
    "nan": [
        *((faulty("gelu", positive_nan_lost), d) for d in DTYPES),
        *((faulty("gelu", signalling_nan_lost), d) for d in DTYPES),
        *((faulty("gelu_grad", quiet_nan_signals), d) for d in DTYPES),
        *((faulty("gelu", nan_lost_at(0x7FFE)), d) for d in ("float16", "bfloat16")),
        *((faulty("gelu", nan_lost_at(0xFFC00040)), d) for d in ("float32",)),
    ],
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
        (correct("gelu", "relu"), "float32"),
        (correct("gelu", "exp"), "float32"),
    ],
    "gradient_variant": [
        *((correct("gelu_grad", "gelu_tanh_grad"), d) for d in DTYPES),
        (correct("silu_grad", "gelu_sigmoid_grad"), "bfloat16"),
        (correct("gelu_grad", "gelu"), "float32"),
        *((correct("gelu_grad", "normcdf"), d) for d in DTYPES),  # the term x phi(x) is missing
        (faulty("gelu_grad", scaled(1.22)), "float32"),
    ],
    "half_slope": [
        *((faulty("gelu", identity_when_tiny), d) for d in DTYPES),
        *((faulty("gelu_grad", identity_when_tiny), d) for d in DTYPES),
        (faulty("gelu_tanh", moved(2.0**-10, 2)), "bfloat16"),
    ],
    "subnormals": [
        *((faulty("silu", subnormals_flushed), d) for d in DTYPES),
        *((faulty("gelu", subnormal_inputs_flushed), d) for d in DTYPES),
        *((faulty("normcdf", subnormals_flushed), d) for d in DTYPES),
    ],
    "saturation": [
        (faulty("gelu", where(lambda x: (x < -20) & np.isfinite(x), "2.2")), "float16"),
        (faulty("gelu", where(lambda x: (x < -50) & np.isfinite(x), "-1e-3")), "float64"),
        *((faulty("gelu", where(lambda x: (x > 9) & (x < 100), "9")), d) for d in DTYPES),
        (faulty("gelu_tanh_grad", where(lambda x: (x > 140) & np.isfinite(x), "1.044")), "float16"),
        (faulty("silu_grad", where(lambda x: (x > 1e18) & np.isfinite(x), "0")), "float32"),
        (faulty("tanh", where(lambda x: (x > 9) & np.isfinite(x), "0.99")), "bfloat16"),
    ],
    "lane": [
        *((faulty("gelu", in_lane(3, 8, 2)), d) for d in DTYPES),
        *((faulty("gelu_tanh", in_lane(31, 32, 1)), d) for d in DTYPES),
        *((faulty("gelu", in_lane(5, 16, 40, lambda x: (x < -2) & (x > -5))), d) for d in DTYPES),
        *((faulty("silu", in_remainder(16, 3)), d) for d in DTYPES),
        *((faulty("gelu_grad", beside(4)), d) for d in DTYPES),
        *((faulty("gelu", when_long(100, 2)), d) for d in DTYPES),
    ],
    "repeatable": [
        *((faulty("gelu", every_other_call(1)), d) for d in DTYPES),
        *((faulty("gelu_grad", noisy(1)), d) for d in DTYPES),
        *((racing("gelu"), d) for d in DTYPES),
    ],
    "precision": [
        (through("gelu", "bfloat16"), "float16"),
        *((through("gelu", "float16"), d) for d in ("float32", "float64")),
        *((through("gelu", "bfloat16"), d) for d in ("float32", "float64")),
        (through("gelu", "float32"), "float64"),
        (through("gelu_tanh", "float16", results=False), "float32"),
        (through("silu_grad", "float16", inputs=False), "float32"),
        (through("silu", "float32", inputs=False), "float64"),
        (formula("gelu_tanh", tanh_form(), np.float32), "float64"),
        (formula("gelu_sigmoid", sigmoid_form(), np.float16), "float32"),
        *((formula("gelu_tanh", approximate_tanh()), d) for d in ("float32", "float64")),
    ],
    "plateau": [
        (through("gelu", "float16"), "float32"),
        (through("gelu_tanh", "bfloat16", results=False), "float16"),
        (faulty("gelu", where(lambda x: (x > -2.1) & (x < -2.0), "-0.0454")), "float16"),
        (faulty("sigmoid", where(lambda x: (x > -9) & (x < -8), "2e-4")), "bfloat16"),
    ],
    "constants": [
        *((formula("gelu_tanh", tanh_form(a="0.044175")), d) for d in DTYPES),
        *((formula("gelu_tanh", tanh_form(a="0.04471499")), d) for d in ("float32", "float64")),
        *((formula("gelu_tanh", tanh_form(b="0.797885")), d) for d in ("float32", "float64")),
        *((formula("gelu_tanh", tanh_form(b="0.7978844")), d) for d in ("float32", "float64")),
        *((formula("gelu_tanh", tanh_form("0.797885", 0.0356774 / 0.797885)), d) for d in ("float32", "float64")),
        *((formula("gelu_sigmoid", sigmoid_form("1.7020005")), d) for d in ("float32", "float64")),
        (formula("gelu_sigmoid", sigmoid_form("1.7019995"), np.float32), "float32"),
        (formula("gelu_sigmoid", sigmoid_form("1.7")), "float16"),
        *((formula("gelu", erfc_form(0.7071067)), d) for d in ("float32", "float64")),
        (formula("gelu_tanh_grad", tanh_form_derivative(b="0.797885")), "float32"),
    ],
    "rounding": [
        *(
            (rounded(f, way), d)
            for f in ("gelu", "silu_grad")
            for way in ("zero", "away", "up", "down")
            for d in DTYPES
        ),
        *((cut_off(function, float32), "bfloat16") for function, float32 in CUT_OFF),
    ],
    "growth": [(faulty("relu", leaking(1 << 20)), "float32")],
    "lengths": [(faulty("relu", at_length(1000, 3)), "float16"), (faulty("relu", at_length(1100, 3)), "float64")],
    "outlier": [
        *((faulty("gelu", moved(value, by)), d) for value in (1.0, -4.0) for by in (2, -100) for d in DTYPES[:2]),
        (faulty("gelu", moved(-2.5, 300)), "float32"),
        (faulty("gelu", moved(1.0, 40)), "float32"),
        (faulty("gelu_grad", moved(1.0, 9)), "float16"),
        (faulty("silu", moved(-6.0, 9)), "bfloat16"),
        (faulty("gelu", at(-2.0, "-0")), "float16"),
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
def test_a_planted_fault_is_caught(check, mutant, dtype, monkeypatch):
    monkeypatch.setattr(_endurance, "BATCHES", (5,) * 20)
    monkeypatch.setattr(lengths, "LARGE", ())
    record = judged(mutant, dtype, "stress" if check in ("growth", "lengths") else None)
    assert record["checks"][check] == "fail"
    finding, fmt = record["findings"][check], get_format(dtype)
    assert finding["detail"]
    assert "\n" not in finding["detail"]
    if check == "growth":  # of calls, whatever the input
        return
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


@pytest.mark.parametrize("way", ["up", "down", "zero", "away", "odd", "chance", "wiggling"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function", ["gelu", "gelu_tanh", "silu", "gelu_grad", "silu_grad", "erf", "exp", "sigmoid", "elu"]
)
def test_a_faithful_implementation_is_accused_of_its_rounding_only(function, dtype, way):
    record = judged(rounded(function, way), dtype)
    assert record["faithful"] == 1
    assert record["max_ulp"] <= 1
    assert failing(record) == (set() if way in ("chance", "wiggling") else {"rounding"})
    names = {"zero": "toward_zero", "away": "away_from_zero", "odd": "to_odd", "chance": "stochastic", "wiggling": None}
    found = record["rounding_mode"]
    assert found == names.get(way, way) or (function in ("exp", "sigmoid", "elu") and found.endswith("zero"))
    if dtype in ("float16", "bfloat16") and function.startswith("gelu"):
        assert record["rounding"] == ("composed" if way == "wiggling" else "once")


def test_policy_formula_accepts_nan_at_minus_infinity_and_says_so():
    mutant = faulty("gelu", at(-np.inf, "nan"))
    record = judged(mutant, policy="formula")
    assert record["checks"]["minus_infinity"] == "pass"
    assert "policy formula" in record["findings"]["minus_infinity"]["detail"]
    assert judged(mutant)["checks"]["minus_infinity"] == "fail"
    assert judged(faulty("gelu", at(-np.inf, "-1")), policy="formula")["checks"]["minus_infinity"] == "fail"
    assert judged(faulty("gelu", at(np.inf, "nan")), policy="formula")["checks"]["plus_infinity"] == "fail"


@pytest.mark.parametrize("given", [0, 0x7F800000, 0x7F812345])
@pytest.mark.parametrize("bits", [0x7FD12345, 0xFFE54321])
def test_every_nan_of_a_range_is_looked_at(bits, given):
    """Among 2^18 NaNs by the million, where answers are compared with what is settled."""
    start = bits & 0xFFF00000
    plan = make_plan("default", "gelu", "float32", ranges=[(start, start + (1 << 20) - 1)])
    record = sweep(faulty("gelu", nan_lost_at(bits, given)), plan).record
    assert failing(record) == {"nan"}
    assert record["findings"]["nan"]["x_bits"] == f"0x{bits:08x}"
    assert record["findings"]["nan"]["got_bits"] == f"0x{given:08x}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_and_payloads_of_nan_are_a_convention(dtype):
    fmt = get_format(dtype)

    def said(nan):
        record = judged(faulty("gelu", lambda dtype, x, y: np.where(is_nan(fmt, x), nan(x), y)), dtype)
        assert failing(record) == set()
        return record["findings"]["nan"]["detail"]

    assert (
        said(lambda x: fmt.uint.type(fmt.nan))
        == "sign always the same, payload always the same, signalling always the same"
    )
    assert said(lambda x: x) == "sign kept, payload kept, signalling kept"
    assert said(lambda x: x | fmt.uint.type(fmt.nan)) == "sign kept, payload kept, signalling always the same"


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
        **dict.fromkeys(("half_slope", "tail_zero", "variant", "gradient_variant", "constants"), "not applicable"),
        **dict.fromkeys(("growth", "lengths"), "not applicable"),
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_flushing_is_a_finding_of_its_own(dtype):
    record = judged(faulty("gelu", subnormals_flushed), dtype)
    assert {name for name, verdict in record["checks"].items() if verdict == "fail"} <= {"subnormals", "monotone"}
    assert record["findings"]["subnormals"]["detail"].endswith("subnormal results are flushed to zero")
    assert "flush to zero" in record["findings"]["half_slope"]["detail"]
    assert record["flush"]["flushed"] == "results"
    assert record["flush"]["max_ulp"] <= 0.5000001
    inputs = judged(faulty("gelu", subnormal_inputs_flushed), dtype)
    assert inputs["flush"]["flushed"] == "inputs"
    assert judged(correct("gelu"), dtype)["flush"] is None


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


HONEST = [
    *((formula("gelu_tanh", tanh_form(), kind), d) for kind in (np.longdouble, np.float64) for d in DTYPES),
    *((formula("gelu_sigmoid", sigmoid_form(), kind), d) for kind in (np.longdouble, np.float64) for d in DTYPES),
    *((formula("gelu", erfc_form()), d) for d in DTYPES),
    *((formula("gelu_tanh_grad", tanh_form_derivative()), d) for d in DTYPES),
    *((formula("gelu_tanh", tanh_form(), np.float32), d) for d in DTYPES[:3]),
    *((formula("gelu_sigmoid", sigmoid_form(), np.float32), d) for d in DTYPES[:3]),
    *((formula("gelu_tanh_grad", tanh_form_derivative(), np.float32), d) for d in DTYPES[:3]),
    (formula("gelu_sigmoid", sigmoid_form(), np.float16), "float16"),
    *((formula("gelu_sigmoid", sigmoid_form(np.float32(1.702))), d) for d in DTYPES[:3]),
    *((formula("gelu_tanh", tanh_form(a=np.float32(0.044715))), d) for d in DTYPES[:3]),
    *((formula("gelu", erfc_form(float(np.float32(0.5**0.5)))), d) for d in DTYPES[:3]),
]


@pytest.mark.parametrize(
    ("honest", "dtype"), [pytest.param(*case, id=f"{k}-{case[0].function}-{case[1]}") for k, case in enumerate(HONEST)]
)
def test_an_honest_formula_is_accused_of_what_it_does_only(honest, dtype):
    """Its last bits (range, monotone) and its tail are its own; it has no other fault, and its numbers are right."""
    record = judged(honest, dtype)
    assert failing(record) <= {"monotone", "range", "tail_zero"}
    assert record["computes_in"] == dtype


def test_a_lane_is_named():
    detail = judged(faulty("gelu", in_lane(3, 8, 2)), "float32")["findings"]["lane"]["detail"]
    assert re.search(r"gelu\(\S+\) = \S+ at most indices.* \(off by \S+ ulp\), but \S+ at index \d+ .*", detail)
    assert "all in lane 3 of 8" in detail
    detail = judged(faulty("gelu", when_long(10, 2)), "float32")["findings"]["lane"]["detail"]
    assert re.search("in a call of [1-9][, ]", detail)
    assert judged(faulty("gelu", in_remainder(16, 40)), "float32")["checks"]["lane"] == "fail"


def test_lanes_that_are_all_faithful_are_told_and_not_accused():
    up, down = rounded("gelu", "up"), rounded("gelu", "down")

    def answer(dtype, x):
        odd = np.arange(len(x)) % 2 == 1
        return np.where(odd, up.answer(dtype, x), down.answer(dtype, x))

    record = judged(target("gelu", answer), "float32")
    assert failing(record) == set()
    assert "both are faithful" in record["findings"]["lane"]["detail"]


def test_a_length_that_fails_is_a_failure_and_no_fault_of_the_lanes():
    def whole_vectors_only(dtype, x):
        if len(x) < 8:
            raise TargetFailure("fewer than 8 elements")
        return reference_bits("gelu", dtype, x)

    record = judged(target("gelu", whole_vectors_only), "float32")
    assert failing(record) == set()
    assert record["checks"]["lane"] == "not applicable"
    assert record["max_ulp"] <= 0.5000001
    assert record["failure"] == (
        "fewer than 8 elements, when it is called with 1 or 2 elements, but not with 64, whatever they are"
    )
    assert (record["failure_kind"], record["failure_length"]) == ("exception", 1)


def test_where_lengths_are_compiled_few_are_tried():
    lengths = []

    def answer(dtype, x):
        lengths.append(len(x))
        return reference_bits("gelu", dtype, x)

    plan = make_plan("default", "gelu", "float32")
    record = sweep(dataclasses.replace(target("gelu", answer), compiles_per_length=True), plan).record
    assert failing(record) == set()
    assert set(lengths) == {1, 17, lengths[0]}
    assert f"only calls of 1, 17 and {lengths[0]} elements were compared" in record["findings"]["lane"]["detail"]
    judged(dataclasses.replace(target("gelu", answer), compiles_per_length=False), "float32")
    assert {*range(1, 65), *((1 << k) + by for k in range(7, 14) for by in (-1, 0, 1))} <= set(lengths)


@pytest.mark.parametrize(
    ("claimed", "computed", "said"),
    [
        ("gelu_grad", "gelu_tanh_grad", "the derivative of gelu_tanh, not of gelu"),
        ("gelu_grad", "normcdf", "but normcdf"),
        ("gelu_grad", "gelu", "but gelu"),
        ("gelu", "tanh", "but tanh"),
    ],
)
def test_what_is_computed_instead_is_named(claimed, computed, said):
    record = judged(correct(claimed, computed), "float32")
    assert said in record["findings"]["gradient_variant" if claimed.endswith("_grad") else "variant"]["detail"]


@pytest.mark.parametrize(
    ("mutant", "dtype", "said"),
    [
        (through("gelu", "float16"), "float32", "computes in float16"),
        (through("gelu", "bfloat16"), "float32", "computes in bfloat16"),
        (through("gelu", "float32"), "float64", "computes in float32"),
        (through("gelu", "bfloat16"), "float16", "computes in bfloat16"),
        (formula("gelu_tanh", approximate_tanh()), "float32", "approximate intrinsic"),
    ],
)
def test_the_format_inside_is_named(mutant, dtype, said):
    record = judged(mutant, dtype)
    assert said in record["findings"]["precision"]["detail"]
    assert record["computes_in"] in said or "intrinsic" in said


@pytest.mark.parametrize(
    ("mutant", "dtype", "said"),
    [
        (formula("gelu_sigmoid", sigmoid_form("1.7019995")), "float32", "as if 1.702 were 1.7019995"),
        (formula("gelu_tanh", tanh_form(a="0.04471499")), "float64", "as if 0.044715 were 0.04471499"),
        (formula("gelu_tanh", tanh_form(a=np.float32(0.044715))), "float64", "its value in float32"),
        (formula("gelu_tanh", tanh_form(b="0.797885")), "float64", "as if sqrt(2/pi) were 0.797885"),
        (formula("gelu", erfc_form(0.7071067)), "float64", "as if 1/sqrt(2) were 0.7071067"),
    ],
)
def test_the_number_inside_is_named(mutant, dtype, said):
    assert said in judged(mutant, dtype)["findings"]["constants"]["detail"]


SQUARE_ROOT, CUBE = math.sqrt(2 / math.pi), 0.044715


def scaled_formula(compute, factor):
    return lambda x: compute(x) * x.dtype.type(factor)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("form", "function"), [(tanh_form, "gelu_tanh"), (tanh_form_derivative, "gelu_tanh_grad")], ids=["", "grad"]
)
@pytest.mark.parametrize(
    "off",
    [
        (0, 1, 0),
        (0, 0, 1),
        (0, 1, 1),
        (0, 1, -1),
        (0, 0.3, 1),
        (0, 1, 0.3),
        (1, 0, 0),
        (1, 1, 0),
        (1, 0, -1),
        (1, -1, 1),
    ],
)
def test_constants_that_are_off_together_are_each_told(form, function, dtype, off):
    """And no other: where one alone would explain most of it, with a value that it does not have."""
    share = np.array(off) * {"float32": 3e-5, "float64": 3e-8}[dtype]
    half, root, cube = (value * (1 + e) for value, e in zip((0.5, SQUARE_ROOT, CUBE), share, strict=True))
    record = judged(formula(function, scaled_formula(form(b=root, a=cube), 2 * half)), dtype)
    detail = record["findings"]["constants"]["detail"]
    told = dict(re.findall(r"(sqrt\(2/pi\)|0\.044715|1/2) were ([0-9.]+[0-9])", detail))
    assert set(told) == {name for name, e in zip(("1/2", "sqrt(2/pi)", "0.044715"), off, strict=True) if e}
    for name, value, exact in zip(
        ("1/2", "sqrt(2/pi)", "0.044715"), (half, root, cube), (0.5, SQUARE_ROOT, CUBE), strict=True
    ):
        if name in told:
            assert abs(float(told[name]) - value) < 0.03 * abs(value - exact) + 1e-9 * value


def test_numbers_rounded_together_are_told_together():
    """ONNX's function body casts its float32 literals: sqrt of 0.63661977236, and 0.044715."""
    root, cube = np.sqrt(np.longdouble(np.float32(0.63661977236))), np.longdouble(np.float32(0.044715))
    detail = judged(formula("gelu_tanh", tanh_form(b=root, a=cube)), "float64")["findings"]["constants"]["detail"]
    assert "sqrt(2/pi) were 0.7978845447" in detail
    assert "0.044715 were 0.044714998453855515, its value in float32" in detail


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("value", [2.0, -1.5, 0.25, -4.0, 1.0, -0.75])
@pytest.mark.parametrize("by", [2, -2, 30])
def test_one_wrong_input_of_all_is_the_one_that_is_shown(value, by, dtype):
    record, fmt = judged(faulty("gelu", moved(value, by)), dtype), get_format(dtype)
    assert record["checks"]["outlier"] == "fail"
    assert record["witness"]["x_bits"] == record["findings"]["outlier"]["x_bits"]
    assert fmt.fraction(int(record["findings"]["outlier"]["x_bits"], 16)) == value
    assert record["checks"]["variant"] == "pass"


def test_a_root_is_no_outlier():
    """Near its root a gradient of float32 arithmetic is off by thousands of ulp: they are few, and no fault."""
    record = judged(formula("gelu_tanh_grad", tanh_form_derivative(), np.float32), "float32")
    assert record["root"]["max_ulp"] > 50 * record["root"]["max_ulp_absolute"]
    assert record["checks"]["outlier"] == "pass"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_the_wrong_way_shows_two_different_numbers(dtype):
    """Nine digits do not tell two neighbours of float64 apart."""
    result = sweep(faulty("gelu", moved(2.0, -3)), make_plan("default", "gelu", dtype))
    detail = result.record["findings"]["monotone"]["detail"]
    assert result.record["checks"]["monotone"] == "fail"
    (x_below, below), (x, got) = re.findall(r"f\((\S+)\) = ([^\s,]+)", detail)
    assert x_below != x
    assert below != got
