"""Executions that a specification leaves open: the outputs are the worst of them, and how they differ is counted."""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from marking import nightly
from mutants import BitsTarget, faulty, target, where
from random_kernels import Piece

from gelu_verify.formats import differ, from_ordinals, get_format, ordinals
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.part_measurer import PartMeasurer
from gelu_verify.measure.parts import packed, unpacked
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.grades import ORDER
from gelu_verify.targets import incoming
from gelu_verify.targets.execution_errors import ExecutionErrors, joined
from gelu_verify.targets.executions import WorstOfExecutions, in_all_executions, worst_of
from gelu_verify.truth import values
from gelu_verify.truth.values import judge, reference_bits

NAMES = ("lowest", "nearest", "highest")


@dataclass
class Device:
    """Of which each execution has an implementation of its own."""

    answers: dict
    taken: str = "nearest"
    asked: list = field(default_factory=list)

    def executions(self, kernels):
        return tuple(self.answers)

    @contextmanager
    def taking(self, execution):
        before, self.taken = self.taken, execution
        yield
        self.taken = before

    def answer(self, dtype, x):
        self.asked.append(self.taken)
        return np.array(self.answers[self.taken](dtype, x))


def executed(answers, function="gelu"):
    device = Device(answers)
    return in_all_executions(target(function, device.answer), device, [])


def moved_by(steps):
    """Correctly rounded, and so many floats away, by input."""

    def fault(dtype, x, y):
        fmt = get_format(dtype)
        finite = np.abs(ordinals(fmt, y)) < fmt.infinity - 100
        return np.where(finite, from_ordinals(fmt, ordinals(fmt, y) + np.where(finite, steps(x), 0)), y)

    return faulty("gelu", fault).answer


def test_what_judges_the_executions_keeps_no_memory():
    """It is in the process of the kernel, which was said to hold on to it."""
    made = executed({name: moved_by(lambda x: 0 * x.astype(np.int64)) for name in NAMES})
    x = np.random.default_rng(1).integers(0, 2**32, (2, 2 * values.WORTH_KEEPING), np.uint64).astype(np.uint32)
    values.forget_values()
    made.evaluate("float32", x[0])
    kept = set(values._memory)
    judge("gelu", "float32", x[1], x[1])  # which others judge again
    assert len(values._memory) == len(kept) + 1
    assert not kept


def test_each_output_is_the_worst_and_all_are_counted():
    dtype, fmt = "float32", get_format("float32")
    x = np.random.default_rng(1).integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32)
    x[:4] = [fmt.parse(each) for each in ("nan", "inf", "-inf", "0")]
    answers = {
        "lowest": moved_by(lambda x: -(x % 3).astype(np.int64)),
        "nearest": moved_by(lambda x: 0 * x.astype(np.int64)),
        "highest": moved_by(lambda x: (x % 5).astype(np.int64) * 2),
    }
    made = executed(answers)
    outputs = np.array([answers[name](dtype, x) for name in NAMES])
    got = made.evaluate(dtype, x)
    found = made.execution_errors(dtype)
    errors = np.array([np.abs(judge("gelu", dtype, x, each).error) for each in outputs])
    scored = np.isfinite(errors).all(axis=0)
    np.testing.assert_array_equal(np.abs(judge("gelu", dtype, x, got).error)[scored], errors.max(axis=0)[scored])
    assert (outputs == got).any(axis=0).all()
    assert (found.outputs, found.same) == (5000, int((outputs == outputs[0]).all(axis=0).sum()))
    for name, each, error in zip(NAMES, outputs, errors, strict=True):
        ulp, at, bits = found.largest[name]
        assert ulp == error[scored].max()
        assert bits == each[x == at][0]
    places = np.array([ordinals(fmt, each) for each in outputs])
    assert found.apart[0] == (places.max(axis=0) - places.min(axis=0)).max()
    assert made.execution_errors(dtype) is None, "of one call"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("nan", "1.0"), ("inf", "1.0"), ("-0.0", "0.0"), ("1.0", "nan"), ("1.0", "inf")],
)
def test_what_is_no_error_in_ulp_is_worse_than_what_is_right(wrong, right):
    """Whichever execution has it."""
    fmt = get_format("float32")
    x_text = {"1.0": "1.0", "0.0": "0.0", "nan": "nan", "inf": "inf"}[right]
    x = np.array([fmt.parse(x_text)] * 2, np.uint32)
    due = np.array(reference_bits("gelu", "float32", x))
    bad = np.array([fmt.parse(wrong)] * 2, np.uint32)
    for names in (NAMES, NAMES[::-1]):
        outputs = {name: (bad if name == "lowest" else due).copy() for name in names}
        got, found = worst_of("gelu", "float32", x, outputs)
        assert (got == bad).all()
        assert found.same == 0


