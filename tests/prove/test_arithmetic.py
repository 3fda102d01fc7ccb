"""The bounds that the proofs take from theorems, against exact fractions: a theorem can be misquoted."""

import random
from fractions import Fraction
from functools import cache

import pytest
from prove.core import core_source
from prove.exact import Exact
from prove.interpreter import Interpreter, Struct

pytestmark = pytest.mark.prove
U2 = Fraction(1, 2**106)


@cache
def core():
    """Made when a proof is asked for: other runs only collect this file."""
    return Interpreter(core_source(False), Exact())


def pair(rng, scale=0):
    """A normalized pair, half of them with the largest lo."""
    hi = rng.choice([-1, 1]) * (1 + rng.getrandbits(52) * 2.0**-52) * 2.0**scale
    lo = hi * 2.0**-53 * rng.choice([rng.uniform(-1, 1), rng.uniform(-1, 1), 0.999, -0.4999])
    s = hi + lo
    return Struct("gv_dd", {"hi": s, "lo": lo - (s - hi)})


def exact(a):
    return Fraction(a.fields["hi"]) + Fraction(a.fields["lo"])


OPERATIONS = {
    "gv_dd_add": (lambda a, b: a + b, 3.0001),
    "gv_dd_mul": (lambda a, b: a * b, 5),
    "gv_dd_div": (lambda a, b: a / b, 20),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_pairs(name):
    want, units = OPERATIONS[name]
    rng = random.Random(name)
    for _ in range(4000):
        a, b = pair(rng), pair(rng, rng.choice([0, 0, -1, 1, rng.randint(-110, 110)]))
        right = want(exact(a), exact(b))
        assert abs(exact(core().call(name, a, b)) - right) <= Fraction(units) * U2 * abs(right)


@pytest.mark.parametrize("name", ["gv_dd_add_d", "gv_dd_mul_d"])
def test_operations_of_a_pair_and_a_double(name):
    rng = random.Random(name)
    for _ in range(4000):
        a, b = pair(rng), pair(rng, rng.choice([0, -1, 1, rng.randint(-110, 110)])).fields["hi"]
        right = exact(a) + Fraction(b) if name == "gv_dd_add_d" else exact(a) * Fraction(b)
        assert abs(exact(core().call(name, a, b)) - right) <= 2 * U2 * abs(right) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("seed", range(4))
def test_sum_keeps_what_it_says(seed):
    """|hi + lo - (leading + c)| <= 2^-95 |c| + 2^-52 |lo|, where |c| <= 32 |leading + c|."""
    rng = random.Random(seed)
    for _ in range(4000):
        leading = rng.choice([-1, 1]) * rng.choice([1.0, 0.5, rng.uniform(0.5, 1.0)])
        c = pair(rng, rng.choice([-1, -2, rng.randint(-60, 4), rng.randint(-160, -40)]))
        want = Fraction(leading) + exact(c)
        if abs(exact(c)) > 32 * abs(want):
            continue
        v = core().call("gv_sum_weighted", leading, c, abs(c.fields["hi"])).fields
        off = abs(Fraction(v["hi"]) + Fraction(v["lo"]) - want)
        assert off <= abs(exact(c)) * Fraction(1, 2**95) + abs(Fraction(v["lo"])) * Fraction(1, 2**52)
