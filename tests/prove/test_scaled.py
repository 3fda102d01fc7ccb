"""The certificate of the functions with parameters (docs/proofs.md, section 10), and Arb's own answer for them."""

import random
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from gelu_verify.formats import FORMATS
from gelu_verify.functions import get_function, named
from gelu_verify.truth import pairs, scaled
from gelu_verify.truth.values import reference_bits

pytestmark = pytest.mark.prove
X, R = arb(2) ** 101, arb(2) ** 141  # |x| and |r| where |t| is not above 2^59
DISTANCE = arb(2) ** -44  # between t, th and all in between


def phi(t):
    return (-t * t / 2).exp() / (2 * arb.pi()).sqrt()


def upper(t):
    return (t / arb(2).sqrt()).erfc() / 2


def pieces(reach, count=800):
    for n in range(count):
        yield arb(reach * n / count).union(arb(reach * (n + 1) / count))


def test_the_constant():
    hi, lo, err = scaled.RSQRT_2PI
    with flint.ctx.workprec(300):
        assert abs(1 / (2 * arb.pi()).sqrt() - arb(hi) - arb(lo)) < arb(err)


def beyond(shapes):
    """Shapes whose thresholds do not give what is stated beyond them: each bound falls from its threshold on."""
    side, below = arb(2) ** -198, arb(2) ** scaled.VANISHING
    at = {name: (arb(s.left_from), arb(s.right_from)) for name, s in shapes.items()}
    bounds = {
        "gelu": lambda left, right: (X * upper(left) < below, upper(right) < side),
        "gelu_grad": lambda left, right: ((1 + R) * phi(left) < below, (1 + R) * phi(right) < side),
        "gelu_grad_mu": lambda left, right: (R * phi(left) < below, R * phi(right) < below),
        "gelu_grad_sigma": lambda left, right: (R * left * phi(left) < below, R * right * phi(right) < below),
        "silu": lambda left, right: (X * (-left).exp() < below, (-right).exp() < side),
        "silu_grad": lambda left, right: (left * (-left).exp() < below, right * (-right).exp() < side),
        "silu_grad_beta": lambda left, right: (X * X * (-left).exp() < below, X * X * (-right).exp() < below),
    }
    assert bounds.keys() == shapes.keys()
    return [name for name in bounds if not all(bounds[name](*at[name]))]


def test_what_is_stated_beyond_the_thresholds():
    assert beyond(scaled._SHAPES) == []
    far = arb(2) ** 59  # where x is above 2^100: any x of float64, and r, t < 2^1064
    assert arb(2) ** 2200 * (-far).exp() < arb(2) ** scaled.VANISHING
    assert arb(2) ** 2200 * far * phi(far) < arb(2) ** scaled.VANISHING
    assert arb(2) ** 40 * arb(-830).exp() < arb(2) ** scaled.VANISHING  # alpha e^x


@pytest.mark.parametrize("name", scaled._SHAPES)
@pytest.mark.parametrize("side", ["left_from", "right_from"])
def test_an_early_threshold_is_found(name, side):
    shape = scaled._SHAPES[name]
    assert beyond({**scaled._SHAPES, name: replace(shape, **{side: 7.0})}) == [name]


def test_the_first_term_of_the_series():
    """|f/leading - 1| for |t| < NEAR: at most 2 phi(0) |t| and |s|; tanh(s/2)^2 <= s^2/4 for silu_grad_beta."""
    assert 2 * arb(scaled.NEAR) < arb(2) ** -198


def test_the_correction_of_the_normal_law():
    """Phi(T) - Phi(T - d) = d phi(T) (1 + T d/2) + d^3 phi''(xi)/6, in which -|th| stands for T: d^2 |d| phi(T)/2."""
    for a in pieces(scaled._SHAPES["gelu_grad"].reach):
        ratio = ((a + DISTANCE) * DISTANCE).exp()  # phi(xi)/phi(T)
        assert abs(a * a - 1) / 6 * ratio + arb(0.5) < 1 + a * a
        assert ratio < arb(scaled.ROOM)
    assert scaled.KNOWN + 2.0**-53 * scaled._SHAPES["gelu_grad"].reach < 2.0**-44


def test_the_correction_of_the_sigmoid():
    """s(u + d) - s(u) = d s' (1 + (1 - 2 s) d/2) + d^3 s'''(xi)/6, |s'''| = s' |1 - 6 s + 6 s^2| <= s'."""
    for n in range(100):
        s = arb(n / 200).union(arb((n + 1) / 200))
        assert abs(1 - 6 * s + 6 * s * s) < arb(1.1)
    distance = arb(2) ** -42  # |d log s'| <= |d u|
    assert distance.exp() * arb(1.1) / 6 < 1
    assert distance.exp() < arb(scaled.ROOM)
    assert scaled.KNOWN + 2.0**-53 * scaled._SHAPES["silu"].reach < 2.0**-42


def test_the_correction_of_the_exponential():
    """e^(z + n) = 1 + z + z^2/2 within |z|^3 + |n| ROOM."""
    z = arb(2) ** -42  # 2^-53 of t^2/2
    assert 2.0**-53 * scaled._SHAPES["gelu_grad"].reach ** 2 < 2.0**-42
    assert z.exp() / 6 < 1
    n = arb(2) ** -38  # t^2/2 is known within |t| KNOWN and some
    assert scaled._SHAPES["gelu_grad"].reach * scaled.KNOWN * 1.01 < 2.0**-38
    assert (z + n).exp() < arb(scaled.ROOM)


