"""The stored facts: proved anew, in agreement with the functions and the oracle, and shown as they are."""

import json
import re
import sys
from fractions import Fraction

import flint
import numpy as np
import pytest
from click.testing import CliRunner
from repository import ROOT
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm

from gelu_verify.cli import main
from gelu_verify.errors import OracleError, UsageError
from gelu_verify.facts import balls, stored_facts
from gelu_verify.facts.base import DIGITS, TOPICS, selected
from gelu_verify.facts.proofs import proved_facts
from gelu_verify.facts.text import page
from gelu_verify.formats import DTYPES, get_format, is_finite, to_float64, values
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.truth import correctly_rounded
from gelu_verify.truth.oracle import enclose
from gelu_verify.truth.values import reference_bits, zero_threshold

FACTS = {fact.name: fact for fact in stored_facts()}


def at(function, text):
    """f at a decimal, to some 60 digits."""
    m = round(Fraction(text) * 2**220)
    return sum(enclose(get_function(function), (m, -220), 210)) / 2


def same(text, value):
    """Whether a decimal of 36 digits is that value: the decimals of x leave an error of 1e-35 or so."""
    return abs(Fraction(text) - value) <= Fraction(1, 10**33) * max(1, abs(value))


@pytest.mark.nightly
def test_the_stored_facts_are_proved_anew():
    assert tuple(proved_facts()) == stored_facts()


def test_names_are_unique_and_digits_are_whole():
    assert len(FACTS) == len(stored_facts()) > 50
    for fact in stored_facts():
        assert fact.topic in TOPICS
        assert (fact.topic in ("claim", "said")) == bool(fact.verdict)
        for text in fact.values.values():
            digits = text.partition("e")[0].lstrip("-0.").replace(".", "")
            assert len(digits) == DIGITS or text in ("0.5", "0.851")


def test_the_facts_that_functions_state_are_proved():
    """Landmarks, turning points and bounds of the entries in gelu_verify/functions, digit for digit."""
    for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        function, gradient = get_function(name), get_function(f"{name}_grad")
        minimum, bends = FACTS[f"{name}.minimum"].values, FACTS[f"{name}.inflections"].values
        assert function.turning_points == (minimum["x"],) == (gradient.landmarks["root"],)
        assert function.lower == minimum["f(x)"]
        assert gradient.turning_points == (f"-{bends['x']}", bends["x"])
        assert (gradient.lower, gradient.upper) == (bends["f'(-x)"], bends["f'(x)"])
        assert function.landmarks["inflection"] == f"-{bends['x']}"
        for other in (function, gradient):
            if other.approximates:
                farthest = other.landmarks[f"farthest from {other.approximates}, positive"]
                assert farthest == FACTS[f"{other.name}.distance"].values["x"]
    assert FUNCTIONS["cauchy_unit"].lower == FACTS["cauchy_unit.convex"].values["-1/pi"]


def test_the_oracle_agrees():
    for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        minimum, bends = FACTS[f"{name}.minimum"].values, FACTS[f"{name}.inflections"].values
        assert same(minimum["f(x)"], at(name, minimum["x"]))
        assert same(bends["f'(x)"], at(f"{name}_grad", bends["x"]))
        for suffix in ("", "_grad") if name != "gelu" else ():
            gap = FACTS[f"{name}{suffix}.distance"].values
            assert same(gap["d"], abs(at(f"{name}{suffix}", gap["x"]) - at(f"gelu{suffix}", gap["x"])))
        if name != "gelu":
            gap = FACTS[f"{name}.cumulative"].values
            assert same(gap["d"], abs(at(name, gap["x"]) / Fraction(gap["x"]) - at("normcdf", gap["x"])))
    crossing = FACTS["gelu_tanh.crossings"].values["x"]
    assert same("0", at("gelu_tanh", crossing) - at("gelu", crossing))
    for label, text in FACTS["cauchy_unit.right"].values.items():
        x = Fraction(label.removeprefix("at "))
        with flint.ctx.workprec(300):
            pi = balls._fraction(flint.arb.pi().mid())
        assert same(text, at("cauchy_unit", x) - x + 1 / pi)


def test_the_oracle_agrees_with_what_is_said_of_others():
    said = {name: FACTS[f"said.{name}"].values for name in ("gradient", "kept", "negative", "twice", "eight_tenths")}
    assert all(same(text, at("gelu_grad", re.findall(r"-?\d+", x)[0])) for x, text in said["gradient"].items())
    assert all(same(text, at("normcdf", re.findall(r"-?\d+", x)[0])) for x, text in said["kept"].items())
    assert all(same(text, at("gelu", re.findall(r"-?\d+", x)[0])) for x, text in said["negative"].items())
    assert same(said["twice"]["gelu(-1)"], at("gelu", said["twice"]["x"]))
    place = Fraction(said["eight_tenths"]["x"])
    gaps = [at("gelu", x) - at("silu", x * Fraction(8, 5)) * Fraction(5, 8) for x in (place, place - 1, place + 1)]
    assert same(said["eight_tenths"]["d"], gaps[0])
    assert gaps[0] > max(gaps[1:])


