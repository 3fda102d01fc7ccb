"""Pairs (x, second input): each second input as the judge and the reducer of one function of x have it."""

from dataclasses import replace

import numpy as np
import pytest
from marking import nightly
from outcomes import content

from gelu_verify.buckets.pairs import PairReduction
from gelu_verify.buckets.reducer import Outcome, Reduction
from gelu_verify.buckets.table import HIST_EDGES, MonotonePieces, merge
from gelu_verify.errors import UsageError
from gelu_verify.formats import from_ordinals, get_format, ordinals
from gelu_verify.truth.second_input import judge_pair, of_two_inputs

PRODUCTS = [name + grad for name in ("geglu", "geglu_tanh", "swiglu", "reglu") for grad in ("", "_grad")]
SUMS = [name + grad for name in ("bias_gelu", "bias_gelu_tanh") for grad in ("", "_grad")]
DTYPES = ("float16", "bfloat16")
SECONDS = ("1", "-1", "0", "-0", "0.5", "-3.25", "0.007", "-0.0005", "inf", "-inf", "nan", "least", "most", "-least")


def bits_of(fmt, text):
    sign = fmt.sign_mask if text.startswith("-") else 0
    named = {"inf": fmt.infinity, "nan": fmt.nan, "least": 1, "most": fmt.max_finite, "0": 0}
    return named.get(text.lstrip("-")) | sign if text.lstrip("-") in named else fmt.parse(text)


def every_x(fmt):
    return from_ordinals(fmt, np.arange(-(1 << 15), 1 << 15))


def correct(function, dtype, second):
    x = every_x(get_format(dtype))
    return judge_pair(function, dtype, second, x, x).want_bits


def outputs(function, dtype, second, kind):
    """Right, one or two floats off, anything, or no output at all, here and there."""
    fmt, rng = get_format(dtype), np.random.default_rng(second)
    want = correct(function, dtype, second)
    if kind == "correct":
        return want
    off = np.clip(ordinals(fmt, want) + rng.integers(-2, 3, want.size), -1 - fmt.infinity, fmt.infinity)
    near = from_ordinals(fmt, off).astype(fmt.uint)
    anything = rng.integers(0, 1 << 16, want.size, dtype=fmt.uint)
    if kind == "near":
        return np.where(rng.random(want.size) < 0.2, near, want)
    zeros = want & fmt.uint.type(fmt.sign_mask)
    return np.choose(rng.integers(0, 5, want.size), [want, near, anything, zeros, zeros ^ fmt.uint.type(fmt.sign_mask)])


def one_by_one(function, dtype, outputs_of):
    """The table of all that the reducer of functions of x says of each second input; and how many errors of each row
    lie so near an edge of the histogram that they may count on either side."""
    fmt, tables, hashes, near = get_format(dtype), [], np.zeros(1 << 16, np.uint64), np.zeros(1 << 16, int)
    edges = np.array(HIST_EDGES[:-1])
    x = every_x(fmt)
    for second, got in outputs_of.items():
        at = of_two_inputs(function).known_at(fmt, second)
        reduction = Reduction(fmt, at, MonotonePieces.of(at, fmt))
        want, error, faithful = judge_pair(function, dtype, second, x, got)
        size = np.abs(error)[:, None]
        near += (np.abs(size - edges) <= 2.0 ** (fmt.precision - 36) + edges * 2.0**-40).any(axis=1)
        reduction.add_outcome(Outcome(x, got, want, error, faithful))
        table = reduction.table()
        hashes += table.columns["bits_hash"] * np.uint64(weight(second))
        tables.append(replace(table, segments=np.empty((0, 4), np.int64), samples=np.empty((0, 2), np.uint64)))
    merged = merge(tables)
    return replace(merged, columns=merged.columns | {"bits_hash": hashes}), near


def weight(second):
    """src/buckets/pairs.h, gv_weight_of_second"""
    whole = (1 << 64) - 1
    z = (second + 1) * 0xD1342543DE82EF95 & whole
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & whole
    z = (z ^ z >> 27) * 0x94D049BB133111EB & whole
    return (z ^ z >> 31) >> 32 | 1


def assert_same(found, expected, near, accuracy):
    """All is the same, but errors within what they are known to: so the witness of the largest may be another, where
    several are as large."""
    for one, other in ((found.columns, expected.columns), (found.regions, expected.regions)):
        assert np.allclose(one["max_error"], other["max_error"], rtol=2**-50, atol=accuracy, equal_nan=True)
        for name in one.keys() - {"max_error", "error_sum", "max_error_got", "max_error_want"}:
            assert np.array_equal(one[name], other[name]), name
        assert np.mean(one["max_error_got"] != other["max_error_got"]) < 0.01
    assert (np.abs(found.columns["error_sum"] - expected.columns["error_sum"]) <= found.columns["n"]).all()
    moved = np.cumsum(found.hist.astype(int), axis=0) - np.cumsum(expected.hist, axis=0)
    assert (np.abs(moved).max(axis=0) <= near).all()
    assert found.facts == expected.facts
    assert not found.segments.size
    assert not found.samples.size