# ---- Arb's own answer ----------------------------------------------------------------------------


def rational(value):
    return arb(fmpq(value.numerator, value.denominator))


def definition(base, x, values):
    """f(x) in Arb, as the paper has it."""
    if "mu" in values:
        t, r = rational((x - values["mu"]) / values["sigma"]), rational(x / values["sigma"])
        return {
            "gelu": lambda: rational(x) * upper(-t),
            "gelu_grad": lambda: upper(-t) + r * phi(t),
            "gelu_grad_mu": lambda: -r * phi(t),
            "gelu_grad_sigma": lambda: -r * t * phi(t),
        }[base]()
    if "beta" in values:
        t = rational(values["beta"] * x)
        share, rest = 1 / (1 + (-t).exp()), 1 / (1 + t.exp())
        return {
            "silu": lambda: rational(x) * share,
            "silu_grad": lambda: share * (1 + t * rest),
            "silu_grad_beta": lambda: rational(x * x) * share * rest,
        }[base]()
    e = rational(x).exp()
    return rational(values["alpha"]) * (e - 1 if base == "elu" else e)


def size(rng, low, high):
    """Of any size between powers of two: a power, a short fraction, or a number of many bits."""
    e = rng.randint(low, high - 1)
    return Fraction(2) ** e * rng.choice([1, 2, Fraction(rng.randint(100, 199), 100), 1 + Fraction(rng.random())])


def parameters(base, rng):
    if base.startswith("gelu"):
        mu = rng.choice([0, 0, 1, -1]) * min(Fraction(2**20), size(rng, *rng.choice([(-5, 3), (-320, -40), (15, 20)])))
        return {"mu": Fraction(mu), "sigma": size(rng, -40, 40)}
    return {"beta" if base.startswith("silu") else "alpha": size(rng, -40, 40)}


def points(fmt, values, rng, count):
    scale, mu = values.get("sigma") or 1 / values.get("beta", Fraction(1)), values.get("mu", Fraction(0))
    found = []
    for _ in range(count):
        t = rng.choice(
            [
                rng.gauss(0, 1),
                rng.gauss(0, 15),
                rng.uniform(-800, 200),
                rng.choice([-1, 1]) * 2.0 ** rng.randint(-300, 10),
            ]
        )
        found.append(fmt.round(mu + scale * Fraction(t)))
        found.append(rng.randrange(1, fmt.infinity) | rng.choice([0, fmt.sign_mask]))
    return [b for b in found if fmt.is_finite(b) and fmt.magnitude(b)]


def exactly(value):
    m, e = value.man_exp()
    return Fraction(int(m)) * Fraction(2) ** int(e)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("base", [*scaled._SHAPES, *scaled._MULTIPLES])
def test_arb_agrees(base, dtype):
    """Every bound, and every reference value, at points of every kind, for parameters of every kind."""
    rng, fmt = random.Random(f"{base} {dtype}"), FORMATS[dtype]
    answered = 0
    for _ in range(25):
        values = parameters(base, rng)
        bits = points(fmt, values, rng, 20)
        x_bits = np.array(bits, fmt.uint)
        name = get_function(named(base, values)).name
        wants = reference_bits(name, dtype, x_bits).tolist()
        records = scaled.values_of(get_function(name), fmt, x_bits).tolist()
        for b, want, record in zip(bits, wants, records, strict=True):
            x = fmt.fraction(b)
            if (base in scaled._MULTIPLES and x > 0) or x == values.get("mu"):
                continue
            with flint.ctx.workprec(2600):
                y = definition(base, x, values)
                hi, lo, err, k, _ = record
                if np.isfinite(err):
                    distance = abs(y * arb(2) ** -k - arb(hi) - arb(lo))
                    assert distance.lower() <= arb(err), (name, fmt.hex_float(b), record)
                low, high = y.lower(), y.upper()
                if not low * high > 0 or abs(y).upper() < arb(2) ** -1200:
                    continue
                rounded = {fmt.round(exactly(end)) for end in (low, high)}
                if len(rounded) == 1:
                    answered += 1
                    assert rounded == {want}, (name, fmt.hex_float(b))
    assert answered > 300


@pytest.mark.parametrize(
    "fault",
    [
        ("RSQRT_2PI", scaled.RSQRT_2PI._replace(lo=0.0)),
        ("of_fraction", lambda value: pairs.exactly(float(value))),
        ("_difference", lambda x, mu: pairs.exactly(x - float(mu))),
        ("_corrected", lambda whole, c, rest: whole),
        ("_upper", lambda tail, k: pairs.exactly(1.0)),
    ],
    ids=lambda fault: fault[0],
)
def test_a_fault_is_found(monkeypatch, fault):
    monkeypatch.setattr(scaled, *fault)
    rng, fmt, wrong = random.Random(3), FORMATS["float64"], 0
    for base in ("gelu_grad", "silu_grad", "gelu"):
        for _ in range(10):
            values = parameters(base, rng)
            bits = points(fmt, values, rng, 20)
            function = get_function(named(base, values))
            for b, (hi, lo, err, k, _) in zip(
                bits, scaled.values_of(function, fmt, np.array(bits, fmt.uint)).tolist(), strict=True
            ):
                if np.isfinite(err):
                    with flint.ctx.workprec(2600):
                        y = definition(base, fmt.fraction(b), values)
                        wrong += bool(abs(y * arb(2) ** -k - arb(hi) - arb(lo)) > arb(err))
    assert wrong
