"""The hardest inputs: the tables against the oracle and against the sweep, and what uses them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from marking import nightly

from gelu_verify.cli import main
from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.formats import MODES, from_ordinals, get_format, ordinals
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.plans import make_plan
from gelu_verify.paths import resource
from gelu_verify.truth import _core
from gelu_verify.truth.hardest import LIMITS, LONG, SPREAD, Hardest, hardest, joined, listed, offset_of, runs_between
from gelu_verify.truth.oracle import round_exactly
from gelu_verify.truth.values import reference_bits

NATIVE = _core.functions()
CHUNK = 1 << 26


def within(runs: np.ndarray, fmt, x: np.ndarray) -> np.ndarray:
    """Whether inputs are in one of the runs."""
    ends = ordinals(fmt, runs.reshape(-1)).reshape(-1, 2)
    o = ordinals(fmt, x)[:, None]
    return ((ends[:, 0] <= o) & (o <= ends[:, 1])).any(axis=1)


@pytest.mark.parametrize(("name", "dtype", "count"), [("gelu", "bfloat16", 100), *nightly(
    *((name, dtype, 3000) for name in [*NATIVE, "cauchy_unit"] for dtype in ("float16", "bfloat16")))])  # fmt: skip
def test_hard_inputs_of_narrow_dtypes_are_those_that_the_oracle_finds(name, dtype, count):
    fmt, found = get_format(dtype), hardest(name, dtype)
    offsets = dict(zip(found.x_bits.tolist(), found.offset.tolist(), strict=True))
    x = np.random.default_rng(2).permutation(1 << 16)[:count].astype(np.uint16)
    x = np.append(x[(x & 0x7FFF != 0) & (x & 0x7FFF < fmt.infinity)], found.x_bits[:10])
    cut_off = reference_bits(name, dtype, x, rounding="zero") & 0x7FFF  # the largest number: an overflow
    for bits in x[~within(found.runs, fmt, x) & (cut_off != fmt.max_finite)].tolist():
        offset, is_midpoint = offset_of(FUNCTIONS[name], fmt, bits)
        if 0 < abs(offset) < found.limit:
            assert offsets[bits] == offset
            assert found.is_midpoint[found.x_bits == bits] == is_midpoint
        else:
            assert bits not in offsets


def wrong_rows(name, table: Hardest, rows: list[int]) -> list[int]:
    """Those in which the oracle finds another offset, or another kind of boundary."""
    fmt, function = get_format("float32"), FUNCTIONS[name]
    found = {i: offset_of(function, fmt, int(table.x_bits[i])) for i in rows}
    return [i for i in rows if (np.float32(found[i][0]), found[i][1]) != (table.offset[i], table.is_midpoint[i])]


def wrong_ends(name, table: Hardest) -> list[int]:
    """Bits at which a run ends or begins though the next input outside is as hard, or this one is not: below 100,
    as the oracle takes minutes beyond."""
    fmt, function, wrong = get_format("float32"), FUNCTIONS[name], []
    for run in ordinals(fmt, table.runs.reshape(-1)).reshape(-1, 2).tolist():
        for end, outside in ((run[0], run[0] - 1), (run[1], run[1] + 1)):
            bits, beyond = fmt.from_ordinal(end), fmt.from_ordinal(outside)
            if abs(fmt.fraction(bits)) > 100:
                continue
            if not 0 < abs(offset_of(function, fmt, bits)[0]) < LIMITS[32] + 2.0**-50:  # or as good as at the limit
                wrong.append(bits)
            elif fmt.is_finite(beyond) and fmt.magnitude(beyond) and beyond not in table.x_bits:
                wrong += [bits] if 0 < abs(offset_of(function, fmt, beyond)[0]) < LIMITS[32] else []
    return wrong


@pytest.mark.parametrize("count", [3, *nightly(1 << 20)])
@pytest.mark.parametrize("name", NATIVE)
def test_hard_inputs_of_float32_are_verified_by_the_oracle(name, count):
    fmt, function, found = get_format("float32"), FUNCTIONS[name], hardest(name, "float32")
    assert np.all((abs(found.offset) > 0) & (abs(found.offset) <= LIMITS[32]))  # rounded to float32
    assert (np.diff(ordinals(fmt, found.x_bits)) > 0).all()
    some = np.random.default_rng(4).permutation(len(found.x_bits))[:count]
    assert wrong_rows(name, found, some.tolist()) == []
    assert count <= 3 or wrong_ends(name, found) == []
    for mode in MODES:
        results = reference_bits(name, "float32", found.x_bits[some], rounding=mode)
        assert results.tolist() == [round_exactly(function, fmt, int(b), mode) for b in found.x_bits[some]]


def test_one_bit_of_a_row_is_found():
    """As the test above looks at a table: at every row in the nightly run."""
    table = hardest("gelu", "float32")
    row = int(np.argmin(abs(table.x_bits.view(np.float32) + 3)))  # near 0 the offsets of x and -x are the same
    for bit in (0, 1, 9, 22, 31):
        x, offset, midpoint, runs = (column.copy() for column in table[1:5])
        x[row] ^= np.uint32(1 << bit)
        assert wrong_rows("gelu", table._replace(x_bits=x), [row]) == [row]
        offset.view(np.uint32)[row] ^= np.uint32(1 << bit)
        assert wrong_rows("gelu", table._replace(offset=offset), [row]) == [row]
        midpoint[row] ^= True
        assert wrong_rows("gelu", table._replace(is_midpoint=midpoint), [row]) == [row]
        if bit < 22:
            runs[1, 0] ^= np.uint32(1 << bit)
            assert wrong_ends("gelu", table._replace(runs=runs))
    assert wrong_rows("gelu", table, [row]) == []


@pytest.mark.parametrize(("name", "first", "size"), [("gelu", -0x40400000, 1 << 20), *nightly(
    *((name, first, CHUNK) for name in NATIVE for first in (-0x42000000, 0x3C000000)))])  # fmt: skip
def test_a_part_of_the_sweep_gives_the_same(name, first, size):
    fmt, function, table = get_format("float32"), FUNCTIONS[name], hardest(name, "float32")
    last = first + size - 1
    found = listed(function, fmt, joined(runs_between(function, fmt, first, last)))
    o = ordinals(fmt, table.x_bits)
    here = (first <= o) & (o <= last)
    np.testing.assert_array_equal(found.x_bits, table.x_bits[here])
    np.testing.assert_array_equal(found.offset.astype(np.float32), table.offset[here])
    for run in ordinals(fmt, found.runs.reshape(-1)).reshape(-1, 2).tolist():
        assert within(table.runs, fmt, from_ordinals(fmt, np.array(run))).all()


@pytest.mark.parametrize("name", ["gelu", *nightly(*NATIVE)])
def test_the_sweep_misses_nothing(name):
    """With a wide limit, so that every seventh input is hard: each is what the oracle says it is."""
    fmt, function, limit = get_format("float32"), FUNCTIONS[name], 0.035
    runs = np.empty((64, 2), np.int64)
    for first in np.random.default_rng(6).integers(-0x42000000, 0x42000000, 12).tolist():
        count = _core.hard_runs(name, (32, 24, -126, 127), first, limit, runs, 20)
        hard = {o for a, b in runs[:count].tolist() for o in range(a, b + 1)}
        for o in range(first, first + 20):
            assert (0 < abs(offset_of(function, fmt, fmt.from_ordinal(o))[0]) < limit) == (o in hard)


def test_runs_are_joined_where_they_touch():
    runs = np.array([[-9, -7], [-6, -6], [-4, 1], [2, 2], [8, 9]])
    assert joined(runs).tolist() == [[-9, -6], [-4, 2], [8, 9]]
    assert joined(np.empty((0, 2), np.int64)).tolist() == []


def test_many_runs_beside_each_other_are_one():
    fifths = np.arange(5, 5 * (LONG + 1), 5)
    some = np.stack([fifths, fifths], axis=1)
    assert joined(some).tolist() == [[5, 5 * LONG]]
    assert joined(some[1:]).tolist() == some[1:].tolist()
    assert joined(np.concatenate([some, some + 5 * LONG])).tolist() == [[5, 10 * LONG]]
    assert joined(np.array([[1, LONG], [LONG + SPREAD, 3 * LONG]])).tolist() == [[1, 3 * LONG]]
    assert len(joined(np.array([[-50, -2], [1, 50]]))) == 2  # zeros are not hard
    assert len(joined(np.concatenate([-some[::-1], some]))) == 2


def test_exact_results_are_not_hard():
    assert len(hardest("relu", "float32").x_bits) == len(hardest("relu", "float16").x_bits) == 0
    assert (hardest("elu", "float32").x_bits >= 0x80000000).all()
    assert offset_of(FUNCTIONS["cauchy_unit"], get_format("float64"), get_format("float64").one) == (0.0, False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_plans_take_the_hardest(dtype):
    fmt, found = get_format(dtype), hardest("gelu_tanh", dtype)
    chosen = np.concatenate([chunk.x_bits() for chunk in make_plan("quick", "gelu_tanh", dtype).chunks])
    large = found.x_bits & (fmt.sign_mask - 1) >= (fmt.parse("0x1p-20") if found.intervals else 0)
    for is_midpoint in (True, False):
        rows = np.flatnonzero(large & (found.is_midpoint == is_midpoint))
        worst = rows[np.argsort(abs(found.offset[rows]), kind="stable")[:40]]
        assert set(found.x_bits[worst].tolist()) <= set(chosen.tolist())
    assert fmt.uint == chosen.dtype


def test_the_command_lists_them():
    done = CliRunner().invoke(main, ["hardest", "silu", "float32", "--json", "--top", "3"])
    found = json.loads(done.stdout)
    table = hardest("silu", "float32")
    assert found["complete"] is True
    assert found["listed"] == len(table.x_bits)
    assert [abs(row["offset_ulp"]) for row in found["inputs"]] == sorted(abs(table.offset.astype(float)))[:3]
    lines = CliRunner().invoke(main, ["hardest", "gelu", "float64"]).stdout.splitlines()
    assert lines[0].startswith("gelu in float64, some intervals:")
    assert "  every input from 0x1p+0 to 0x1.03fffffffffffp+0: offsets below 2.27e-13 ulp" in lines


def test_what_is_not_known_is_reported():
    with pytest.raises(MissingMeasurement, match="cauchy_unit in float32 have not been looked for"):
        hardest("cauchy_unit", "float32")
    with pytest.raises(UsageError, match="float8_e5m2"):
        hardest("gelu", "float8_e5m2")


def test_the_size_of_the_tables():
    files = list(resource("data/hardest").iterdir())
    assert {f"{name}-float32.npz" for name in NATIVE} <= {path.name for path in files}
    assert sum(path.stat().st_size for path in files) < 1 << 20
