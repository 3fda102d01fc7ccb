"""What the entries state of each function, against its own oracle and against Arb."""

from fractions import Fraction
from itertools import pairwise

import flint
import pytest
from arb import ARB

from gelu_verify.errors import UsageError
from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.functions.enclosures import Enclosure, endpoints, fraction
from gelu_verify.truth.oracle import enclose, round_exactly

with_arb = pytest.mark.parametrize("function", [f for f in FUNCTIONS.values() if f.name in ARB], ids=lambda f: f.name)
OF_TWO = (
    *("geglu[g=-7/3]", "geglu[g=0]", "geglu_grad[g=-2]", "geglu_grad[g=0]", "swiglu[g=1/3]", "reglu[g=-1/3]"),
    *("reglu_grad[g=-3]", "bias_gelu[b=1/3]", "bias_gelu_grad[b=-2]", "bias_gelu_tanh[b=0.5]"),
)
every_function = pytest.mark.parametrize(
    "function", [*FUNCTIONS.values(), *map(get_function, OF_TWO)], ids=lambda f: f.name
)
FLOAT64 = FORMATS["float64"]


def value(function, text):
    """f at a decimal, as a float, by way of the nearest float64."""
    return float(FLOAT64.fraction(round_exactly(function, FLOAT64, FLOAT64.round(Fraction(text)))))


def derivative(function, text):
    """Bounds of f' at a decimal that is not zero, from exact values 2^-200 to both sides of it."""
    x, h = Fraction(text), Fraction(1, 1 << 200)
    m = round(x / h)
    (a, b), (c, d) = (enclose(function, (m + side, -200), 700) for side in (1, -1))
    return (a - d) / (2 * h), (b - c) / (2 * h)


