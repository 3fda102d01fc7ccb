"""Sums and products of double-doubles: within the bound that they carry, of whatever parts."""

from fractions import Fraction

import numpy as np
import pytest

from gelu_verify.truth import pairs
from gelu_verify.truth.pairs import Bounded, add, exactly, finished, multiply, of_fraction


def numbers(seed, count):
    """Normalized or not, of very different sizes, some exact, and the number that each stands for: at an end of it."""
    rng = np.random.default_rng(seed)
    hi = rng.choice([-1, 1], count) * rng.uniform(1, 2, count) * 2.0 ** rng.integers(-60, 60, count)
    lo = np.where(rng.random(count) < 0.2, 0, rng.uniform(-1, 1, count) * hi * 2.0 ** -rng.integers(30, 110, count))
    err = np.where(rng.random(count) < 0.4, 0, np.abs(hi) * 2.0 ** -rng.integers(60, 130, count))
    parts = zip(hi, lo, rng.choice([-1, 1], count).tolist(), err, strict=True)
    exact = [Fraction(h) + Fraction(low) + side * Fraction(e) for h, low, side, e in parts]
    return Bounded(hi, lo, err), exact


def holds(y, exact):
    y = finished(Bounded(*map(np.asarray, y)))
    return all(
        abs(Fraction(h) + Fraction(low) - number) <= Fraction(e) for h, low, e, number in zip(*y, exact, strict=True)
    )


def test_sums_and_products_are_within_their_bounds():
    (a, xs), (b, ys) = numbers(1, 4000), numbers(2, 4000)
    near = Bounded(-a.hi * (1 + 2.0**-52), b.lo, b.err)  # cancels
    zs = [Fraction(h) + Fraction(low) for h, low in zip(near.hi, near.lo, strict=True)]
    assert holds(add(a, b), [x + y for x, y in zip(xs, ys, strict=True)])
    assert holds(add(a, near), [x + z for x, z in zip(xs, zs, strict=True)])
    assert holds(multiply(a, b), [x * y for x, y in zip(xs, ys, strict=True)])


@pytest.mark.parametrize("part", ["err", "lo"])
def test_a_bound_that_leaves_something_out_is_found(monkeypatch, part):
    """What `holds` is good for."""
    (a, xs), (b, ys) = numbers(1, 400), numbers(2, 400)
    y = multiply(a, b)
    wrong = y._replace(err=y.err * 0.9) if part == "err" else y._replace(lo=np.zeros(400))
    assert not holds(wrong, [x * y for x, y in zip(xs, ys, strict=True)])


def test_a_low_part_keeps_its_own_accuracy_beside_one():
    q = Bounded(np.array([2.0**-300 * 1.1]), 0.0, np.array([2.0**-390]))
    y = multiply(exactly(0.7), add(pairs.ONE, -q))
    assert (y.hi, y.lo) == (0.7, -0.7 * 1.1 * 2.0**-300)
    assert y.err < 2.0**-350


def test_a_fraction_is_known_to_106_bits_or_exactly():
    for value in (Fraction(1, 3), Fraction(-22, 7) * 2**40, Fraction(3, 4), Fraction(2**80 + 1)):
        hi, lo, err = of_fraction(value)
        assert abs(Fraction(hi) + Fraction(lo) - value) <= Fraction(err)
    assert of_fraction(Fraction(3, 4)).err == 0
