"""Functions with parameters: names, the numbers that they take, and values against Arb, extreme parameters too."""

import random
import re
from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
from arb import ARB as OF_X
from arb import OF_TWO, normcdf, phi, sigmoid
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly

from gelu_verify import exact, reference, reference_bits, ulp_error
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, FORMATS
from gelu_verify.functions import FUNCTIONS, MOST_KEPT, get_function, named
from gelu_verify.functions.parameters import exact_number, exact_text
from gelu_verify.truth.oracle import round_exactly
from gelu_verify.truth.values import judge

HUGE, TINY = Fraction(2**40), Fraction(1, 2**40)  # within these the core's arrays are used
GAUSS = [(0, TINY), (0, HUGE), (2**20, TINY), (-(2**20), TINY), (2**20, HUGE), (Fraction(1, 3), Fraction(7, 5)),
         (10**300, Fraction(1, 10**300)), (Fraction(-1, 3), Fraction(1, 2**1074)), (10**300, 10**300), (0, 2**1024),
         (Fraction(-3, 2), 2), (Fraction(1, 10), Fraction(1, 1000)), (0, Fraction(2, 3))]  # fmt: skip


def number(value):
    return arb(fmpq(Fraction(value).numerator, Fraction(value).denominator))


def gelu_like(form):
    def at(x, mu, sigma):
        return form(x, (x - number(mu)) / number(sigma), number(sigma))

    return at


ARB = {
    "gelu": gelu_like(lambda x, t, s: x * normcdf(t)),
    "gelu_grad": gelu_like(lambda x, t, s: normcdf(t) + x / s * phi(t)),
    "gelu_grad_mu": gelu_like(lambda x, t, s: -x / s * phi(t)),
    "gelu_grad_sigma": gelu_like(lambda x, t, s: -x / s * t * phi(t)),
    "silu": lambda x, beta: x * sigmoid(number(beta) * x),
    "silu_grad": lambda x, beta: sigmoid(number(beta) * x) * (1 + number(beta) * x * sigmoid(-number(beta) * x)),
    "silu_grad_beta": lambda x, beta: x * x * sigmoid(number(beta) * x) * sigmoid(-number(beta) * x),
    "elu": lambda x, alpha: x if x > 0 else number(alpha) * x.expm1(),
    "elu_grad": lambda x, alpha: arb(1) if x > 0 else number(alpha) * x.exp(),
    "celu": lambda x, alpha: x if x > 0 else number(alpha) * (x / number(alpha)).expm1(),
    "celu_grad": lambda x, alpha: arb(1) if x > 0 else (x / number(alpha)).exp(),
    "leaky_relu": lambda x, slope: x if x > 0 else number(slope) * x,
    "leaky_relu_grad": lambda x, slope: arb(1) if x > 0 else number(slope),
    "softcap": lambda x, cap: number(cap) * (x / number(cap)).tanh(),
    "softcap_grad": lambda x, cap: (x / number(cap)).sech() ** 2,
    "soft_shrink": lambda x, lambd: (abs(x) - number(lambd)) * x.sgn() if abs(x) > number(lambd) else arb(0),
    "hard_shrink": lambda x, lambd: x if abs(x) > number(lambd) else arb(0),
    "softplus": lambda x, beta, threshold: (
        x if number(beta) * x > number(threshold) else (number(beta) * x).exp().log1p() / number(beta)
    ),
    "softplus_grad": lambda x, beta, threshold: (
        arb(1) if number(beta) * x > number(threshold) else sigmoid(number(beta) * x)
    ),
}


def multiplied(form):
    return lambda x, g: number(g) * form(x)


def moved(form):
    return lambda x, b: form(x + number(b))


