"""The sweep: exact merging in any order, measures against a naive count, failures as results."""

import dataclasses
import json
import math
import random
import threading
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import at, correct, faulty, moved, target, where
from outcomes import content, outcome, pieces_of, random_outcome

from gelu_verify.buckets import approximation
from gelu_verify.buckets.reducer import Outcome, reduce
from gelu_verify.buckets.table import HIST_EDGES, NOISE, finish, merge
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import (
    DTYPES,
    FORMATS,
    buckets,
    from_ordinals,
    get_format,
    is_finite,
    is_nan,
    ordinals,
    to_float64,
)
from gelu_verify.functions import get_function
from gelu_verify.functions.regions import REGIONS
from gelu_verify.inputs.plans import Chunk, Plan, make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.parts import NonFinite, Witness
from gelu_verify.records.serialize import to_json
from gelu_verify.truth.values import exact, reference_bits


def table_of(dtype, seen):
    return reduce(get_format(dtype), get_function("gelu"), pieces_of(dtype), seen)


def part(seen, start, stop):
    return Outcome(*(getattr(seen, name)[start:stop] for name in ("x", "got", "want", "error", "faithful")))


def merged_at_random(tables, rng):
    """Merge in a random order, in random groups."""
    tables = list(tables)
    rng.shuffle(tables)
    while len(tables) > 1:
        count = rng.randint(2, min(4, len(tables)))
        tables = [*tables[count:], merge(tables[:count])]
        rng.shuffle(tables)
    return tables[0]


# ---- merging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=st.integers(0, 2**32), pieces=st.integers(1, 9), narrow=st.booleans())
@settings(max_examples=25)
def test_any_split_and_any_order_give_the_same_bytes(dtype, seed, pieces, narrow):
    fmt = get_format(dtype)
    seen = random_outcome(dtype, seed, 700, span=1 << (fmt.width - 7) if narrow else None)
    rng = random.Random(seed)
    whole = finish(table_of(dtype, seen), pieces_of(dtype))
    cuts = sorted({0, len(seen.x), *(rng.randrange(1, len(seen.x)) for _ in range(pieces))})
    tables = [table_of(dtype, part(seen, a, b)) for a, b in pairwise(cuts)]
    again = finish(merged_at_random(tables, rng), pieces_of(dtype))
    assert content(again) == content(whole)


def test_merging_many_tables_of_one_bucket():
    fmt = get_format("float32")
    x = from_ordinals(fmt, -1 - fmt.parse("3.4") + np.arange(100, dtype=np.int64))
    got = reference_bits("gelu", "float32", x)
    got[::7] += fmt.uint.type(1)
    seen = outcome("gelu", "float32", x, got)
    tables = [table_of("float32", part(seen, i, i + 1)) for i in range(len(x))]
    again = finish(merged_at_random(tables, random.Random(1)), pieces_of("float32"))
    assert content(again) == content(finish(table_of("float32", seen), pieces_of("float32")))
    assert again.total("n") == 100
    assert len(again.columns["bucket"]) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_in_different_chunks_are_compared(dtype):
    fmt = get_format(dtype)
    x = from_ordinals(fmt, fmt.ordinal(fmt.one) + np.arange(6, dtype=np.int64))
    got = reference_bits("gelu", dtype, x)
    got[3] = got[2] - fmt.uint.type(2)
    seen = outcome("gelu", dtype, x, got)
    table = finish(merge([table_of(dtype, part(seen, 3, 6)), table_of(dtype, part(seen, 0, 3))]), pieces_of(dtype))
    assert table.total("rises") == 1
    assert table.facts.rises[1:] == (fmt.ordinal(int(x[3])), int(got[3]), fmt.ordinal(int(x[2])), int(got[2]))


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_a_bucket_is_whole_exactly_where_all_its_inputs_were_tried(dtype, seed):
    fmt, rng = get_format(dtype), random.Random(seed)
    size = 1 << (fmt.width - 16)
    first = (rng.randrange(0x80, 0x7F00) - 0x4000) * size  # whole buckets, one of them less its last input, and a bit
    count = 3 * size - 1 if size <= 1 << 16 else 700
    x = from_ordinals(fmt, np.arange(first, first + count, dtype=np.int64))
    half = rng.randrange(1, count)
    got = reference_bits("relu", dtype, x)
    seen = outcome("relu", dtype, x, got)
    table = merge([table_of(dtype, part(seen, half, count)), table_of(dtype, part(seen, 0, half))])
    tried = [len(np.unique(x[buckets(fmt, x) == bucket])) for bucket in table.columns["bucket"]]
    assert table.whole.tolist() == [number == size for number in tried]


