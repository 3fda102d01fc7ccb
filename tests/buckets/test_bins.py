"""Buckets folded into bins: nothing that they say of x is lost but where in a bin it lies."""

import numpy as np
import pandas as pd
import pytest

from gelu_verify.buckets.bins import FINEST, envelope, folded, is_folded, layout
from gelu_verify.formats import DTYPES

SEEDS = range(8)


def random_columns(rng):
    """Of some of the 65,536 buckets: errors of every size, NaN where nothing was scored."""
    bucket = np.sort(rng.choice(1 << 16, rng.integers(1, 1 << 16), replace=False)).astype(np.uint16)
    n = rng.integers(1, 1 << 16, len(bucket)).astype(np.uint32)
    error = np.exp2(rng.uniform(-60, 120, len(bucket)))
    error[rng.random(len(bucket)) < 0.2] = np.nan
    error[rng.random(len(bucket)) < 0.2] = 0.0
    nonfinite = (n * (rng.random(len(bucket)) < 0.1)).astype(np.uint32)
    return {"bucket": bucket, "n": n, "nonfinite": nonfinite, "more": n, "max_error": error}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_folded_buckets_keep_counts_and_largest_errors_and_folding_them_again_changes_nothing(dtype, seed):
    columns = random_columns(np.random.default_rng(seed))
    once = folded(columns, dtype)
    assert is_folded(once)
    assert not is_folded(columns)
    edges = layout(dtype, FINEST).edges
    inside = (columns["bucket"] >= edges[0]) & (columns["bucket"] < edges[-1])
    for name in ("n", "nonfinite"):
        assert once[name].sum(dtype=np.int64) == columns[name][inside].sum(dtype=np.int64)
    whole = envelope(pd.DataFrame({name: column[inside] for name, column in columns.items()}), dtype, FINEST)
    kept = envelope(pd.DataFrame(once), dtype, FINEST)
    assert (kept.nonfinite == whole.nonfinite).all()
    np.testing.assert_allclose(kept.max_error, whole.max_error, rtol=2.0**-23)  # NaN where that is
    assert not (kept.max_error < whole.max_error).any()
    again = folded(once, dtype)
    for name, column in once.items():
        assert again[name].dtype == column.dtype
        np.testing.assert_array_equal(again[name], column)
