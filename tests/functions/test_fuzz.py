"""Functions, parameters, formats, rounding modes and inputs at random: every value is decided, soon, and is right."""

import random
import time
from fractions import Fraction

import pytest
from arb import ARB, arb_agrees
from marking import nightly
from random_parameters import random_values

from gelu_verify import exact, reference_bits
from gelu_verify.formats import FORMATS, MODES
from gelu_verify.functions import FUNCTIONS, get_function, named
from gelu_verify.truth.lookup import answer
from gelu_verify.truth.oracle import round_exactly

SECONDS = 0.5  # of one processor, for one value: the slowest takes some 0.02 s
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def inputs(function, fmt, rng, count):
    """Bits of any kind, moderate numbers, those around what is stated, and around the parameters."""
    centres = [Fraction(0), *function.points, *map(Fraction, function.landmarks.values()), *function.values.values()]
    for _ in range(count):
        kind = rng.randrange(3)
        if kind == 0:
            yield rng.getrandbits(fmt.width)
        elif kind == 1:
            yield fmt.round(Fraction(rng.gauss(0, 4)))
        else:
            bits = fmt.round(rng.choice(centres) * rng.choice((-1, 1, 1)))
            yield (bits + rng.randint(-2, 2)) % (1 << fmt.width)


@pytest.mark.few(40)
@every_function
@pytest.mark.few(20)
@pytest.mark.parametrize("count", [30, *nightly(3000)])
def test_every_value_is_decided_and_right(name, count):
    rng = random.Random(name)
    for _ in range(count // 5):
        values = random_values(FUNCTIONS[name], rng)
        function = get_function(named(name, values))
        fmt, mode = FORMATS[rng.choice([*FORMATS])], rng.choice([*MODES])
        for bits in inputs(function, fmt, rng, 5):
            what = function.name, fmt.name, mode, fmt.hex_float(bits)
            before = time.process_time()
            got = reference_bits(function.name, fmt.name, bits, rounding=mode)
            assert time.process_time() - before < SECONDS, what
            assert got == round_exactly(function, fmt, bits, mode), what
            assert function.name not in ARB or arb_agrees(function, fmt, bits, got, mode) is not False, (*what, got)


@every_function
@pytest.mark.parametrize("count", [3, *nightly(300)])
def test_everything_is_said_of_any_input(name, count):
    rng = random.Random(f"lookup {name}")
    for _ in range(count):
        function = get_function(named(name, random_values(FUNCTIONS[name], rng)))
        fmt = FORMATS[rng.choice([*FORMATS])]
        for bits in inputs(function, fmt, rng, 2):
            before = time.process_time()
            found = answer(function.name, fmt.name, bits, rng.choice((1, 17, 40, 300)))
            assert time.process_time() - before < 2 * SECONDS, (function.name, fmt.name, fmt.hex_float(bits))
            assert found["y_bits"] == fmt.bits_text(reference_bits(function.name, fmt.name, bits))


def test_digits_are_correctly_rounded():
    assert exact("log1p", -0.5, digits=30) == "-0.693147180559945309417232121458"
    assert exact("logit", 0.5) == "0"
    assert exact("logit", 1.0) == "inf"
    assert exact("logit_grad", 0.5) == "4.000000000000000000000000000000000000000"
    assert exact("hard_sigmoid", 1.0, digits=10) == "0.6666666667"
    assert exact("hard_sigmoid_grad", 0.0, digits=5) == "0.16667"
    assert exact("selu_grad", 0.0, digits=20) == "1.7580993408473768599"
