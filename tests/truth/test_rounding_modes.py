"""Rounding in a stated direction: properties, the oracle, and odd results rounded again."""

from fractions import Fraction

import numpy as np
import pytest
from arb import arb_agrees
from hypothesis import given, settings
from hypothesis import strategies as st
from marking import nightly
from points import delicate_inputs

from gelu_verify.errors import UsageError
from gelu_verify.formats import FORMATS, MODES, converted, get_format, ordinals
from gelu_verify.functions import FUNCTIONS
from gelu_verify.truth import _core
from gelu_verify.truth.oracle import round_exactly
from gelu_verify.truth.values import reference, reference_bits

# (wide, narrow): two bits more of precision, and a range that is no narrower
PAIRS = [
    (wide.name, narrow.name)
    for wide in FORMATS.values()
    for narrow in FORMATS.values()
    if wide.precision >= narrow.precision + 2
    and wide.emin - wide.precision <= narrow.emin - narrow.precision - 2
    and wide.emax >= narrow.emax
]
NUMBERS = st.builds(lambda m, k, d: Fraction(m) * Fraction(2) ** k / d, st.integers(-(2**70), 2**70),
                    st.integers(-1150, 1000), st.sampled_from([1, 1, 3]))  # fmt: skip
NARROW = ("float16", "bfloat16")
QUICK = [(name, list(FORMATS)[k % len(FORMATS)], 5) for k, name in enumerate(FUNCTIONS)]
ALL = [(name, dtype, 40) for name in FUNCTIONS for dtype in FORMATS]


def value(fmt, bits):
    """For comparisons: infinities, and the NaN of a format without them, lie beyond all numbers."""
    sign = -1 if fmt.is_negative(bits) else 1
    return fmt.fraction(bits) if fmt.is_finite(bits) else sign * Fraction(2) ** 2000


@settings(max_examples=40)
@given(exact=NUMBERS, dtype=st.sampled_from(list(FORMATS)))
def test_the_one_rounding_in_every_mode(exact, dtype):
    fmt = get_format(dtype)
    found = {mode: fmt.round(exact, mode) for mode in MODES}
    low, high = value(fmt, found["down"]), value(fmt, found["up"])
    assert low <= exact <= high
    if low == high:
        assert {value(fmt, bits) for bits in found.values()} == {exact}
        return
    assert fmt.rank(found["up"]) - fmt.rank(found["down"]) == 1
    assert {found["nearest"], found["odd"]} <= {found["down"], found["up"]}
    assert found["zero"] == found["down" if exact > 0 else "up"]
    assert found["odd"] & 1 or dtype == "float8_e4m3fn"
    assert all(fmt.is_negative(bits) == (exact < 0) for bits in found.values())


@settings(max_examples=40)
@given(number=st.integers(0, 2**64 - 1), pair=st.sampled_from([(a, b) for a in FORMATS for b in FORMATS]))
def test_numbers_of_one_format_rounded_to_another(number, pair):
    source, to = map(get_format, pair)
    bits = number >> (64 - source.width)
    for mode in MODES:
        found = int(converted(source, np.array([bits], source.uint), to, mode)[0])
        if source.is_finite(bits):
            assert found == to.round(source.dyadic(bits), mode, negative_zero=source.is_negative(bits))
        else:
            assert to.magnitude(found) == (to.nan if source.is_nan(bits) else to.infinity)


@settings(max_examples=40)
@given(exact=NUMBERS, pair=st.sampled_from(PAIRS))
def test_an_odd_number_is_rounded_as_the_exact_one(exact, pair):
    wide, narrow = map(get_format, pair)
    odd = np.array([wide.round(exact, "odd")], wide.uint)
    for mode in MODES:
        assert int(converted(wide, odd, narrow, mode)[0]) == narrow.round(exact, mode)


