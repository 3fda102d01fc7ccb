"""log: NaN outside of its domain, -inf at zero, and what is said of implementations that answer otherwise."""

import math

import mpmath
import numpy as np
import pytest
from marking import nightly
from mutants import at, correct, faulty, moved, where

from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, FORMATS, MODES, get_format
from gelu_verify.functions import FUNCTIONS, Function
from gelu_verify.search.search import SearchBudget, search
from gelu_verify.search.state import SearchAsked, State
from gelu_verify.truth.hardest import offset_of
from gelu_verify.truth.oracle import judge_exactly, round_exactly
from gelu_verify.truth.values import exact, judge, reference_bits
from gelu_verify.verification import verify

LOG = FUNCTIONS["log"]
# Hard to round: rows of CORE-MATH's src/binary64/log/log.wc; the first is the hardest of all, as its log.c says
HARD = ("0x1.62a88613629b6p+678", "0x1.5b6e7e4e96f86p+2", "0x1.a6ae5142326b5p+0", "0x1.1e88509f96c39p+11")


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("mode", MODES)
def test_values_are_those_of_ieee_754(dtype, mode):
    fmt = get_format(dtype)
    for x, y in (("0", "-inf"), ("-0", "-inf"), ("1", "0"), ("inf", "inf"), ("nan", "nan"), ("-inf", "nan"),
                 ("-1", "nan"), (fmt.bits_text(fmt.sign_mask | 1), "nan")):  # fmt: skip
        bits, want = fmt.parse(x), fmt.nan if y == "nan" else fmt.parse(y)
        assert reference_bits("log", dtype, bits, rounding=mode) == round_exactly(LOG, fmt, bits, mode) == want


@pytest.mark.parametrize("dtype", [*DTYPES, "float8_e5m2"])
def test_a_number_where_none_is_due_has_no_size(dtype):
    fmt = get_format(dtype)
    minus_inf, signalling = fmt.infinity | fmt.sign_mask, fmt.infinity | 1
    inputs = (0, fmt.sign_mask, 1, fmt.sign_mask | 1, fmt.sign_mask | fmt.one, fmt.max_finite | fmt.sign_mask)
    outputs = (0, fmt.one, fmt.infinity, minus_inf, fmt.nan, fmt.nan | fmt.sign_mask, signalling)
    for x in inputs:
        undefined, pole = x > fmt.sign_mask, fmt.magnitude(x) == 0
        for got in outputs:
            want, error, faithful = judge_exactly(LOG, fmt, x, got)
            found = judge("log", dtype, np.array([x], fmt.uint), np.array([got], fmt.uint))
            assert (int(found.want_bits[0]), bool(found.faithful[0])) == (want, faithful)
            assert found.error[0] == pytest.approx(error, rel=1e-9, nan_ok=True)
            if undefined:
                assert want == fmt.nan
                assert faithful == fmt.is_nan(got) == math.isnan(error)
                assert faithful or error == math.inf
            elif pole:
                assert want == minus_inf
                assert (error, faithful) == ((0.0, True) if got == minus_inf else (math.inf, False))


@pytest.mark.parametrize("x", HARD)
def test_hard_inputs(x):
    fmt = FORMATS["float64"]
    bits = fmt.parse(x)
    offset, _ = offset_of(LOG, fmt, bits)
    assert abs(offset) < 2.0 ** (-64 if x == HARD[0] else -47)
    with mpmath.workprec(400):
        y = mpmath.log(mpmath.mpf(float.fromhex(x)))
        nearest = np.float64(mpmath.nstr(y, 100))
        assert reference_bits("log", "float64", bits) == int(nearest.view(np.uint64))
        assert mpmath.almosteq(y, mpmath.mpf(exact("log", x, digits=80)), 2.0**-250)


def nan_at(text):
    """NaN where x has those bits: -0 and 0 are two inputs."""

    def fault(dtype, x, y):
        fmt = get_format(dtype)
        return np.where(x == fmt.uint.type(fmt.parse(text)), fmt.uint.type(fmt.nan), y)

    return fault


def subnormals_are_zero(dtype, x, y):
    fmt = get_format(dtype)
    normal = fmt.uint.type(1 << (fmt.precision - 1))
    return np.where((x > 0) & (x < normal), fmt.uint.type(fmt.infinity | fmt.sign_mask), y)


FAULTS = [
    (nan_at("0"), "NaN instead of -inf at x = 0;"),
    (where(lambda x: (x < 0) & np.isfinite(x), "-inf"), "-inf instead of NaN for x <= -6e-08;"),
    *nightly(
        (where(lambda x: x < 0, "0"), "a number instead of NaN for x <= -6e-08; 0 at -inf;"),
        (at(-2.0, "3"), "a number instead of NaN at x = -2;"),
        (at(0.0, "-100"), "a number instead of -inf at x = -0, the smallest in size of 2 finite inputs"),
        (subnormals_are_zero, "NaN or infinite at 1,023 finite inputs, the smallest in size x = 6e-08;"),
        (moved(1.0009765625, 6), "within 4 ULP for every finite x, but for 1 input (up to 11.0 ULP at x = 1.001"),
    ),
]


@pytest.mark.parametrize(("fault", "sentence"), FAULTS)
def test_another_kind_of_result_is_named(fault, sentence):
    record = verify(faulty("log", fault), "log", "float16")
    assert record.sentence.startswith(sentence)
    assert (record.grade == "broken") == (record.checks["finite"] == "fail") == ("ULP for" not in sentence)
    assert ("subnormals" in record.failed_checks) == (fault is subnormals_are_zero)


def test_a_right_log_is_correctly_rounded():
    result = verify(correct("log"), "log", "float16")
    assert result.grade == "correctly_rounded"
    assert not result.failed_checks
    assert result.mean_bits.normal == 11.0


def test_a_search_names_a_number_where_nan_is_due():
    target = faulty("log", where(lambda x: (x < -1) & np.isfinite(x), "1"))
    state = State.start(SearchAsked("log", "float64", 0))
    search(target, state, SearchBudget(evaluations=70_000), workers=1)
    assert state.counts[0] > 0
    x, got, want = state.nonfinite
    assert FORMATS["float64"].fraction(x) < -1
    assert (got, want) == (FORMATS["float64"].one, FORMATS["float64"].nan)
    assert state.worst.error <= 0.5


@pytest.mark.parametrize("domain", [("zero", "inf"), ("-inf", "1/0")])
def test_a_domain_that_cannot_be_is_refused(domain):
    with pytest.raises(UsageError, match=r"domain is"):
        Function(
            name="f", formula="", terms=LOG.terms, at_minus_infinity="nan", at_plus_infinity="inf", at_zero="0",
            domain=domain,
        )  # fmt: skip
