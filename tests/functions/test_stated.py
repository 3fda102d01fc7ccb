"""What a function may state: poles, open ends, zeros of either sign, jumps, rational values; the page that says how."""

import re
import runpy
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from mutants import faulty, where
from repository import ROOT

from gelu_verify import exact, reference, reference_bits, ulp_error
from gelu_verify.errors import OracleError, UsageError
from gelu_verify.formats import FORMATS, MODES
from gelu_verify.functions import FUNCTIONS, Function, get_function
from gelu_verify.functions.enclosures import MINUS_ZERO, ONE, Terms, exactly, fraction
from gelu_verify.truth import carried
from gelu_verify.truth.oracle import judge_exactly, round_exactly
from gelu_verify.truth.values import judge
from gelu_verify.verification import verify

PAGE = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
STATED = ["logit", "atanh", "log1p", "logit_grad", "relu6_grad", "hard_swish", "selu_grad", "elu_grad[alpha=2]"]
WIDE = [each for each in FORMATS if FORMATS[each].width >= 16]


@pytest.fixture
def registered(monkeypatch):
    def register(**facts):
        usual = {"at_zero": "0", "at_minus_infinity": "0", "at_plus_infinity": "0", "formula": ""}
        function = Function(**{**usual, "name": "stated", **facts})
        monkeypatch.setitem(FUNCTIONS._functions, function.name, function)
        return function

    return register


def outputs(fmt, want, rng):
    """Right and wrong ones of every kind."""
    odd = [0, fmt.sign_mask, fmt.one, fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.nan, fmt.max_finite]
    return [want, (want + 1) % (1 << fmt.width), *odd, *rng.integers(0, 1 << 16, 4).tolist()]


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(
    "name", ["logit", "atanh", "log1p", "logit_grad", "relu6_grad", "hard_swish", "selu_grad", "elu_grad[alpha=2]"]
)
def test_arrays_and_the_oracle_judge_alike(name, dtype):
    """At stated points, beside them, outside of the domain."""
    fmt, function, rng = FORMATS[dtype], get_function(name), np.random.default_rng(3)
    near = {fmt.round(x) for x in (*function.points, Fraction(0), Fraction(-3), Fraction(6))}
    bits = sorted({(b + step) % (1 << fmt.width) for b in near for step in (-1, 0, 1)} | {0, fmt.sign_mask})
    for x in bits:
        want = round_exactly(function, fmt, x)
        for got in outputs(fmt, want, rng):
            one = judge(name, dtype, np.array([x], fmt.uint), np.array([got], fmt.uint))
            wanted, error, faithful = judge_exactly(function, fmt, x, got)
            assert (int(one.want_bits[0]), bool(one.faithful[0])) == (wanted, faithful), (fmt.hex_float(x), got)
            assert one.error[0] == pytest.approx(error, rel=1e-9, abs=2.0**-16, nan_ok=True)
        for mode in MODES:
            assert reference_bits(name, dtype, x, rounding=mode) == round_exactly(function, fmt, x, mode)


