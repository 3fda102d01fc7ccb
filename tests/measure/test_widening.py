"""More inputs than a plan's own: the table is that of exactly these, and a claim near its limit is tried whole."""

import math
from dataclasses import replace

import numpy as np
import pytest
from marking import nightly
from mutants import correct, faulty, shifted, target
from outcomes import content

from gelu_verify import own_faults
from gelu_verify.buckets.table import bucket_inputs
from gelu_verify.cli.options import SEED
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import buckets, from_ordinals, get_format, ordinals, to_float64
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import make_plan
from gelu_verify.inputs.widened import chunks_of, longest_untried, widened
from gelu_verify.measure import widening
from gelu_verify.measure.budget import NOTHING, Budget
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.kept import Kept
from gelu_verify.measure.next_buckets import next_buckets
from gelu_verify.measure.part_measurer import PartMeasurer
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import allotted
from gelu_verify.measure.sweep import _Sweep, sweep
from gelu_verify.truth.values import reference_bits
from gelu_verify.work.executors import Where
from gelu_verify.work.journal import Journal

WHOLE = bucket_inputs(get_format("float32"))


def noisy(seed, most=6, rare=3000):
    """Off by up to `most` floats at some of the inputs, which ones depends on the bits alone; never the same twice."""

    def fault(dtype, x, y):
        hashed = (x.astype(np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(33)
        size = np.where(hashed % rare == 0, hashed % (2 * most + 1), most).astype(np.int64) - most
        return shifted(get_format(dtype), y, size)

    return faulty("gelu", fault)


def swept(kernel, dtype, budget, seed=0, kept=None, workers=2, progress=None):
    found = _Sweep(PartMeasurer(kernel, make_plan("default", "gelu", dtype, seed), progress), None, kept, budget, None)
    table, _ = found.run(workers)
    return table, found.plan


# ---- exactly these inputs ------------------------------------------------------------------------


SEEDS_AND_COUNTS = np.random.default_rng(2).integers([0, 1], [2**31, 7], (12, 2)).tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("seed", "count"), [(7, 4), *nightly(*map(tuple, SEEDS_AND_COUNTS))])
def test_the_table_is_that_of_a_sweep_of_all_inputs_that_were_tried(dtype, seed, count):
    kernel = noisy(seed)
    table, plan = swept(kernel, dtype, Budget(buckets=count), seed % 3)
    assert plan.steps == count
    assert content(sweep(kernel, plan).table) == content(table)
    x = np.concatenate([chunk.x_bits() for chunk in plan.chunks])
    assert len(np.unique(x)) == len(x) == plan.size == table.total("n")
    assert (np.diff(ordinals(get_format(dtype), x)) > 0).all()
    again = sweep(kernel, make_plan("default", "gelu", dtype, seed % 3), budget=Budget(buckets=count), workers=1)
    assert content(again.table) == content(table)
    assert again.record.inputs_sha256 == plan.inputs_sha256
    assert f"--budget {count}buckets" in again.record.repeat


def test_all_buckets_together_are_the_exhaustive_plan():
    plan, whole = make_plan("default", "gelu", "float32"), make_plan("exhaustive", "gelu", "float32")
    found = widened(plan, chunks_of(plan, range(1 << 16)), 1 << 16)
    assert found.exhaustive
    assert found.inputs_sha256 == whole.inputs_sha256
    assert [(chunk.first, chunk.size) for chunk in found.chunks] == [(c.first, c.size) for c in whole.chunks]


def test_without_a_budget_the_inputs_are_those_of_the_plan():
    plan = make_plan("default", "gelu", "float32")
    record = sweep(correct("gelu"), plan, budget=NOTHING).record
    assert (record.n, record.inputs_sha256) == (plan.size, plan.inputs_sha256)
    assert record.coverage.buckets == 0
    assert not record.coverage.whole


@pytest.mark.parametrize("change", [{"name": "strata"}, {"length": 8}, {"spans": ((0, 9),)}, {"exhaustive": True}])
def test_only_the_default_plan_of_a_whole_dtype_takes_more(change):
    plan = make_plan("default", "gelu", "float32")
    assert plan.widens
    assert not replace(plan, **change).widens
    assert not make_plan("default", "gelu", "float16").widens


# ---- what decides is tried -----------------------------------------------------------------------


def off_at(x_bits, floats, elsewhere):
    """`floats` off at one input, `elsewhere` at the others of its bucket and its neighbours; right at all others."""
    fmt = get_format("float32")
    middle = int(buckets(fmt, np.array([x_bits], fmt.uint))[0])

    def fault(dtype, x, y):
        near = np.abs(buckets(fmt, x).astype(int) - middle) <= 1
        return shifted(fmt, y, np.where(x == x_bits, floats, np.where(near, elsewhere, 0)))

    return faulty("gelu", fault)


def missed(low, high):
    """An input between these that no default plan of the first three seeds has."""
    fmt = get_format("float32")
    tried = {
        int(x) for seed in range(3) for c in make_plan("default", "gelu", "float32", seed).chunks for x in c.x_bits()
    }
    return next(x for x in range(*sorted(map(fmt.parse, (low, high)))) if x not in tried)


@pytest.mark.parametrize(("floats", "elsewhere", "limit"), [(-5, -3, 4.0), *nightly((5, 3, 4.0), (9, 3, 4.0))])
def test_a_claim_near_its_limit_is_tried_whole_whatever_the_seed(floats, elsewhere, limit):
    """As torch.gelu-erfc: 4.15 ULP at one input in a million, inside of the range that a sample says."""
    x = missed("-1.43", "-1.41")
    kernel = off_at(x, floats, elsewhere)
    found = [
        sweep(kernel, make_plan("default", "gelu", "float32", seed), budget=Budget(buckets=60)).record
        for seed in range(3)
    ]
    assert {int(record.witness.x_bits, 16) for record in found} == {x}
    assert all(record.max_ulp > limit for record in found)
    assert len({record.grade for record in found}) == 1
    assert len({record.accurate_range for record in found}) == 1


def test_the_ends_of_a_range_are_tried_whole_on_both_sides():
    """Wrong from -2.003 on, a little beyond the start of its bucket, and at an input of the bucket before, too."""

    def fault(dtype, x, y):
        fmt = get_format(dtype)
        value = to_float64(fmt, x)
        return shifted(fmt, y, np.where((value < -2.003) & (value > -9), 40, 0))

    table, _ = swept(faulty("gelu", fault), "float32", Budget(buckets=20))
    bad = np.flatnonzero(np.nan_to_num(table.columns["max_error"]) > 4)
    end = int(bad.max())  # the first inaccurate bucket on the left of zero
    numbers = table.columns["bucket"][end : end + 2].tolist()
    assert numbers[1] == numbers[0] + 1
    assert table.whole[end : end + 2].all()


def test_buckets_come_in_the_order_of_what_they_decide():
    plan = make_plan("default", "gelu", "float32")
    function, table = get_function("gelu"), sweep(correct("gelu"), plan).table
    done = np.zeros(1 << 16, bool)
    while chosen := next_buckets(function, table, done):
        assert chosen == sorted(set(chosen))
        assert not done[chosen].any()
        done[chosen] = True
    assert done.all()


def test_in_float64_so_many_inputs_of_a_bucket_are_drawn():
    plan = make_plan("default", "gelu", "float64")
    result = sweep(noisy(1), plan, budget=Budget(buckets=32))
    assert result.record.n > plan.size
    assert (result.record.n - plan.size) % plan.usual_length == 0
    assert result.record.bound == ">="
    assert not result.table.whole.any()


# ---- time, failures, and what was interrupted ----------------------------------------------------


class Killed(BaseException):
    pass


def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    kernel, calls = noisy(5), []

    def counting(dtype, x):
        calls.append(len(x))
        return kernel.answer(dtype, x)

    def dying(inputs):
        if len(calls) > 12:
            raise Killed

    undisturbed, plan = swept(kernel, "float32", Budget(buckets=20))
    with Journal(tmp_path / "journal", {}) as journal, pytest.raises(Killed):
        swept(target("gelu", counting), "float32", Budget(buckets=20), 0, Kept(journal, "a"), 1, dying)
    before = len(calls)
    with Journal(tmp_path / "journal", {}) as journal:
        table, again = swept(target("gelu", counting), "float32", Budget(buckets=20), kept=Kept(journal, "a"))
    assert content(table) == content(undisturbed)
    assert again.inputs_sha256 == plan.inputs_sha256
    assert len(calls) - before < len(plan.made)


def test_a_target_that_fails_in_a_bucket_fails_again_with_the_command_that_repeats_it():
    fmt = get_format("float32")
    x = missed("1.5", "1.51")

    def answer(dtype, asked):
        if (asked == x).any():
            raise TargetFailure("fell over", kind="exception")
        middle = int(buckets(fmt, np.array([x], fmt.uint))[0])
        near = np.abs(buckets(fmt, asked).astype(int) - middle) <= 1
        return shifted(fmt, np.array(reference_bits("gelu", dtype, asked)), np.where(near, 3, 0))

    plan = make_plan("default", "gelu", "float32")
    record = sweep(target("gelu", answer), plan, budget=Budget(buckets=60)).record
    assert record.failure_range == f"{x:#010x}:{x:#010x}"
    count = int(record.repeat.split("--budget ")[1].removesuffix("buckets"))
    again = sweep(target("gelu", answer), plan, budget=Budget(buckets=count)).record
    assert again.failure_range == record.failure_range


def test_a_slow_target_is_asked_for_no_bucket_that_takes_longer_than_all():
    result = sweep(correct("mish"), make_plan("quick", "mish", "float32"), budget=Budget(seconds=1e-9))
    assert result.record.coverage.buckets == 0
    more = sweep(noisy(3), make_plan("default", "gelu", "float32"), budget=Budget(seconds=1e-6))
    assert more.record.coverage.buckets == 0


def test_what_refutes_a_grade_ends_the_search_for_more():
    plan = make_plan("default", "gelu", "float32")
    for demand in ("faithful", "correctly_rounded"):
        refuted = sweep(noisy(2), plan, budget=Budget(buckets=100, demand=demand))
        assert refuted.record.coverage.buckets == 0
        held = sweep(correct("gelu"), plan, budget=Budget(buckets=9, demand=demand))
        assert held.record.coverage.buckets == 9


@pytest.mark.few(2)
@pytest.mark.parametrize("text", ["-1", "1x", "nan", "1e9", "65537buckets", "1.5buckets", "", True])
def test_a_budget_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match=r"cannot be used|too much"):
        Budget.of(text)


