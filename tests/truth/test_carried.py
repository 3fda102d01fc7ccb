"""Double-doubles that carry their bounds, and formulas run in them: within the bound, narrow, followed."""

import operator
import random
from fractions import Fraction
from math import inf, log2

import flint
import numpy as np
import pytest
from flint import arb, fmpq
from marking import nightly

from gelu_verify.errors import OracleError
from gelu_verify.formats import FORMATS, from_ordinals
from gelu_verify.functions import FUNCTIONS, Function, get_function, named
from gelu_verify.functions.enclosures import ONE, ZERO, Terms, fraction, halve
from gelu_verify.truth import _core, carried, enclosed
from gelu_verify.truth.carried import VALUE, Carried, Many
from gelu_verify.truth.oracle import enclosed_ends, round_exactly

VANISHING, HUGE = -1140, 2001
SMALLEST = dict.fromkeys((VANISHING, HUGE), -(1 << 14))


# ---- numbers: a record, and a number that it may stand for, as an Arb ball --------------------------

KINDS = "known", "exact", "wide", "one-sided", "huge"
POWERS = ((0, 0), (-1, 1), (-8, 8), (-60, 60), (-700, 700), (-9000, 9000))


def number(kind, rng, powers=POWERS):
    """A record of that kind, and a number within its bound, often at an end of it."""
    sign, hi = rng.choice((-1.0, 1.0)), rng.choice((1.0, 1 + rng.random(), 1.5, 1 + 2.0**-52))
    k = rng.randint(*rng.choice(powers))
    if kind == "one-sided":
        return (sign, 0.0, 1.0, k, 0), Fraction(sign) * Fraction(rng.choice((2.0, 1.0, 2.0**-900))) * Fraction(2) ** k
    if kind == "huge":
        return (sign, 0.0, -1.0, k, 0), Fraction(sign) * Fraction(rng.choice((1.0, 1.5, 2.0**900))) * Fraction(2) ** k
    lo = rng.choice((0.0, rng.uniform(-1, 1) * 2.0**-53, 2.0**-90))
    lo = sign * (lo if hi > 1 else abs(lo))
    err = 0.0 if kind == "exact" else 2.0 ** -rng.uniform(0.5, 140)
    if kind == "wide":  # about as large as hi, and far larger
        err = rng.choice((hi * (1 - 2.0 ** -rng.randint(1, 52)), 2.0 ** rng.uniform(-0.5, 70)))
    return at_end((sign * hi, lo, err, k, 0), rng.choice((-1, 0, 1, Fraction(rng.uniform(-1, 1)))))


def at_end(record, side):
    """A record, and the number at an end of its bound, or in its middle."""
    hi, lo, err, k, _ = record
    return record, (Fraction(hi) + Fraction(lo) + side * Fraction(err)) * Fraction(2) ** k


def holds(record, y):
    """Whether the exact y, an Arb ball, may be what the record stands for."""
    hi, lo, err, k, _ = record
    if err == inf:
        return True
    y = y * arb(2) ** (-int(k))
    if err == -1.0:
        return bool(y * int(hi) >= 1 - arb(2) ** -200)
    if err == 1.0 and abs(hi) == 1.0 and lo == 0.0:
        return bool(y * int(hi) <= 2 + arb(2) ** -200) and bool(y * int(hi) > 0)
    return bool(abs(y - arb(hi) - arb(lo)) <= arb(err) * (1 + arb(2) ** -100) + arb(2) ** -1500)


def records(*parts):
    return Carried(np.array(list(parts), VALUE).view(np.uint8))


def as_arb(value):
    return arb(fmpq(value.numerator, value.denominator))


UNARY = {
    "sqrt": (arb.sqrt, lambda y: y >= 0), "exp": (arb.exp, lambda y: abs(y) < 2**40),
    "expm1": (arb.expm1, lambda y: abs(y) < 2**40), "log": (arb.log, lambda y: y > 0),
    "log1p": (arb.log1p, lambda y: y > -1), "tanh": (arb.tanh, lambda y: True), "atan": (arb.atan, lambda y: True),
    "erf": (arb.erf, lambda y: abs(y) < 2**16), "erfc": (arb.erfc, lambda y: abs(y) < 2**16),
    "negative": (operator.neg, lambda y: True), "absolute": (abs, lambda y: True),
}  # fmt: skip
BINARY = {"add": operator.add, "multiply": operator.mul, "divide": operator.truediv}