def test_quadrature_agrees_with_what_is_said_of_others():
    def average(f, low, high, weight):
        return quad(lambda x: f(x) * weight(x), low, high, epsabs=1e-14, limit=200)[0]

    def tanh_form(x):
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    forms = {"gelu_tanh": tanh_form, "gelu_sigmoid": lambda x: x * expit(1.702 * x)}
    for name, form in forms.items():
        square = average(lambda x, form=form: (form(x) - x * ndtr(x)) ** 2, 0, 10, lambda x: 0.1)
        assert float(FACTS[f"said.{name}_mean_square"].values["mean"]) == pytest.approx(square, rel=1e-5)
    mean, square = (average(lambda x, k=k: (x * ndtr(x)) ** k, -12, 12, norm.pdf) for k in (1, 2))
    spread = FACTS["said.spread"].values
    assert float(spread["mean"]) == pytest.approx(mean, rel=1e-9)
    assert float(spread["standard deviation"]) == pytest.approx(np.sqrt(square - mean * mean), rel=1e-9)


# ---- at the floats beside them -------------------------------------------------------------------

NAMES = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
each_name_and_dtype = pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in NAMES for dtype in DTYPES])


def beside(dtype, text, count=2):
    """The floats next to a decimal, `count` on either side, ascending: bits."""
    fmt = get_format(dtype)
    above = fmt.ordinal(fmt.round(Fraction(text)))
    while fmt.fraction(fmt.from_ordinal(above)) < Fraction(text):
        above += 1
    while fmt.fraction(fmt.from_ordinal(above - 1)) >= Fraction(text):
        above -= 1
    return [fmt.from_ordinal(k) for k in range(above - count, above + count)]


def enclosed(name, dtype, bits):
    """Exact bounds of f at floats, to 180 bits: narrow enough to order float64 neighbours of an extremum."""
    fmt = get_format(dtype)
    return [enclose(get_function(name), fmt.dyadic(each), 180) for each in bits]


def differences(name, other, dtype, bits):
    pairs = zip(enclosed(name, dtype, bits), enclosed(other, dtype, bits), strict=True)
    return [(a - d, b - c) for (a, b), (c, d) in pairs]


def peaks_between(ends, peak):
    """Whether enclosed values rise to the middle, fall after it, and stay below the peak there."""
    (_, a), (b, c), (d, e), (_, f) = ends
    return a < b and c < peak and e < peak and f < d


@each_name_and_dtype
def test_the_derivative_changes_its_sign_at_the_minimum(name, dtype):
    fact = FACTS[f"{name}.minimum"].values
    x = beside(dtype, fact["x"])
    below, above = enclosed(f"{name}_grad", dtype, x)[1:3]
    assert below[1] < 0 < above[0]
    assert all(low > Fraction(fact["f(x)"]) - Fraction(1, 10**36) for low, _ in enclosed(name, dtype, x))


@each_name_and_dtype
def test_the_derivative_is_steepest_at_the_inflections(name, dtype):
    fact = FACTS[f"{name}.inflections"].values
    for place, sign in ((fact["x"], 1), (f"-{fact['x']}", -1)):
        slopes = enclosed(f"{name}_grad", dtype, beside(dtype, place))
        peak = sign * Fraction(fact["f'(x)" if sign > 0 else "f'(-x)"]) + Fraction(1, 10**35)
        assert peaks_between([(low, high) if sign > 0 else (-high, -low) for low, high in slopes], peak)


@each_name_and_dtype
def test_a_function_is_farthest_from_gelu_at_the_place_of_the_fact(name, dtype):
    for suffix in ("", "_grad") if name != "gelu" else ():
        fact = FACTS[f"{name}{suffix}.distance"].values
        gaps = differences(f"{name}{suffix}", f"gelu{suffix}", dtype, beside(dtype, fact["x"]))
        sizes = gaps if gaps[0][0] > 0 else [(-high, -low) for low, high in gaps]
        assert peaks_between(sizes, Fraction(fact["d"]) + Fraction(1, 10**35))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_tanh_crosses_gelu_at_the_crossing(dtype):
    x = FACTS["gelu_tanh.crossings"].values["x"]
    for place, sign in ((x, 1), (f"-{x}", -1)):
        left, right = differences("gelu_tanh", "gelu", dtype, beside(dtype, place, 1))
        assert sign * left[0] < 0 < sign * right[0]
        assert sign * left[1] < 0 < sign * right[1]


