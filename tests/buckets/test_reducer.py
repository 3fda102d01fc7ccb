"""The C reducer: against NumPy bit for bit, one path against the other, its judgements against the reference."""

from dataclasses import replace

import numpy as np
import numpy_reduction
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import content, outcome, pieces_of, random_outcome

from gelu_verify.buckets.analytic_spans import spans_of
from gelu_verify.buckets.reducer import Outcome, Reduction, fill_strided, reduce
from gelu_verify.buckets.table import NOISE, MonotonePieces, finish, merge
from gelu_verify.errors import OracleError
from gelu_verify.formats import DTYPES, from_ordinals, get_format, is_finite, ordinals
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import STREAMS, make_plan
from gelu_verify.truth.values import judge, reference_bits

JUDGED = [name + grad for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu") for grad in ("", "_grad")]
F32 = get_format("float32")


def same(a, b):
    return content(a) == content(b) and a.segments.tobytes() == b.segments.tobytes()


# ---- counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=st.integers(0, 2**32), narrow=st.booleans())
@settings(max_examples=30)
def test_the_table_is_that_of_numpy(dtype, seed, narrow):
    fmt = get_format(dtype)
    seen = random_outcome(dtype, seed, 700, span=1 << (fmt.width - 7) if narrow else None)
    ours = reduce(fmt, get_function("gelu"), pieces_of(dtype), seen)
    assert same(ours, numpy_reduction.reduce(fmt, get_function("gelu"), pieces_of(dtype), seen))


@pytest.mark.parametrize("function", ["gelu_grad", "relu", "tanh", "exp", "erfc"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_the_table_is_that_of_numpy_for_other_shapes(function, dtype):
    fmt, entry = get_format(dtype), get_function(function)
    pieces, rng = MonotonePieces.of(entry, fmt), np.random.default_rng(7)
    x = from_ordinals(fmt, np.unique(rng.integers(-(1 << 14), 1 << 14, 500) << (fmt.width - 15)))
    got = np.where(rng.random(len(x)) < 0.2, rng.integers(0, 1 << fmt.width, len(x), dtype=fmt.uint), x)
    want = reference_bits(function, dtype, x)
    for answers in (want, got):
        seen = outcome(function, dtype, x, answers)
        assert same(reduce(fmt, entry, pieces, seen), numpy_reduction.reduce(fmt, entry, pieces, seen))


def test_runs_may_come_in_any_order():
    seen = random_outcome("float16", 3, 4000)
    entry, fmt, pieces = get_function("gelu"), get_format("float16"), pieces_of("float16")
    whole = finish(reduce(fmt, entry, pieces, seen), pieces)
    reduction = Reduction(fmt, entry, pieces)
    cuts = [0, 17, 400, 401, 2000, len(seen.x)]
    for k in (3, 0, 4, 1, 2):
        part = slice(cuts[k], cuts[k + 1])
        arrays = (array[part] for array in (seen.x, seen.got, seen.want, seen.error, seen.faithful))
        reduction.add_outcome(type(seen)(*arrays))
    assert content(finish(reduction.table(), pieces)) == content(whole)


# ---- judging -------------------------------------------------------------------------------------


def every_bucket(dtype):
    """One input of each bucket, by ordinal."""
    fmt, rng = get_format(dtype), np.random.default_rng(11)
    low = np.arange(-(1 << 15), 1 << 15) << (fmt.width - 16)
    return from_ordinals(fmt, low + rng.integers(0, 1 << (fmt.width - 16), 1 << 16))


def judged_here(function, dtype, x, got):
    entry, fmt = get_function(function), get_format(dtype)
    reduction = Reduction(fmt, entry, MonotonePieces.of(entry, fmt))
    reduction.add_outputs(x, got)
    return reduction.table()


@pytest.mark.few(6)
@pytest.mark.parametrize("function", JUDGED)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_outputs_are_judged_as_the_reference_judges(function, dtype):
    """Bits and faithfulness are the same, errors within 2^(p - 36) ulp, at one input of each bucket."""
    fmt, x = get_format(dtype), every_bucket(dtype)
    want = reference_bits(function, dtype, x)
    rng = np.random.default_rng(5)
    near = from_ordinals(fmt, np.clip(ordinals(fmt, want) + rng.integers(-2, 3, len(x)), -fmt.infinity, fmt.infinity))
    for got in (want, np.where(rng.random(len(x)) < 0.05, fmt.uint.type(fmt.nan), near)):
        columns = judged_here(function, dtype, x, got).columns
        judgement = judge(function, dtype, x, got)
        assert (columns["n"] == 1).all()
        assert (columns["max_error_want"] == judgement.want_bits).all()
        assert (columns["faithful"] == judgement.faithful).all()
        scored = np.isfinite(judgement.error)
        assert (np.isnan(columns["max_error"]) == ~scored).all()
        error, found = np.abs(judgement.error[scored]), columns["max_error"][scored]
        accuracy = 2.0 ** (fmt.precision - 36)
        clear = np.abs(error - NOISE) > accuracy
        assert np.abs(found - np.where(error < NOISE, 0, error))[clear].max() <= accuracy


PLACES = (
    "-1e30",
    "-15.2",
    "-13.5",
    "-5",
    "-0x1.0p-21",
    "-1e-9",
    "-1e-30",
    "1e-40",
    "0x1p-26",
    "2e-7",
    "0.7",
    "2",
    "4.4",
    "9",
    "1e30",
)


@pytest.mark.few(12)
@pytest.mark.parametrize("function", JUDGED)
@pytest.mark.parametrize("fault", ["none", "some", "flushed", "positive zeros", "a few ulp", "overflow"])
def test_a_strided_run_is_counted_as_its_inputs_one_by_one(function, fault):
    """Vectors, parabolas and analytic spans count what inputs in runs of 13 do, whose table has no shortcut."""
    entry, size = get_function(function), STREAMS * 1000
    pieces, rng = MonotonePieces.of(entry, F32), np.random.default_rng(3)
    strided, singles = Reduction(F32, entry, pieces), Reduction(F32, entry, pieces)
    for place in PLACES:
        first = F32.ordinal(F32.parse(place)) - size // 3
        x, call = from_ordinals(F32, np.arange(first, first + size)), np.empty(size + 1, np.uint32)
        got = reference_bits(function, "float32", x)
        if fault == "some":
            got = np.where(rng.random(size) < 0.01, rng.integers(0, 1 << 32, size, dtype=np.uint32), got)
        elif fault == "flushed":
            got = got & np.uint32(F32.sign_mask)
        elif fault == "positive zeros":
            got = np.where(got == F32.sign_mask, np.uint32(0), got)
        elif fault == "a few ulp":  # in some blocks none, in others up to five
            off = rng.integers(0, 6, size // 250).repeat(250) * rng.integers(-1, 2, size)
            got = np.where(is_finite(F32, got + off.astype(np.uint32)), got + off.astype(np.uint32), got)
        elif fault == "overflow":
            got = np.where(
                got & np.uint32(F32.sign_mask - 1), got & np.uint32(F32.sign_mask) | np.uint32(F32.infinity), got
            )
        fill_strided(first, call)
        order = np.append(np.arange(size).reshape(STREAMS, -1).T.ravel(), 0)
        assert (call == x[order]).all()
        assert strided.add_strided(first, call, got[order])
        for start in range(0, size, 13):
            singles.add_outputs(x[start : start + 13], got[start : start + 13])
    assert_same_counts(finish(strided.table(), pieces), finish(singles.table(), pieces))


def assert_same_counts(found, want):
    """All is the same but errors, which a block of 256 finds along a parabola: within 2^(p - 36) ulp, and so may the
    witness of the largest be another."""
    accuracy = 2.0**-12
    witnesses = ("max_error", "max_error_x", "max_error_got", "max_error_want")
    for one, other in ((found.columns, want.columns), (found.regions, want.regions)):
        assert np.allclose(one["max_error"], other["max_error"], rtol=0, atol=accuracy, equal_nan=True)
        for name in one.keys() - {*witnesses, "error_sum"}:
            assert np.array_equal(one[name], other[name]), name
    assert (np.abs(found.columns["error_sum"] - want.columns["error_sum"]) <= found.columns["n"]).all()
    assert (found.hist == want.hist).all()
    for name in ("approximation_ulp", "approximation_abs"):
        one, other = getattr(found.facts, name), getattr(want.facts, name)
        assert one == other or np.isclose(one[0], other[0], rtol=accuracy)
    same = {"approximation_ulp": None, "approximation_abs": None}
    assert replace(found.facts, **same) == replace(want.facts, **same)


@pytest.mark.parametrize("function", JUDGED)
def test_analytic_results_are_the_correctly_rounded_ones_with_errors_below_the_noise(function):
    """At both ends of each span, one input beyond what is claimed of it not included, and at places between."""
    rng = np.random.default_rng(1)
    spans = [span for span in spans_of(function) if not span.is_first_order]
    assert len(spans) == 7
    for span in spans:
        ordinal = np.unique([span.first, span.first + 1, span.last - 1, span.last])
        ordinal = np.append(ordinal, rng.integers(span.first, span.last, 200))
        x = from_ordinals(F32, ordinal)
        want = reference_bits(function, "float32", x)
        half = x - np.uint32(1 << 23)
        results = [x, half, np.full_like(x, span.required), np.full_like(x, F32.nan)][span.kind]
        assert (want == results).all()
        if is_finite(F32, x).all():
            assert np.abs(judge(function, "float32", x, want).error).max() < NOISE


def test_spans_leave_little_to_judge():
    spans = [span for span in spans_of("gelu") if not span.is_first_order and span.constant == span.required]
    assert sum(span.last - span.first + 1 for span in spans) / 2**32 > 0.8


def test_a_changed_input_is_noticed():
    entry, size = get_function("gelu"), STREAMS * 512
    for place in ("1", "1e20"):
        first = F32.ordinal(F32.parse(place))
        x = np.empty(size + 1, np.uint32)
        fill_strided(first, x)
        got = reference_bits("gelu", "float32", x)
        for index in (0, 77, size):
            changed = x.copy()
            changed[index] ^= 1
            assert not Reduction(F32, entry, MonotonePieces.of(entry, F32)).add_strided(first, changed, got)
        assert Reduction(F32, entry, MonotonePieces.of(entry, F32)).add_strided(first, x, got)


@given(seed=st.integers(0, 2**32), is_refused=st.booleans())
@settings(max_examples=20)
def test_rows_are_zero_whoever_had_them_before(seed, is_refused):
    """A reduction takes over the rows of one that is gone: of samples, of strided runs, of a run that was refused."""
    entry, rng = get_function("gelu"), np.random.default_rng(seed)
    pieces = MonotonePieces.of(entry, F32)

    def rows():
        made = Reduction(F32, entry, pieces)
        assert not np.frombuffer(memoryview(made._reducer), np.uint8).any()
        return made

    first, second = rows(), rows()
    x = from_ordinals(F32, np.unique(rng.integers(-(2**31) + 1, 2**31, 300)))
    first.add_outputs(x, rng.permutation(x))
    strided = np.empty(STREAMS * 512 + 1, np.uint32)
    fill_strided(int(rng.integers(0, 2**30)), strided)
    got = rng.permutation(strided)
    strided[0] ^= int(is_refused)
    assert second.add_strided(F32.ordinal(int(strided[-1])), strided, got) != is_refused
    del first, second
    for made in [rows() for _ in range(4)]:
        assert made._reducer is not None


def test_what_the_oracle_cannot_decide_is_raised(monkeypatch):
    """An error raised inside the reducer's call for help comes out of the call that asked."""
    from gelu_verify.buckets import reducer as module

    def silent(*_):
        raise OracleError("no answer")

    seen = []
    monkeypatch.setattr(module, "judge_exactly", silent)
    monkeypatch.setattr(module._reducer, "Reducer", lambda rules, ask: seen.append(ask))
    Reduction(F32, get_function("gelu"), pieces_of("float32"))
    with pytest.raises(OracleError):
        seen[0](False, 0x3F800000, 0x3F800000)


def test_a_strided_plan_is_the_union_of_its_chunks():
    plan = make_plan("exhaustive", "gelu", "float32", ranges=["0x3f800000:0x3f83ffff"])
    tables = []
    entry, pieces = get_function("gelu"), pieces_of("float32")
    for chunk in plan.chunks:
        assert chunk.is_strided
        assert (np.diff(ordinals(F32, chunk.x_bits()[chunk.order()[:STREAMS]])) == chunk.size // STREAMS).all()
        x = np.empty(chunk.size + 1, np.uint32)
        fill_strided(chunk.first, x)
        reduction = Reduction(F32, entry, pieces)
        assert reduction.add_strided(chunk.first, x, reference_bits("gelu", "float32", x))
        tables.append(reduction.table())
    assert merge(tables).total("n") == plan.size == 1 << 18


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ["gelu", "gelu_grad"])
def test_the_hash_of_results_sees_what_changes_and_nothing_else(function, dtype):
    """0 where all are correctly rounded, another for every change of a result, for exchanged ones, and for signs."""
    fmt, entry = get_format(dtype), get_function(function)
    start = fmt.ordinal(fmt.parse("-1.5"))
    x = from_ordinals(fmt, np.arange(start, start + 128))
    right = np.array(reference_bits(function, dtype, x))

    def hashed(got):
        want, error, faithful = judge(function, dtype, x, got)
        table = reduce(fmt, entry, MonotonePieces.of(entry, fmt), Outcome(x, got, want, error, faithful))
        return tuple(table.columns["bits_hash"].tolist())

    def changed(places, mask):
        got = right.copy()
        got[places] ^= fmt.uint.type(mask)
        return hashed(got)

    assert set(hashed(right)) == {0}
    found = [changed(place, 1 << bit) for place in (0, 1, 77) for bit in range(fmt.width)]
    found += [changed([place, place + 1], fmt.sign_mask) for place in range(0, 126, 2)]
    found.append(changed(slice(None), fmt.sign_mask))
    exchanged = right.copy()
    exchanged[[3, 90]] = right[[90, 3]]
    found.append(hashed(exchanged))
    assert len({hashed(right), *found}) == len(found) + 1


@pytest.mark.parametrize("count", [1, 40_000])
def test_a_table_stays_as_it_is_when_more_is_added(count):
    fmt, function = get_format("float16"), get_function("gelu")
    reduction = Reduction(fmt, function, MonotonePieces.of(function, fmt))
    x = from_ordinals(fmt, np.arange(count) - count // 2)
    reduction.add_outputs(x, np.zeros_like(x))
    table = reduction.table()
    before = {name: column.copy() for name, column in table.flat.items()}
    for _ in range(2):
        reduction.add_outputs(x, np.full_like(x, fmt.infinity))
    for name, column in table.flat.items():
        np.testing.assert_array_equal(column, before[name], name)