@pytest.mark.parametrize("operation", UNARY)
@pytest.mark.parametrize("count", [400, *nightly(20_000)])
def test_an_operation_is_within_its_bound(operation, count):
    rng, (exactly, defined) = random.Random(operation), UNARY[operation]
    drawn = [number(rng.choice(KINDS), rng, rng.choice((POWERS, [(-70, 9)]))) for _ in range(count)]
    found = records(*(record for record, _ in drawn)).apply(operation).values.view(VALUE).tolist()
    known = 0
    flint.ctx.prec = 3000
    for (record, y), got in zip(drawn, found, strict=True):
        if defined(y):
            assert holds(got, exactly(as_arb(y))), (record, got)
            known += got[2] != inf
    assert known > count / 10


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("count", [2000, *nightly(100_000)])
def test_an_operation_of_two_is_within_its_bound(operation, count):
    rng, known = random.Random(operation), 0
    one, two = ([number(rng.choice(KINDS), rng) for _ in range(count)] for _ in range(2))
    for i in range(0, count, 4):  # what cancels
        hi, lo, err, k, _ = one[i][0]
        if err not in (1.0, -1.0):
            two[i] = at_end((-hi * (1 + 2.0**-52), lo, err, k, 0), -1)
    a, b = (records(*(record for record, _ in side)) for side in (one, two))
    found = a._with(operation, b).values.view(VALUE).tolist()
    flint.ctx.prec = 60_000
    for (record, x), (other, y), got in zip(one, two, found, strict=True):
        if operation != "divide" or y:
            exactly = as_arb(BINARY[operation](x, y))
            assert holds(got, exactly), (record, other, got)
            known += got[2] != inf
    assert known > count / 5


@pytest.mark.parametrize("part", ["err", "lo"])
def test_a_bound_that_leaves_something_out_is_found(part):
    """What `holds` is good for."""
    rng = random.Random(part)
    one, two = ([number("known", rng) for _ in range(400)] for _ in range(2))
    a, b = (records(*(record for record, _ in side)) for side in (one, two))
    found = (a * b).values.view(VALUE)
    found[part] *= 0.5 if part == "err" else 0.0
    flint.ctx.prec = 60_000
    pairs = zip(one, two, found.tolist(), strict=True)
    assert not all(holds(got, as_arb(x * y)) for (_, x), (_, y), got in pairs)