@each_name_and_dtype
def test_thresholds_are_where_results_become_zero_and_subnormal(name, dtype):
    fmt, fact = get_format(dtype), FACTS[f"{name}.thresholds"].values
    least, normal = 1, 1 << (fmt.precision - 1)
    zero, some = (fmt.magnitude(reference_bits(name, dtype, b)) for b in beside(dtype, fact[f"{dtype}: zero below"], 1))
    assert (zero, some) == (0, least)
    assert beside(dtype, fact[f"{dtype}: zero below"], 1)[0] == zero_threshold(name, dtype)
    inside, outside = enclosed(name, dtype, beside(dtype, fact[f"{dtype}: subnormal below"], 1))
    edge = fmt.fraction(normal)
    assert -inside[0] < edge < -outside[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_no_correctly_rounded_result_is_beyond_a_bound(name, dtype):
    """All finite inputs: rounding keeps order, so that a result lies between the rounded bounds, and takes them."""
    fmt = get_format(dtype)
    x = np.arange(1 << 16, dtype=np.uint16)
    x = x[is_finite(fmt, x)]
    minimum, bends = FACTS[f"{name}.minimum"].values, FACTS[f"{name}.inflections"].values

    def nearest(text):
        return float(fmt.fraction(fmt.round(Fraction(text))))

    y = to_float64(fmt, kernel(name, dtype, x))
    assert y.min() == nearest(minimum["f(x)"])
    gap = np.maximum(to_float64(fmt, x), 0) - y
    assert (gap >= 0).all()
    slope = to_float64(fmt, kernel(f"{name}_grad", dtype, x))
    assert (slope.min(), slope.max()) == (nearest(bends["f'(-x)"]), nearest(bends["f'(x)"]))


def kernel(name, dtype, bits):
    """What our kernel returns."""
    return getattr(correctly_rounded, name)(values(get_format(dtype), bits)).view(bits.dtype)


def test_the_page_shows_the_stored_facts():
    assert (ROOT / "docs" / "facts.md").read_text(encoding="utf-8") == page(stored_facts())


# ---- what proves them ----------------------------------------------------------------------------


@pytest.fixture
def precision():
    with flint.ctx.workprec(balls.BITS):
        yield


def cubic(x):
    """Zeros -1, 0 and 2, a maximum of 0.63 between the first two."""
    return (x + 1) * x * (x - 2)


@pytest.mark.usefixtures("precision")
def test_roots_are_all_found():
    found = balls.roots(balls.jet_of(cubic), Fraction(-7, 3), Fraction(22, 7))
    assert [round(float(x.mid()), 9) for x in found] == [-1, 0, 2]
    assert all(x.contains(exact) for x, exact in zip(found, (-1, 0, 2), strict=True))


@pytest.mark.usefixtures("precision")
def test_a_double_root_is_refused():
    with pytest.raises(OracleError, match="not simple"):
        balls.roots(balls.jet_of(lambda x: (x - 1) * (x - 1) * x), Fraction(-1, 3), Fraction(22, 7))


@pytest.mark.usefixtures("precision")
def test_a_maximum_is_inside_or_refused():
    place, value = balls.maximum(balls.jet_of(cubic), Fraction(-7, 5), Fraction(7, 5))
    assert place.contains((1 - flint.arb(7).sqrt()) / 3)
    assert value.overlaps(cubic(place))
    with pytest.raises(OracleError, match="not taken once, inside"):
        balls.maximum(balls.jet_of(cubic), Fraction(-7, 5), Fraction(7, 2))
    with pytest.raises(OracleError, match="the bound is not proved"):
        balls.below(balls.jet_of(cubic), value - flint.arb(2) ** -20, Fraction(-7, 5), Fraction(7, 5))


@pytest.mark.usefixtures("precision")
def test_digits_that_are_not_certain_are_refused():
    assert balls.text(flint.arb(2).sqrt()) == "1.41421356237309504880168872420969808"
    assert balls.ball(-1, 0).contains(flint.arb(-0.5))
    for uncertain in (flint.arb(1, 1e-30), flint.arb(0, 1e-60)):
        with pytest.raises(OracleError, match="certain"):
            balls.text(uncertain)


# ---- the command ---------------------------------------------------------------------------------


def call(*args):
    return CliRunner().invoke(main, ["facts", *args])


def test_the_command_prints_what_was_asked_for():
    lines = call("gelu.minimum").output.splitlines()
    assert lines[0] == TOPICS["shape"].upper()
    assert lines[2].split() == ["x", "=", "-0.751791524693564457457904946779524040"]
    everything = json.loads(call("--json").output)
    assert [fact["name"] for fact in everything] == list(FACTS)
    assert {fact.name.split(".")[0] for fact in selected(stored_facts(), ["gelu_tanh_grad"])} == {"gelu_tanh_grad"}
    assert {fact["topic"] for fact in json.loads(call("--json", "claim").output)} == {"claim"}


def test_what_there_is_no_fact_about():
    with pytest.raises(UsageError, match="there is no fact about 'gleu'"):
        selected(stored_facts(), ["gleu"])


def test_proving_needs_python_flint(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    for name in [name for name in sys.modules if name.startswith("gelu_verify.facts.")]:
        monkeypatch.delitem(sys.modules, name)
    done = call("--prove", "gelu.minimum")
    assert done.exit_code == 3