@pytest.mark.parametrize(("name", "dtype", "points"), [*QUICK, *nightly(*ALL)])
def test_results_are_those_of_the_oracle(name, dtype, points):
    fmt, function = get_format(dtype), FUNCTIONS[name]
    x = delicate_inputs(function, fmt, points, seed=8)
    x += [0, fmt.sign_mask, fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.nan, fmt.one]
    for mode in MODES[1:]:
        found = reference_bits(name, dtype, np.array(x, fmt.uint), rounding=mode).tolist()
        assert found == [round_exactly(function, fmt, bits, mode) for bits in x]


@pytest.mark.parametrize(("name", "dtype", "points"), [*QUICK, *nightly(*ALL)])
def test_arb_agrees_in_every_mode(name, dtype, points):
    """Of 8-bit formats every input in the nightly run: overflow, underflow, ties and exact results among them."""
    fmt, function = get_format(dtype), FUNCTIONS[name]
    every = range(1 << fmt.width) if fmt.width == 8 and points > 5 else delicate_inputs(function, fmt, points, seed=9)
    x = [bits for bits in every if fmt.is_finite(bits) and fmt.magnitude(bits)]
    for mode in MODES:
        found = reference_bits(name, dtype, np.array(x, fmt.uint), rounding=mode).tolist()
        same = [arb_agrees(function, fmt, bits, y, mode, most=1 << 11) for bits, y in zip(x, found, strict=True)]
        assert [fmt.bits_text(bits) for bits, agrees in zip(x, same, strict=True) if agrees is False] == []
        assert same.count(None) <= len(x) // 2


@pytest.mark.parametrize(("name", "power", "factor"), [("relu2", 2, 1), ("relu2_grad", 1, 2)])
@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", *nightly(*NARROW)])
def test_squares_and_doubles_in_every_mode(name, power, factor, dtype):
    """All inputs: f(x) is a number of float64, so that each rounding is one conversion; many are ties."""
    fmt, wide = get_format(dtype), get_format("float64")
    x = np.arange(1 << fmt.width).astype(fmt.uint)
    x = x[(x > 0) & (x < fmt.infinity)]
    exact = factor * converted(fmt, x, wide).view(np.float64) ** power
    for mode in MODES:
        found = reference_bits(name, dtype, x, rounding=mode)
        np.testing.assert_array_equal(found, converted(wide, exact.view(np.uint64), fmt, mode))


@pytest.mark.parametrize(("source", "stride"), [("float16", 97), ("bfloat16", 97), *nightly(*((s, 1) for s in NARROW))])
@pytest.mark.parametrize("to", FORMATS)
def test_every_number_of_16_bits_converted(source, to, stride):
    wide, narrow = get_format(source), get_format(to)
    bits = np.arange(0, 1 << 16, stride, dtype=np.uint16)
    for mode in MODES:
        found = converted(wide, bits, narrow, mode)
        for number, got in zip(bits.tolist(), found.tolist(), strict=True):
            if wide.is_finite(number):
                assert got == narrow.round(wide.dyadic(number), mode, negative_zero=wide.is_negative(number))
            else:
                assert narrow.magnitude(got) == (narrow.nan if wide.is_nan(number) else narrow.infinity)
                assert narrow.is_negative(got) == wide.is_negative(number)


@pytest.mark.parametrize("stride", [1973, *nightly(1)])
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0] in NARROW])
def test_every_odd_number_of_16_bits_converted(pair, stride):
    """An odd number stands for all that lies between its neighbours: at both ends the result is the same."""
    wide, narrow = map(get_format, pair)
    step = Fraction(1, 2**200)
    numbers = np.append(np.arange(1, wide.infinity, stride), wide.max_finite)
    for sign, mask in ((1, 0), (-1, wide.sign_mask)):
        found = {mode: converted(wide, (numbers | mask).astype(wide.uint), narrow, mode).tolist() for mode in MODES}
        for place, number in enumerate(numbers.tolist()):
            ends = [wide.fraction(number)]
            if number & 1:
                above = wide.fraction(number + 1) if number < wide.max_finite else Fraction(2) ** 400
                ends += [wide.fraction(number - 1) + step, above - step]
            for mode in MODES:
                assert {narrow.round(sign * end, mode) for end in ends} == {found[mode][place]}