FAR = Fraction(2) ** -1000
BELOW_HALF = (1.0, -(2.0**-54), 0.5, 0, 0), Fraction(1, 2) - Fraction(1, 2**54)
LARGE, UP_TO_16 = ((1.0, 0.0, -1.0, 3, 0), Fraction(8)), ((1.0, 0.0, 1.0, 3, 0), Fraction(16))
EDGES = [  # an operation, records with numbers within their bounds
    ("log1p", ((-1.9, 0.0, 1.3, -2, 0), Fraction(-799, 1000))),  # the quotient for log(1 - a) has no sign
    ("log1p", ((1.0, 0.0, 2.0**55, -55, 0), Fraction(-15, 16))),  # small, and its error is not
    ("exp", ((1.0, 0.0, 2.0**60, -55, 0), Fraction(32))),
    ("exp", ((1.0, 0.0, 2.0**60, -55, 0), Fraction(-32))),
    ("expm1", ((1.0, 0.0, 2.0**60, -55, 0), Fraction(32))),
    ("expm1", ((1.0, 0.0, 2.0**54, -55, 0), Fraction(1, 2))),
    ("exp", ((1.0, 0.0, 4.0, -55, 0), Fraction(5, 2**55))),
    ("expm1", ((1.0, 0.0, 4.0, -55, 0), Fraction(-3, 2**55))),
    ("log1p", ((1.0, 0.0, 4.0, -55, 0), Fraction(-3, 2**55))),
    ("atan", ((2 - 2.0**-52, 0.0, 2 - 2.0**-48, 60, 0), Fraction(2**14))),  # 1/a has no sign
    ("atan", ((1.0, 2.0**-53, 2.0**-110, 0, 0), 1 + Fraction(1, 2**53))),
    ("atan", ((1.0, -(2.0**-54), 2.0**-110, 0, 0), 1 - Fraction(1, 2**54))),
    ("atan", ((2 - 2.0**-52, 0.0, 1.9, -55, 0), Fraction(39, 10 * 2**55))),
    ("erf", ((2 - 2.0**-52, 0.0, 1.9, -55, 0), Fraction(39, 10 * 2**55))),
    ("erf", ((2 - 2.0**-52, 0.0, 2.0**-60, -55, 0), Fraction(2 - 2.0**-52) / 2**55)),
    ("erf", ((1.0, -(2.0**-54), 0.5, 5, 0), 16 - Fraction(1, 2**49))),
    ("erfc", ((1.0, -(2.0**-54), 0.5, 5, 0), 16 - Fraction(1, 2**49))),
    ("erfc", ((2 - 2.0**-52, 2.0**-53, 0.0, 4, 0), 32 - Fraction(1, 2**49))),
    ("erfc", ((1.75, 2.0**-53, 0.0, 4, 0), 28 + Fraction(1, 2**49))),
    ("erfc", ((1.5, -(2.0**-53), 2.0**-50, 4, 0), 24 - Fraction(1, 2**49) + Fraction(1, 2**46))),
    ("expm1", ((-1.0, 0.0, 2.0**-20, 8, 0), Fraction(-256))),
    ("expm1", ((-(2 - 2.0**-52), 0.0, 0.0, 8, 0), Fraction(-(2 - 2.0**-52)) * 256)),
    ("log", ((1.0, 2.0**-60, 0.0, 0, 0), 1 + Fraction(1, 2**60))),
    ("log", ((1.0, -(2.0**-54), 2.0**-55, 0, 0), 1 - Fraction(3, 2**55))),
    ("sqrt", ((1.0, -(2.0**-54), 1 - 2.0**-49, 3, 0), Fraction(8) * (Fraction(1, 2**49) - Fraction(1, 2**54)))),
    ("multiply", LARGE, BELOW_HALF),
    ("divide", UP_TO_16, BELOW_HALF),
    ("divide", BELOW_HALF, UP_TO_16),
    ("divide", UP_TO_16, LARGE),
    ("multiply", UP_TO_16, ((2 - 2.0**-52, 0.0, 2 - 2.0**-48, 3, 0), 32 - Fraction(1, 2**44))),
    ("add", ((1.0, 0.0, 0.0, 0, 0), Fraction(1)), ((1.0, 2.0**-1000, 0.0, -300, 0), (1 + FAR) / 2**300)),
    ("add", ((1.0, 0.0, 0.0, 0, 0), Fraction(1)), ((1.0, 0.0, 2.0**300, -300, 0), 1 + Fraction(1, 2**300))),
    ("add", ((1.0, 0.0, 1.0, 0, 0), FAR), ((-1.0, 0.0, 1.0, 0, 0), Fraction(-2))),
    ("add", ((1.0, 0.0, -1.0, 9, 0), Fraction(512)), ((-1.0, 0.0, 3.0, 4, 0), Fraction(-64))),
    ("add", ((1.0, 0.0, -1.0, 6, 0), Fraction(64)), ((-1.0, 0.0, 1.0, 1, 0), Fraction(-4))),
]  # fmt: skip


@pytest.mark.parametrize("edge", EDGES, ids=str)
def test_the_ends_of_bounds(edge):
    operation, (record, x), *rest = edge
    flint.ctx.prec = 3000
    if rest:
        other, y = rest[0]
        got, exactly = records(record)._with(operation, records(other)), as_arb(BINARY[operation](x, y))
    else:
        got, exactly = records(record).apply(operation), UNARY[operation][0](as_arb(x))
    assert holds(got.values.view(VALUE)[0].tolist(), exactly), got.values.view(VALUE)[0]


def total(leading, correction):
    found = np.empty(_core.VALUE_SIZE, np.uint8)
    _core.carried_totals(records(leading).values, records(correction).values, found)
    return found.view(VALUE)[0].tolist()


