"""Reference values: native core, tables and oracle give the same bits, errors and verdicts."""

import dataclasses
import math
import random
import threading
import types
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import ml_dtypes
import mpmath
import numpy as np
import pandas as pd
import pytest
from marking import NATIVE, NATIVE_FIRST, nightly
from points import delicate_inputs

import gelu_verify
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, FORMATS, from_ordinals, ordinals
from gelu_verify.functions import FUNCTIONS
from gelu_verify.functions.enclosures import Terms
from gelu_verify.truth import _core
from gelu_verify.truth.oracle import enclose, judge_exactly, round_exactly
from gelu_verify.truth.values import decimal_text, exact, judge, reference, reference_bits, ulp_error, zero_threshold

every_dtype = pytest.mark.parametrize("dtype", DTYPES)
every_function = pytest.mark.parametrize("name", FUNCTIONS)
native = pytest.mark.parametrize("name", NATIVE)


def specials(fmt):
    minus = fmt.sign_mask
    return [0, minus, fmt.infinity, fmt.infinity | minus, fmt.nan, fmt.nan | minus, fmt.infinity | 1]


@pytest.mark.few(18)
@every_dtype
@pytest.mark.few(9)
@pytest.mark.parametrize("name", NATIVE_FIRST)
@pytest.mark.parametrize("points", [200, *nightly(2000)])
def test_judging_is_what_the_oracle_says(name, dtype, points):
    """Answers right, wrong by a little, by a lot, in sign, and not finite: same bits, error and faithfulness."""
    close = 1e-9 if dtype == "float64" else 2.0 ** (FORMATS[dtype].precision - 40)  # ulp: what double leaves
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    x = delicate_inputs(function, fmt, points, seed=3) + specials(fmt)
    right = [round_exactly(function, fmt, b) for b in x]
    changes = (0, 1, -1, 2, 7, fmt.sign_mask, 12345)
    got = [(y + changes[i % 7]) % (1 << fmt.width) for i, y in enumerate(right)]
    judged = judge(name, dtype, np.array(x, fmt.uint), np.array(got, fmt.uint))
    for i, bits in enumerate(x):
        want, error, faithful = judge_exactly(function, fmt, bits, got[i])
        assert judged.want_bits[i] == want
        assert want == right[i] or function.others_at(fmt, bits)
        assert judged.faithful[i] == faithful
        assert judged.error[i] == pytest.approx(error, rel=1e-9, abs=close, nan_ok=True)


@pytest.mark.few(18)
@every_dtype
@native
def test_the_cores_bound_holds(name, dtype):
    """hi + lo lies within its own bound of a 200-bit enclosure; where the bound is 0 it is exact."""
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    for bits in delicate_inputs(function, fmt, 250, seed=4):
        x = fmt.fraction(bits)
        if not function.is_defined(fmt, bits):
            assert math.isnan(_core.value(name, float(x))[0])
            continue
        if abs(x) > 30:
            continue
        point = (x.numerator, 1 - x.denominator.bit_length())
        ends = enclose(function, point, 200)
        for quick in (False, True) if dtype != "float64" else (False,):
            hi, lo, err, k = _core.value(name, float(x), quick)
            got = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
            for end in ends:
                assert abs(got - end) <= (Fraction(err) + Fraction(abs(hi)) / 2**190) * Fraction(2) ** k


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@native
def test_tables_are_what_the_core_computes(name, dtype):
    fmt = FORMATS[dtype]
    every = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(reference_bits(name, dtype, every), judge(name, dtype, every, every).want_bits)
    assert reference_bits(name, dtype, fmt.nan) == fmt.nan


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_eight_bit_formats(dtype):
    fmt = FORMATS[dtype]
    every = np.arange(256, dtype=np.uint8)
    wide = np.array([fmt.fraction(b) if fmt.is_finite(b) else math.nan for b in range(256)], float)
    answers = reference_bits("silu", dtype, every)
    for b in range(256):
        if fmt.is_finite(b) and wide[b]:
            y = reference("silu", wide[b])  # in float64, which is far from every midpoint
            assert answers[b] == fmt.round(Fraction(y), negative_zero=bool(np.signbit(y)))
    assert judge("silu", dtype, every, answers).faithful.all()


