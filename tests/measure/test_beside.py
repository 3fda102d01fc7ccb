"""Nothing that an implementation returned, in whatever call, is worse than what its record says."""

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from marking import nightly
from mutants import BitsTarget, correct, shifted

from gelu_verify.errors import TargetFailure
from gelu_verify.formats import get_format, is_finite, ordinals, to_float64
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure import beside
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured
from gelu_verify.records.beside import judged
from gelu_verify.records.grades import GRADED, ORDER, graded
from gelu_verify.records.measures import MEASURES
from gelu_verify.records.measures import measured as measures_of


@dataclass(frozen=True, kw_only=True)
class Remembering(BitsTarget):
    """Remembers every output that it ever returned."""

    remembered: list = field(default_factory=list, compare=False)

    def call(self, loaded):
        got = np.array(self.answer(*loaded))
        self.remembered.append((loaded[1].copy(), got.copy()))
        return got

    def worst(self):
        """Of finite results for finite x the largest error; whether a finite x gave NaN or an infinity."""
        x, got = (np.concatenate(each) for each in zip(*self.remembered, strict=True))
        fmt = get_format(self.dtypes[0])
        both = np.unique(x.astype(np.uint64) << np.uint64(32) | got)
        pairs = (both >> np.uint64(32)).astype(fmt.uint), both.astype(fmt.uint)
        outputs = judged(get_function("gelu"), fmt.name, *pairs)
        finite = is_finite(fmt, outputs.x)
        scored = finite & np.isfinite(outputs.error)
        return np.abs(outputs.error[scored]).max(), bool((finite & ~is_finite(fmt, outputs.got)).any()), outputs


def random_fault(rng, dtype):
    """A fault that depends on the position, the call, the values, their neighbours or the number of elements."""
    fmt = get_format(dtype)
    low = rng.uniform(-4, 3)
    inputs = [lambda v: np.ones(len(v), bool), lambda v: (v >= low) & (v <= low + rng.choice([0.01, 0.3, 2.0]))]
    calls, period, n = itertools.count(), int(rng.integers(2, 400)), int(rng.choice([1, 7, 33, 64, 100, 257, 1000]))
    lane, lanes, first = int(rng.integers(0, 8)), int(rng.choice([4, 8, 16])), int(rng.integers(0, 1200))
    equal = lambda x: np.append(False, x[1:] == x[:-1])  # noqa: E731
    when = [
        lambda call, x: np.arange(len(x)) % lanes == lane,
        lambda call, x: np.full(len(x), call % period == 0),
        lambda call, x: np.full(len(x), call == first),
        lambda call, x: np.full(len(x), call >= first),
        lambda call, x: np.full(len(x), len(x) % n == 0),
        lambda call, x: np.full(len(x), len(x) > 1 and (x == x[0]).all()),
        lambda call, x: equal(x),
        lambda call, x: np.arange(len(x)) >= len(x) // lanes * lanes,
        lambda call, x: np.full(len(x), bool((np.diff(ordinals(fmt, x)) >= 0).all())),
    ][rng.integers(9)]
    inside, size = inputs[rng.integers(2)], int(rng.choice([1, 2, 5, 100, 10_000]))
    what = [
        lambda x, y: shifted(fmt, y, size),
        lambda x, y: np.full_like(y, fmt.parse("-7")),
        lambda x, y: np.full_like(y, fmt.nan),
        lambda x, y: np.zeros_like(y),
        lambda x, y: y ^ fmt.uint.type(fmt.sign_mask),
    ][rng.integers(5)]

    def fault(x, y):
        hit = when(next(calls), x) & inside(to_float64(fmt, x)) & is_finite(fmt, x)
        return np.where(hit, what(x, y), y).astype(fmt.uint)

    return fault


@pytest.mark.few(2)
@pytest.mark.parametrize("timed", ["none", "quick"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("seed", [0, *nightly(*range(1, 6))])
def test_no_output_is_worse_than_the_record(seed, dtype, timed):
    fault, right = random_fault(np.random.default_rng([seed, len(dtype), len(timed)]), dtype), correct("gelu")
    kernel = Remembering(
        name="test.random", function="gelu", dtypes=(dtype,), answer=lambda d, x: fault(x, right.answer(d, x))
    )
    (result,) = measured([Job(kernel, make_plan("quick", "gelu", dtype))], Request(throughput=timed))
    record, (largest, nonfinite, outputs) = result.record, kernel.worst()
    assert record.failure is None
    assert record.max_ulp >= largest * (1 - 1e-9)
    assert record.grade == "broken" or not nonfinite
    right = outputs.got == outputs.want
    finite = is_finite(get_format(dtype), outputs.x)
    assert record.grade != "correctly_rounded" or right[finite].all()
    assert ORDER[record.grade] <= ORDER["faithful"] or not outputs.faithful[finite].all() or record.failed_checks
    assert record.grade != "faithful" or outputs.faithful[finite].all()
    again = graded(measures_of(record, result.table), result.table)
    assert all(getattr(again, name) == getattr(record, name) for name in (*MEASURES, *GRADED))
    assert len(record.beside) <= 16


def test_a_check_whose_own_calls_fail_decides_nothing(monkeypatch):
    """A value is wrong in short calls only, so that outputs beside the plan decide; what a call does is said apart."""
    fmt, right = get_format("float16"), correct("gelu")
    one = fmt.parse("1")

    def failing(evidence):
        raise TargetFailure("takes 1,024 values only", "exception")

    def answer(dtype, x):
        wrong = (x == one) & (len(x) < 100)
        return np.where(wrong, fmt.parse("-7"), right.answer(dtype, x)).astype(fmt.uint)

    checks = {**beside.CHECKS, "nan": replace(beside.CHECKS["nan"], run=failing)}
    monkeypatch.setattr(beside, "CHECKS", checks)
    kernel = BitsTarget(name="test.short", function="gelu", dtypes=("float16",), answer=answer)
    (result,) = measured([Job(kernel, make_plan("quick", "gelu", "float16"))], Request(throughput="none"))
    assert (result.record.failure, result.record.own_faults) == (None, None)
    assert {each.x_bits for each in result.record.beside} == {fmt.bits_text(one)}