@pytest.mark.parametrize("k", [-1200, -1143, -1142, -1141, -1140, -1139, -600, 0, 1139, 1140, 1141, 1300])
@pytest.mark.parametrize("lo", [0.0, 2.0**-60, 2.0**-53, -(2.0**-54), 1.9 * 2.0**-54, -(2.0**-150), 2.0**-170])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_leading_term_is_never_all_of_a_value(k, lo, sign):
    """However small the rest is, it lies on its side, unless lo is so small that it lies beside that."""
    hi, found, err, at, _ = total((1.0, lo, 0.0, k, 0), (sign, 0.0, 1.0, k - 5000, 0))
    y = (1 + Fraction(lo) + Fraction(sign) * Fraction(1, 2**4000)) * Fraction(2) ** k
    if at == HUGE:
        assert y > 2**1140
        return
    assert abs(y / Fraction(2) ** at - Fraction(hi) - Fraction(found)) < Fraction(err)
    if abs(lo) != 2.0**-170 and at != VANISHING:
        moved = Fraction(hi) + Fraction(found) - (1 + Fraction(lo)) * Fraction(2) ** (k - at)
        assert moved == Fraction(err) * Fraction(sign)


@pytest.mark.parametrize("k", [1140, 1141, 1142, 1143, 1200])
@pytest.mark.parametrize("err", [1.0, 1 - 2.0**-40, 0.5, 2.0**-60])
def test_what_is_huge_is_known_to_be(k, err):
    _, _, _, at, _ = total((0.0, 0.0, 0.0, 0, 0), (1.0, 0.0, err, k, 0))
    least = (1 - Fraction(err)) * Fraction(2) ** k
    assert at != HUGE or least > 2**1140
    assert err > 0.25 or k < 1141 or at == HUGE


def test_intervals_hold_their_ends():
    many = Many()
    for low, high, exponent in (
        (0, 1, -3),
        (1, 3, 5),
        (2**127 - 1, 2**127, -127),
        (-1, 2**60 + 1, 0),
        (3**70, 3**71, -9),
    ):
        hi, lo, err, k, _ = many.between(low, high, exponent).values.view(VALUE)[0].tolist()
        assert 1 <= abs(hi) < 2
        for end in (low, high):
            assert abs(end * Fraction(2) ** (exponent - k) - Fraction(hi) - Fraction(lo)) <= Fraction(err)


def follow(terms, *x):
    function = Function(name="f", formula="", at_zero="0", at_minus_infinity="0", at_plus_infinity="0", terms=terms)
    found = np.zeros(len(x), VALUE)
    found["err"] = inf
    m, e = np.frexp(np.array(x))
    carried._follow(function, m, e.astype(np.int64), np.arange(len(x)), found)
    return found


def test_a_size_that_is_not_known_decides_nothing():
    """2^-12 within 100: no series for small numbers."""
    wide = 100 << 12
    found = follow(lambda c, x: Terms(ZERO, c.expm1_rest(c.between(2 - wide, 2 + wide, -13) * 2)), 1.0)[0].tolist()
    flint.ctx.prec = 1000
    assert holds(found, arb(100).exp() - 101)


def test_exponents_are_compared():
    for x in (0.75, 3.0, 0.25):
        (value,) = follow(lambda c, x: Terms(ONE if x[1] == 2 else (3, 0), None), x)
        assert value["hi"] * 2.0 ** value["k"] == (1 if x == 3.0 else 3)
        (value,) = follow(lambda c, x: Terms(ONE if x[1] else (3, 0), None), x)
        assert value["hi"] * 2.0 ** value["k"] == (3 if x == 0.75 else 1)


# ---- functions -----------------------------------------------------------------------------------

GAUSS = ("gelu", "gelu_grad", "gelu_grad_mu", "gelu_grad_sigma")
FEW = [
    "gelu[mu=0.5,sigma=1/3]", "gelu[sigma=3]", "gelu[mu=1048575.3,sigma=1/1000]", "gelu_grad[mu=-1/7]",
    "gelu_grad[sigma=3]", "gelu_grad_mu[mu=0.5,sigma=1/3]", "gelu_grad_mu", "gelu_grad_sigma[mu=0x1p-400]",
    "gelu_grad_sigma", "gelu_grad[mu=0.5]", "bias_gelu_grad[b=-0.5]", "bias_gelu[b=39]", "geglu[g=3]", "geglu[g=22/7]",
    "silu[beta=1.7]", "silu_grad[beta=1/3]", "silu_grad_beta", "elu[alpha=1.3]", "elu[alpha=4]",
    "elu_grad[alpha=1/3]", "gelu[mu=1e300,sigma=1e-300]", "gelu_grad[sigma=1e-310]", *FUNCTIONS,
]  # fmt: skip
MORE = [
    *(
        f"{base}[{values}]"
        for base in GAUSS
        for values in (
            "mu=-1/7", "sigma=0x1p-40", "sigma=0x1p+40", "mu=1048576,sigma=0x1p-40", "mu=1048576,sigma=0x1p-18",
            "mu=0x1.999999999999ap-4,sigma=3", "mu=-1000.1,sigma=0x1p+40", "mu=1e-20,sigma=1/7", "mu=1e300,sigma=1e300",
        )
    ),
    *(
        f"{base}[beta={beta}]"
        for base in ("silu", "silu_grad", "silu_grad_beta")
        for beta in ("0x1p-40", "0x1p+40", "1.702", "1/7", "1e300", "1e-300")
    ),
    *(f"{base}[alpha={alpha}]" for base in ("elu", "elu_grad") for alpha in ("0x1p-40", "0x1p+40", "0.1", "1e300")),
]  # fmt: skip