@pytest.mark.few(120)
@every_dtype
@every_function
def test_the_zero_threshold_is_the_last_zero(name, dtype):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    bits = zero_threshold(name, dtype)
    if bits is None:
        vanishes = function.at_minus_infinity in ("0", "-0") and function.turning_points is not None
        assert not vanishes or fmt.magnitude(round_exactly(function, fmt, fmt.parse("-2"))) == 0
        return
    assert fmt.magnitude(round_exactly(function, fmt, bits)) == 0
    next_to_it = fmt.magnitude(round_exactly(function, fmt, fmt.from_ordinal(fmt.ordinal(bits) + 1)))
    assert next_to_it == 1 or (next_to_it and fmt.fraction(bits) in map(Fraction, function.landmarks.values()))


def test_thresholds_of_the_literature():
    found = {d: float(FORMATS[d].fraction(zero_threshold("gelu", d))) for d in DTYPES}
    wanted = {"float16": -5.7238548, "bfloat16": -13.56152, "float32": -14.356068, "float64": -38.58014022}
    for dtype, x in wanted.items():
        assert found[dtype] == pytest.approx(x, rel=2.0 ** (1 - FORMATS[dtype].precision) + 1e-7)


def test_arrays_scalars_and_shapes():
    x = np.linspace(-8, 3, 12, dtype=np.float32).reshape(3, 4)
    y = reference("gelu", x)
    assert (y.dtype, y.shape) == (np.float32, (3, 4))
    assert reference("gelu", x[:, ::2]).tolist() == y[:, ::2].tolist()
    assert isinstance(reference("gelu", np.float16(1)), np.float16)
    assert reference("gelu", ml_dtypes.bfloat16(1)).dtype == ml_dtypes.bfloat16
    assert float(reference("gelu", 1.0, dtype="bfloat16")) == 0.83984375
    assert reference_bits("gelu", "float32", np.array([], np.uint32)).shape == (0,)
    assert np.signbit(reference("gelu", -0.0))
    assert ulp_error("gelu", x, y).shape == (3, 4)
    assert (np.abs(ulp_error("gelu", x, y)) <= 0.5).all()
    assert gelu_verify.reference is reference


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("float32"), "float32", types.SimpleNamespace(name="float32")])
def test_a_dtype_may_be_a_name_or_a_librarys_own(dtype):
    assert reference("gelu", 1.0, dtype) == reference("gelu", np.float32(1))
    assert reference_bits("gelu", dtype, 0xC0D00000) == 0xAF8F821F
    assert exact("gelu", "0.1", dtype, digits=12) == "0.0539827845913"
    assert abs(ulp_error("gelu", 1.0, 0.84134477, dtype)) < 1


@pytest.mark.parametrize("name", ["exp", "expm1"])
@pytest.mark.parametrize("digits", [1, 20, 300, 4000])
def test_digits_of_numbers_beyond_every_format(name, digits):
    """Far above a format's largest number, where a rounding asks for no more than that it overflows."""
    rng = random.Random(digits)
    with mpmath.workdps(digits + 40):
        drawn = [math.ldexp(rng.uniform(1, 2), rng.randrange(2, 34)) for _ in range(20)]
        for x in (0.75, 700.0, 45426.0, 45427.0, *drawn):
            want = getattr(mpmath, name)(mpmath.mpf(x))
            off = mpmath.mpf(exact(name, x, digits=digits)) / want - 1
            assert abs(off) <= 5.001 * mpmath.mpf(10) ** -digits


