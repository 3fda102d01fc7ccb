"""An implementation whose outputs are nowhere farther from the truth than those of another has no worse a grade."""

from dataclasses import replace

import numpy as np
import pytest
from judging import judged
from marking import nightly
from mutants import faulty
from planted_faults import rounded

from gelu_verify.buckets.reducer import Outcome, reduce
from gelu_verify.buckets.table import MonotonePieces, finish
from gelu_verify.formats import from_ordinals, get_format, ordinals, to_float64
from gelu_verify.functions import get_function
from gelu_verify.records.accuracy import Accuracy
from gelu_verify.records.grades import ORDER, grade_of
from gelu_verify.truth.values import judge, reference_bits

FUNCTIONS = ("gelu", "gelu_grad", "silu", "exp", "relu2_grad", "normcdf")


def inputs(rng, dtype):
    """All of float16; of float32 some whole buckets, of which the largest error and counts alone are known."""
    if dtype == "float16":
        return from_ordinals(get_format(dtype), np.arange(-(1 << 15), 1 << 15))
    binades = rng.integers(0x3F80 - 10 * 128, 0x3F80 + 7 * 128, 4)
    first = np.unique([-1, 0, *(binades * rng.choice([-1, 1], 4))])
    return from_ordinals(get_format(dtype), (first[:, None] * 65536 + np.arange(65536)).ravel())


def some(rng, fmt, x):
    """A random set of inputs: some alone, an interval, a share of all."""
    kind, v = rng.integers(4), to_float64(fmt, x)
    if kind == 0:
        return np.isin(np.arange(len(x)), rng.integers(0, len(x), rng.integers(1, 40)))
    ends = np.sort(rng.choice([-30, -6, -2, -0.6, -0.1, -1e-4, 0, 1e-6, 0.1, 0.6, 2, 6, 30], 2, replace=False))
    inside = (v >= ends[0]) & (v <= ends[1])
    return inside & (rng.random(len(x)) < rng.choice([1e-3, 0.1, 1]))


def worse(rng, fmt, x, want):
    """Outputs with faults: floats off, zeros, another sign, absolute noise."""
    got = want.copy()
    for _ in range(rng.integers(1, 5)):
        at, kind, size = some(rng, fmt, x), rng.integers(5), int(rng.choice([1, 3, 4, 5, 9, 100, 3000]))
        ordinal = ordinals(fmt, got)
        away = rng.integers(-size, size + 1, len(x))
        noise = to_float64(fmt, got) + rng.choice([1e-7, 1e-4, 3e-3, 0.02, 0.3]) * rng.uniform(-1, 1, len(x))
        with np.errstate(over="ignore", invalid="ignore"):
            changed = [
                from_ordinals(fmt, np.clip(ordinal + away, -1 - fmt.infinity, fmt.infinity)),
                got & fmt.uint.type(fmt.sign_mask),
                got ^ fmt.uint.type(fmt.sign_mask),
                rounded(fmt.name, noise),
                from_ordinals(fmt, np.clip(ordinal + size, -1 - fmt.infinity, fmt.infinity)),
            ][kind]
        got = np.where(at & np.isfinite(to_float64(fmt, want)) & np.isfinite(to_float64(fmt, x)), changed, got)
    return got


def better(rng, fmt, function, x, want, got):
    """Some of them nearer to the truth: correct, or moved part of the way."""
    share = rng.choice([0.01, 0.3, 0.9])
    moved = from_ordinals(fmt, (ordinals(fmt, got) + ordinals(fmt, want)) // 2)
    there = np.where(rng.random(len(x)) < 0.5, want, moved).astype(got.dtype)
    errors = [np.abs(judge(function, fmt.name, x, each).error) for each in (there, got)]
    with np.errstate(invalid="ignore"):
        return np.where((rng.random(len(x)) < share) & (errors[0] <= errors[1]), there, got)


def grade(record, function, fmt, x, got):
    """The grade of outputs alone, without checks."""
    error = judge(function, fmt.name, x, got)
    entry = get_function(function)
    pieces = MonotonePieces.of(entry, fmt)
    table = finish(reduce(fmt, entry, pieces, Outcome(x, got, *error)), pieces)
    return grade_of(record, Accuracy.of(table, entry, is_whole=True))


@pytest.fixture(scope="module")
def record():
    """One without failed checks."""
    return judged(faulty("gelu", lambda dtype, x, y: y), "float16")


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    ("function", "seed"),
    [("gelu", 0), ("gelu_grad", 1), *nightly(*((function, seed) for function in FUNCTIONS for seed in range(2, 40)))],
)
def test_what_is_nowhere_farther_from_the_truth_is_not_graded_worse(record, dtype, function, seed):
    rng, fmt = np.random.default_rng(seed), get_format(dtype)
    x = inputs(rng, dtype)
    want = np.array(reference_bits(function, dtype, x))
    for _ in range(4):
        first = worse(rng, fmt, x, want)
        second = better(rng, fmt, function, x, want, first)
        plain = replace(record, function=function, dtype=dtype, witness=None)
        grades = [grade(plain, function, fmt, x, got) for got in (first, second)]
        assert ORDER[grades[1]] <= ORDER[grades[0]], grades
