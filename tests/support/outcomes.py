"""Outcomes of every kind, and what a table of them contains."""

import numpy as np

from gelu_verify.buckets.reducer import Outcome
from gelu_verify.buckets.table import MonotonePieces
from gelu_verify.formats import from_ordinals, get_format, ordinals
from gelu_verify.functions import get_function
from gelu_verify.truth.values import judge, reference_bits


def outcome(function, dtype, x, got):
    want, error, faithful = judge(function, dtype, x, got)
    return Outcome(x, got, want, error, faithful)


def random_outcome(dtype, seed, count, span=None):
    """Inputs by ordinal, and results of every kind: right, off, NaN, infinite, zero, of the wrong sign."""
    fmt, rng = get_format(dtype), np.random.default_rng(seed)
    half = 1 << (fmt.width - 1)
    low, high = (-half, half - 1) if span is None else (-span, span)
    x = from_ordinals(fmt, np.unique(rng.integers(low, high, count, dtype=np.int64, endpoint=True)))
    got = reference_bits("gelu", dtype, x)
    near = from_ordinals(fmt, np.clip(ordinals(fmt, got) + rng.integers(-3, 4, len(x)), -half, half - 1))
    others = [near, rng.integers(0, 1 << fmt.width, len(x), dtype=fmt.uint), np.full_like(x, fmt.nan), np.zeros_like(x)]
    kind = rng.integers(0, 12, len(x))
    for k, other in enumerate(others):
        got = np.where(kind == k, other, got)
    return outcome("gelu", dtype, x, got)


def pieces_of(dtype):
    return MonotonePieces.of(get_function("gelu"), get_format(dtype))


def content(table):
    """Everything that is stored or reported, as bytes."""
    arrays = {**table.flat, **{f"region_{k}": v for k, v in table.regions.items()}, "samples": table.samples}
    return {name: (array.dtype.str, array.tobytes()) for name, array in arrays.items()} | {"facts": table.facts}