def test_the_functions_of_the_design_are_here():
    family = {f"{name}{suffix}" for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu") for suffix in ("", "_grad")}
    family |= {f"{name}{suffix}" for name in ("cauchy_unit", "softplus", "mish", "relu2") for suffix in ("", "_grad")}
    assert family | {"relu", "elu", "erf", "erfc", "normcdf", "tanh", "sigmoid", "exp"} <= set(FUNCTIONS)


@pytest.mark.few(8)
@every_function
def test_turning_points_turn_and_there_are_no_others(function):
    if function.turning_points is None:
        return
    for text in function.turning_points:
        if text not in function.also:  # at a jump there is no derivative
            assert abs(sum(derivative(function, text))) < 1e-18
    xs = [Fraction(k, 16) + Fraction(1, 1000) for k in range(-160, 161)]
    turns = [Fraction(text) for text in function.turning_points]
    for x, y in pairwise(x for x in xs if function.is_defined(FLOAT64, FLOAT64.round(x))):
        piece = sum(turn < x for turn in turns)
        if piece == sum(turn < y for turn in turns):
            falls = (piece % 2 == 0) == function.falls_first
            low, high = value(function, x), value(function, y)
            assert high <= low if falls else low <= high


@pytest.mark.few(8)
@every_function
def test_bounds_are_bounds_and_are_reached(function):
    xs = [k / 8 for k in range(-400, 401) if k] + [float(Fraction(t)) for t in function.turning_points or ()]
    xs += [-1e300, 1e300]
    bits = [round_exactly(function, FLOAT64, FLOAT64.parse(str(x))) for x in xs]
    values = [float(FLOAT64.fraction(y)) for y in bits if FLOAT64.is_finite(y)]
    if function.lower is not None:
        assert min(values) == pytest.approx(float(Fraction(function.lower)), rel=1e-15, abs=1e-17)
        assert min(values) >= float(Fraction(function.lower))
    if function.upper is not None:
        assert max(values) == pytest.approx(float(Fraction(function.upper)), rel=1e-15)
        assert max(values) <= float(Fraction(function.upper))


@pytest.mark.few(8)
@every_function
def test_signs_and_sizes_are_as_stated(function):
    for k in (k for k in range(-400, 401) if k):
        y = round_exactly(function, FLOAT64, FLOAT64.parse(str(k / 8)))
        if not FLOAT64.is_finite(y):
            continue
        negative, x_negative = FLOAT64.is_negative(y), k < 0
        expected = {"+": False, "-": True, "x": x_negative, "-x": not x_negative}
        if function.sign and (FLOAT64.magnitude(y) or not function.either_zero):
            assert negative == expected[function.sign]
        if function.at_most_x:
            assert FLOAT64.magnitude(y) <= FLOAT64.magnitude(FLOAT64.parse(str(k / 8)))


@every_function
def test_limits_continue_the_function(function):
    for text, infinity in (("-1e300", "-inf"), ("1e300", "inf")):
        bits, limit = (
            function.limit_bits(FLOAT64, FLOAT64.parse(infinity)),
            round_exactly(function, FLOAT64, FLOAT64.parse(text)),
        )
        if FLOAT64.is_nan(bits):
            assert limit == bits
        elif FLOAT64.is_finite(bits):  # 1/(1 + x) is not there yet
            assert abs(FLOAT64.fraction(limit) - FLOAT64.fraction(bits)) <= 1e-290
        else:
            assert FLOAT64.is_negative(limit) == FLOAT64.is_negative(bits)
            assert not FLOAT64.is_finite(limit) or FLOAT64.magnitude(limit) > FLOAT64.parse("100")
    for sign in (0, FLOAT64.sign_mask) if not function.others_at(FLOAT64, 0) else ():
        at_zero = function.limit_bits(FLOAT64, sign)
        beside = round_exactly(function, FLOAT64, FLOAT64.parse("0x1p-1000") | sign)
        if function.has_pole_at_zero:
            assert FLOAT64.is_nan(beside) or FLOAT64.is_negative(beside) == FLOAT64.is_negative(at_zero)
            continue
        low, high = function.bounds_at_zero(80)
        assert abs(FLOAT64.fraction(beside) - (low + high) / 2) <= max(FLOAT64.ulp(high), Fraction(1, 2**500))
        if function.at_zero in ("x", "-x"):
            assert at_zero == (sign if function.at_zero == "x" else sign ^ FLOAT64.sign_mask)
            assert not FLOAT64.magnitude(beside) or FLOAT64.is_negative(beside) == FLOAT64.is_negative(at_zero)
        else:
            assert FLOAT64.fraction(at_zero) == FLOAT64.fraction(FLOAT64.round((low + high) / 2))


@every_function
def test_the_slope_at_zero_is_the_derivative_there(function):
    if function.slope_at_zero is not None:
        assert function.is_zero_at_zero
        low, _ = enclose(function, (1, -300), 260)
        assert abs(low * 2**300 - Fraction(function.slope_at_zero)) < Fraction(1, 2**250)


def is_inside(function, k):
    """Whether f is stated by its terms on both sides of k/8."""
    x = Fraction(k, 8)
    both = all(function.is_defined_at((16 * k + side, -7)) for side in (-1, 1))
    return both and x not in function.points and x not in get_function(function.gradient_of).points


@every_function
def test_a_gradient_is_the_derivative(function):
    if function.gradient_of is None:
        return
    whole = get_function(function.gradient_of)
    for k in (k for k in range(-41, 42, 3) if k and is_inside(function, k)):
        low, high = derivative(whole, Fraction(k, 8))
        inside = enclose(function, (k, -3), 100)
        assert low - Fraction(1, 2**90) <= inside[0] <= inside[1] <= high + Fraction(1, 2**90)


@every_function
def test_a_zero_derivative_is_where_the_landmarks_say(function):
    for label, text in function.landmarks.items():
        if label == "root":
            assert abs(value(function, text)) < 1e-15
        if label == "crosses 1":
            assert value(function, text) == pytest.approx(1, abs=1e-15)
        if label.startswith("farthest") and function.gradient_of is None:
            other = get_function(function.approximates)
            assert abs(sum(derivative(function, text)) - sum(derivative(other, text))) < 1e-17
        assert (
            len(text.lstrip("-").replace(".", "")) >= 20
            or label.startswith("border")
            or Fraction(text).denominator <= 2
        )


@pytest.mark.few(300)
@with_arb
@pytest.mark.parametrize(
    "x", ["-6.5", "-0x1p-1000", "0x1.8p-30", "-0.75", "0.7517915", "1", "2.5", "-30", "11", "0x1p-3"]
)
def test_terms_enclose_what_arb_encloses(function, x):
    """Leading + correction overlaps Arb's ball at every precision, and is about as narrow as it promises."""
    point = FLOAT64.dyadic(FLOAT64.parse(x))
    if not function.is_defined_at(point) or function.stated_at(fraction(point)) is not None:
        return
    flint.ctx.prec = 4000
    ball = ARB[function.name](flint.arb(point[0]) * flint.arb(2) ** point[1])
    for precision in (64, 128, 512, 1024):
        leading, correction = function.enclosed(Enclosure(precision), point)
        low, high = endpoints(correction) if correction is not None else ((0, 0), (0, 0))
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
        x = next(x for x in ((-13, -1), (13, -1), (1, -3)) if function.is_defined_at(x))
        low, high = enclose(function, x, 300)
        assert (high - low) * 2**300 <= abs(low)


def test_unknown_function():
    with pytest.raises(UsageError, match=r"unknown function 'gleu'; did you mean 'gelu'"):
        get_function("gleu")
