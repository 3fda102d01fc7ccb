"""Tails of the binomial law against Arb, Hoeffding's bound, intervals, sizes, and Holm's procedure."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from marking import nightly

from gelu_verify.stochastic import binomial
from gelu_verify.stochastic.bounds import clopper_pearson


def exact(k, n, p, upper):
    """P(K >= k), or P(K <= k)."""
    ctx.prec = 400
    p = arb(p)
    if upper:
        return p.beta_lower(arb(k), arb(n - k + 1), regularized=True) if k else arb(1)
    return (1 - p).beta_lower(arb(n - k), arb(k + 1), regularized=True) if k < n else arb(1)


@pytest.mark.parametrize(("cases", "most"), [(20, 12), *nightly((150, 33))])
def test_tails_are_those_of_arb(cases, most):
    """Up to n = 2^33; SLACK is larger than the error."""
    random = np.random.default_rng(cases)
    for _ in range(cases):
        n = int(2 ** random.uniform(0, most))
        p = float(random.choice([random.random(), 2.0 ** -random.uniform(1, 40)]))
        k = int(np.clip(round(n * p + random.normal(0, 5) * math.sqrt(n * p * (1 - p))), 0, n))
        for found, upper in zip(binomial.tails(k, n, p, 1 - p), (False, True), strict=True):
            if found < 0.5:
                assert abs(float(found / exact(k, n, p, upper)) - 1) < 0.1 * (binomial.SLACK - 1)


def test_small_cases_are_sums_of_their_terms():
    for n in range(1, 8):
        for p in (0.1, 0.5, 0.93):
            terms = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
            for k in range(n + 1):
                lower, upper = binomial.tails(k, n, p, 1 - p)
                assert lower == pytest.approx(sum(terms[: k + 1]), rel=1e-12)
                assert upper == pytest.approx(sum(terms[k:]), rel=1e-12)


def test_an_impossible_outcome_and_a_certain_one():
    assert binomial.two_sided(1, 10, 0.0, 1.0) == 0
    assert binomial.two_sided(0, 10, 0.0, 1.0) == binomial.two_sided(10, 10, 1.0, 0.0) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_for_unequal_trials(seed):
    """P(p-value <= a) <= a, exactly, of the sum of 12 trials with probabilities of their own."""
    probabilities = np.random.default_rng(seed).random(12)
    law = np.array([1.0])
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    mean, rest = float(probabilities.mean()), float((1 - probabilities).mean())
    values = np.array([binomial.of_sum(k, 12, mean, rest) for k in range(13)])
    for a in (*values.tolist(), 0.05, 0.01):
        assert law[values <= a].sum() <= a + 1e-12


def test_a_tolerance_takes_each_tail_where_it_is_largest():
    for k in (40, 50, 61):
        within = [binomial.two_sided(k, 100, p, 1 - p) for p in np.linspace(0.45, 0.55, 101).tolist()]
        assert binomial.two_sided(k, 100, 0.5, 0.5, 0.05) >= max(within) * (1 - 1e-8)
    assert binomial.two_sided(0, 1000, 1e-9, 1 - 1e-9, 1e-3) == 1


def test_an_interval_holds_what_is_not_rejected():
    low, high = clopper_pearson(7, 1000, 0.999)
    assert binomial.tails(7, 1000, low, 1 - low)[1] == pytest.approx(0.0005, rel=1e-6)
    assert binomial.tails(7, 1000, high, 1 - high)[0] == pytest.approx(0.0005, rel=1e-6)
    assert clopper_pearson(0, 1000, 0.999)[0] == 0
    assert clopper_pearson(1000, 1000, 0.999)[1] == 1


@pytest.mark.parametrize("p", [0.5, 0.02, *nightly(0.9, 1e-4, 1e-7, 1 - 1e-4)])
def test_so_many_samples_find_the_bias(p):
    """The power, exactly: at least what was asked for, but for the error of the normal law where that gave the size."""
    for bias in (0.01, 1e-3):
        n = binomial.samples_for(bias, p, 1 - p, 1e-9, 0.999)
        for sign in (1, -1):
            moved = p + sign * bias
            if 0 < moved < 1:
                k = critical(n, p, sign)
                assert binomial.tails(k, n, moved, 1 - moved)[sign > 0] > 0.9985


def critical(n, p, sign):
    """The count nearest to the mean that is rejected, above or below it."""
    low, high = 0, n  # distances from the mean
    while low < high:
        middle = (low + high) // 2
        k = min(n, max(0, round(n * p) + sign * middle))
        low, high = (low, middle) if binomial.two_sided(k, n, p, 1 - p) <= 1e-9 else (middle + 1, high)
    return min(n, max(0, round(n * p) + sign * low))


def test_holm():
    assert binomial.holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert binomial.holm([0.9, 0.5]) == [1, 1]
    assert binomial.holm([]) == []