def test_containers_and_numbers_are_taken_in_one_way():
    y = [float(reference("gelu", each)) for each in (-1.0, 2.0)]
    for x in ([-1.0, 2.0], (-1.0, 2.0), pd.Series([-1.0, 2.0], index=[7, 3]), np.array([-1.0, 2.0])):
        assert reference("gelu", x).tolist() == gelu_verify.gelu(x).tolist() == y
        assert (np.abs(ulp_error("gelu", x, y)) <= 0.5).all()
    for call in (lambda x: reference("gelu", x), gelu_verify.gelu, lambda x: ulp_error("gelu", x, y)):
        with pytest.raises(UsageError, match=r"masked array: pass x.compressed"):
            call(np.ma.array([-1.0, 2.0], mask=[False, True]))
        with pytest.raises(UsageError, match="int64"):
            call([1, 2])
    for largest in (10**400, 1e308 * 10):
        assert float(reference("gelu", largest)) == float(gelu_verify.gelu(largest)) == math.inf
        assert math.copysign(1, reference("gelu", -largest)) == -1


def test_bad_arguments_are_named():
    with pytest.raises(UsageError, match=r"bits 0x100000000 are too wide for float32"):
        reference_bits("gelu", "float32", 1 << 32)
    with pytest.raises(UsageError, match="too wide"):
        reference_bits("gelu", "float32", -1)
    with pytest.raises(UsageError, match="bits must be uint32 for float32, not int64"):
        reference_bits("gelu", "float32", np.array([1]))
    with pytest.raises(UsageError, match=r"shape \(2,\), got_bits \(1,\)"):
        judge("gelu", "float32", np.zeros(2, np.uint32), np.zeros(1, np.uint32))
    with pytest.raises(UsageError, match="int64"):
        reference("gelu", np.array([1, 2]))
    with pytest.raises(UsageError, match="the array is float32, not float64"):
        reference("gelu", np.float32(1), dtype="float64")
    with pytest.raises(UsageError, match="x is float32, y is float64"):
        ulp_error("gelu", np.float32(1), np.float64(1))
    with pytest.raises(UsageError, match="not a binary fraction"):
        exact("gelu", "0.1")
    for text in ("1_000", "0x1_0p0", "\u0663", "1e999999999", "1e-999999999", "0x1p99999"):
        with pytest.raises(UsageError, match="is not a finite number"):
            exact("gelu", text)
    with pytest.raises(UsageError, match="digits"):
        exact("gelu", 1.0, digits=0)
    with pytest.raises(UsageError, match="not a float"):
        reference("gelu", "1.0")


ANYTHING = (
    *(0, -1, 0.5, math.nan, -math.inf, 10**400, True, None, "x", "-6", "0x3c00", b"x", 1j, len, object(), [], [1, 2]),
    *([1, "a"], [None], {}, {1}, range(3), Fraction(1, 3), Decimal("0.1"), Decimal("nan"), np.float16(2), np.int32(3)),
    *(np.float64(-6), np.longdouble(1), np.zeros(3, np.float32), np.zeros((2, 3), np.float16), np.array(1.0)),
    *(np.arange(3), np.array(["a"]), np.array([1, None]), np.zeros(3, ">f4"), np.zeros(2, [("a", "f4")])),
)
DTYPES_OR_NOT = ("float16", "float32", "bfloat16", np.float64, "fp16", np.int32, 1, None)


@pytest.mark.parametrize(
    "function", ["gelu", "elu", "elu[alpha=2]", "elu[alpha=x]", "swiglu", "log", "none", None, 1, ["gelu"]]
)
def test_whatever_is_passed_is_answered_or_refused(function):
    for x, dtype in product(ANYTHING, DTYPES_OR_NOT):
        for call in (
            partial(reference, function, x, dtype),
            partial(reference, function, 1.0, alpha=x),
            partial(reference_bits, function, dtype, x),
            partial(exact, function, x, dtype),
            partial(ulp_error, function, x, np.zeros(3, np.float32), dtype),
        ):
            with suppress(UsageError):
                call()


def test_a_number_that_has_a_dtype_keeps_it():
    """As `reference` has it: 0.1 of float32 is not rounded to float16, nor is float16 forgotten."""
    assert exact("gelu", np.array(-6.5, np.float32)) == exact("gelu", -6.5)
    with pytest.raises(UsageError, match="the array is float32, not float16"):
        exact("gelu", np.float32(0.1), "float16")
    with pytest.raises(UsageError, match=r"x has the shape \(2,\), y \(3,\)"):
        ulp_error("gelu", np.zeros(2), np.zeros(3))