def test_poles_and_open_ends_anywhere():
    assert reference("atanh", [-1.0, 1.0, 2.0, -0.0]).tolist()[:2] == [-np.inf, np.inf]
    assert np.isnan(reference("atanh", 2.0))
    assert reference("logit", [0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
    assert ulp_error("logit", [1.0, 1.0, 2.0], [np.inf, 5.0, 0.0]).tolist() == [0.0, np.inf, np.inf]
    assert exact("log1p", -1.0) == "-inf"


def test_an_open_end_is_no_number(registered):
    registered(domain=("-1", "1"), at={"1": "nan"}, terms=lambda c, x: Terms(x, None))
    assert np.isnan(reference("stated", [1.0, 2.0])).all()
    assert reference("stated", [-1.0, 0.5]).tolist() == [-1.0, 0.5]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", FORMATS)
def test_an_exact_zero_has_the_sign_that_is_stated(registered, dtype, mode):
    registered(terms=lambda c, x: Terms(MINUS_ZERO if fraction(x) < -1 else x, None))
    fmt = FORMATS[dtype]
    assert reference_bits("stated", dtype, fmt.parse("-2"), rounding=mode) == fmt.sign_mask
    assert reference_bits("hard_swish", dtype, fmt.parse("-4"), rounding=mode) == fmt.sign_mask


@pytest.mark.parametrize("dtype", WIDE)
def test_both_sides_of_a_jump_are_right_and_nothing_else(dtype):
    fmt = FORMATS[dtype]
    zeros = np.array([0, fmt.sign_mask], fmt.uint)
    for text, error in (("2", 0), ("1", 0), ("1.5", None), ("0", None)):
        got = np.full(2, fmt.parse(text), fmt.uint)
        found = judge("elu_grad[alpha=2]", dtype, zeros, got)
        assert (found.error == 0).all() == found.faithful.all() == (error == 0)
    assert reference("elu_grad", [0.0, -0.0], alpha=2).tolist() == [2.0, 2.0]  # what the formula says
    assert reference("relu_grad", 0.0) == 0
    assert ulp_error("relu_grad", [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])[:2].tolist() == [0, 0]


def test_a_target_that_takes_the_other_side_is_right():
    record = verify(faulty("relu_grad", where(lambda x: x == 0, "1")), "relu_grad", "float16")
    assert record.grade == "correctly_rounded"
    assert not record.failed_checks


def test_rational_values_are_exact_in_every_digit(registered):
    registered(terms=lambda c, x: exactly(c, fraction(x) / 8000))
    assert exact("stated", 1.0, digits=4) == "0.0001250"
    assert exact("stated", 1.0, digits=2) == "0.00012"  # a tie
    assert exact("leaky_relu", -1.5, digits=1) == "-0.02"
    assert exact("hard_swish", 1.0, digits=10) == "0.6666666667"


def test_what_terms_raises_is_told_by_function_and_x(registered):
    registered(terms=lambda c, x: 1 / 0)
    with pytest.raises(OracleError, match=r"stated at 1\.5: terms raised ZeroDivisionError"):
        reference("stated", 1.5)
    with pytest.raises(OracleError, match=r"stated at 1\.5: terms raised ZeroDivisionError"):
        exact("stated", 1.5)
    registered(terms=lambda c, x: None)
    with pytest.raises(OracleError, match=r"stated at 1\.5: terms raised TypeError"):
        reference("stated", 1.5)
    registered(terms=lambda c, x: Terms(x, None), at_zero=lambda c: 1 / 0)
    for ask in (reference, exact):
        with pytest.raises(OracleError, match="a limit raised ZeroDivisionError"):
            ask("stated", 0.0)


def test_parameters_are_doubles_as_far_as_these_reach():
    wide = get_function("gelu[mu=-0x1p+1024,sigma=0x1p+1024]")
    assert wide.floats == {"mu": -np.inf, "sigma": np.inf}
    assert get_function("gelu[mu=0x1.fffffffffffff8p+1023]").floats["mu"] == np.inf
    assert get_function("gelu[sigma=1/3]").floats == {"mu": 0.0, "sigma": 1 / 3}


def test_a_limit_beside_a_number_is_rounded_at_once(registered):
    registered(terms=lambda c, x: Terms(x, None), at_zero=lambda c: Terms(ONE, -c.exp(c.exact((-(10**9), 0)))))
    fmt = FORMATS["float64"]
    assert reference("stated", 0.0) == 1
    assert reference_bits("stated", "float64", 0, rounding="down") == fmt.one - 1
    assert exact("stated", 0.0, digits=5) == "1.0000"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"at": {"zero": "1"}}, "at is 'zero'"),
        ({"at": {"0": "1"}}, "a point that is not 0"),
        ({"at": {"1": "x"}}, r"at\['1'\] is 'x'"),
        ({"also": {"0": ("much",)}}, r"also\['0'\] is 'much'"),
        ({"symmetry": "both"}, "symmetry is 'both'"),
    ],
)
def test_facts_that_cannot_be_are_refused(facts, words):
    with pytest.raises(UsageError, match=words):
        replace(FUNCTIONS["relu"], **facts)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS.values() if f.symmetry], ids=lambda f: f.name)
def test_symmetry_is_as_stated(function):
    fmt = FORMATS["float64"]
    x = np.concatenate([np.linspace(0.01, 9, 60), 2.0 ** np.arange(-1070, 1020, 90.0)]).view(np.uint64)
    one, other = (
        reference_bits(function.name, "float64", x),
        reference_bits(function.name, "float64", x | np.uint64(fmt.sign_mask)),
    )
    there = [function.has_value(fmt, int(each)) for each in x]
    flipped = one ^ np.uint64(fmt.sign_mask if function.symmetry == "odd" else 0)
    assert ((flipped == other) | ((one == 0) & function.either_zero))[there].all()


def test_the_page_has_the_table_of_all_functions():
    assert runpy.run_path(str(ROOT / "tools" / "list_functions.py"))["page"]() == PAGE, (
        "run: python tools/list_functions.py"
    )


def test_the_functions_of_the_page_is_right_and_fast(monkeypatch):
    scope = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], scope)
    (function,) = scope["ENTRIES"]
    monkeypatch.setitem(FUNCTIONS._functions, function.name, function)
    x = np.array([-700.0, -30.5, -1.0, -1e-9, 1e-300, 0.3, 2.0, 90.0, 1e200])
    flint.ctx.prec = 2000
    for point, y in zip(x.tolist(), reference("logish", x).tolist(), strict=True):
        ball = flint.arb(point) * (1 / (1 + (-flint.arb(point)).exp())).log1p()
        assert y == float(ball.mid())
    values = carried.values_of(function, FORMATS["float64"], x.view(np.uint64))
    assert (values["err"] < np.abs(values["hi"]) * 2.0**-83).all()