def inputs(function, fmt, count):
    """Where t is moderate, around mu, small, and of every size."""
    rng = np.random.default_rng(7)
    values = function.values
    mu = values.get("mu", Fraction(0))
    scale = values["sigma"] if "sigma" in values else 1 / values.get("beta", Fraction(1))
    ts = [
        *rng.normal(0, 12, count),
        *rng.normal(0, 1, count),
        *(rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-260, 11, count)),
    ]
    near = [fmt.round(mu + scale * Fraction(t)) for t in ts]
    far = [int(b) | int(s) * fmt.sign_mask for b, s in rng.integers((1, 0), (fmt.infinity, 2), (count, 2))]
    edges = [b | s for b in (1, 1 << fmt.precision - 1, fmt.max_finite) for s in (0, fmt.sign_mask)]
    usual = {b for b in [*near, *far, *edges] if fmt.is_finite(b) and fmt.magnitude(b) and function.is_defined(fmt, b)}
    return np.array(sorted(usual), fmt.uint)


@pytest.mark.parametrize("name", [*FEW, *nightly(*MORE)])
@pytest.mark.parametrize("dtype", ["float64", *nightly("float16", "bfloat16", "float32")])
@pytest.mark.parametrize("count", [4, *nightly(60)])
def test_a_value_lies_within_its_bound(name, dtype, count):
    function, fmt = get_function(name), FORMATS[dtype]
    x = inputs(function, fmt, count)
    values = carried.values_of(function, fmt, x)
    if values is None:
        assert name == "gelu[mu=1e300,sigma=1e300]"
        return
    for bits, (hi, lo, err, k, _) in zip(x.tolist(), values.tolist(), strict=True):
        if not np.isfinite(err) or function.is_stated(fmt, bits):
            continue
        if k == VANISHING:
            assert vanishes(function, bits, fmt, hi)
            continue
        middle = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
        digits = 30 + max(int(log2(abs(hi)) - log2(err)), 0) if err else 30
        low, high = enclosed_ends(function, fmt.dyadic(bits), digits)
        if k == HUGE:
            assert low[0].bit_length() + low[1] > 1140
            assert (low[0] > 0) == (hi > 0)
            continue
        off = max(abs(fraction(end) - middle) for end in (low, high))
        assert off <= Fraction(err) * Fraction(2) ** k, fmt.hex_float(bits)


def vanishes(function, bits, fmt, sign):
    try:
        ends = enclosed_ends(function, fmt.dyadic(bits), 30)
    except OracleError:  # smaller still
        wide = FORMATS["float64"]
        x = wide.round(fmt.fraction(bits))
        return round_exactly(function, wide, x, "up" if sign > 0 else "down") == (1 if sign > 0 else 1 | wide.sign_mask)
    return all(abs(m).bit_length() + e <= VANISHING and (m > 0) == (sign > 0) for m, e in ends)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nearly_all_inputs_are_answered_narrowly(dtype):
    """Not where terms cancel, near the zeros of gradients, and where a correctly rounded tail is about to vanish."""
    fmt = FORMATS[dtype]
    for name in FEW:
        function = get_function(name)
        x = np.random.default_rng(5).normal(0.1, 3, 500).astype(dtype).view(fmt.uint)
        x = x[[function.is_defined(fmt, bits) for bits in x.tolist()]]
        values = carried.values_of(function, fmt, x)
        narrow = (values["err"] <= np.abs(values["hi"]) * 2.0**-83) | (values["k"] == VANISHING)
        assert narrow.mean() > 0.9, name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_binade_is_slow(dtype):
    """Where arrays leave an input open, a value takes 100 times as long: in none of the functions that is one of 20."""
    fmt = FORMATS[dtype]
    for name in [
        name for name in (*FEW, *MORE) if name not in _core.functions() and "mu=1e300,sigma=1e300" not in name
    ]:
        x = from_ordinals(fmt, np.random.default_rng(6).integers(-fmt.infinity + 1, fmt.infinity, 500))
        assert enclosed._by_arrays(get_function(name), fmt, x)[1].size < 500 / 20, name