def test_exact_decimals():
    assert exact("gelu", -6.5) == "-2.610400379508426575424994524560446867653e-10"
    assert exact("gelu", "-6.5", digits=5) == exact("gelu", Fraction(-13, 2), digits=5) == "-2.6104e-10"
    assert exact("gelu", "0xc0d00000", digits=5, dtype="float32") == "-2.6104e-10"
    assert exact("gelu", "0.1", digits=12, dtype="float32") == "0.0539827845913"
    assert exact("gelu", 1e30, digits=5) == "1.0000e+30"
    assert exact("relu", -1.5) == "0"
    assert exact("gelu_grad", 0) == "0.5"
    assert exact("gelu", float("-inf")) == "-0"
    assert exact("gelu", 700.0, digits=8) == "700.00000"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1, 3), 5, "0.33333"),
        (Fraction(-2, 3) / 10**5, 3, "-6.67e-06"),
        (Fraction(12345), 3, "1.23e+04"),
        (Fraction(99999), 3, "1.00e+05"),
        (Fraction(5, 2), 1, "2"),
        (Fraction(1, 100), 4, "0.01000"),
        (Fraction(0), 9, "0"),
    ],
)
def test_decimal_text(value, digits, text):
    assert decimal_text(value, digits) == text


def test_threads_get_the_same_bits():
    """The oracle's interval context belongs to its thread."""
    fmt, function = FORMATS["float64"], FUNCTIONS["gelu"]
    inputs = delicate_inputs(function, fmt, 200, seed=5)
    alone = [round_exactly(function, fmt, x) for x in inputs]
    together: list[list[int]] = [[] for _ in range(4)]

    def work(out):
        out.extend(round_exactly(function, fmt, x) for x in inputs)

    threads = [threading.Thread(target=work, args=(out,)) for out in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [alone] * 4


def test_a_thread_whose_first_inputs_are_none_gets_none():
    nothing, found = np.empty(0, np.uint32), []
    thread = threading.Thread(target=lambda: found.append(judge("gelu", "float32", nothing, nothing)))
    thread.start()
    thread.join()
    assert [len(part) for part in found[0]] == [0, 0, 0]


def test_a_function_without_a_native_version_is_answered_by_the_oracle(monkeypatch):
    cube = dataclasses.replace(FUNCTIONS["relu"], name="cube", terms=lambda _, x: Terms((x[0] ** 3, 3 * x[1]), None))
    monkeypatch.setitem(FUNCTIONS, "cube", cube)
    assert reference("cube", np.array([1.5, -2.0], np.float32)).tolist() == [3.375, -8.0]
    assert ulp_error("cube", np.float32(1.5), np.float32(3.0)) == -0.375 * 2**22


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "gelu_sigmoid", "silu"])
def test_every_float32_reference_is_monotone(name):
    """All finite inputs: correct rounding keeps the order of the exact values between turning points."""
    fmt, turn = (
        FORMATS["float32"],
        FORMATS["float32"].ordinal(FORMATS["float32"].parse(FUNCTIONS[name].turning_points[0])),
    )
    last = fmt.ordinal(fmt.max_finite)
    for start in range(-1 - last, last, 1 << 20):
        x = np.arange(start, min(start + (1 << 20), last) + 1)
        y = ordinals(fmt, judge(name, "float32", *[from_ordinals(fmt, x)] * 2).want_bits)
        steps = np.diff(np.where(y < 0, y + 1, y))  # both zeros in one place
        assert (steps[x[1:] < turn] <= 0).all()
        assert (steps[x[:-1] > turn] >= 0).all()


def test_results_of_a_whole_binade_are_monotone():
    """A cheap sweep of 2^20 consecutive float32 inputs in the tail: no rounding goes the wrong way."""
    fmt = FORMATS["float32"]
    x = np.arange(fmt.parse("-6"), fmt.parse("-6") + (1 << 20), dtype=np.uint32)
    found = ordinals(fmt, reference_bits("gelu", "float32", x))
    assert (np.diff(found) >= 0).all()
