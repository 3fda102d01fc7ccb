"""The search in linear pieces: against every point one by one, and the tables that it has made."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marking import nightly
from repository import tool

from gelu_verify.errors import UsageError
from gelu_verify.formats import get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.paths import resource
from gelu_verify.truth import _core
from gelu_verify.truth.carried import VALUE
from gelu_verify.truth.hardest import hardest, offset_of

SEARCH = tool("linear_search")
FRACTION, SERIES, blocks, close, hard_between = (
    getattr(SEARCH, name) for name in ("FRACTION", "SERIES", "blocks", "close", "hard_between")
)
FMT = get_format("float64")
TABLES = [path.stem.partition("-")[0] for path in sorted(resource("data/hardest").glob("*-float64.json"))]
STARTS = ["1", "-1.5", "0x1p-10", "0x1.ff332p-10", "-8", "0.3"]  # gelu passes a power of two after the fourth
LONG_PIECES = [(name, "0x1.8p-22", 24) for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "erf")]


def one_by_one(name, first, count, limit):
    """Inputs whose offset, from the value in double-double, is below the limit."""
    x = np.arange(first, first + count, dtype=np.uint64)
    values = np.empty(count, VALUE)
    _core.evaluate(name, (64, 53, -1022, 1023), x.view(np.uint8), values.view(np.uint8))
    offset = abs(values["lo"] / 2.0 ** (np.frexp(values["hi"])[1] - 53))  # hi is a number: all of the offset is in lo
    return set(x[np.minimum(offset, 0.5 - offset) < limit].tolist())


PLACES = [(name, start, 24) for name in SERIES for start in STARTS if (name, start) != ("erf", "-8")]  # -1, nearly


@pytest.mark.parametrize(("name", "start", "size"), [("gelu", "0x1.ff332p-10", 17), ("erf", "0.3", 17),
    ("gelu_tanh", "-1.5", 17), *nightly(*PLACES, *LONG_PIECES)])  # fmt: skip
def test_an_interval_examined_one_by_one_gives_the_same(name, start, size):
    first, count, limit = FMT.parse(start), 1 << size, 2.0 ** -(3 + size // 2)
    found = {x for block in blocks(name, first, count, limit) for x in close(block, limit)}
    extra = {x for block in blocks(name, first, count, limit) if block.words is None for x in close(block, limit)}
    wanted = one_by_one(name, first, count, limit)
    assert len(wanted) > 50
    assert found - extra <= wanted <= found
    assert len(extra) < 5000


@settings(max_examples=20)
@given(
    h=st.tuples(*(st.integers(-(2**bits), 2**bits) for bits in (FRACTION, FRACTION + 8, 98, 90, 80))),
    length=st.integers(1, 6),
    limit=st.integers(1, 2**56),
)
def test_the_points_at_which_a_polynomial_is_close_to_an_integer(h, length, limit):
    """Against exact arithmetic, but for what is rounded: 2^-90."""
    pieces, found = 3, np.zeros(1 << 12, np.uint64)
    words = np.array([part for value in h for part in (value & 2**64 - 1, value >> 64 & 2**64 - 1)], np.uint64)
    number = _core.search_linear(words, length, pieces, limit, found)
    inner, outer = (Fraction(limit, 2**64) + side * Fraction(1, 2**90) for side in (-1, 1))
    distances = {}
    for t in range(pieces << length):
        y = sum(value * Fraction(t, 2**length) ** k for k, value in enumerate(h)) / 2**FRACTION
        distances[t] = abs(y - round(y))
    got = set(found[:number].tolist())
    assert {t for t, distance in distances.items() if distance <= inner} <= got
    assert got <= {t for t, distance in distances.items() if distance <= outer}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("count", [2, *nightly(10**6)])
def test_the_inputs_of_a_table_are_verified_by_the_oracle(name, count):
    table = hardest(name, "float64")
    assert table.intervals
    for i in np.argsort(abs(table.offset))[:count].tolist():
        bits = int(table.x_bits[i])
        assert offset_of(FUNCTIONS[name], FMT, bits) == (table.offset[i], table.is_midpoint[i])
        inside = [each for each in table.intervals if each.first_bits <= bits <= each.last_bits]
        assert abs(table.offset[i]) < inside[0].limit
    for each in table.intervals:
        inside = (table.x_bits >= each.first_bits) & (table.x_bits <= each.last_bits)
        mean = (each.last_bits - each.first_bits + 1) * 4 * each.limit
        if name != "silu" or each.limit > 2.0**-51:  # x/2 + x^2/4 of short x is a number
            assert abs(inside.sum() - mean) < 6 * math.sqrt(mean)


def test_both_sides_of_gelu_have_the_same_hard_inputs():
    """f(x) - f(-x) = x is a boundary or the difference of two. Each side was searched by itself."""
    table, small = hardest("gelu", "float64"), FMT.parse("0x1p-20")
    sides = []
    for sign in (0, FMT.sign_mask):
        here = (table.x_bits & FMT.sign_mask == sign) & (table.x_bits & (FMT.sign_mask - 1) < small)
        sides.append(dict(zip((table.x_bits[here] & (FMT.sign_mask - 1)).tolist(), table.offset[here], strict=True)))
    assert len(sides[0]) > 100
    assert sides[0].keys() == sides[1].keys()
    assert all(abs(abs(sides[0][x]) - abs(sides[1][x])) < 2.0**-80 for x in sides[0])


@pytest.mark.parametrize("name", ["gelu", *nightly(*TABLES)])
def test_a_part_of_an_interval_searched_again_gives_the_same(name):
    table = hardest(name, "float64")
    for each in table.intervals[: 1 if name == "gelu" else None]:
        inside = (table.x_bits >= each.first_bits) & (table.x_bits <= each.last_bits)
        middle = int(table.x_bits[inside][np.argmin(abs(table.offset[inside]))])
        first = max(each.first_bits, middle - (1 << 33))
        found = hard_between(name, first, min(1 << 34, each.last_bits - first + 1), each.limit)
        here = (table.x_bits >= first) & (table.x_bits < first + (1 << 34))
        assert [row.x_bits for row in found] == table.x_bits[here].tolist()
        assert middle in [row.x_bits for row in found]


def test_bad_arguments_are_named():
    with pytest.raises(UsageError, match=r"limit is 0\.25"):
        hard_between("gelu", FMT.one, 1 << 20, 0.25)
    with pytest.raises(UsageError, match="unknown function 'mish'"):
        hard_between("mish", FMT.one, 1 << 20, 2.0**-40)
    with pytest.raises(UsageError, match="more than one binade"):
        hard_between("gelu", FMT.one, 1 << 53, 2.0**-40)
    with pytest.raises(UsageError, match="accepted: a smaller one"):
        hard_between("gelu", FMT.one, 1 << 20, 2.0**-5)
