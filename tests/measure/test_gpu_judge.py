"""The code of the device, run on the CPU lane after lane, counts what the CPU's reducer counts, bit for bit."""

import ctypes
import os
import subprocess
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import requiring
from marking import nightly
from repository import ROOT, SUPPORT

from gelu_verify.buckets.approximation import approximation
from gelu_verify.buckets.reducer import Outcome, Reduction, reduce
from gelu_verify.buckets.table import Facts, MonotonePieces, finish, merge
from gelu_verify.buckets.table_text import table_of_text, text_of_table
from gelu_verify.errors import OracleError, TargetFailure
from gelu_verify.formats import from_ordinals, get_format, ordinals
from gelu_verify.functions import get_function
from gelu_verify.gpu import nvcc, ptx_device
from gelu_verify.inputs.plans import make_plan
from gelu_verify.kernels import run
from gelu_verify.measure import gpu_judge as on_device
from gelu_verify.measure.gpu_tiles import (
    MOST_UNDECIDED,
    RULES,
    TALLY,
    TILE,
    UNDECIDED,
    _decided,
    consecutive,
    counted,
    drawn,
    rules_record,
)
from gelu_verify.measure.sweep import sweep
from gelu_verify.paths import resource
from gelu_verify.targets.base import Target
from gelu_verify.truth.oracle import judge_exactly
from gelu_verify.truth.values import judge, reference_bits

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
            source = SUPPORT / "verify_on_cpu.cpp"
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
        tallies, answers = np.zeros(len(tiles), TALLY), np.zeros(MOST_UNDECIDED, UNDECIDED)
        count = ctypes.c_uint(0)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (self.x, self.y, tallies, answers)]
        verify = getattr(self.library, f"gv_verify_{self.fmt.width}")
        verify(ctypes.c_void_p(rules.ctypes.data), ctypes.c_void_p(tiles.ctypes.data), ctypes.c_size_t(len(tiles)),
               *pointers, ctypes.byref(count), ctypes.c_uint(MOST_UNDECIDED))  # fmt: skip
        self.left = count.value
        samples = np.array([(int(x), int(self.y[k])) for k, x in enumerate(self.x) if int(x) in self.fixed], np.uint64)
        return tallies, answers[: self.left], samples.reshape(-1, 2)


