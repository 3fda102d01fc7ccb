"""Statistics of the study against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marking import nightly

from gelu_verify.study.statistics import LEVEL, POWER, bootstrap, detectable, signed_rank


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


def test_what_is_not_finite_is_the_worst():
    good = np.array([-1.0, -2, -3, -4, -5])
    assert signed_rank(np.append(good, np.inf)) > signed_rank(np.append(good, -6.0))
    assert signed_rank(np.array([np.inf] * 6)) == 2 / 2**6
    assert signed_rank(np.array([0.0, np.nan])) == 1
    assert bootstrap(np.array([0.0, 1, np.inf])).median == 1
    assert bootstrap(np.array([1.0, np.inf, np.inf])) == (np.inf, 1, np.inf)


def test_few_runs_can_find_nothing():
    assert signed_rank(np.arange(1.0, 6)) == 0.0625 > LEVEL
    assert detectable(5, 1) is None
    assert detectable(6, 2) is None


@pytest.mark.parametrize(("runs", "tests"), [(8, 1), *nightly((20, 1), (20, 265))])
def test_the_detectable_shift_is_found_that_often(runs, tests):
    shift = detectable(runs, tests)
    noise = np.random.default_rng(5).normal(shift, size=(400, runs))
    found = np.mean([signed_rank(each) <= LEVEL / tests for each in noise])
    assert abs(found - POWER) < 4 * np.sqrt(POWER * (1 - POWER) / 400)
