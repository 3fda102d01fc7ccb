"""Plans: what is in them, once, in order, and the same for the same seed."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from marking import NATIVE_FIRST

from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, is_finite, is_nan, ordinals, to_float64
from gelu_verify.functions import FUNCTIONS, regions
from gelu_verify.inputs import hard_cases, plans
from gelu_verify.inputs import special as points
from gelu_verify.inputs.plans import CHUNK, PLANS, make_plan
from gelu_verify.truth.values import zero_threshold

SAMPLED = ("strata", "landmarks", "quick")


def inputs(plan):
    return np.concatenate([chunk.x_bits() for chunk in plan.chunks])


# The plans that choose, and the dtypes in which they do.
CASES = [
    (name, dtype)
    for dtype in DTYPES
    for name in PLANS
    if name != "exhaustive" and not (name in ("default", "fixed", "stress") and dtype in ("float16", "bfloat16"))
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_each_input_once_and_in_order(name, dtype):
    plan, fmt = make_plan(name, "gelu", dtype, 3), get_format(dtype)
    bits = inputs(plan)
    assert bits.dtype == fmt.uint
    assert len(bits) == plan.size
    assert (np.diff(ordinals(fmt, bits).astype(object)) > 0).all()
    assert [chunk.index for chunk in plan.chunks] == list(range(len(plan.chunks)))
    assert all(chunk.size == len(chunk.x_bits()) <= CHUNK for chunk in plan.chunks)
    assert not plan.exhaustive


@pytest.mark.few(18)
@pytest.mark.parametrize("function", NATIVE_FIRST)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sampling_plans_hold_what_everybody_asks_for(function, dtype):
    fmt = get_format(dtype)
    for name in SAMPLED:
        have = set(inputs(make_plan(name, function, dtype)).tolist())
        assert have >= set(points.fixed_bits(function, dtype).tolist())
        turns = [fmt.round(Fraction(text)) for text in FUNCTIONS[function].turning_points or ()]
        assert have >= {fmt.from_ordinal(fmt.ordinal(turn) + off) for turn in turns for off in range(-8, 9)}
        threshold = zero_threshold(function, dtype)
        if threshold is not None:
            assert have >= {fmt.from_ordinal(fmt.ordinal(threshold) + off) for off in range(-8, 9)}


@pytest.mark.parametrize("plan", ["default", "quick", "landmarks"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_people_type_are_in_every_sampling_plan(dtype, plan):
    fmt = get_format(dtype)
    held = {int(x) for chunk in make_plan(plan, "gelu", dtype).chunks for x in chunk.x_bits()}
    for text in ("0.1", "0.2", "0.3", "1.5", "-1.5", "2", "-3", "3.3", "-4", "-6.5", "7", "0.01", "-0.001", "20"):
        assert fmt.parse(text) in held, text


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values_are_special(dtype):
    fmt = get_format(dtype)
    bits = np.array(points.special_bits(fmt), dtype=fmt.uint)
    assert {0, fmt.sign_mask, fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.max_finite, 1} <= set(bits.tolist())
    assert is_nan(fmt, bits).sum() >= 6
    assert is_finite(fmt, bits).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strata_meet_every_binade_and_every_edge(dtype):
    fmt = get_format(dtype)
    magnitudes = inputs(make_plan("default", "gelu", dtype)) & fmt.uint.type(fmt.sign_mask - 1)
    finite = magnitudes[magnitudes < fmt.infinity]
    fields, counts = np.unique(finite >> fmt.uint.type(fmt.precision - 1), return_counts=True)
    assert len(fields) == fmt.emax - fmt.emin + 2
    assert counts.min() >= 6
    edges = np.arange(1, len(fields), dtype=fmt.uint) << fmt.uint.type(fmt.precision - 1)
    for off in (-1, 0, 1):
        assert np.isin(edges + fmt.uint.type(off % (1 << fmt.width)), magnitudes).all()


@pytest.mark.parametrize(("dtype", "size", "length"), [("float32", 1 << 18, 1 << 16), ("float64", 1 << 16, 1 << 15)])
@pytest.mark.parametrize("function", ["gelu", "silu_grad", "erf", "elu"])
def test_strata_have_the_size_that_was_asked_in_equal_chunks(function, dtype, size, length):
    plan = make_plan("strata", function, dtype)
    assert plan.size == size
    assert {chunk.size for chunk in plan.chunks} == {length}


def test_the_tail_is_where_most_inputs_are():
    fmt = get_format("float32")
    x = to_float64(fmt, inputs(make_plan("default", "gelu", "float32")))
    counts = {region.name: 0 for region in regions.REGIONS}
    for region, (low, high) in zip(regions.REGIONS, pairwise([-np.inf, -8, -5, -3, -1, 0, 1, np.inf]), strict=True):
        counts[region.name] = int(((x >= low) & (x < high)).sum())
    assert all(count > 10000 for count in counts.values()), counts


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_default_of_16_bits_is_every_input(dtype):
    plan = make_plan("default", "gelu", dtype)
    assert plan.exhaustive
    assert plan.size == len(set(inputs(plan).tolist())) == 1 << 16
    assert len({chunk.size for chunk in plan.chunks}) == 1


def test_exhaustive_float32_is_made_when_asked_for():
    plan = make_plan("exhaustive", "gelu", "float32")
    fmt = get_format("float32")
    assert plan.exhaustive
    assert plan.size == 1 << 32 == sum(chunk.size for chunk in plan.chunks)
    assert {chunk.size for chunk in plan.chunks} == {CHUNK}
    ends = [ordinals(fmt, plan.chunks[i].x_bits())[[0, -1]] for i in (0, 1, len(plan.chunks) // 2, -1)]
    assert ends[0].tolist() == [-(1 << 31), -(1 << 31) + CHUNK - 1]
    assert ends[1][0] == ends[0][1] + 1
    assert ends[2].tolist() == [0, CHUNK - 1]
    assert ends[3][1] == (1 << 31) - 1
    with pytest.raises(IndexError):
        plan.chunks[len(plan.chunks)]
    assert [chunk.index for chunk in plan.chunks[:2]] == [0, 1]


def test_seed_decides_inputs_and_order():
    a, b, c = (make_plan("default", "gelu", "float64", seed) for seed in (1, 1, 2))
    assert inputs(a).tolist() == inputs(b).tolist() != inputs(c).tolist()
    assert a.chunks[0].order().tolist() == b.chunks[0].order().tolist() != c.chunks[0].order().tolist()
    assert a.chunks[0].order().tolist() != a.chunks[1].order().tolist()
    assert inputs(make_plan("default", "silu", "float64", 1)).tolist() != inputs(a).tolist()


@pytest.mark.parametrize(("name", "dtype"), [("default", "float16"), ("default", "float64"), ("landmarks", "float32")])
def test_order_holds_every_index_and_is_odd(name, dtype):
    for chunk in make_plan(name, "gelu", dtype).chunks:
        order = chunk.order()
        assert len(order) % 2 == 1
        assert len(order) - chunk.size in (0, 1)
        assert set(order.tolist()) == set(range(chunk.size))
        assert (order[: chunk.size] != np.arange(chunk.size)).any()


def test_ranges_hold_exactly_what_was_asked_for():
    fmt = get_format("float32")
    plan = make_plan("default", "gelu", "float32", ranges=["0xc0d00002:0xc0d00000", "-0x1p-149:2e-45", "1.5"])
    assert [fmt.bits_text(b) for b in inputs(plan).tolist()] == [
        *("0xc0d00002", "0xc0d00001", "0xc0d00000", "0x80000001", "0x80000000", "0x00000000", "0x00000001"),
        "0x3fc00000",
    ]
    assert plan.size == 8
    assert not plan.exhaustive
    same = make_plan(
        "default", "gelu", "float32", ranges=[(0x3FC00000, 0x3FC00000), (0x80000001, 1), (0xC0D00002, 0xC0D00000)]
    )
    assert inputs(same).tolist() == inputs(plan).tolist()


@pytest.mark.parametrize(
    ("text", "size", "ends"),
    [
        ("0x0000:0xffff", 1 << 16, (0xFFFF, 0x7FFF)),
        ("0xc0d0:0xc0d2", 3, (0xC0D2, 0xC0D0)),
        ("0xc0d2:0xc0d0", 3, (0xC0D2, 0xC0D0)),
        ("0x7f80:0x8001", 0x80 + 2, (0x8001, 0x7FFF)),
        ("-0x1p-133:0x1p-133", 4, (0x8001, 0x0001)),
        ("-inf:inf", 2 * 0x7F80 + 2, (0xFF80, 0x7F80)),
        ("0x8000", 1, (0x8000, 0x8000)),
    ],
)
def test_ranges_go_by_bits_or_by_value(text, size, ends):
    plan = make_plan("default", "gelu", "bfloat16", ranges=[text])
    bits = inputs(plan)
    assert plan.size == len(bits) == size
    assert (int(bits[0]), int(bits[-1])) == ends
    assert plan.exhaustive == (size == 1 << 16)


def test_ranges_that_touch_are_joined_and_all_bits_are_exhaustive():
    plan = make_plan("default", "gelu", "bfloat16", ranges=[(0x0000, 0x7FFF), (0xFFFF, 0x8000)])
    assert plan.exhaustive
    assert len(set(inputs(plan).tolist())) == 1 << 16
    assert len(make_plan("default", "gelu", "float32", ranges=[(0, 9), (5, 10)]).chunks) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nosuch", "gelu", "float32", 0), "accepted: default, exhaustive"),
        (("defualt", "gelu", "float32", 0), "did you mean 'default'"),
        (("default", "gleu", "float32", 0), "did you mean 'gelu'"),
        (("default", "gelu", "float31", 0), "did you mean 'float32'"),
        (("default", "gelu", "float32", -1), "seed -1"),
        (("default", "gelu", "float32", 1.5), "seed 1.5"),
        (("exhaustive", "gelu", "float64", 0), "2^64 inputs"),
        (("default", "gelu", "float32", 0, ["2:1"]), "is empty"),
        (("default", "gelu", "float32", 0, ["1:-1"]), "is empty"),
        (("default", "gelu", "float32", 0, ["0x2:0x1"]), "is empty"),
        (("default", "gelu", "float32", 0, ["1:two"]), "'two' is not a number"),
        (("default", "gelu", "float16", 0, ["0xc0d00000"]), "too wide"),
        (("default", "gelu", "float16", 0, [(0, 1 << 16)]), "too wide"),
    ],
)
def test_what_cannot_be_used_is_reported_in_one_line(arguments, message):
    with pytest.raises(UsageError) as error:
        make_plan(*arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_hard_cases_are_in(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "hard_cases"
    folder.mkdir(parents=True)
    (folder / "gelu-float64.csv").write_text(
        "# Generated by nobody\nx_bits,y_bits,kind\n0xc0123456789abcde,0x0,tie\n0x3ff123456789abcd,0x0,\n"
    )
    monkeypatch.setattr(hard_cases, "resource", lambda path: tmp_path / path)
    hard_cases.hard_cases.cache_clear()
    plans._made.cache_clear()
    for name in SAMPLED:
        assert {0xC0123456789ABCDE, 0x3FF123456789ABCD} <= set(inputs(make_plan(name, "gelu", "float64")).tolist())
    hard_cases.hard_cases.cache_clear()
    plans._made.cache_clear()


@pytest.mark.parametrize("dtype", DTYPES)
def test_regions_cover_all_finite_numbers_once(dtype):
    fmt = get_format(dtype)
    edges = regions.region_edges(dtype)
    assert (np.diff(edges.astype(object)) > 0).all()
    assert len(edges) == len(regions.REGIONS) + 1
    assert edges[-2] == fmt.ordinal(fmt.parse("1"))
    for region, first in zip(regions.REGIONS, edges[:-1], strict=True):
        bits = fmt.from_ordinal(int(first))
        expected = fmt.max_finite | fmt.sign_mask if region.lower is None else fmt.parse(str(region.lower))
        assert fmt.fraction(bits) == fmt.fraction(expected)
    assert fmt.from_ordinal(int(edges[5])) == fmt.sign_mask  # -0 lies with +0