@pytest.mark.parametrize(
    ("name", "dtype"), [("gelu", "bfloat16"), *nightly(*((n, d) for n in _core.functions() for d in NARROW))]
)
def test_all_results_of_a_narrow_dtype(name, dtype):
    """Every input: in order, next to each other, and what is rounded to odd in float32 gives them all."""
    fmt, wide = get_format(dtype), get_format("float32")
    x = np.arange(1 << 16, dtype=np.uint16)
    found = {mode: reference_bits(name, dtype, x, rounding=mode) for mode in MODES}
    odd = reference_bits(name, "float32", converted(fmt, x, wide), rounding="odd")
    for mode in MODES:
        np.testing.assert_array_equal(converted(wide, odd, fmt, mode), found[mode])
    down, nearest, up = (rank(fmt, found[mode]) for mode in ("down", "nearest", "up"))
    assert ((down <= nearest) & (nearest <= up) & (up - down <= 1)).all()
    np.testing.assert_array_equal(np.minimum(abs(down), abs(up)), abs(rank(fmt, found["zero"])))
    assert (found["odd"][down != up] & 1).all()
    for mode in MODES:
        assert (rank(fmt, found[mode])[down == up] == nearest[down == up]).all()


def rank(fmt, bits):
    """Both zeros count as one."""
    found = ordinals(fmt, bits)
    return np.where(found < 0, found + 1, found)


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("name", ["gelu_tanh_grad", *nightly(*_core.functions())])
def test_odd_results_rounded_again_are_the_results(name, wide):
    rng = np.random.default_rng(5)
    for narrow in [to for source, to in PAIRS if source == wide]:
        fmt = get_format(narrow)
        x = rng.integers(0, 1 << fmt.width, 2000, dtype=np.uint64).astype(fmt.uint)
        odd = reference_bits(name, wide, converted(fmt, x, get_format(wide)), rounding="odd")
        for mode in MODES:
            found = converted(get_format(wide), odd, fmt, mode)
            np.testing.assert_array_equal(found, reference_bits(name, narrow, x, rounding=mode))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_exact_is_not_moved(mode):
    for name, x, y in [("relu", 0.1, 0.1), ("relu", -0.1, 0.0), ("elu", 3.3, 3.3), ("cauchy_unit", 1.0, 0.75)]:
        assert reference(name, x, rounding=mode) == y
    for name, x, y in [("gelu", np.inf, np.inf), ("gelu", -np.inf, -0.0), ("gelu", -0.0, -0.0), ("exp", 0.0, 1.0)]:
        found = reference(name, x, rounding=mode)
        assert (found, np.signbit(found)) == (y, np.signbit(y))
    assert reference_bits("gelu", "float32", 0xFFFFFFFF, rounding=mode) == 0x7FC00000


def test_overflow_and_underflow_go_where_the_mode_says():
    largest, smallest = np.finfo(np.float64).max, 5e-324
    found = {mode: [reference(name, x, rounding=mode) for name, x in (("exp", 1e4), ("exp", -1e4), ("gelu", -1e4))]
             for mode in MODES}  # fmt: skip
    assert found == {
        "nearest": [np.inf, 0.0, 0.0],
        "up": [np.inf, smallest, 0.0],
        "down": [largest, 0.0, -smallest],
        "zero": [largest, 0.0, 0.0],
        "odd": [largest, smallest, -smallest],
    }
    assert all(np.signbit(found[mode][2]) for mode in MODES)
    assert not any(np.signbit(found[mode][1]) for mode in MODES)


def test_parameters_and_shapes():
    x = np.linspace(-4, 4, 12).reshape(3, 4)
    down, up = (reference("gelu", x, rounding=mode, mu=0.5, sigma="1/3") for mode in ("down", "up"))
    assert down.shape == (3, 4)
    np.testing.assert_array_equal(np.nextafter(down, np.inf), up)
    assert isinstance(reference("gelu", np.float16(1), rounding="up"), np.float16)
    with pytest.raises(UsageError, match=r"rounding 'ceil' \(accepted: nearest, up, down, zero, odd\)"):
        reference("gelu", 1.0, rounding="ceil")