@pytest.mark.few(1)
@pytest.mark.parametrize("function", PRODUCTS + SUMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["correct", "near", "anything"])
def test_pairs_are_judged_and_counted_as_each_second_input_by_itself(function, dtype, kind):
    fmt, rng = get_format(dtype), np.random.default_rng(len(function))
    seconds = {bits_of(fmt, text) for text in SECONDS} | set(rng.integers(0, 1 << 16, 2).tolist())
    outputs_of = {second: outputs(function, dtype, second, kind) for second in sorted(seconds)}
    reduction = PairReduction(function, dtype)
    for second, got in outputs_of.items():
        reduction.add(second, got)
    table = reduction.table()
    assert_same(table, *one_by_one(function, dtype, outputs_of), 2.0 ** (fmt.precision - 36))
    error, x, second, got, want = reduction.worst
    row = table.worst()
    assert error == table.columns["max_error"][row] >= 0
    assert [x, got, want] == [table.columns[f"max_error_{name}"][row] for name in ("x", "got", "want")]
    judged = judge_pair(function, dtype, second, np.array([x], fmt.uint), np.array([got], fmt.uint))
    assert abs(abs(judged.error[0]) - error) <= 2.0 ** (fmt.precision - 36) + error * 2.0**-50
    assert judged.want_bits[0] == want


@pytest.mark.parametrize(("function", "dtype"), [("swiglu", "float16"), *nightly(("bias_gelu", "bfloat16"))])
@pytest.mark.nightly
def test_tables_of_parts_merge_to_that_of_the_whole(function, dtype):
    """In any order of the second inputs, of which no part is as long as a strip, or longer."""
    fmt, rng = get_format(dtype), np.random.default_rng(2)
    seconds = [*rng.permutation(1 << 16)[:300].tolist(), 0, fmt.infinity, fmt.nan]
    some = outputs(function, dtype, fmt.one, "anything")
    reductions = [PairReduction(function, dtype) for _ in range(3)]
    for k, second in enumerate(seconds):
        got = np.roll(some, k)
        reductions[0].add(second, got)
        reductions[1 + (k > 270)].add(second, got)
    whole, *parts = (reduction.table() for reduction in reductions)
    assert content(merge(parts)) == content(merge(parts[::-1])) == content(whole)
    assert whole.total("n") == len(seconds) << 16
    backwards = PairReduction(function, dtype)
    for k, second in reversed(list(enumerate(seconds))):
        backwards.add(second, np.roll(some, k))
    assert content(backwards.table()) == content(whole)
    assert backwards.worst == reductions[0].worst


@pytest.mark.few(3)
@pytest.mark.parametrize("function", ["geglu", "reglu_grad", "bias_gelu_tanh"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("many", [6, *nightly(40)])
def test_one_wrong_pair_of_many_is_found(function, dtype, many):
    fmt, rng = get_format(dtype), np.random.default_rng(5)
    seconds = [fmt.one - many // 2 + k for k in range(many)]
    wrong, x = seconds[int(rng.integers(many))], int(rng.integers(1, fmt.infinity))
    reduction, place = PairReduction(function, dtype), (1 << 15) + x
    for second in seconds:
        got = correct(function, dtype, second)
        if second == wrong:
            due = int(got[place])
            got[place] = due - 1
        reduction.add(second, got)
    table = reduction.table()
    assert table.total("n") - table.total("correct") == 1
    assert reduction.worst[1:] == (x, wrong, due - 1, due)
    assert 0.5 <= reduction.worst[0] < 1.5
    assert table.worst() == place


def test_what_is_no_pair_of_16_bits_is_refused():
    with pytest.raises(UsageError, match="accepted: float16, bfloat16"):
        PairReduction("swiglu", "float32")
    with pytest.raises(UsageError, match="accepted: as swiglu, bias_gelu"):
        PairReduction("silu", "bfloat16")
    reduction = PairReduction("swiglu", "bfloat16")
    with pytest.raises(UsageError, match="65536 outputs as uint16"):
        reduction.add(0, np.zeros(3, np.uint16))
    with pytest.raises(UsageError, match="too wide for bfloat16"):
        reduction.add(1 << 16, np.zeros(1 << 16, np.uint16))