def test_time_is_shared_out():
    """Ours get none beside others; one that is named gets more; rows of a gate say how many; a demand has no end."""
    ours, theirs = (replace(correct("gelu"), name=name) for name in ("kernels.gelu_cr", "numpy.gelu"))
    jobs = [Job(each, make_plan("default", "gelu", "float32")) for each in (ours, theirs)]
    jobs.append(Job(theirs, make_plan("default", "gelu", "float16")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gelu_verify.measure.budget.EACH_S", 1.0)
        patch.setattr("gelu_verify.measure.budget.ALONE_S", 10.0)

        def shared(alone=False, jobs=jobs, **asked):
            request = Request(**{"targets": ("numpy",), **asked})
            return [(each.seconds, each.buckets) for each in allotted(jobs, request, 2, alone)]

        none, every = (0.0, 0), 1 << 16
        assert shared() == [none, (1.0, every), none]
        assert shared(alone=True) == [none, (10.0, every), none]
        assert shared(budget="3.5") == [none, (3.5, every), none]
        assert shared(budget="7buckets")[1] == (math.inf, 7)
        assert shared(buckets_of={jobs[1].key: 5}, budget=0)[1] == (math.inf, 5)
        assert shared(demand="faithful") == [none, (math.inf, every), none]
        assert shared(demand="faithful", budget=2)[1] == (2.0, every)
        assert shared(demand="accurate")[1] == (1.0, every)
        many = [replace(jobs[1], plan=make_plan("default", "gelu", "float32", seed)) for seed in range(32)]
        assert sum(seconds for seconds, _ in shared(jobs=many[:16])) == pytest.approx(2 * 4.0)
        assert sum(seconds for seconds, _ in shared(jobs=many)) == pytest.approx(32 * 0.4)
        assert sum(seconds for seconds, _ in shared(jobs=many, targets=())) == pytest.approx(16 * 0.4)


def test_a_grade_asked_of_all_inputs_elsewhere_is_the_exhaustive_plan():
    asked = {"targets": ("numpy",), "demand": "faithful", "executor": Where(name="processes")}
    assert Request(**asked).inputs("key", "gelu", "float32").exhaustive
    assert not Request(**asked).inputs("key", "gelu", "float64").exhaustive
    assert not Request(**{**asked, "demand": "accurate"}).inputs("key", "gelu", "float32").exhaustive


def test_the_seed_of_today_is_the_date():
    seed = SEED.convert("today", None, None)
    assert len(str(seed)) == 8
    assert (
        make_plan("default", "gelu", "float32", seed).inputs_sha256
        != make_plan("default", "gelu", "float32").inputs_sha256
    )
    assert SEED.convert("7", None, None) == 7


# ---- what is said of it --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", ["default", "landmarks", "quick"])
def test_the_longest_gap_is_one_that_nobody_tried(dtype, name):
    fmt, plan = get_format(dtype), make_plan(name, "gelu", dtype)
    x = np.sort(np.concatenate([ordinals(fmt, chunk.x_bits()) for chunk in plan.chunks]))
    for gap in longest_untried(plan):
        if gap is None:
            assert plan.exhaustive
            continue
        assert not ((x >= gap.first) & (x <= gap.last)).any()
        assert np.isin([gap.first - 1, gap.last + 1], x).any()
    most = fmt.ordinal(fmt.max_finite)
    finite = x[(x >= -1 - most) & (x <= most)].astype(object)
    longest = max(np.diff([-2 - most, *finite, most + 1])) - 1
    found = longest_untried(plan)[0]
    assert longest == (0 if found is None else found.last - found.first + 1)


def test_a_record_says_which_buckets_were_tried_whole():
    table, plan = swept(noisy(7), "float32", Budget(buckets=30))
    fmt = get_format("float32")
    record = sweep(noisy(7), make_plan("default", "gelu", "float32"), budget=Budget(buckets=30)).record
    spans = [tuple(fmt.ordinal(int(end, 16)) for end in text.split(":")) for text in record.coverage.whole]
    assert tuple(spans) == plan.whole
    assert sum(last - first + 1 for first, last in spans) == 30 * WHOLE == WHOLE * table.whole.sum()
    assert record.coverage.share == record.n / 2.0**32
    assert from_ordinals(fmt, np.array([spans[0][0]]))[0] == int(record.coverage.whole[0][:10], 16)


# ---- faults of ours ------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("place", ["next_buckets", "chunks_of", "merge", "widened"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_fault_of_ours_among_more_inputs_leaves_the_result_of_the_plan(place, dtype, monkeypatch):
    kernel, plan = noisy(5), make_plan("default", "gelu", dtype)
    alone = sweep(kernel, plan)

    def fails(*_, **__):
        raise IndexError("index 0 is out of bounds")

    monkeypatch.delenv(own_faults.SWITCH)
    monkeypatch.setattr(widening, place, fails)
    found = sweep(kernel, plan, budget=Budget(buckets=2))
    if (dtype, place) == ("float64", "chunks_of"):
        assert not found.record.own_faults  # whole buckets are of float32
        return
    (fault,) = found.record.own_faults
    assert "search among more inputs than the plan's own failed: IndexError" in fault
    assert found.record.failure is None
    assert content(found.table) == content(alone.table)
    assert replace(found.record, own_faults=None) == alone.record