WITH_SECOND = {
    f"{name}{suffix}": (moved if name.startswith("bias") else multiplied)(OF_X[f"{of_x}{suffix}"])
    for name, of_x in OF_TWO.items()
    for suffix in ("", "_grad")
}
ARB |= WITH_SECOND
FORMULAS = [("gelu", *GAUSS), ("gelu_grad", *GAUSS), ("gelu_grad_mu", *GAUSS), ("gelu_grad_sigma", *GAUSS)]
SLOPES = (TINY, HUGE, Fraction(1, 10**300), 10**300, Fraction(1, 3), Fraction(1702, 1000), Fraction(3, 2))
CASES = [(name, dict(zip(("mu", "sigma"), pair, strict=True))) for name, *pairs in FORMULAS for pair in pairs]
CASES += [(name, {"beta": value}) for name in ("silu", "silu_grad", "silu_grad_beta") for value in SLOPES]
CASES += [(name, {"alpha": value}) for name in ("elu", "elu_grad", "celu", "celu_grad") for value in SLOPES]
CASES += [(name, {"slope": s * v}) for name in ("leaky_relu", "leaky_relu_grad") for v in SLOPES for s in (-1, 1)]
CASES += [(name, {"cap": value}) for name in ("softcap", "softcap_grad") for value in SLOPES]
CASES += [(name, {"lambd": value}) for name in ("soft_shrink", "hard_shrink") for value in SLOPES]
CASES += [(name, {"beta": value, "threshold": limit}) for name in ("softplus", "softplus_grad") for value in SLOPES
          for limit in (20, Fraction(-1, 3), 10**300)]  # fmt: skip
CASES += [(name, {"b" if "bias" in name else "g": s * v}) for name in WITH_SECOND for v in SLOPES for s in (-1, 1)]
case = pytest.mark.parametrize(("name", "values"), CASES, ids=[named(n, v) for n, v in CASES])


def by_arb(name, values, fmt, bits):
    """Correctly rounded; None where 3,000 bits do not decide: exact values, and tails below all formats."""
    m, e = fmt.dyadic(bits)
    for precision in (200, 3000):
        with flint.ctx.workprec(precision):
            y = ARB[name](arb(m) * arb(2) ** e, *values.values())
            if not y.is_finite():
                continue
            ends = [tuple(map(int, end.man_exp())) for end in (y.lower(), y.upper())]
        if all(m and abs(m).bit_length() + e > -20000 for m, e in ends) or y.is_exact():
            low, high = (fmt.round(end) for end in ends)
            if low == high:
                return low
    return None


def inputs(fmt, values, count):
    """Around mu and -b, where t is moderate; of every size; and the ends of the format."""
    rng = random.Random(f"{fmt.name}{values}")
    mu = values.get("mu", -values.get("b", Fraction(0)))
    scale = values.get("sigma", 1 / values.get("beta", Fraction(1)))
    for _ in range(count):
        yield fmt.round(Fraction(mu) + Fraction(scale) * Fraction(rng.gauss(0, 4)))
        yield fmt.round(Fraction(scale) * Fraction(rng.gauss(0, 4)))
        yield rng.randrange(fmt.infinity) | rng.choice((0, fmt.sign_mask))
    for bits in (1, 3, fmt.max_finite, fmt.one, fmt.round(mu)):
        yield from (bits, bits | fmt.sign_mask)


OFTEN = [(*each, ("float32", "float64")[k % 2]) for k, each in enumerate(CASES)]  # the nightly run takes all dtypes
SELDOM = [(*each, dtype) for k, each in enumerate(CASES) for dtype in DTYPES if dtype != OFTEN[k][2]]


@pytest.mark.few(150)
@pytest.mark.parametrize(("name", "values", "dtype"), [*OFTEN, *nightly(*SELDOM)])
@pytest.mark.parametrize("count", [1, *nightly(200)])
def test_results_are_correctly_rounded(name, values, dtype, count):
    fmt, function = FORMATS[dtype], get_function(named(name, values))
    bits = [b for b in inputs(fmt, values, count) if fmt.is_finite(b) and fmt.magnitude(b)]
    decided = 0
    found = reference_bits(name, dtype, np.array(bits, fmt.uint), **values)
    for b, y in zip(bits, found.tolist(), strict=True):
        assert y == round_exactly(function, fmt, b)
        want = by_arb(name, values, fmt, b)
        if want is not None and fmt.magnitude(want):
            assert y == want, fmt.hex_float(b)
            decided += 1
    all_zero = not any(fmt.magnitude(y) for y in found.tolist())
    assert decided or "grad" in name or values.get("sigma", 1) <= TINY or all_zero