def drawn_parameter(rng, parameter):
    """A small fraction, a decimal, a double, or a power of two."""
    small, decimal = Fraction(rng.randint(1, 12), rng.randint(1, 12)), Fraction(rng.randint(1, 400), 100)
    value = rng.choice([small, decimal, Fraction(rng.uniform(0.01, 50)), Fraction(2) ** rng.randint(-40, 40)])
    return -value if parameter.low < 0 and rng.random() < 0.5 else value


@pytest.mark.parametrize("seed", [*range(6), *nightly(*range(6, 60))])
def test_no_binade_is_slow_whatever_the_parameters(seed):
    rng = random.Random(seed)
    for function in [function for function in FUNCTIONS.values() if function.parameters]:
        name = named(function.name, {each.name: drawn_parameter(rng, each) for each in function.parameters})
        fmt = FORMATS[rng.choice(("float32", "float64"))]
        ranks = np.random.default_rng(rng.randrange(1 << 30)).integers(-fmt.infinity + 1, fmt.infinity, 500)
        left = enclosed._by_arrays(get_function(name), fmt, from_ordinals(fmt, ranks))[1]
        assert left.size < 500 / 10, name


# ---- formulas of any kind ------------------------------------------------------------------------


def formula(rng, depth):
    """A random formula of x: as Python, on Enclosures and on Arb balls."""
    if depth == 0:
        value = rng.choice((2, 3, Fraction(1, 3), 0.75))
        ours, exactly = Fraction(value), as_arb(Fraction(value))
        leaves = (lambda c, x: x, lambda x: x), (lambda c, x: c.rational(*ours.as_integer_ratio()), lambda x: exactly)
        return rng.choice(leaves)
    kind = rng.choice(("add", "multiply", "divide", "exp", "tanh", "atan", "log1p", "abs", "pieces"))
    (a, p), (b, q) = formula(rng, depth - 1), formula(rng, depth - 1)
    if kind in BINARY:
        return lambda c, x: BINARY[kind](a(c, x), b(c, x)), lambda x: BINARY[kind](p(x), q(x))
    if kind == "abs":
        return lambda c, x: abs(a(c, x)), lambda x: abs(p(x))
    if kind == "pieces":
        border = rng.randint(-2, 2)
        return lambda c, x: a(c, x) if x > border else b(c, x), lambda x: p(x) if x > border else q(x)
    if kind == "log1p":
        return lambda c, x: c.log1p(a(c, x) * a(c, x)), lambda x: (p(x) * p(x)).log1p()
    return lambda c, x: getattr(c, kind)(a(c, x)), lambda x: getattr(p(x), kind)()


@pytest.mark.parametrize("seed", [*range(40), *nightly(*range(40, 2000))])
def test_a_random_formula_is_within_its_bound(seed):
    flint.ctx.prec = 2000
    rng = random.Random(seed)
    run, exactly = formula(rng, rng.randint(1, 4))
    function = Function(
        name="f", formula="", at_zero="0", at_minus_infinity="0", at_plus_infinity="0",
        terms=lambda c, x: Terms(ZERO, run(c, c.exact(x))),
    )  # fmt: skip
    sizes = [1.0] * 40 + [2.0 ** rng.randint(-90, 60) for _ in range(20)]
    x = np.array([rng.gauss(0, 3) * size for size in sizes])
    found = np.zeros(60, VALUE)
    found["err"] = inf
    m, e = np.frexp(x)
    carried._follow(function, m, e.astype(np.int64), np.arange(60), found)
    for point, (hi, lo, err, k, _) in zip(x.tolist(), found.tolist(), strict=True):
        y = exactly(arb(point))
        if err == inf or not y.is_finite() or y.rel_accuracy_bits() < 500:  # Arb's ball is too wide to say
            continue
        if k == VANISHING and err == 0.5:
            assert y * int(2 * hi) > 0
            assert abs(y) < arb(2) ** VANISHING
        elif k == HUGE:
            assert y * int(hi) > arb(2) ** 1140
        else:
            assert abs(y * arb(2) ** -k - arb(hi) - arb(lo)) <= arb(err) + arb(2) ** -1500, point