# ---- measures ------------------------------------------------------------------------------------


def naive(dtype, seen):
    """The bucket table by plain loops over exact numbers."""
    fmt = get_format(dtype)
    rows = {}
    pieces = pieces_of(dtype)
    previous = None
    for x, got, want, error, faithful in zip(
        seen.x.tolist(), seen.got.tolist(), seen.want.tolist(), seen.error.tolist(), seen.faithful.tolist(), strict=True
    ):
        bucket = int(buckets(fmt, np.array([x], fmt.uint))[0])
        row = rows.setdefault(bucket, dict.fromkeys(("n", "correct", "faithful", "nonfinite", "zero_lost", "rises"), 0))
        row.setdefault("errors", [])
        row["n"] += 1
        row["correct"] += got == want or (fmt.is_nan(got) and fmt.is_nan(want))
        row["faithful"] += faithful
        row["nonfinite"] += fmt.is_finite(x) and not fmt.is_finite(got)
        row["zero_lost"] += fmt.magnitude(got) == 0 and fmt.magnitude(want) != 0 and not fmt.is_nan(want)
        if math.isfinite(error):
            error = 0.0 if abs(error) < NOISE else error
            row["errors"].append((abs(error), x, got, want, error))
        if previous and not any(map(fmt.is_nan, (x, got, *previous))):
            side = [int(np.searchsorted(pieces.turns, fmt.ordinal(b))) for b in (previous[0], x)]
            step = fmt.rank(got) - fmt.rank(previous[1])
            row["rises"] += side[0] == side[1] and (step > 1 if side[0] == 0 else step < -1)
        previous = x, got
    return rows


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_table_is_what_plain_loops_count(dtype, seed):
    fmt = get_format(dtype)
    seen = random_outcome(dtype, seed, 900, span=None if seed == 0 else 1 << (fmt.width - 6))
    table = table_of(dtype, seen)
    rows = naive(dtype, seen)
    assert table.columns["bucket"].tolist() == sorted(rows)
    for k, bucket in enumerate(sorted(rows)):
        row, columns = rows[bucket], {name: column[k] for name, column in table.columns.items()}
        for name in ("n", "correct", "faithful", "nonfinite", "zero_lost", "rises"):
            assert columns[name] == row[name], (name, bucket)
        assert table.hist[:, k].sum() == len(row["errors"])
        if row["errors"]:
            top = max(e[0] for e in row["errors"])
            first = next(e for e in row["errors"] if e[0] == top)
            assert (
                columns["max_error"],
                *map(int, (columns[f"max_error_{w}"] for w in ("x", "got", "want"))),
            ) == first[:4]
            places = np.searchsorted(HIST_EDGES, [e[0] for e in row["errors"]])
            assert np.bincount(places, minlength=len(HIST_EDGES)).tolist() == table.hist[:, k].tolist()
            clipped = [max(-(2.0**24), min(2.0**24, e[4])) for e in row["errors"]]
            assert columns["error_sum"] == sum(int(np.rint(e * 65536)) for e in clipped)
        else:
            assert np.isnan(columns["max_error"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_result_of_a_correct_implementation(dtype):
    record = sweep(correct("gelu"), make_plan("quick", "gelu", dtype)).record
    assert record.bound == ">="
    assert 0.49 < record.max_ulp <= 0.5000001
    assert record.p50_ulp <= record.p99_ulp <= 0.5000001
    assert abs(record.mean_ulp) < 0.05
    assert record.correctly_rounded == record.faithful == 1.0
    assert record.max_rank == 0
    assert record.nonfinite == NonFinite(0, None)
    assert record.variant == "gelu"
    assert [region.region for region in record.regions] == [region.name for region in REGIONS]
    assert all(region.max_ulp <= 0.5000001 for region in record.regions)
    assert record.failure is record.approximation is record.throughput is None
    json.dumps(to_json(record), allow_nan=False)


def test_witness_regions_and_rank_of_a_single_fault():
    record = sweep(faulty("gelu", moved(-4.0, -1000)), make_plan("default", "gelu", "float32", 7)).record
    fmt = get_format("float32")
    x, want = fmt.parse("-4"), reference_bits("gelu", "float32", fmt.parse("-4"))
    got = fmt.from_ordinal(fmt.ordinal(want) - 1000)
    assert record.witness == Witness(*map(fmt.bits_text, (x, got, want)))
    assert 999 < record.max_ulp < 1001
    assert record.max_rank == 1000
    region = next(r for r in record.regions if r.region == "[-5,-3)")
    assert (region.max_ulp, region.witness) == (record.max_ulp, record.witness)
    assert all(r.max_ulp <= 0.5000001 for r in record.regions if r is not region)
    command = "gelu-verify run test.mutant --function gelu --dtype float32 --plan default --seed 7"
    assert record.repeat == f"{command} --budget 0"
    assert record.bound == ">="


def test_region_edges_belong_to_the_region_on_the_right():
    for edge, name in ((-5.0, "[-5,-3)"), (-1.0, "[-1,0)"), (0.0, "[0,1)"), (1.0, "[1,inf)")):
        record = sweep(faulty("gelu", at(edge, "100")), make_plan("default", "gelu", "float16")).record
        assert [r.region for r in record.regions if r.max_ulp > 1] == [name]
    assert sum(r.n for r in record.regions) == 2 * get_format("float16").infinity


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nonfinite_results_are_counted_and_not_folded_into_the_maximum(dtype):
    record = sweep(
        faulty("gelu", where(lambda x: (x > 100) & np.isfinite(x), "inf")), make_plan("default", "gelu", dtype)
    ).record
    fmt = get_format(dtype)
    assert record.max_ulp <= 0.5000001
    assert record.nonfinite.count > 1000
    first = int(record.nonfinite.x_bits, 16)
    assert fmt.fraction(first) > 100
    if dtype == "float16":
        assert fmt.fraction(first - 1) == 100
    assert record.checks["finite"] == "fail"


@pytest.mark.parametrize(
    ("function", "dtype", "error", "x"),
    [
        ("gelu_tanh", "float32", 4.7324e-4, 2.69894),
        ("gelu_tanh", "float64", 4.7324e-4, 2.69894),
        ("gelu_sigmoid", "float32", 2.0335e-2, 2.2704),
        ("silu", "float64", 0.1930, 1.9655),
        ("gelu_tanh_grad", "float64", 8.6845e-4, 2.01866),
    ],
)
def test_approximation_error_is_that_of_the_function(function, dtype, error, x):
    record = sweep(correct(function), make_plan("landmarks", function, dtype)).record
    found = record.approximation
    assert found.function == ("gelu_grad" if function.endswith("_grad") else "gelu")
    assert found.max_abs == pytest.approx(error, rel=1e-3)
    assert found.max_ulp > 100
    assert record.max_ulp <= 0.5000001


def test_unit_of_the_exact_value_beside_a_power_of_two():
    fmt = get_format("bfloat16")
    x = np.arange(fmt.parse("-13.6") + 1, dtype=np.uint16)
    x = x[is_finite(fmt, x) & (to_float64(fmt, x) > -13.5)]
    want = reference_bits("gelu", "bfloat16", x)
    power = ((want & fmt.uint.type(0x7F)) == 0) & (np.abs(to_float64(fmt, x)) > 1e-3) & (to_float64(fmt, x) < 8)
    x, want = x[power], want[power]
    assert len(x) > 20
    exact_units = [float(fmt.ulp(Fraction(exact("gelu", fmt.fraction(int(bits)))))) for bits in x]
    assert approximation._unit(fmt, "gelu", x, want).tolist() == exact_units


def test_errors_beyond_a_double_are_not_lost():
    record = sweep(
        faulty("gelu", at(-1e300, "-1e308")), make_plan("default", "gelu", "float64", ranges=["-1e300"])
    ).record
    assert record.max_ulp == float(np.finfo(np.float64).max)
    json.dumps(to_json(record), allow_nan=False)


# ---- running -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_workers_do_not_change_a_byte(dtype):
    mutant = faulty("gelu", where(lambda x: x < -3, "-0"))
    plan = make_plan("default", "gelu", dtype)
    results = [sweep(mutant, plan, workers=workers) for workers in (1, 2, 5)]
    assert results[0].record == results[1].record == results[2].record
    assert content(results[0].table) == content(results[1].table) == content(results[2].table)
    assert list(results[0].frame().columns) == list(results[0].table.flat)


def test_inputs_are_permuted_and_outputs_put_back():
    met = []

    def answer(dtype, x):
        met.append(x.copy())
        return reference_bits("gelu", dtype, x)

    plan = make_plan("default", "gelu", "float16")
    record = sweep(target("gelu", answer), plan, workers=1).record
    assert record.correctly_rounded == 1.0
    del met[len(plan.chunks) :]  # what the checks ask
    assert all(len(x) % 2 for x in met)
    assert all((np.diff(ordinals(get_format("float16"), x)) < 0).mean() > 0.4 for x in met)
    assert set(np.concatenate(met).tolist()) == set(range(1 << 16))


def test_the_target_is_called_by_one_thread_at_a_time():
    inside = []

    def answer(dtype, x):
        inside.append(1)
        assert len(inside) == 1
        y = reference_bits("gelu", dtype, x)
        inside.pop()
        return y

    assert sweep(target("gelu", answer), make_plan("default", "gelu", "float32"), workers=4).failure is None


def test_progress_counts_every_input():
    done = []
    plan = make_plan("default", "gelu", "float16")
    sweep(correct("gelu"), plan, progress=done.append)
    assert sum(done) == plan.size
    assert len(done) == len(plan.chunks)


def raises(dtype, x):
    raise ValueError("no such luck\nsecond line")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (raises, "test.mutant raised ValueError: no such luck"),
        (lambda dtype, x: x[:-1], "returned shape"),
        (lambda dtype, x: x.astype(np.uint8), "returned uint8"),
        (lambda dtype, x: x.__setitem__(slice(0, 3), 7) or x.copy(), "changed its input"),
    ],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_target_that_breaks_its_contract_is_a_result(answer, message, dtype):
    result = sweep(target("gelu", answer), make_plan("quick", "gelu", dtype))
    assert message in result.failure
    assert "\n" not in result.failure
    assert result.table is None
    assert result.max_ulp is None
    assert result.record.checks == {}
    fine = sweep(correct("gelu"), make_plan("quick", "gelu", dtype))
    assert list(to_json(result.record)) == list(to_json(fine.record))
    assert result.failed_checks == fine.failed_checks == []


def test_the_failure_reported_is_that_of_the_first_chunk():
    fmt, plan = get_format("float32"), make_plan("default", "gelu", "float32")
    firsts = [int(chunk.x_bits()[0]) for chunk in plan.chunks]

    def answer(dtype, x):
        if np.isin(x, firsts).any():
            raise TargetFailure("no", "exception")
        return np.array(reference_bits("gelu", dtype, x))

    lowest = fmt.bits_text(firsts[0])
    record = sweep(target("gelu", answer), plan, workers=1).record
    assert record.failure == f"no, at x = {lowest} (NaN)"
    assert (record.failure_kind, record.failure_range) == ("exception", f"{lowest}:{lowest}")


def test_many_small_chunks_give_what_few_give():
    """Every bfloat16 input in 1,000 chunks gives what two chunks give."""
    fmt, whole = FORMATS["bfloat16"], make_plan("default", "gelu", "bfloat16")
    mutant = faulty("gelu", where(lambda x: np.abs(x + 2) < 0.3, "-0.05"))
    cuts = np.unique(np.random.default_rng(5).integers(-(1 << 15), 1 << 15, 1000))
    ends = [-(1 << 15), *cuts.tolist(), 1 << 15]
    spans = [(a, b) for a, b in pairwise(ends) if a < b]
    chunks = [Chunk(i, fmt.name, 0, a, b - a) for i, (a, b) in enumerate(spans)]
    many = sweep(mutant, Plan("default", "gelu", fmt.name, 0, True, 1 << 16, chunks))
    few = sweep(mutant, whole)
    assert many.record == few.record
    assert content(many.table) == content(few.table)
    assert few.record.bound == "="


def test_nan_inputs_are_counted_but_not_scored():
    fmt = get_format("float16")
    x = np.arange(1 << 16, dtype=np.uint16)
    table = sweep(correct("gelu"), make_plan("default", "gelu", "float16")).table
    unscored = int(is_nan(fmt, x).sum()) + 2
    assert table.hist.sum() == (1 << 16) - unscored
    assert np.isnan(table.columns["max_error"]).sum() == unscored


@pytest.mark.parametrize("safe", [True, False])
def test_only_a_target_that_is_safe_in_threads_is_called_by_several_at_once(safe):
    both, met = threading.Barrier(2), []

    def answer(dtype, x):
        if len(met) < 2:
            try:
                both.wait(timeout=2.0 if safe else 0.1)
                met.append("together")
            except threading.BrokenBarrierError:
                met.append("alone")
        return reference_bits("gelu", dtype, x)

    mutant = dataclasses.replace(target("gelu", answer), safe_in_threads=safe)
    assert sweep(mutant, make_plan("default", "gelu", "float32"), workers=2).failure is None
    assert set(met[:2]) == {"together" if safe else "alone"}


def test_times_stay_out_of_the_record():
    result = sweep(correct("gelu"), make_plan("quick", "gelu", "float32"), workers=2)
    assert result.record.time is None
    assert 0 < result.time.target_s < result.time.sweep_s * result.time.threads
    assert result.time.ratio == result.time.sweep_s * result.time.threads / result.time.target_s


def test_a_sweep_that_is_stopped_takes_no_further_chunk():
    done = []

    def stop(inputs):
        done.append(inputs)
        if len(done) == 3:
            raise KeyboardInterrupt
        if len(done) > 3:
            time.sleep(
                1
            )  # however the threads are scheduled: the other one has stopped the sweep before the next chunk

    plan = make_plan("exhaustive", "gelu", "float32")
    with pytest.raises(KeyboardInterrupt):
        sweep(correct("gelu"), plan, workers=2, progress=stop)
    assert len(done) <= 5


def test_a_range_of_an_exhaustive_plan_gives_what_its_inputs_give():
    """Strided chunks, and the ends of the range that fill none, against the same inputs named one by one."""
    fmt, mutant = get_format("float32"), faulty("silu", where(lambda x: np.abs(x + 3) < 1e-3, "-0.05"))
    low, high = fmt.parse("-3.2"), fmt.parse("-2.95")
    ranged = make_plan("exhaustive", "silu", "float32", ranges=[(high, low)])
    x = np.concatenate([chunk.x_bits() for chunk in ranged.chunks])
    assert any(chunk.is_strided for chunk in ranged.chunks)
    explicit = [Chunk(0, "float32", 0, fmt.ordinal(int(x[0])), len(x), ordinals(fmt, x))]
    whole = sweep(mutant, dataclasses.replace(ranged, chunks=explicit))
    again = sweep(mutant, ranged, workers=3)
    assert content(again.table) == content(whole.table)
    assert again.record == whole.record


@pytest.mark.parametrize("length", [3, 100, 20_000])
def test_a_call_that_is_filled_up_with_inputs_again_is_no_difference(length):
    """Their outputs are compared with those that the same inputs had before, not with that of the first one."""
    plan = make_plan("landmarks", "silu", "float16", length=length)
    assert plan.size % length
    record = sweep(correct("silu"), plan, workers=1).record
    assert record.grade == "correctly_rounded", record.sentence
    assert not record.failed_checks


def test_a_call_that_is_filled_up_shows_another_output_of_the_same_input():
    def last_is_other(dtype, x):
        y = np.array(reference_bits("silu", dtype, x))
        y[-1] ^= 1
        return y

    plan = make_plan("landmarks", "silu", "float16", length=20_000)
    record = sweep(target("silu", last_is_other), plan, workers=1).record
    assert record.grade != "correctly_rounded"