def by_device(library, function, fmt, tiles, x, y):
    judge_here = OnCpu(library, fmt, x, y)
    return counted(fmt, function, tiles, judge_here, rules_record(fmt, function)), judge_here.left


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
    """NaNs, infinities, zeros, other signs and neighbours here and there; long runs without any."""
    rng, wrong = np.random.default_rng(7), y.copy()
    some = rng.choice(len(y) // 2, len(y) // share, replace=False)
    kinds = [fmt.nan, fmt.infinity, 0, fmt.sign_mask]
    wrong[some] = np.array(kinds, fmt.uint)[rng.integers(0, 4, len(some))]
    other = rng.choice(len(y), len(y) // share, replace=False)
    wrong[other] ^= fmt.uint.type(fmt.sign_mask)
    wrong[rng.choice(len(y), len(y) // share, replace=False)] += fmt.uint.type(3)
    return wrong


# two buckets each: -8 and -0.75 (cuts within a bucket), zeros and subnormals, spans of first order, tails, infinities
PLACES = ("-8", "-0.7517915", "0", "0x1p-21", "-0x1p-30", "1.5", "-3.3", "-13.9", "-14.5", "5", "100", "-inf", "inf")


CASES = [(f, a) for f in FUNCTIONS for a in ("rounded", "kernel", "faults")] + [(f, "faults") for f in EVERY[4:]]
OFTEN = ("gelu", "gelu_tanh")  # without and with a function that it approximates
SELDOM = [function for function in EVERY if function not in OFTEN]
ON_PTX = (*OFTEN, "gelu_tanh_grad")


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("function", "answers"),
    [*(case for case in CASES if case[0] in OFTEN), *nightly(*(case for case in CASES if case[0] in SELDOM))],
)
def test_float32_is_counted_as_on_the_cpu(built, function, answers):
    fmt, entry, library = get_format("float32"), get_function(function), built(function)
    reduction, tables = Reduction(fmt, entry, MonotonePieces.of(entry, fmt)), []
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
        reduction.add_outputs(x, y)
        tables.append(by_device(library, entry, fmt, tiles, x, y)[0])
    pieces = MonotonePieces.of(entry, fmt)
    assert_same(finish(merge(tables), pieces), finish(reduction.table(), pieces))


@pytest.mark.few(1)
@pytest.mark.parametrize("function", [*OFTEN, *nightly(*SELDOM)])
def test_float64_is_counted_as_on_the_cpu(built, function):
    fmt, entry, library = get_format("float64"), get_function(function), built(function)
    rules = rules_record(fmt, entry)
    last = fmt.ordinal(fmt.infinity)
    tiles = drawn(fmt, rules, 20261121, 1, -1 - last, last)
    x = filled(library, fmt, tiles)
    assert (np.diff(ordinals(fmt, x)) > 0).all()
    y = with_faults(fmt, reference_bits(function, "float64", x))
    found, left = by_device(library, entry, fmt, tiles, x, y)
    assert_same(finish(found, MonotonePieces.of(entry, fmt)), by_the_reducer(fmt, entry, x, y))
    assert left == 0


def by_the_reducer(fmt, entry, x, y):
    """The table of float64 results on the CPU."""
    reduction = Reduction(fmt, entry, MonotonePieces.of(entry, fmt))
    reduction.add_outcome(Outcome.of(fmt, x, y, judge(entry.name, "float64", x, y)))
    table = finish(reduction.table(), MonotonePieces.of(entry, fmt))
    if not entry.approximates:
        return table
    return replace(table, facts=table.facts.merged(approximation(fmt, entry.approximates, x, y)))


@pytest.mark.parametrize("place", ["-2", "2"])
def test_steps_across_all_of_float64_are_counted_as_on_the_cpu(built, place):
    """Where f falls and where it rises: between the largest results of both signs ranks differ by more than 2^63."""
    fmt, entry = get_format("float64"), get_function("gelu")
    first = fmt.ordinal(fmt.parse(place))
    tiles = drawn(fmt, rules_record(fmt, entry), 0, 1 << 48, first, first + 99)
    x = filled(built("gelu"), fmt, tiles)
    results = [-1 - fmt.max_finite, fmt.infinity, 0, fmt.nan, fmt.sign_mask - 1, -fmt.sign_mask, -1 - fmt.infinity]
    y = from_ordinals(fmt, np.random.default_rng(3).choice(results, len(x)))
    found, _ = by_device(built("gelu"), entry, fmt, tiles, x, y)
    reduction = Reduction(fmt, entry, MonotonePieces.of(entry, fmt))
    reduction.add_outcome(Outcome.of(fmt, x, y, judge("gelu", "float64", x, y)))
    assert len(x) == 100
    assert reduction.table().total("rises") > 5
    assert_same(found, reduction.table())


def test_outputs_that_the_device_does_not_decide_are_counted_as_any_other(built):
    """By the oracle, in one table: what a table of each would be when merged; neighbours are not compared."""
    fmt, entry = get_format("float64"), get_function("gelu_tanh")
    x = np.sort(np.random.default_rng(0).uniform(0.1, 3, 40).view(np.uint64))
    undecided = np.zeros(60, UNDECIDED)
    undecided["x"], undecided["approximated"] = np.concatenate([x, x[:20]]), np.repeat([0, 1], [40, 20])
    undecided["got"] = np.concatenate([x[::-1], x[:20]])
    tables, facts = _decided(fmt, entry, np.random.default_rng(1).permutation(undecided))
    judged = zip(*(judge_exactly(entry, fmt, int(a), int(b)) for a, b in zip(x, x[::-1], strict=True)), strict=True)
    want, error, faithful = (np.array(each, kind) for each, kind in zip(judged, (np.uint64, float, bool), strict=True))
    outcome = Outcome(x, x[::-1].copy(), want, error, faithful)
    each = [Outcome(*(np.array([array[k]]) for array in vars(outcome).values())) for k in range(40)]
    pieces = MonotonePieces.of(entry, fmt)
    assert len(tables) == 1
    assert_same(tables[0], merge([reduce(fmt, entry, pieces, one) for one in each]))
    assert tables[0].total("rises") == 0 < finish(reduce(fmt, entry, pieces, outcome), pieces).total("rises")
    exact = approximation(fmt, "gelu", x[:20], x[:20])
    assert facts.approximation_ulp == pytest.approx(exact.approximation_ulp)
    assert _decided(fmt, entry, undecided[:0]) == ([], Facts())


@pytest.fixture
def on_ptx():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    return ptx_device.device()


def answers_on(device, fmt, y):
    """A launch that puts these answers into the device's memory."""
    return lambda x, to, n: device.copy_in(to, y)


@pytest.mark.nightly
@pytest.mark.parametrize("function", ON_PTX)
def test_float32_is_counted_on_ptx_as_on_the_cpu(on_ptx, function):
    """What nvcc makes of the judge: shuffles, barriers, atomics, shared memory."""
    fmt, entry = get_format("float32"), get_function(function)
    rules, pieces = rules_record(fmt, entry), MonotonePieces.of(entry, fmt)
    for place in PLACES:
        first = fmt.ordinal(fmt.parse(place)) // 65536 * 65536 - 65536
        tiles = consecutive(fmt, rules, first, first + 2 * 65536 - 1)
        x = from_ordinals(fmt, np.arange(first, first + 2 * 65536))
        y = with_faults(fmt, reference_bits(function, "float32", x))
        judge_there = on_device.OnDevice(on_ptx, answers_on(on_ptx, fmt, y), fmt, entry)
        table = counted(fmt, entry, tiles, judge_there, rules)
        reduction = Reduction(fmt, entry, pieces)
        reduction.add_outputs(x, y)
        assert_same(finish(table, pieces), finish(reduction.table(), pieces))


@pytest.mark.nightly
@pytest.mark.parametrize("function", ON_PTX)
def test_float64_is_counted_on_ptx_as_on_the_cpu(built, on_ptx, function):
    """Drawn on the device, too: from buckets all over the numbers, and where ranks differ by more than 2^63."""
    fmt, entry = get_format("float64"), get_function(function)
    rules = rules_record(fmt, entry)
    results = [-1 - fmt.max_finite, fmt.infinity, 0, fmt.nan, fmt.sign_mask - 1, -fmt.sign_mask, -1 - fmt.infinity]
    for place in ("-40", "-2", "-0.75", "-0x1p-600", "0x1p-30", "2", "9"):
        first = fmt.ordinal(fmt.parse(place)) // (1 << 48) * (1 << 48)
        tiles = drawn(fmt, rules, 20261122, 300, first, first + (4 << 48) - 1)
        x = filled(built(function), fmt, tiles)
        y = with_faults(fmt, reference_bits(function, "float64", x))
        y[:99] = from_ordinals(fmt, np.random.default_rng(3).choice(results, 99))
        seen = {}

        def launch(x_there, to, n, y=y, seen=seen):
            seen["x"] = on_ptx.copy_out(x_there, np.empty(n, fmt.uint))
            on_ptx.copy_in(to, y)

        judge_there = on_device.OnDevice(on_ptx, launch, fmt, entry)
        found = counted(fmt, entry, tiles, judge_there, rules)
        np.testing.assert_array_equal(seen["x"], x)
        assert_same(finish(found, MonotonePieces.of(entry, fmt)), by_the_reducer(fmt, entry, x, y))


@pytest.mark.nightly
def test_the_search_runs_on_ptx():
    """A kernel of ours, judged beside it: fill, call and judge as on a GPU."""
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    on_ptx = ptx_device.device("nearest")  # products and sums are rounded as they are written
    fmt, entry = get_format("float64"), get_function("gelu")
    build = next(build for build in nvcc.builds() if build.source.name == "float64.cu")
    under_test = on_ptx.compile(build.source, build.options).function("gelu_as7126_f64")

    def launch(x, y, n):
        on_ptx.launch(under_test, 4, 256, x, y, n)

    judge_there = on_device.OnDevice(on_ptx, launch, fmt, entry)
    rules = rules_record(fmt, entry)
    first = fmt.ordinal(fmt.parse("1"))
    tiles = drawn(fmt, rules, 0, 64, first, first + (8 << 48) - 1)
    few = counted(fmt, entry, tiles, judge_there, rules)
    more = on_device.search(judge_there, few, 0, rounds=2, centres=2, each=64)
    assert more.total("n") > few.total("n")
    assert np.nanmax(more.columns["max_error"]) >= np.nanmax(few.columns["max_error"]) > 1e6
    on_device.confirm(judge_there, more, "it")


def test_records_are_as_large_as_in_c(built):
    sizes = [built("gelu").gv_size_of(k) for k in range(4)]
    assert sizes == [kind.itemsize for kind in (RULES, TILE, TALLY, UNDECIDED)]


def test_what_is_drawn_depends_on_the_seed_alone(built):
    fmt, entry = get_format("float64"), get_function("gelu")
    rules = rules_record(fmt, entry)
    one, same, other = (drawn(fmt, rules, seed, 4, 0, 1 << 60) for seed in (1, 1, 2))
    x = [filled(built("gelu"), fmt, tiles) for tiles in (one, same, other)]
    assert (x[0] == x[1]).all()
    assert (x[0] != x[2]).mean() > 0.99


class CudaError(Exception):
    pass


class Imitated:
    """What OnDevice asks of a device, done by the shim in this process's memory."""

    driver = SimpleNamespace(Error=CudaError)

    def __init__(self, library):
        self.library = library

    def compile(self, source, flags):
        assert source.exists()
        assert "-fmad=false" in flags
        return self

    def function(self, symbol):
        return getattr(self.library, symbol)

    def alloc(self, nbytes):
        return np.zeros(nbytes, np.uint8)

    def at(self, memory, offset):
        return memory[offset:]

    def fill(self, memory, byte, nbytes):
        memory[:nbytes] = byte

    def copy(self, to, memory, nbytes):
        to[:nbytes] = memory[:nbytes]

    def copy_in(self, memory, array):
        memory[: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)

    def copy_out(self, memory, to):
        to.reshape(-1).view(np.uint8)[:] = memory[: to.nbytes]
        return to

    def launch(self, function, grid, block, *words):
        arguments = [ctypes.c_void_p(w.ctypes.data) if isinstance(w, np.ndarray) else ctypes.c_uint(w) for w in words]
        blocks = ctypes.c_size_t(grid)
        place = 1 if len(words) == 2 else 2  # after the tiles
        function(*arguments[:place], blocks, *arguments[place:])

    def seconds(self, work):
        work()
        return 0.0

    def synchronize(self):
        pass


def kernel(name, dtype):
    """What launches one of the CPU's kernels on bytes."""
    uint, size = get_format(dtype).uint, get_format(dtype).width // 8

    def launch(x, y, n):
        run(name, dtype, x[: size * n].view(uint), y[: size * n].view(uint))

    return launch


def test_float64_is_searched_around_the_worst(built):
    fmt, entry = get_format("float64"), get_function("gelu")
    judge_there = on_device.OnDevice(Imitated(built("gelu")), kernel("gelu_erf", "float64"), fmt, entry)
    few = on_device.strata(judge_there, 0, 1)
    more = on_device.search(judge_there, few, 0, rounds=2, centres=4, each=256)
    assert np.nanmax(more.columns["max_error"]) >= np.nanmax(few.columns["max_error"])
    assert more.total("n") > few.total("n")


def test_batches_change_nothing(built, monkeypatch):
    """Fixed inputs with their answers are kept of each batch."""
    fmt, entry = get_format("float32"), get_function("gelu")
    rules, tables = rules_record(fmt, entry), []
    tiles = consecutive(fmt, rules, -3 * 65536, 3 * 65536 - 1)
    for nbytes in (1 << 30, 4 * 65536, 4 * 100_000):
        monkeypatch.setattr(on_device, "BATCH", nbytes)
        judge_there = on_device.OnDevice(Imitated(built("gelu")), kernel("gelu_erf", "float32"), fmt, entry)
        tables.append(counted(fmt, entry, tiles, judge_there, rules))
    assert len(list(on_device._batches(tiles, 65536))) > len(list(on_device._batches(tiles, 1 << 28))) == 1
    for table in tables[1:]:
        assert_same(table, tables[0])
        np.testing.assert_array_equal(table.samples, tables[0].samples)
    x = tables[0].samples[:, 0].astype(np.uint32)
    y = np.empty_like(x)
    run("gelu_erf", "float32", x, y)
    np.testing.assert_array_equal(tables[0].samples[:, 1], y)
    assert len(x) == 8  # zeros and their neighbours


@dataclass(frozen=True, kw_only=True)
class JudgedThere(Target):
    """A kernel of the CPU, as if it ran on a device that judges."""

    device: object
    judges_on_device: bool = True

    def load(self, dtype, x_bits):
        return dtype, x_bits, np.empty_like(x_bits)

    def call(self, loaded):
        run("gelu_erf", *loaded)

    def store(self, dtype, loaded, result):
        return loaded[2]

    def launcher(self, dtype):
        return kernel("gelu_erf", dtype)


@pytest.fixture
def judges_on_device(built, monkeypatch):
    monkeypatch.setattr(on_device, "PER_BUCKET", 1)
    monkeypatch.setattr(on_device, "ROUNDS", 2)
    monkeypatch.setattr(on_device, "CENTRES", 2)
    monkeypatch.setattr(on_device, "EACH", 256)
    return JudgedThere(name="cuda.gelu_erf", function="gelu", dtypes=("float64",), device=Imitated(built("gelu")))


@pytest.mark.nightly
def test_a_sweep_of_float64_is_also_drawn_and_searched_on_the_device(judges_on_device):
    plan = make_plan("default", "gelu", "float64", 0)
    here = sweep(replace(judges_on_device, judges_on_device=False), plan, workers=1).record
    there = sweep(judges_on_device, plan, workers=1).record
    assert (here.bound, here.bound_kind, here.n) == (">=", "sampled", plan.size)
    assert (there.bound, there.bound_kind) == (">=", "searched")
    assert there.n > plan.size + 60_000
    assert there.max_ulp >= here.max_ulp
    assert (there.checks, there.zero_from) == (here.checks, here.zero_from)
    x, got = (int(bits, 16) for bits in (there.witness.x_bits, there.witness.got_bits))
    assert judge_exactly(get_function("gelu"), get_format("float64"), x, got)[1] == pytest.approx(
        there.max_ulp, abs=1e-5
    )
    assert sum(region.n for region in there.regions) > sum(region.n for region in here.regions)


def test_what_cuda_says_of_a_kernel_that_is_judges_on_device_is_its_failure(judges_on_device, monkeypatch):
    def seconds(device, work):
        raise CudaError("cuCtxSynchronize failed: an illegal memory access was encountered")

    monkeypatch.setattr(Imitated, "seconds", seconds)
    record = sweep(judges_on_device, make_plan("default", "gelu", "float64", 0), workers=1).record
    assert record.failure_kind == "illegal address"
    assert "illegal memory access" in record.failure


def test_few_inputs_that_were_asked_for_are_all(judges_on_device):
    for plan in (
        make_plan("quick", "gelu", "float64", 0),
        make_plan("default", "gelu", "float64", 0, ["1:0x1.00000000001p0"]),
    ):
        record = sweep(judges_on_device, plan, workers=1).record
        assert (record.n, record.bound_kind) == (plan.size, "sampled")


def test_the_largest_error_is_asked_for_again(judges_on_device):
    table = table_of_text(on_device.searched(judges_on_device, "float64", "gelu", 0))
    judge_there = on_device.OnDevice(
        judges_on_device.device, judges_on_device.launcher("float64"), table.fmt, get_function("gelu")
    )
    on_device.confirm(judge_there, table, "it")
    row = table.worst()
    other = {name: column.copy() for name, column in table.columns.items()}
    other["max_error"][row] *= 1.01
    with pytest.raises(OracleError, match=r"it at 0x.*: the device finds"):
        on_device.confirm(judge_there, replace(table, columns=other), "it")
    other = {name: column.copy() for name, column in table.columns.items()}
    other["max_error_got"][row] ^= 1
    with pytest.raises(TargetFailure, match="gave different bits when it was called again") as failure:
        on_device.confirm(judge_there, replace(table, columns=other), "it")
    assert failure.value.kind == "nondeterministic"


def test_a_table_crosses_as_text(built):
    fmt, entry = get_format("float32"), get_function("gelu")
    rules = rules_record(fmt, entry)
    tiles = consecutive(fmt, rules, -65536, 65535)
    x = filled(built("gelu"), fmt, tiles)
    sent, _ = by_device(built("gelu"), entry, fmt, tiles, x, with_faults(fmt, x))
    came = table_of_text(text_of_table(sent))
    assert_same(came, sent)
    assert came.fmt is sent.fmt


def compiles(function, architectures):
    """Without a warning."""
    source = resource("src/cuda/verify.cu")
    options = [*nvcc.STRICT, *nvcc.code_for(architectures), "-O3", "-t", "2"]
    words = [*requiring.nvcc(), "-fatbin", *options, *on_device.flags(get_function(function)), source, "-o", os.devnull]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.nightly
def test_the_device_code_compiles():
    """Without a warning of nvcc; of g++, `built` shows it on every commit."""
    compiles("gelu_tanh", ["sm_90"])


@pytest.mark.nightly
@pytest.mark.parametrize("function", EVERY)
def test_the_device_code_of_every_function_compiles(function):
    compiles(function, nvcc.ARCHITECTURES)
