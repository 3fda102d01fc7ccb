"""Statistics of the study against their definitions and against scipy."""

import itertools

import numpy as np
import pytest
import requiring
from hypothesis import given, settings
from hypothesis import strategies as st

from gelu_verify.study.statistics import LEVEL, shift, signed_rank


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_signed_rank_counts_all_signs(differences):
    """With ties and zeros: the share of the sign patterns that are as extreme."""
    kept = np.array([d for d in differences if d], float)
    sizes = np.abs(kept)
    ranks = [(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes]
    middle = sum(ranks) / 2
    extreme = abs(sum(rank for rank, each in zip(ranks, kept, strict=True) if each > 0) - middle)
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=len(kept))
    ]
    assert signed_rank(np.array(differences, float)) == np.mean([abs(each - middle) >= extreme for each in sums])


@pytest.mark.parametrize("runs", [5, 8, 20, 40])
def test_signed_rank_is_that_of_scipy(runs):
    stats = requiring.module("scipy.stats")
    for place in range(10):
        differences = np.random.default_rng([runs, place]).normal(place / 10, size=runs)
        want = stats.wilcoxon(differences, method="exact").pvalue
        assert signed_rank(differences) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("runs", [6, 7, 12, 20])
def test_the_interval_has_what_the_test_does_not_reject(runs):
    differences = np.random.default_rng(runs).normal(0.5, size=runs)
    estimate, low, high = shift(differences)
    assert low < estimate < high
    for end, outwards in ((low, -1e-9), (high, 1e-9)):
        assert signed_rank(differences - (end + outwards)) <= LEVEL < signed_rank(differences - (end - outwards))
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2)]
    assert estimate == pytest.approx(np.median(means), rel=1e-12)


def test_what_is_not_finite_is_the_worst():
    good = np.array([-1.0, -2, -3, -4, -5])
    assert signed_rank(np.append(good, np.inf)) > signed_rank(np.append(good, -6.0))
    assert signed_rank(np.array([np.inf] * 6)) == 2 / 2**6
    assert signed_rank(np.array([0.0, np.nan])) == 1
    assert shift(np.array([0.0] * 6 + [np.inf])) == (0, 0, np.inf)
    assert shift(np.array([np.inf] * 5 + [1.0])) == (np.inf, 1, np.inf)
    assert shift(np.array([np.nan] * 6)) == (0, 0, 0)


def test_few_runs_can_find_nothing():
    assert signed_rank(np.arange(1.0, 6)) == 0.0625 > LEVEL
    assert shift(np.arange(1.0, 6)) == (3, -np.inf, np.inf)