def test_underflow_keeps_the_sign_of_the_exact_value():
    narrow = {"mu": 3, "sigma": TINY}
    for dtype in DTYPES:
        fmt = FORMATS[dtype]
        for x, signs in (("2", (0, 0, 1, 0)), ("-2", (1, 1, 0, 1))):
            for name, sign in zip(("gelu", "gelu_grad", "gelu_grad_mu", "gelu_grad_sigma"), signs, strict=True):
                assert reference_bits(name, dtype, fmt.parse(x), **narrow) == (fmt.sign_mask if sign else 0), (name, x)


def test_exact_values():
    """x = mu, where Phi is 1/2, and zeros and infinities."""
    assert reference("gelu", 0.75, mu=0.75) == 0.375
    assert str(reference("gelu_grad_sigma", 0.75, mu=0.75)) == "0.0"
    assert str(reference("gelu", -0.0, mu=5, sigma="1/7")) == "-0.0"
    assert reference("gelu_grad", 0.0, mu=1) == pytest.approx(0.15865525393145707, rel=1e-15)
    assert reference("gelu_grad", 0.0, mu=2**20, sigma=TINY) == 0
    assert reference("elu", -np.inf, alpha="1/3") == -1 / 3
    assert reference("silu", np.inf, beta=2) == np.inf


def test_digits_of_a_tail_that_is_multiplied():
    assert exact("geglu", -40.0, digits=30, g=4) == "-5.84942966546404752599837728430e-348"
    assert exact("geglu", -40.0, digits=30, g="1/2") == "-7.31178708183005940749797160538e-349"


def test_two_inputs_are_multiplied_and_added_exactly():
    x = np.array([-np.inf, -3.0, -0.0, 0.0, 1.5, np.inf])
    assert np.array_equal(reference("geglu", x, g=-2), -2 * reference("gelu", x))
    assert not reference("geglu", x, g=0).any()
    assert np.array_equal(reference("bias_gelu", x, b=0.5), reference("gelu", x + 0.5))
    assert str(reference("bias_gelu", -2.0, b=2)) == "0.0"
    assert reference("bias_gelu", 2.0**60, b=2.0**-60, rounding="up") == 2.0**60 + 256
    assert reference("bias_gelu_grad", -0.75, b=0.75) == 0.5


def test_default_values_are_the_function_itself():
    assert get_function("gelu[mu=0,sigma=1]") is FUNCTIONS["gelu"]
    assert get_function("silu[beta=1.000]") is FUNCTIONS["silu"]
    x = np.linspace(-9, 9, 1001, dtype=np.float32)
    assert np.array_equal(reference("gelu", x, mu=0, sigma=1.0), reference("gelu", x))
    assert np.array_equal(reference("silu", x, beta="1.702"), reference("gelu_sigmoid", x))
    assert np.array_equal(2 * reference("gelu", x / 2), reference("gelu", x, sigma=2))


def test_what_is_kept_of_many_parameters_is_bounded():
    names = [f"gelu[mu={k}.5]" for k in range(2 * MOST_KEPT)]
    assert len({get_function(name) for name in names}) == len(names)
    assert len(FUNCTIONS._with_values) <= MOST_KEPT
    assert get_function(names[-1]) is get_function(names[-1])


def test_a_formula_says_the_parameters():
    assert get_function("gelu[mu=0.5,sigma=1/3]").formula == "x Phi((x - mu)/sigma), mu = 0.5, sigma = 1/3"
    assert get_function("gelu[mu=0]").formula == FUNCTIONS["gelu"].formula
    assert get_function("softplus[beta=2]").formula.endswith(", beta = 2")  # a threshold that is nowhere is not said
    for function in FUNCTIONS.values():
        values = {p.name: p.default + Fraction(1, 7) if p.unsaid is None else Fraction(20) for p in function.parameters}
        assert set(values) <= set(re.findall("[a-z]+", function.general)), function.name
        for name, value in values.items():
            assert f", {name} = {exact_text(value)}" in get_function(named(function.name, values)).formula


