"""Every clause of a sentence is true: read again, and held against all outputs of an implementation."""

import re
from dataclasses import replace

import numpy as np
import pytest
from clauses import Audit
from judging import judged
from marking import nightly
from mutants import faulty
from outputs import exhaustive
from planted_faults import Fault, Planted
from repository import ROOT
from synthetic_runs import result

from gelu_verify import verify
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.budget import Budget
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.grades import graded
from gelu_verify.records.parts import Execution, Executions, FindingRecord
from gelu_verify.records.sentences import FAILURES, _infinity, failure_text
from gelu_verify.targets import select
from gelu_verify.truth.values import zero_threshold

FUNCTIONS = ("gelu", "silu", "gelu_tanh", "gelu_grad", "erf", "exp", "normcdf", "silu_grad", "erfc", "relu", "log")
SEEDS = [*(("float16", seed) for seed in range(6)), ("bfloat16", 6), ("float32", 7), ("float32", 8)]
MANY = [(dtype, seed) for dtype in ("float16", "bfloat16", "float32") for seed in range(10, 200)]


@pytest.mark.few(3)
@pytest.mark.parametrize(("dtype", "seed"), [*SEEDS, *nightly(*MANY)])
def test_no_clause_is_false(dtype, seed):
    """Of a kernel with random faults, whose outputs are all known."""
    rng = np.random.default_rng(seed)
    assert_true(Planted.drawn(rng, str(rng.choice(FUNCTIONS)), dtype), rng)


def test_the_smallest_x_with_a_nan_is_that_of_all_calls():
    """A case in which a call beside the plan finds one nearer to zero."""
    rng = np.random.default_rng(74)
    assert_true(Planted.drawn(rng, str(rng.choice(FUNCTIONS)), "float32"), rng)


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_sign_of_zeros_is_said_right(dtype, share):
    most = get_format(dtype).max_finite
    assert_true(Planted("gelu", dtype, [Fault(-most, -most + 50, "signs", share, 1.0, 7)]), np.random.default_rng(1))


def test_zeros_are_counted_up_to_where_they_are_right():
    """Also those of the bucket in which that is."""
    fmt = get_format("float32")
    right, first = fmt.ordinal(zero_threshold("gelu", "float32")), fmt.ordinal(fmt.parse("-9"))
    zeros = [
        Fault(start, start + length, "zeroed", 0.125, 1.0, 7) for start, length in ((right, 40_000), (first, 1 << 20))
    ]
    assert_true(Planted("gelu", "float32", zeros), np.random.default_rng(1))


def test_normal_results_beside_lost_ones_are_not_said_to_be_right():
    """In the bucket of float32 where results become subnormal, these hide the errors of the others."""
    faults = fault("-13.17", "-13.16", "zeroed"), fault("-13.135", "-13.13", "ulps")
    assert_true(Planted("gelu", "float32", faults), np.random.default_rng(1))


def test_exceptions_are_counted_within_the_interval_that_is_said():
    """One whose end has more than three digits, with exceptions beside it."""
    faults = fault("-1.34", "-1.3126", "ulps"), fault("-1.3124", "-1.3123", "ulps", 2.0**-8)
    assert_true(Planted("gelu", "float32", faults), np.random.default_rng(1), 4)


def fault(first, last, wrong, share=1.0):
    """Of float32, from one number to another."""
    fmt = get_format("float32")
    return Fault(fmt.ordinal(fmt.parse(first)), fmt.ordinal(fmt.parse(last)), wrong, share, 40.0, 7)


NAMES = ("kernels.gelu_erfc", "numpy.gelu_tanh", "scipy.gelu", "published.mlas-gelu", "published.onnx-gelu_tanh")


@pytest.mark.parametrize(
    ("name", "dtype"), [("kernels.gelu_erf", "float16"), *nightly(*((name, "float32") for name in NAMES))]
)
def test_no_clause_of_what_others_use_is_false(name, dtype):
    """Against all its outputs, after a sample, many buckets, and other seeds."""
    target = next(each for each in select([name])[0] if each.name == name and dtype in each.dtypes)
    outputs = exhaustive(target.function, dtype, lambda x: target.evaluate(dtype, x))
    for seed, more in ((0, 0), (0, 400), (1, 30), (2, 30)):
        plan = make_plan("default", target.function, dtype, seed)
        record = sweep(target, plan, budget=Budget(buckets=more), workers=1).record
        assert list(Audit(record, outputs, lambda x: target.evaluate(dtype, x)).false()) == []


