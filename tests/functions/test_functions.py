"""What the entries state of each function, against its own oracle and against Arb."""

from fractions import Fraction

import flint
import pytest
from arb import ARB

from gelu_verify.errors import UsageError
from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.functions.enclosures import Enclosure, endpoints, fraction
from gelu_verify.truth.oracle import enclose, round_exactly

every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
FLOAT64 = FORMATS["float64"]


def value(function, text):
    """f at a decimal, as a float, by way of the nearest float64."""
    return float(FLOAT64.fraction(round_exactly(function, FLOAT64, FLOAT64.round(Fraction(text)))))


def derivative(function, text):
    """Arb's derivative at a decimal, to 60 digits and more."""
    flint.ctx.prec = 400
    x, h = flint.arb(text), flint.arb(2) ** -100
    f = ARB[function.name]
    return (f(x + h) - f(x - h)) / (2 * h)


def test_the_family_is_whole():
    family = {f"{name}{suffix}" for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu") for suffix in ("", "_grad")}
    assert family | {"relu", "elu", "erf", "erfc", "normcdf", "tanh", "sigmoid", "exp"} == set(FUNCTIONS)


@every_function
def test_turning_points_turn(function):
    for text in function.turning_points:
        assert abs(float(derivative(function, text).mid())) < 1e-19
    inner = [Fraction(text) for text in function.turning_points]
    for i, (a, b) in enumerate(zip([Fraction(-3), *inner], [*inner, Fraction(3)], strict=True)):
        falls = float(derivative(function, str(float((a + b) / 2)))) < 0
        assert falls == ((i % 2 == 0) == function.falls_first) or function.name == "relu"


@every_function
def test_bounds_are_bounds_and_are_reached(function):
    xs = [k / 8 for k in range(-400, 401) if k] + [float(t) for t in function.turning_points]
    values = [value(function, str(x)) for x in xs if function.name != "exp" or x < 40]
    if function.lower is not None:
        assert min(values) == pytest.approx(float(function.lower), rel=1e-15, abs=1e-17)
        assert min(values) >= float(function.lower)
    if function.upper is not None:
        assert max(values) == pytest.approx(float(function.upper), rel=1e-15)
        assert max(values) <= float(function.upper)


@every_function
def test_limits_continue_the_function(function):
    far = {"-": function.at_minus_infinity, "": function.at_plus_infinity}
    for sign, limit in far.items():
        bits = round_exactly(function, FLOAT64, FLOAT64.parse(sign + "1e300"))
        if limit == "inf":
            assert not FLOAT64.is_finite(bits) or bits == FLOAT64.parse("1e300")
        else:
            assert bits == FLOAT64.parse(limit)
    for sign in (0, FLOAT64.sign_mask):
        at_zero = function.limit_bits(FLOAT64, sign)
        beside = round_exactly(function, FLOAT64, FLOAT64.parse("0x1p-1000") | sign)
        assert abs(FLOAT64.fraction(at_zero) - FLOAT64.fraction(beside)) < Fraction(1, 2**500)
        if function.at_zero == "x":
            assert at_zero == sign


@every_function
def test_a_zero_derivative_is_where_the_landmarks_say(function):
    for label, text in function.landmarks.items():
        if label == "root":
            assert abs(value(function, text)) < 1e-15
        if label == "crosses 1":
            assert value(function, text) == pytest.approx(1, abs=1e-15)
        if label.startswith("farthest") and function.gradient_of is None:
            other = get_function(function.approximates)
            flint.ctx.prec = 200
            assert abs(float((derivative(function, text) - derivative(other, text)).mid())) < 1e-18
        assert len(text.lstrip("-").replace(".", "")) >= 20


@every_function
@pytest.mark.parametrize(
    "x", ["-6.5", "-0x1p-1000", "0x1.8p-30", "-0.75", "0.7517915", "1", "2.5", "-30", "11", "0x1p-3"]
)
def test_terms_enclose_what_arb_encloses(function, x):
    """Leading + correction overlaps Arb's ball at every precision, and is about as narrow as it promises."""
    point = FLOAT64.dyadic(FLOAT64.parse(x))
    for precision in (64, 128, 512, 1024):
        leading, correction = function.terms(Enclosure(precision), point)
        low, high = endpoints(correction) if correction is not None else ((0, 0), (0, 0))
        flint.ctx.prec = 4000
        ball = ARB[function.name](flint.arb(point[0]) * flint.arb(2) ** point[1])
        exact = (flint.arb(ball.mid()) - flint.arb(flint.fmpq(leading[0])) * flint.arb(2) ** leading[1]).mid()
        m, e = exact.man_exp()
        middle = fraction((int(m), int(e)))
        slack = abs(middle) * Fraction(1, 2**2000) if middle else Fraction(0)
        assert fraction(low) <= middle + slack
        assert middle - slack <= fraction(high)
        if middle:
            assert fraction(high) - fraction(low) <= abs(middle) * Fraction(1, 2 ** (precision // 2))


def test_enclosures_of_the_oracle_shrink():
    for function in FUNCTIONS.values():
        low, high = enclose(function, (-13, -1), 300)
        assert (high - low) * 2**300 <= abs(low)


def test_unknown_function():
    with pytest.raises(UsageError, match=r"unknown function 'gleu'; did you mean 'gelu'"):
        get_function("gleu")