def question(rng):
    """What a formula may ask of the integer and the exponent that x is given as."""
    n, kind = rng.randint(-60, 60), rng.randrange(6)
    return (
        lambda x: x[1] >= n,
        lambda x: x[0] > 1 << abs(n),
        lambda x: 2 * x[1] + n < -x[1],
        lambda x: x[1] == -52,
        lambda x: abs(x[0]) <= 1 << 52,
        lambda x: x == (n, 0),
    )[kind]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("seed", range(30))
def test_a_formula_is_told_of_x_what_it_is_told_alone(dtype, seed):
    rng, fmt = random.Random(seed), FORMATS[dtype]
    ask, other = question(rng), question(rng)
    function = Function(
        name="f", formula="", at_zero="0", at_minus_infinity="0", at_plus_infinity="0",
        terms=lambda c, x: Terms(x if ask(x) else halve(x), None if other(x) else c.exact(x) / 8),
    )  # fmt: skip
    bits = [rng.getrandbits(fmt.width) for _ in range(60)] + [fmt.round(rng.randint(-99, 99)) for _ in range(20)]
    x = np.array([b for b in bits if fmt.is_finite(b) and fmt.magnitude(b)], fmt.uint)
    values = carried.values_of(function, fmt, x)
    for b, (hi, lo, err, k, _) in zip(x.tolist(), [] if values is None else values.tolist(), strict=values is not None):
        if err != inf and k not in (VANISHING, HUGE):
            low, _ = enclosed_ends(function, fmt.dyadic(b), 60)
            off = abs(fraction(low) - (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k)
            assert off <= abs(fraction(low)) * Fraction(1, 2**58), fmt.hex_float(b)


def test_inputs_are_parted_where_a_formula_asks():
    asked = []

    def terms(c, x):
        asked.append(c)
        point = fraction(x)
        if point < -3:
            return Terms((0, -(1 << 62)), None)
        return Terms(x, None) if point >= 3 else Terms(halve(x), c.exact(x) * c.exact(x) / 8)

    function = Function(name="f", formula="", terms=terms, at_zero="0", at_minus_infinity="0", at_plus_infinity="0")
    x = np.array([-4.0, -3.0, -1.0, 2.5, 3.0, 7.0])
    values = carried.values_of(function, FORMATS["float64"], x.view(np.uint64))
    y = np.ldexp(values["hi"], values["k"])
    assert y.tolist() == pytest.approx([-0.0, -3 / 8, -3 / 8, 2.5 / 2 + 6.25 / 8, 3.0, 7.0], abs=1e-15)
    assert np.signbit(values["hi"][0])


@pytest.mark.parametrize(
    "terms",
    [
        lambda c, x: Terms(ONE if x[0] % 3 else ZERO, c.exact(x)),  # integers
        lambda c, x: Terms(ZERO, c.iv.sin(c.exact(x))),
        lambda c, x: 1 / 0,
    ],
)
def test_what_cannot_be_followed_is_left_to_the_enclosures(terms):
    function = Function(name="f", formula="", terms=terms, at_zero="0", at_minus_infinity="0", at_plus_infinity="0")
    assert not carried.follows(function)
    assert carried.values_of(function, FORMATS["float64"], np.array([1.5]).view(np.uint64)) is None


def test_constants_are_known_to_106_bits_or_exactly():
    for value in (Fraction(1, 3), Fraction(-22, 7) * 2**40, Fraction(3, 4), Fraction(2**80 + 1), Fraction(1, 10**300)):
        hi, lo, err, k, _ = carried.constant(value).values.view(VALUE)[0]
        assert abs(Fraction(hi) + Fraction(lo) - value / Fraction(2) ** int(k)) <= Fraction(err)
        assert err <= 2.0**-105
    many, flint.ctx.prec = Many(), 1000
    assert not carried.constant(Fraction(3, 4)).values.view(VALUE)["err"][0]
    assert holds(many.iv.pi.values.view(VALUE)[0].tolist(), arb.pi())
