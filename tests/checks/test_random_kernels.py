"""Whatever a kernel returns, every check and measure has an answer, and the record could be stored."""

import numpy as np
import pytest
from judging import failing, judged
from marking import nightly
from mutants import correct, faulty, target, where
from random_kernels import random_kernel

from gelu_verify.checks.two_outputs import are_far_apart
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.schema import check_measured
from gelu_verify.truth.values import reference_bits

NATIVE = ("gelu", "exp", "erf", "sigmoid", "relu", "gelu_grad", "silu", "elu", "log", "gelu_tanh", "tanh")


def few_inputs(rng, dtype):
    """A narrow range: of many checks no input is left in it."""
    fmt = get_format(dtype)
    first = int(rng.integers(fmt.ordinal(fmt.sign_mask | fmt.max_finite), fmt.ordinal(fmt.max_finite)))
    last = min(first + int(rng.integers(1, 200)), fmt.ordinal(fmt.max_finite))
    return [(fmt.from_ordinal(first), fmt.from_ordinal(last))]


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", [*range(12), *nightly(*range(12, 400))])
def test_no_kernel_is_too_much_for_a_check(seed):
    """`GELU_VERIFY_FAULTS=raise` in conftest.py: a fault of ours is raised, and numpy's warnings are errors."""
    rng = np.random.default_rng(seed)
    function, dtype = str(rng.choice(NATIVE)), str(rng.choice(DTYPES))
    mutant, plan = random_kernel(rng, function), str(rng.choice(["quick", "landmarks"]))
    ranges = few_inputs(rng, dtype) if rng.integers(3) == 0 else None
    result = sweep(mutant, make_plan(plan, function, dtype, ranges=ranges), workers=1)
    check_measured(result.record, result.table is not None)


@pytest.mark.parametrize("function", ["gelu", *nightly(*(name for name in FUNCTIONS if "[" not in name))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_left_where_noise_is_looked_for(function, dtype):
    """NaN for -1 <= x <= 3, |x| >= 1/4: an IndexError once, of which a whole run was lost."""
    record = judged(faulty(function, where(lambda x: (x >= -1) & (x <= 3) & (np.abs(x) >= 0.25), "nan")), dtype)
    assert record.grade == "broken"
    assert "finite" in failing(record)


@pytest.mark.parametrize(("got", "far"), [("2.9e-39", False), ("9e-7", False), ("0.5", True), ("nan", True)])
def test_outputs_at_an_infinity_are_compared_like_others(got, far):
    fmt = get_format("float32")
    bits = [np.array([fmt.parse(text)], fmt.uint) for text in ("-inf", got, "0", "0")]
    assert are_far_apart(fmt, *bits) == [far]


def test_a_vector_that_does_not_quite_vanish_at_minus_infinity_is_not_broken():
    """paddle.exp: 2.9e-39 in whole vectors, 0 in what is left of a call."""
    fmt = get_format("float32")

    def answer(dtype, x):
        y = np.array(reference_bits("exp", dtype, x))
        vectors = np.arange(len(x)) < len(x) // 8 * 8
        return np.where(vectors & (x == (fmt.infinity | fmt.sign_mask)), fmt.uint.type(fmt.parse("2.9e-39")), y)

    record = judged(target("exp", answer), "float32")
    assert record.grade != "broken"
    assert {record.findings[name].severity for name in failing(record)} == {"loss"}
    assert judged(correct("exp"), "float32").grade == "correctly_rounded"
