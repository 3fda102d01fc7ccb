"""Pairs: what is said of a target with a second input is that of the worst value, and of all pairs that were tried."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import gated_forms
import numpy as np
import pytest
from marking import nightly

from gelu_verify import verify
from gelu_verify.errors import UsageError
from gelu_verify.formats import from_ordinals, get_format
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import make_plan
from gelu_verify.inputs.second import second_values
from gelu_verify.measure import second_input as whole
from gelu_verify.measure import tried_pairs as tried
from gelu_verify.measure.second_input import swept_pairs
from gelu_verify.records.grades import ORDER
from gelu_verify.records.sentences import COMPOSED
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.second_input import composed_bits
from gelu_verify.truth.values import judge, reference_bits

QUICK = {"isolate": False, "plan": "quick"}
FACTS = {"versions": {"numpy": "2"}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "quick", "absent": {}, "facts": FACTS}


@cache
def judged(name, function="swiglu", dtype="bfloat16", **how):
    return verify(getattr(gated_forms, name), function=function, dtype=dtype, **{**QUICK, **how}).record


@pytest.mark.nightly
def test_fused_is_better_than_composed_in_numbers():
    fused, early = judged("swiglu", dtype="float16"), judged("gate_rounded_early", dtype="float16")
    assert fused.second.correctly_rounded > 0.99 > 0.95 > early.second.correctly_rounded
    assert early.second.correctly_rounded == pytest.approx(early.second.composed_correctly_rounded, abs=0.02)
    assert ORDER[fused.grade] < ORDER[early.grade]
    assert fused.second.activation_ulp < 0.01
    assert early.second.activation_ulp > 0.4
    assert f"{100 * early.second.composed_correctly_rounded:.0f}"[:2] in early.sentence


@pytest.mark.nightly
def test_a_zero_of_the_other_sign_is_not_another_form():
    """Both are right where g is 0."""
    early, other = judged("gate_rounded_early"), judged("gate_with_a_beta")
    assert early.second.outputs_sha256 != other.second.outputs_sha256
    assert early.second.like_composed == other.second.like_composed >= COMPOSED
    assert "as where each step is rounded" in other.sentence
    assert judged("swiglu").second.like_composed < COMPOSED


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "call", "dtype"),
    [
        ("swapped", "f(x, g)", "bfloat16"),
        ("swapped_halves", "f(packed(x, g))", "bfloat16"),
        ("first_for_all", None, "bfloat16"),
        ("reversed_gate", None, "float32"),
        ("nan_for_three", None, "bfloat16"),
    ],
)
def test_a_planted_fault_is_broken(name, call, dtype):
    record = judged(name, dtype=dtype, call=call)
    assert record.grade == "broken", record.sentence


def test_a_value_with_which_it_is_not_a_number_is_named():
    record = judged("nan_for_three")
    assert record.second.value == 3
    assert record.sentence.startswith("with g = 3, ")
    assert "with g = 1 it is" in record.sentence


def test_a_value_with_which_it_raises_is_a_failure():
    record = judged("fails_for_negative")
    assert "raised ValueError: no negative gate" in record.failure
    assert record.second.value < 0
    assert record.sentence.startswith("with g = -")
    assert record.function == "swiglu"
    assert record.grade == "broken"


@pytest.mark.nightly
def test_a_sum_in_the_wrong_precision_is_worse():
    right = judged("bias_gelu_tanh", "bias_gelu_tanh")
    wrong = judged("bias_added_in_the_dtype", "bias_gelu_tanh")
    assert right.second.faithful > wrong.second.faithful
    assert right.second.activation_ulp is None


def test_a_value_that_is_said_is_the_only_one():
    record = verify(gated_forms.swiglu, function="swiglu[g=0.5]", dtype="bfloat16", isolate=False, plan="quick").record
    assert record.second is None
    assert record.function == "swiglu[g=0.5]"


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_counts_are_those_of_each_value_alone(dtype):
    """Whichever way pairs are judged: every x of 16 bits together, or each value with its plan."""
    plan = make_plan("default" if dtype != "float32" else "quick", "swiglu", dtype, second=True)
    fmt = get_format(dtype)
    values = [1, 3, -0.5, fmt.fraction(fmt.max_finite), fmt.fraction(1)]
    plan = replace(plan, second=tuple(fmt.round(Fraction(value)) for value in values))
    target = callable_target(gated_forms.swiglu, "swiglu", dtype)
    ways = [tried._in_turn] if dtype == "float32" else [tried._in_turn, tried._in_parallel]
    for way in ways:
        found = way(target, plan, 2, lambda inputs: None)
        check_counts(dtype, plan, target, found)


def check_counts(dtype, plan, target, found):
    correct, faithful, worst, composed = 0, 0, {}, 0
    for bits in plan.second:
        x = np.concatenate([chunk.x_bits() for chunk in plan.at(bits).chunks])
        got = target.with_second("swiglu", (bits,)).evaluate(dtype, x)
        name = plan.function_at(bits)
        want, error, is_faithful = judge(name, dtype, x, got)
        same = (got == want) | (np.isnan(error) & is_faithful)
        correct, faithful = correct + int(same.sum()), faithful + int(is_faithful.sum())
        worst[bits] = float(np.nanmax(np.abs(error)))
        steps = composed_bits("swiglu", dtype, bits, x)
        want, error, is_faithful = judge(name, dtype, x, steps)
        composed += int(((steps == want) | (np.isnan(error) & is_faithful)).sum())
    assert found.values == len(plan.second)
    assert (found.got.correct, found.got.faithful, found.composed.correct) == (correct, faithful, composed)
    assert found.got.worst == pytest.approx(max(worst.values()), rel=1e-6)
    assert found.alike[0] < found.alike[1]


@pytest.mark.nightly
@pytest.mark.parametrize("values", [8, *nightly(64)])
def test_one_wrong_pair_among_all_is_found(values):
    """Of every x with each value: half a million pairs, and the 4 million of the plan."""
    fmt = get_format("bfloat16")
    plan = make_plan("default", "swiglu", "bfloat16", second=True)
    plan = replace(plan, second=(plan.second[0], *plan.second[-values + 1 :]))
    value, x_bits = plan.second[values * 5 // 8], 0x4049

    def wrong(x, g):
        result = gated_forms.swiglu(x, g).view(np.uint16)
        result[(x.view(np.uint16) == x_bits) & (g.view(np.uint16) == value)] ^= 0x8000
        return result.view(x.dtype)

    record = swept_pairs(callable_target(wrong, "swiglu", "bfloat16"), plan, workers=2).record
    assert int(record.second.value_bits, 16) == value
    assert int(record.witness.x_bits, 16) == x_bits
    assert record.second.pairs == values << 16
    assert fmt.is_finite(value)


def test_a_stored_run_of_pairs_follows_from_its_buckets(tmp_path):
    result = verify(gated_forms.swiglu, function="swiglu", dtype="bfloat16", **QUICK)
    write_run([result], tmp_path / "run", **MANIFEST)
    again = verified(read_run(tmp_path / "run"))
    assert again.results[0].second == result.record.second
    assert again.results[0].judged_as.startswith("swiglu[g=")


def test_values_are_each_there_once_and_begin_with_the_neutral_one():
    for function, neutral in (("swiglu", 1.0), ("bias_gelu", 0.0)):
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            fmt = get_format(dtype)
            for plan, count in (("default", 64), ("quick", 16)):
                values = second_values(plan, get_function(function), fmt, 3)
                assert len(set(values)) == len(values) == count
                assert float(fmt.fraction(values[0])) == neutral
                assert all(map(fmt.is_finite, values))
    every = second_values("exhaustive", get_function("swiglu"), get_format("float16"), 0)
    assert sorted(every) == list(range(1 << 16))
    with pytest.raises(UsageError, match=r"2\^64 pairs"):
        second_values("exhaustive", get_function("swiglu"), get_format("float32"), 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_composing_rounds_each_step(dtype):
    fmt = get_format(dtype)
    x = from_ordinals(fmt, np.linspace(-fmt.max_finite, fmt.max_finite, 999).astype(np.int64))
    g = fmt.round(3)
    steps = composed_bits("swiglu", dtype, g, x)
    inner = reference_bits("silu", dtype, x)
    due = [fmt.round(3 * fmt.fraction(int(each))) if fmt.is_finite(int(each)) else int(each) for each in inner.tolist()]
    zero = [bits for bits in inner.tolist() if not fmt.magnitude(bits)]
    assert all(a == b or b in zero for a, b in zip(steps.tolist(), due, strict=True))


def bad_in_absolute_terms(x, g):
    """With g = 3 wrong by more than any grade allows, by few ULP; with all other values 0 where results are tiny."""
    result = gated_forms.swiglu(x, g)
    with np.errstate(all="ignore"):
        result = np.where(np.abs(result) < 1e-20, 0, result).astype(x.dtype)
        return np.where((g == 3) & (x > 1), result * np.float32(1.25), result).astype(x.dtype)


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("every", [False, True])
def test_the_worst_value_is_that_of_the_worst_grade(every, monkeypatch):
    """And not that of the most ULP; also where all pairs are tried."""
    plan = make_plan("default", "swiglu", "bfloat16", second=True)
    if every:
        monkeypatch.setattr(tried, "tried_pairs", tried._in_parallel)
        monkeypatch.setattr(whole, "tried_pairs", tried._in_parallel)
    target = callable_target(bad_in_absolute_terms, "swiglu", "bfloat16")
    three = get_format("bfloat16").round(Fraction(3))
    record = swept_pairs(target, replace(plan, second=(*plan.second[:4], three, *plan.second[20:24])), workers=2).record
    assert record.second.value == 3, record.sentence
    assert record.grade in ("coarse", "broken")


@pytest.mark.parametrize("bits", [0x7FC0, 0x7F80])
def test_a_failure_with_no_number_is_a_failure(bits, monkeypatch):
    monkeypatch.setattr(whole, "tried_pairs", tried._in_parallel)

    def raises(x, g):
        if not np.isfinite(g.astype(np.float32)).all():
            raise ValueError("finite gates only")
        return gated_forms.swiglu(x, g)

    plan = make_plan("default", "swiglu", "bfloat16", second=True)
    target = callable_target(raises, "swiglu", "bfloat16")
    record = swept_pairs(target, replace(plan, second=(*plan.second[:2], bits)), workers=1).record
    assert "finite gates only" in record.failure
    assert record.grade == "broken"
    assert record.second.values == 2