def test_judging_and_digits_take_parameters():
    x = np.linspace(-5, 5, 101, dtype=np.float32)
    y = reference("gelu", x, mu="1/3", sigma=0.1)
    assert np.abs(ulp_error("gelu", x, y, mu="1/3", sigma=0.1)).max() <= 0.5
    assert exact("gelu", -1, sigma=0.1) != exact("gelu", -1, sigma="0.1") == exact("gelu[sigma=1/10]", -1)
    name = named("gelu", {"mu": 0.5, "sigma": "1/3"})
    assert judge(name, "float32", x.view(np.uint32), y.view(np.uint32)).want_bits.dtype == np.uint32
    assert exact("gelu", 1, digits=30, mu=0.5, sigma="1/3") == "0.933192798731141933995505959020"


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("gelu", {"sigma": 0}, r"sigma is 0 \(accepted: 2\^-1074 to 2\^1024\)"),
        ("gelu", {"sigma": -1}, r"sigma is -1 \(accepted"),
        ("gelu", {"sigma": float("nan")}, "sigma 'nan' is not a finite number"),
        ("gelu", {"mu": "inf"}, "mu 'inf' is not a finite number"),
        ("gelu", {"mu": 2**1024 + 1}, r"\(accepted: -2\^1024 to 2\^1024\)"),
        ("gelu", {"mu": "1/0"}, "mu '1/0' is not"),
        ("gelu", {"mu": True}, "mu 'True' is not"),
        ("gelu", {"mu": 10**400}, "mu"),
        ("gelu", {"mu": Decimal("sNaN")}, "mu 'sNaN' is not"),
        ("gelu", {"mu": "1e-400"}, "mu '1e-400' is not a finite number whose exact text has up to 400 characters"),
        ("gelu", {"mu": Fraction(1, 2**99999)}, "mu 'of type Fraction' is not"),
        ("gelu", {"mu": Decimal("1e-999999999")}, "mu '1E-999999999' is not"),
        ("gelu", {"beta": 1}, "unknown parameter of gelu 'beta'"),
        ("tanh", {"mu": 1}, "function tanh has no parameters"),
        ("silu", {"beta": "2^3"}, "beta '2\\^3' is not"),
    ],
)
def test_what_is_not_a_parameter_is_refused(name, values, words):
    with pytest.raises(UsageError, match=words):
        reference(name, 1.0, **values)


@pytest.mark.parametrize("name", ["gelu[", "gelu[mu]", "gelu[mu=1", "gelu[mu=1,mu=2]", "gleu[mu=1]", "gelu[]"])
def test_names_that_cannot_be_read(name):
    assert name not in FUNCTIONS
    with pytest.raises(UsageError):
        get_function(name)


@given(st.fractions(), st.integers(-60, 60))
def test_a_number_has_one_text_that_gives_it_back(value, exponent):
    value *= Fraction(2) ** exponent
    assert exact_number("x", exact_text(value)) == value


def test_numbers_of_all_kinds_are_exact():
    tenth = Fraction(0.1)
    for given_as in (0.1, np.float64(0.1), tenth, (0.1).hex(), exact_text(tenth), str(tenth)):
        assert exact_number("x", given_as) == tenth
    for given_as in ("0.1", Decimal("0.1"), "1/10", "1e-1", ".1", " 0.10 "):
        assert exact_number("x", given_as) == Fraction(1, 10)
    assert exact_number("x", np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    third = np.longdouble(1) / 3
    assert exact_number("x", third) == exact_number("x", np.array(third)) == Fraction(*third.as_integer_ratio())
    assert exact_number("x", np.int16(-3)) == exact_number("x", "-3") == -3
    texts = {"0.5": Fraction(1, 2), "1/3": Fraction(1, 3), "0x1p-40": TINY, "-1048576": Fraction(-(2**20))}
    assert {text: exact_text(value) for text, value in texts.items()} == {text: text for text in texts}
    assert get_function("gelu[sigma=2/4, mu=0x1p-1]").name == "gelu[mu=0.5,sigma=0.5]"
