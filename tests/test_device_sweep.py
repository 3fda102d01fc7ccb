"""The code of the device, run on the CPU lane after lane, counts what the CPU's reducer counts, bit for bit."""

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gelu_verify import device_sweep
from gelu_verify.bucket_table import Pieces, finish, merge
from gelu_verify.device_sweep import OPEN, ROOM, RULES, TALLY, TILE, consecutive, drawn, rules_record, table
from gelu_verify.formats import from_ordinals, get_format, ordinals
from gelu_verify.functions import get_function
from gelu_verify.kernels import run
from gelu_verify.reduction import Outcome, Reduction
from gelu_verify.reference import judge, reference_bits
from gelu_verify.sweep import _approximation, _no_overflow

ROOT = Path(__file__).parents[1]
FUNCTIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
EVERY = (*FUNCTIONS, *(f"{name}_grad" for name in FUNCTIONS))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The shim for one function; compiled when it is asked for."""
    folder, libraries = tmp_path_factory.mktemp("shims"), {}

    def library(function):
        if function not in libraries:
            path = folder / f"{function}.so"
            near = get_function(function).approximates
            names = [f"-DGV_JUDGED={function}", *([f"-DGV_APPROXIMATED={near}"] if near else [])]
            flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
            source = ROOT / "tests" / "verify_on_cpu.cpp"
            subprocess.run(["g++", *flags, *names, f"-I{ROOT / 'src'}", source, "-o", path], check=True)
            libraries[function] = ctypes.CDLL(str(path))
        return libraries[function]

    return library


class OnCpu:
    """A judge: the shim, and the answers that it judges."""

    def __init__(self, library, fmt, x, y, fixed=()):
        self.library, self.fmt, self.x, self.y, self.fixed = library, fmt, x, y, fixed
        self.left = 0

    def __call__(self, rules, tiles):
        tallies, answers = np.zeros(len(tiles), TALLY), np.zeros(ROOM, OPEN)
        count = ctypes.c_uint(0)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (self.x, self.y, tallies, answers)]
        verify = getattr(self.library, f"gv_verify_{self.fmt.width}")
        verify(ctypes.c_void_p(rules.ctypes.data), ctypes.c_void_p(tiles.ctypes.data), ctypes.c_size_t(len(tiles)),
               *pointers, ctypes.byref(count), ctypes.c_uint(ROOM))  # fmt: skip
        self.left = count.value
        samples = np.array([(int(x), int(self.y[k])) for k, x in enumerate(self.x) if int(x) in self.fixed], np.uint64)
        return tallies, answers[: self.left], samples.reshape(-1, 2)


def by_device(library, function, fmt, tiles, x, y):
    judge_here = OnCpu(library, fmt, x, y)
    return table(fmt, function, tiles, judge_here), judge_here.left


def assert_same(found, wanted):
    for name, column in wanted.columns.items():
        assert found.columns[name].dtype == column.dtype, name
        np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
    np.testing.assert_array_equal(found.hist, wanted.hist)
    for name, column in wanted.regions.items():
        np.testing.assert_array_equal(found.regions[name], column, err_msg=name)
    assert found.facts == wanted.facts


def filled(library, fmt, tiles):
    """The inputs of tiles, as the device makes them."""
    size = int((tiles["place"] + tiles["count"]).max())
    x = np.zeros(size, fmt.uint)
    fill = getattr(library, f"gv_fill_{fmt.width}")
    fill(ctypes.c_void_p(tiles.ctypes.data), ctypes.c_size_t(len(tiles)), ctypes.c_void_p(x.ctypes.data))
    return x


def with_faults(fmt, y, share=97):
    """NaNs, infinities, zeros, other signs and neighbours here and there; long stretches without any."""
    rng, wrong = np.random.default_rng(7), y.copy()
    some = rng.choice(len(y) // 2, len(y) // share, replace=False)
    kinds = [fmt.nan, fmt.infinity, 0, fmt.sign_mask]
    wrong[some] = np.array(kinds, fmt.uint)[rng.integers(0, 4, len(some))]
    other = rng.choice(len(y), len(y) // share, replace=False)
    wrong[other] ^= fmt.uint.type(fmt.sign_mask)
    wrong[rng.choice(len(y), len(y) // share, replace=False)] += fmt.uint.type(3)
    return wrong


# two buckets each: -8 and -0.75 (cuts within a bucket), zeros and subnormals, where terms drift, tails, infinities
PLACES = ("-8", "-0.7517915", "0", "0x1p-21", "-0x1p-30", "1.5", "-3.3", "-13.9", "-14.5", "5", "100", "-inf", "inf")


@pytest.mark.parametrize("answers", ["rounded", "kernel", "faults"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_float32_is_counted_as_on_the_cpu(built, function, answers):
    fmt, entry, library = get_format("float32"), get_function(function), built(function)
    reduction, tables = Reduction(fmt, entry, Pieces.of(entry, fmt)), []
    rules = rules_record(fmt, entry)
    for place in PLACES:
        first = fmt.ordinal(fmt.parse(place)) // 65536 * 65536 - 65536
        tiles = consecutive(fmt, rules, first, first + 2 * 65536 - 1)
        x = filled(library, fmt, tiles)
        np.testing.assert_array_equal(x, from_ordinals(fmt, np.arange(first, first + len(x))))
        if answers == "kernel":
            y = np.empty_like(x)
            run({"silu": "silu_exp", "gelu_sigmoid": "gelu_sigmoid_exp"}.get(function, f"{function}_tanh")
                if function != "gelu" else "gelu_erf", "float32", x, y)  # fmt: skip
        else:
            y = reference_bits(function, "float32", x)
        y = with_faults(fmt, y) if answers == "faults" else y
        reduction.add_answers(x, y)
        tables.append(by_device(library, entry, fmt, tiles, x, y)[0])
    assert_same(merge(tables), finish(reduction.table(), Pieces.of(entry, fmt)))


@pytest.mark.parametrize("function", EVERY)
def test_float64_is_counted_as_on_the_cpu(built, function):
    fmt, entry, library = get_format("float64"), get_function(function), built(function)
    rules = rules_record(fmt, entry)
    last = fmt.ordinal(fmt.infinity)
    tiles = drawn(fmt, rules, 20261121, 1, -1 - last, last)
    x = filled(library, fmt, tiles)
    assert (np.diff(ordinals(fmt, x)) > 0).all()
    y = with_faults(fmt, reference_bits(function, "float64", x))
    found, left = by_device(library, entry, fmt, tiles, x, y)
    reduction = Reduction(fmt, entry, Pieces.of(entry, fmt))
    want, error, faithful = judge(function, "float64", x, y)
    reduction.add_outcome(Outcome(x, y, want, _no_overflow(fmt, y, error), faithful))
    wanted = finish(reduction.table(), Pieces.of(entry, fmt))
    if entry.approximates:
        facts = wanted.facts.merged(_approximation(fmt, entry.approximates, x, y))
        wanted = replace(wanted, facts=facts)
    assert_same(found, wanted)


def test_records_are_as_large_as_in_c(built):
    sizes = [built("gelu").gv_size_of(k) for k in range(4)]
    assert sizes == [kind.itemsize for kind in (RULES, TILE, TALLY, OPEN)]


def test_what_is_drawn_hangs_on_the_seed_alone(built):
    fmt, entry = get_format("float64"), get_function("gelu")
    rules = rules_record(fmt, entry)
    one, same, other = (drawn(fmt, rules, seed, 4, 0, 1 << 60) for seed in (1, 1, 2))
    x = [filled(built("gelu"), fmt, tiles) for tiles in (one, same, other)]
    assert (x[0] == x[1]).all()
    assert (x[0] != x[2]).mean() > 0.99


def test_parts_of_spans_end_with_buckets():
    fmt = get_format("float32")
    parts = list(device_sweep.chunks(fmt, [(-100, 200_000)], 1 << 16))
    assert (parts[0], parts[-1][1]) == ((-100, -1), 200_000)
    assert all(end % 65536 == 65535 for _, end in parts[:-1])