def assert_true(kernel, rng, buckets=None):
    dtype = kernel.dtype
    more = Budget(buckets=int(rng.choice([0, 20])) if buckets is None else buckets)
    plan = make_plan("default", kernel.function, dtype)
    record = sweep(kernel.target(), plan, budget=more, workers=1).record
    assert list(Audit(record, kernel.outputs(), kernel.answer).false()) == []


@pytest.mark.parametrize(
    ("function", "clause"),
    [
        (lambda x: x.astype(np.float64), "returns float64 for float32 arrays"),
        (lambda x: x[:-1], r"returns shape \(\d+,\) for \(\d+,\)"),
    ],
)
def test_a_failure_that_knows_more_says_it(function, clause):
    record = verify(function, "relu", "float32", "landmarks", isolate=False, array="numpy").record
    assert re.fullmatch(clause, failure_text(record)), failure_text(record)


def test_a_result_with_approximations_is_not_called_the_devices():
    executed = "ptx on CPU, sm_90, nvcc 13.0.88, approximations: lowest within their bounds (ex2.approx.f32: 2 ulp)"
    found = judged(replace(faulty("relu", lambda dtype, x, y: y), executed=executed), "bfloat16", "landmarks").sentence
    assert found.startswith(
        "no GPU's result: approximations have the lowest values within their bounds (ex2.approx.f32: 2 ulp); correctly"
    )


@pytest.mark.parametrize(
    ("executions", "clause"),
    [
        ((1.0, 0, None, [("lowest", 3.25), ("nearest", 3.25)]), "all outputs are the same in each"),
        (
            (0.99949, 1200, "0x3f80", [("lowest", 3.25), ("nearest", 0.75), ("highest", 2.0)]),
            "99.9 % of outputs are the same in each, others up to 1,200 floats apart (at x = 1); "
            "the largest error is 0.750 to 3.25 ULP",
        ),
        (
            (0.5, 1, "0x3f80", [("lowest", None), ("nearest", None)]),
            "50 % of outputs are the same in each, others up to 1 float apart (at x = 1); none can be scored",
        ),
    ],
)
def test_a_result_of_several_executions_says_how_they_differ(executions, clause):
    """No better than the worst in any part of it, and no more than was tried."""
    same, floats, x_bits, each = executions
    bounds = "approximations: lowest, mixed within their bounds (ex2.approx.f32: 2 ulp)"
    found = sweep(faulty("relu", lambda dtype, x, y: y), make_plan("landmarks", "relu", "bfloat16"))
    made = Executions(same, floats, x_bits, tuple(Execution(name, ulp, "0x3f80", "0x3f80") for name, ulp in each))
    executed = f"ptx on CPU, products and sums rounded as they are written and fused, {bounds}"
    sentence = graded(replace(found.record, executed=executed, executions=made), found.table).sentence
    said = f"no GPU's result: at each x the worst of {len(each)} executions, in which approximations have the lowest"
    said += (
        ", mixed values within their bounds (ex2.approx.f32: 2 ulp), and products and sums are rounded apart and fused"
    )
    assert sentence.startswith(f"{said}; {clause}; ")


def test_the_memory_limit_is_named():
    record = verify(lambda x: x[:-1], "relu", "float32", "landmarks", isolate=False, array="numpy").record
    limit = "needs more than the memory limit of 4 GiB (--memory-limit)"
    changed = replace(record, failure_kind="memory", failure=f"k.c:f {limit}, and died of SIGABRT")
    assert failure_text(changed).startswith(limit)


def test_every_kind_of_failure_is_a_clause():
    """Those of docs/json.md, and those that the code has."""
    text = (ROOT / "docs" / "json.md").read_text().partition("Kinds of failure: ")[2].partition("\n\n")[0]
    kinds = set(re.findall(r"`([a-z ]+)`", text))
    assert len(kinds) > 20
    code = "".join(path.read_text() for path in (ROOT / "gelu_verify").rglob("*.py"))
    raised = set(re.findall(r'TargetFailure\([^()]*"([a-z ]+)"\)', code))
    assert {"dtype", "changed input"} <= raised
    assert kinds | {kind for kind in raised if len(kind.split()) < 3} <= FAILURES.keys()


@pytest.mark.parametrize(("got", "said"), [(1.0 - 2.0**-12, "0.9998 at +inf"), (2.0, "2 at +inf")])
def test_a_wrong_limit_is_told_from_the_right_one(got, said):
    fmt = get_format("float32")
    finding = FindingRecord("", fmt.bits_text(fmt.infinity), fmt.bits_text(fmt.parse(repr(got))), "0x3f800000")
    record = replace(result("k.c:sigmoid", "sigmoid", "float32"), findings={"plus_infinity": finding})
    assert _infinity("+inf", "plus_infinity")(record) == said
