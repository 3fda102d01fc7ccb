"""The oracle against Arb, an independent library of balls, where references are most easily wrong."""

import flint
import pytest
from arb import ARB, arb_agrees
from marking import NATIVE_FIRST, nightly
from points import delicate_inputs

from gelu_verify.errors import OracleError
from gelu_verify.formats import DTYPES, FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.functions.enclosures import Enclosure, narrowed
from gelu_verify.truth import oracle
from gelu_verify.truth.oracle import enclose, enclosed_ends, judge_exactly, round_exactly

POINTS, PROVED = 1_000, 20_000  # of each function in each dtype: for every commit, and for each seed of tox -e prove
every_pair = pytest.mark.parametrize("dtype", DTYPES)


@pytest.mark.few(18)
@every_pair
@pytest.mark.parametrize("name", NATIVE_FIRST)
@pytest.mark.parametrize(
    ("seed", "points"),
    [(1, POINTS), *(pytest.param(seed, PROVED, marks=pytest.mark.prove) for seed in (1, 11, 12, 13, 14))],
)
def test_arb_agrees(name, dtype, seed, points):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    inputs = delicate_inputs(function, fmt, points, seed)
    agrees = {x: arb_agrees(function, fmt, x, round_exactly(function, fmt, x)) for x in inputs}
    assert [fmt.bits_text(x) for x, same in agrees.items() if same is False] == []
    assert sum(same is None for same in agrees.values()) <= points / 100


@every_pair
@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "gelu_sigmoid", "silu"])
def test_ties_near_zero_go_up(name, dtype):
    """x/2 is a midpoint for odd x below 2^(emin+1), and every variant lies just above it."""
    fmt = FORMATS[dtype]
    for odd in (1, 3, 5, (1 << fmt.precision) - 1, (1 << fmt.precision - 1) + 1):
        assert round_exactly(FUNCTIONS[name], fmt, odd) == (odd + 1) // 2
        assert round_exactly(FUNCTIONS[name], fmt, odd | fmt.sign_mask) == odd // 2 | fmt.sign_mask


@pytest.mark.few(18)
@every_pair
@pytest.mark.parametrize("name", NATIVE_FIRST)
@pytest.mark.parametrize("points", [150, *nightly(1500)])
def test_directed_roundings_bracket_the_nearest(name, dtype, points):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    for x in delicate_inputs(function, fmt, points, seed=2):
        down, nearest, up = (round_exactly(function, fmt, x, mode) for mode in ("down", "nearest", "up"))
        assert nearest in (down, up)
        assert fmt.rank(up) - fmt.rank(down) in (0, 1)


def test_no_precision_left_is_an_error_not_a_guess(monkeypatch):
    monkeypatch.setattr(oracle, "PRECISIONS", (2,))
    with pytest.raises(OracleError, match=r"gelu at -0x1\.ap\+2 \(float32\): rounding undecided at 2 bits"):
        round_exactly(FUNCTIONS["gelu"], FORMATS["float32"], 0xC0D00000)
    monkeypatch.setattr(oracle, "_rounded", lambda *_: 0)
    oracle._close.cache_clear()
    with pytest.raises(OracleError, match="error undecided"):
        judge_exactly(FUNCTIONS["gelu"], FORMATS["float32"], 0xC0D00000, 0)


def test_a_result_too_small_to_write_out_says_so():
    with pytest.raises(OracleError, match="lies beyond"):
        enclose(FUNCTIONS["gelu"], (-1, 40), 64)


def test_no_more_bits_are_tried_where_they_change_nothing():
    """A look-up of gelu at -1e10 took a second: up to 131,072 bits of a value below 2^-(2^62)."""
    tried = []

    def terms():
        for precision in oracle.PRECISIONS:
            tried.append(precision)
            yield FUNCTIONS["gelu"].enclosed(Enclosure(precision), (-(10**10), 0))

    assert narrowed(terms(), 32) is None
    assert tried == list(oracle.PRECISIONS[:2])


@pytest.mark.parametrize("x", [-1_100_000_000, -(1 << 30), -3_000_000_000, 1 - (1 << 30)])
def test_the_derivative_has_digits_as_far_as_decimals_go(x):
    """Arb, with 600 bits; beyond -2^30 only 60 bits were known."""
    with flint.ctx.workprec(600):
        want = ARB["gelu_grad"](flint.arb(x)) * flint.arb(2) ** (flint.fmpz(x) ** 2 * 3 // 4)
    (low, e), (high, f) = enclosed_ends(FUNCTIONS["gelu_grad"], (x, 0), 400)
    shift = x * x * 3 // 4
    ends = [flint.arb(m) * flint.arb(2) ** (exponent + shift) for m, exponent in ((low, e), (high, f))]
    assert want.overlaps(ends[0].union(ends[1]))
    assert (high - low) << 400 <= abs(low)
    assert e == f


@pytest.mark.parametrize(
    ("x", "got", "error"),
    [
        (0xC0D00000, 0x80000000, 9404958.541153561),  # got -0 for -2.61e-10
        (0xC0D00000, 0xAF8F821F, -0.4588464389860422),  # the correctly rounded one
        (0x3F800000, 0x7F800000, float("inf")),
        (0x3F800000, 0x7FC00000, float("inf")),
        (0x00000001, 0x00000001, 0.5),
        (0xC1700000, 0x80000001, -0.9999607046647152),  # -15: the truth rounds to -0
    ],
)
def test_error_rules(x, got, error):
    fmt = FORMATS["float32"]
    assert judge_exactly(FUNCTIONS["gelu"], fmt, x, got)[1] == pytest.approx(error, rel=1e-12)