def test_one_execution_is_the_target_itself():
    device = Device({"nearest": reference_bits})
    plain = target("gelu", device.answer)
    assert in_all_executions(plain, device, []) is plain


def test_a_check_that_gives_a_gradient_has_one_execution():
    made = executed({name: moved_by(lambda x, k=k: x * 0 + k) for k, name in enumerate(NAMES)})
    x = np.array([0x3F800000], np.uint32)
    with incoming.incoming_gradient([2.0]):
        assert made.timed("float32", x)[0] == made.device.answers["nearest"]("float32", x)
    assert made.timed("float32", x)[0] == made.device.answers["highest"]("float32", x)


def kernel_of_pieces(rng):
    """Wrong on random intervals, of the input alone."""
    drawn = (Piece.drawn(rng) for _ in iter(int, 1))
    pieces = [
        next(each for each in drawn if each.wrong not in ("random", "reversed")) for _ in range(rng.integers(1, 4))
    ]

    def fault(dtype, x, y):
        for piece in pieces:
            y = piece.applied(get_format(dtype), x, y)
        return y

    return faulty("gelu", fault)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", *nightly("bfloat16")])
def test_no_grade_is_better_than_the_worst_of_single_executions(dtype):
    """Over random implementations: nor any measure. They are wrong by the input alone, at whatever place it stands."""
    rng, judged = np.random.default_rng(7), 0
    for _ in range(4):
        kernels = {name: kernel_of_pieces(rng) for name in NAMES}
        plan = make_plan("quick", "gelu", dtype)
        alone = {name: sweep(each, plan, few_calls=True).record for name, each in kernels.items()}
        together = executed({name: each.answer for name, each in kernels.items()})
        record = sweep(together, plan, few_calls=True).record
        assert ORDER[record.grade] >= max(ORDER[each.grade] for each in alone.values())
        if record.executions is None or None in [each.max_ulp for each in alone.values()]:
            assert record.grade == "broken"
            continue
        judged += 1
        assert record.max_ulp >= max(each.max_ulp for each in alone.values()) * (1 - 1e-9)
        for measure in ("correctly_rounded", "faithful"):
            assert getattr(record, measure) <= min(getattr(each, measure) for each in alone.values())
        assert "the worst of 3 executions" in record.sentence
    assert judged > 2


def test_equal_executions_are_one_implementation():
    """With intervals of no width nothing but the words says that there were several."""
    plan = make_plan("quick", "gelu", "float16")
    one = sweep(faulty("gelu", where(lambda x: x < -3, "-0.0")), plan)
    answer = faulty("gelu", where(lambda x: x < -3, "-0.0")).answer
    three = sweep(executed(dict.fromkeys(NAMES, answer)), plan)
    assert (three.record.executions.same, three.record.executions.floats) == (1, 0)
    assert three.record.executions.x_bits is None
    assert len({each.max_ulp for each in three.record.executions.each}) == 1
    for name in ("grade", "max_ulp", "bits_sha256", "mean_ulp", "correctly_rounded", "witness", "accurate_range"):
        assert getattr(one.record, name) == getattr(three.record, name)
    assert "all outputs are the same in each" in three.record.sentence


def test_calls_join_in_any_order_and_parts_cross_processes():
    made = executed({name: moved_by(lambda x, k=k: (x % 7 + k).astype(np.int64)) for k, name in enumerate(NAMES)})
    plan = make_plan("default", "gelu", "bfloat16")
    parts = [PartMeasurer(made, plan).measured((k, k + 1)) for k in range(len(plan.chunks))]
    again = [unpacked(packed(each)) for each in parts]
    whole = None
    for each in parts:
        whole = joined(whole, each.executions)
    back = None
    for each in reversed(again):
        back = joined(each.executions, back)
    assert whole == back
    assert whole.outputs == sum(each.executions.outputs for each in parts)
    assert isinstance(whole, ExecutionErrors)


def test_neighbours_of_two_executions_say_nothing_of_the_way_that_it_goes():
    plan = make_plan("quick", "gelu", "float16")
    made = executed({name: moved_by(lambda x, k=k: (k - 1) * (x % 9).astype(np.int64)) for k, name in enumerate(NAMES)})
    assert isinstance(made, WorstOfExecutions)
    assert sweep(made, plan).record.checks["monotone"] == "not applicable"
    alone = replace(BitsTarget(name="a", function="gelu", dtypes=("float16",), answer=made.device.answers["highest"]))
    assert sweep(alone, plan).record.checks["monotone"] == "fail"


def test_differ_counts_a_nan_as_a_nan():
    fmt = get_format("float32")
    x = np.array([0x7FC00000], np.uint32)
    outputs = {"lowest": np.array([0x7FFFFFFF], np.uint32), "nearest": np.array([0xFFC00001], np.uint32)}
    assert not differ(fmt, *outputs.values()).any()
    assert worst_of("gelu", "float32", x, outputs)[1].same == 1
